# SPDX-License-Identifier: MIT
"""Finds a QEMU that is new enough for tests of other processors.

If the machine's own is too old, this module unpacks Debian's backport below build/, as mteqemu does.
"""

import functools

from redzone.core import apt, base, outside
from redzone.core.base import BUILD

# Before 8, the emulator of programs keeps a record of each page that a program maps, and the tests map 16 TiB
# of shadow.
USER = (8, 0)
# Before 9.1 the machine gives a kernel no table of what it has, unless firmware starts it.
LOONGARCH = (9, 1)
# {the beginning of a program's name: (folder below build/, its packages, megabytes to download, megabytes of
# lists, packages and contents)}
PACKAGES = {
    "qemu-system-loongarch": (
        "qemu-misc",
        ("qemu-system-misc", "qemu-system-common", "qemu-system-data"),
        *(80, 700),
    ),
    "qemu-": ("qemu-user", ("qemu-user",), *(40, 400)),
}
Unavailable = apt.Unavailable


def _version(command):
    found = outside.version(outside.Tool(command, command, "", "slow", ""))
    return found[1] if found else None


@functools.cache
def command(name, minimum):
    """Return the command of the QEMU @name that has at least the version @minimum, as a list with the options
    that it always needs. Raise Unavailable."""
    own = _version(name)
    if own and own >= minimum:
        return [name]
    why = f"{name} is too old" if own else f"{name} is not installed"
    place, packages, download, room = next(
        value for prefix, value in PACKAGES.items() if name.startswith(prefix)
    )
    folder = BUILD / place
    unpacked = folder / "root/usr/bin" / name
    with base.locked(folder):
        if not unpacked.is_file():
            apt.fetch_qemu(folder, packages, room, download, why)
    found = _version(str(unpacked))
    if not found or found < minimum:
        trouble = "is too old as well" if found else "does not start"
        raise Unavailable(f"{why}, and the one in {base.relative(folder)} {trouble}: delete that folder")
    return apt.unpacked_qemu(folder, name) if name.startswith("qemu-system-") else [str(unpacked)]
