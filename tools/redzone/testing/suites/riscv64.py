# SPDX-License-Identifier: MIT
"""The KUnit suites in the kernel for riscv64: Generic mode and software tags on one CPU, some on four, and
those of the shadow call stack, stack erasing, the lock validator and real time in one kernel that has all.

docs/dev/new-architecture.md says what that kernel has. A CPU without pointer masking runs the kernel of
software tags too, without KASAN. One without page tables of four levels is refused. Reports are those of the
suite `golden`, of some bugs.
"""

from redzone.bench import cost, page
from redzone.build.builder import preset_name
from redzone.core import base
from redzone.machine import qemu
from redzone.testing.runner import SKIP, Result, result, when
from redzone.testing.suites import _fuzz, bench, golden, kunit

TOOLS = kunit.TOOLS
MODES = ("generic", "sw_tags")
OPTIONS = ("filter",)
SLOW = True
# The CPU cannot do it, and the firmware answers that it is not supported.
NO_MASKING = "kasan: no pointer masking (Smnpm, by SBI's FWFT: error -2): KASAN is off, nothing is checked"
# Suites that expect no report, and programs with variables on their stacks.
SUITES = "kunit.filter_glob=lib,slab,pages,vmalloc,user,uaccess"


# A CPU with page tables of three levels.
SV39 = "rv64,sv48=off"
NO_SV48 = "this CPU has no Sv48, and page tables of three levels (Sv39) are too small"
# Each has lines that the architecture could change: an MMU fault, a stack's frame, an object's stacks.
GOLDEN = ("slab-use-after-free", "stack-out-of-bounds", "null-ptr-deref", "wild-memory-access-low")
# Operations of `./redzone bench` whose figures are compared with the record.
FIGURES = ("kmalloc_64", "memcpy_1024", "check_4096", "pages_3")
# Kernels that the suite has anyway.
CHECKED = (("generic", "clang-19", "inline"), ("sw_tags", "clang-19", "inline"))


def _without(context, name, target, wanted):
    """Yield the result of a CPU that lacks something: @wanted(kunit.Boot) says what is wrong with the boot of
    the machine @target."""
    boot = kunit.boot(context, name, target)
    yield result(name, wanted(boot), boot.log)


def _measured(context, arch):
    """Yield the result of some figures, which must be those of the record."""
    column = cost.Column("generic-inline", traces=True)
    names = [lambda one: preset_name(one[0], arch=arch, features=[]), lambda one: one[0]]
    for _, image in context.kernels([("generic",)], *names, page.KERNEL)[0]:
        figures = {column.key: cost.measure(column, image, cost.names_matching(*FIGURES), context.note, arch)}
        recorded = cost.load(base.ROOT / "bench" / f"results-{arch}.json")
        yield result("figures", bench.stale(figures, recorded))


def _fuzzed(context, arch):
    if reason := context.missing(*_fuzz.TOOLS, f"qemu-{arch}"):
        yield Result("fuzz", SKIP, reason)
        return
    with _fuzz.campaign(context, arch) as fuzz:
        yield result("fuzz", *_fuzz.planted(fuzz, "found", "--arch", arch, "--runs", 50))


def _unmasked(boot):
    said = sum(line.endswith(NO_MASKING) for line in boot.lines)
    return boot.wrong + boot.reported + when(said != 1, f"not said once: {NO_MASKING}")


def _refused(boot):
    panic = boot.outcome.reader.panic or ""
    wrong = when(not panic.endswith(NO_SV48), f"no panic that says: {NO_SV48}")
    return wrong + when(boot.outcome.status != base.CRASHED, f"exit status {boot.outcome.status}")


def run(context):
    yield from kunit.run(context, only=kunit.ON_RISCV64)
    if context.filter:
        return
    for configuration in context.of_mode(CHECKED):
        yield from golden.shared(context, "riscv64", configuration, GOLDEN)
    if context.mode in (None, "generic"):
        yield from _measured(context, "riscv64")
        yield from _fuzzed(context, "riscv64")
    ready, _ = context.kernels(
        [("sw_tags",)], lambda one: preset_name(one[0], arch="riscv64", features=[]), lambda one: one[0]
    )
    for _, image in ready:
        options = {"arch": "riscv64", "mode": "sw_tags", "append": [SUITES], "timeout": kunit.TIMEOUT}
        masked = qemu.Machine(image.image, cpu="rv64", **options)
        yield from _without(context, "no-masking", masked, _unmasked)
        yield from _without(context, "sv39", qemu.Machine(image.image, cpu=SV39, **options), _refused)
