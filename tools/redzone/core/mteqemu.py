# SPDX-License-Identifier: MIT
"""Finds a QEMU whose memory tags work, for kernels with hardware tags.

QEMU before 8 gives a whole page the same tag, so what it emulates is not MTE. If the machine's own QEMU is
that old, this module unpacks Debian's backport below build/. It downloads 13 MB once, installs nothing, and
does not touch the machine's apt configuration.

Standard library only: `doctor` uses it, and runs before there is a virtual environment.
"""

import functools
from pathlib import Path

from redzone.core import apt, base, outside
from redzone.core.base import DOWNLOADS

MINIMUM = (8, 1)
COMMAND = outside.BY_KEY["qemu-arm64"].command
FOLDER = DOWNLOADS / "qemu"
# Megabytes that package lists, packages and their contents take.
ROOM = 160
PACKAGES = ("qemu-system-arm", "qemu-system-common", "qemu-system-data")
Unavailable = apt.Unavailable


def _installed():
    """Return (version, its text) of the machine's own QEMU, or None."""
    found = outside.version(outside.BY_KEY["qemu-arm64"])
    return (found[1], found[0]) if found else None


def _trouble(command):
    """Return why @command does not start a machine with memory tags, None if it does."""
    return outside.trouble(command, "virt,mte=on", "max")


def state():
    """Return apt.state_of() what is there now; fetch nothing."""
    own = _installed()
    if own and own[0] >= MINIMUM:
        return apt.state_of(own[1], None, _trouble([COMMAND]), "")
    command = apt.unpacked_qemu(FOLDER, COMMAND)
    binary = Path(command[0])
    found = outside.version(outside.Tool("qemu-mte", command[0], "", "test", ""))
    why = _trouble(command) if binary.is_file() else None
    where = base.relative(FOLDER)
    if why:
        why += f". Delete {where}"
    advice = (
        f"The first command that needs it fetches Debian's backport (13 MB) into {where}. If that is not "
        f"possible, install QEMU {'.'.join(map(str, MINIMUM))} or newer, or unpack the backports suite's "
        f"{', '.join(PACKAGES)} by dpkg-deb -x into {where}/root. Without it kernels with hardware tags are "
        "built, but not run, and tests that would are skipped."
    )
    return apt.state_of(found[0] if found else "", binary, why, advice)


@functools.cache
def command():
    """Return QEMU's command and the options that it always needs. Raises Unavailable."""
    own = _installed()
    if own and own[0] >= MINIMUM:
        return [COMMAND]
    why = f"QEMU {own[1]} has one memory tag a page, not one in 16 bytes" if own else "QEMU is not installed"
    found = apt.unpacked_qemu(FOLDER, COMMAND)
    with base.locked(FOLDER):
        if not Path(found[0]).is_file():
            apt.fetch_qemu(FOLDER, PACKAGES, ROOM, 13, why)
    trouble = _trouble(found)
    if trouble:
        raise Unavailable(f"{why}, and the newer one does not start a machine: {trouble}")
    return found


def reason():
    """Return why kernels with hardware tags cannot be booted, None if they can."""
    try:
        command()
    except Unavailable as error:
        return str(error)
    return None
