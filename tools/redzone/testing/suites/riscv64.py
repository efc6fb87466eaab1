# SPDX-License-Identifier: MIT
"""The KUnit suites in the kernel for riscv64: Generic mode and software tags on one CPU, some on four, and
those of the shadow call stack, stack erasing, the lock validator and real time in one kernel that has all.

docs/dev/new-architecture.md says what that kernel has. A CPU without pointer masking runs the kernel of
software tags too, without KASAN."""

from redzone.build.builder import preset_name
from redzone.machine import qemu
from redzone.testing.runner import result, when
from redzone.testing.suites import kunit

TOOLS = kunit.TOOLS
MODES = ("generic", "sw_tags")
OPTIONS = ("filter",)
SLOW = True
# The CPU cannot do it, and the firmware answers that it is not supported.
NO_MASKING = "kasan: no pointer masking (Smnpm, by SBI's FWFT: error -2): KASAN is off, nothing is checked"
# Suites that expect no report, and programs with variables on their stacks.
SUITES = "kunit.filter_glob=lib,slab,pages,vmalloc,user,uaccess"


def run(context):
    yield from kunit.run(context, only=kunit.ON_RISCV64)
    if context.filter or context.mode not in (None, "sw_tags"):
        return
    ready, _ = context.kernels(
        [("sw_tags",)], lambda one: preset_name(one[0], arch="riscv64", features=[]), lambda one: one[0]
    )
    for _, image in ready:
        options = {"cpu": "rv64", "append": [SUITES], "timeout": kunit.TIMEOUT}
        target = qemu.Machine(image.image, arch="riscv64", mode="sw_tags", **options)
        boot = kunit.boot(context, "no-masking", target)
        said = sum(line.endswith(NO_MASKING) for line in boot.lines)
        wrong = boot.wrong + boot.reported + when(said != 1, f"not said once: {NO_MASKING}")
        yield result("no-masking", wrong, boot.log)
