# SPDX-License-Identifier: MIT
"""Finds a QEMU that runs programs of other processors, for the unit tests.

QEMU before 8 keeps a record of each page that a program maps, and the tests map 16 TiB of shadow. If the
machine's own is that old, this module unpacks Debian's backport below build/, as mteqemu does.
"""

import functools
from pathlib import Path

from redzone.core import apt, base, outside
from redzone.core.base import BUILD, Failure

MINIMUM = (8, 0)
FOLDER = BUILD / "qemu-user"
# Megabytes that package lists, the package and its contents take.
ROOM = 400


class Unavailable(Failure):
    """There is no such QEMU, and it cannot be fetched."""


def _version(command):
    found = outside.version(outside.Tool(command, command, "", "slow", ""))
    return found[1] if found else None


@functools.cache
def command(processor):
    """Return the program that runs those of @processor, as QEMU calls it. Raise Unavailable."""
    name = f"qemu-{processor}"
    own = _version(name)
    if own and own >= MINIMUM:
        return name
    why = f"{name} is too old" if own else f"{name} is not installed"
    unpacked = FOLDER / "root/usr/bin" / name
    with base.locked(FOLDER):
        if not unpacked.is_file():
            base.say(f"{why}; fetching Debian's newer one (40 MB) into {base.relative(FOLDER)}")
            try:
                apt.fetch_newer(FOLDER, ("qemu-user",), ROOM)
            except base.DiskFull:
                raise
            except Failure as error:
                raise Unavailable(f"{why}, and {error}") from None
    if not _version(str(unpacked)):
        raise Unavailable(f"{why}, and the newer one does not start: delete {base.relative(Path(FOLDER))}")
    return str(unpacked)
