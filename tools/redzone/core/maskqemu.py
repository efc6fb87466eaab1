# SPDX-License-Identifier: MIT
"""Finds a QEMU for riscv64 whose pointer masking works, and a firmware that switches it on, for kernels with
software tags.

QEMU has it since version 10, and OpenSBI since 1.6: only machine mode can let the kernel's mode ignore bits
of addresses. What this computer does not have is unpacked below build/, as in mteqemu: Debian 12 has that
QEMU among its backports, but no such OpenSBI, so it is Debian 13's. They are 21 MB.
"""

import functools
from pathlib import Path

from redzone.core import apt, base, outside, process
from redzone.core.arch import KERNELS
from redzone.core.base import DOWNLOADS

MINIMUM = (10, 0)
COMMAND = outside.BY_KEY["qemu-riscv64"].command
FOLDER = DOWNLOADS / "qemu-riscv64"
# Megabytes that package lists, packages and their contents take.
ROOM = 250
PACKAGES = ("qemu-system-riscv", "qemu-system-common", "qemu-system-data")
# Smnpm masks pointers of supervisor mode.
CPU = KERNELS["riscv64"].tags_cpu
OPENSBI = "pool/main/o/opensbi/opensbi_1.6-1_all.deb"
DIGEST = "dc4a43bd21a0ca11771ed8b19ee6fa8476d1d0f4976bd0b27c0357c699d27e1e"
# What QEMU loads by itself.
_FIRMWARE = "opensbi-riscv64-generic-fw_dynamic.bin"
Unavailable = apt.Unavailable


def _knows(firmware):
    """Does the file @firmware know pointer masking? It looks for the extension's name in the device tree."""
    try:
        return b"smnpm\0" in firmware.read_bytes()
    except OSError:
        return False


def _own_firmware(qemu):
    """Return whether QEMU's own firmware will do. qemu: its command."""
    status, output = process.call([*qemu, "-L", "help"])
    return status == 0 and any(_knows(Path(folder) / _FIRMWARE) for folder in output.splitlines())


def _fetch_firmware(target):
    """Unpack OpenSBI into the folder @target."""
    why = "QEMU's OpenSBI cannot switch pointer masking on"
    base.say(f"{why}; fetching a newer one (0.2 MB) into {base.relative(FOLDER)}")
    package = FOLDER / Path(OPENSBI).name
    FOLDER.mkdir(parents=True, exist_ok=True)
    if trouble := apt.pool_file(OPENSBI, DIGEST, package):
        raise Unavailable(f"{why}, and a newer one cannot be fetched: {trouble}")
    apt.unpack([package], target)


def _qemu():
    """Return (QEMU's command, why the machine's own will not do, None if it will)."""
    found = outside.version(outside.BY_KEY["qemu-riscv64"])
    if found and found[1] >= MINIMUM:
        return [COMMAND], None
    why = f"QEMU {found[0]} has no pointer masking" if found else "QEMU is not installed"
    return apt.unpacked_qemu(FOLDER, COMMAND), why


def _unpacked_firmware():
    return FOLDER / "firmware/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin"


def _trouble(qemu):
    """Return why @qemu does not start a machine, None if it does."""
    return outside.trouble(qemu, "virt", CPU)


def state():
    """Return apt.state_of() what is there now, QEMU and firmware; fetch nothing."""
    qemu, why = _qemu()
    binary = Path(qemu[0]) if why else None
    where = base.relative(FOLDER)
    advice = (
        f"The first command that needs it fetches Debian's backport (21 MB) and Debian 13's OpenSBI (0.2 MB) "
        f"into {where}. If that is not possible, install QEMU {'.'.join(map(str, MINIMUM))} or newer with "
        "OpenSBI 1.6 or newer. Without them kernels for riscv64 with software tags are built, but not run, "
        "and tests that would are skipped."
    )
    if binary is None or binary.is_file():
        if not _own_firmware(qemu):
            firmware = _unpacked_firmware()
            if not firmware.is_file():
                return apt.state_of("", firmware, None, advice)
            qemu += ["-bios", str(firmware)]
        trouble = _trouble(qemu)
        trouble = trouble and f"{trouble}. Delete {where}"
    else:
        trouble = None
    found = outside.version(outside.Tool("qemu-masks", qemu[0], "", "test", ""))
    return apt.state_of(found[0] if found else "", binary, trouble, advice)


@functools.cache
def command():
    """Return QEMU's command and the options that it always needs. Raises Unavailable."""
    qemu, why = _qemu()
    with base.locked(FOLDER):
        if why and not Path(qemu[0]).is_file():
            apt.fetch_qemu(FOLDER, PACKAGES, ROOM, 21, why)
        if not _own_firmware(qemu):
            firmware = _unpacked_firmware()
            if not firmware.is_file():
                _fetch_firmware(FOLDER / "firmware")
            qemu += ["-bios", str(firmware)]
    if trouble := _trouble(qemu):
        raise Unavailable(f"{qemu[0]} does not start a machine: {trouble}. Delete {base.relative(FOLDER)}")
    return qemu


def reason():
    """Return why riscv64's kernels with software tags cannot be booted, None if they can."""
    try:
        command()
    except Unavailable as error:
        return str(error)
    return None
