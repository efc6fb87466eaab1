# SPDX-License-Identifier: MIT
"""The unit tests on other processors, under QEMU's emulation of their programs: s390x is big-endian."""

from redzone.core import newqemu
from redzone.testing.runner import SKIP, Result
from redzone.testing.suites import unit

SLOW = True
# {processor, as QEMU calls it: preset}
PRESETS = {"s390x": "host-unit-s390x", "riscv64": "host-unit-riscv64"}


def run(context):
    for processor, preset in PRESETS.items():
        try:
            qemu = newqemu.command(f"qemu-{processor}", newqemu.USER)
        except newqemu.Unavailable as error:
            yield Result(processor, SKIP, str(error))
            continue
        # The cross compiler's C library.
        emulator = [*qemu, "-L", f"/usr/{processor}-linux-gnu"]
        yield from unit.run_preset(context, processor, preset, emulator)
