# SPDX-License-Identifier: MIT
"""Traces from the shadow call stack are those that frame pointers give, over all KUnit cases.

The kernel makes every stored trace and that of every report in both ways (preset feature `+compare`),
and says at its end how many differ. With three compilers, on 1 and 4 CPUs;
and on riscv64."""

import re

from redzone.build.builder import COMPILERS, KERNEL, preset_name
from redzone.core.arch import DEFAULT
from redzone.machine import qemu
from redzone.testing.runner import FAIL, result, when
from redzone.testing.suites import kunit

TOOLS = KERNEL
TIMEOUT = 900
# Four kernels of its own, which no other suite needs.
SLOW = True
CPUS = (1, 4)
# (mode, compiler, architecture); on riscv64 one CPU.
CONFIGURATIONS = [("generic", compiler, DEFAULT) for compiler in COMPILERS] + [
    ("generic", "clang-19", "riscv64")
]
# They overwrite frame records, so that frame pointers give less than the shadow call stack.
SPOILS_FRAMES = "kunit.filter_skip=kasan_garbage.stack_pointer_of_the_task,kasan_garbage.frame_record"

_COUNTS = re.compile(r"kasan: traces: (\d+) different of (\d+) stored and (\d+) reported")


def wrong_with(lines):
    """Return what is wrong with the counts on the console @lines; an empty list: nothing."""
    found = [match for match in map(_COUNTS.search, lines) if match]
    if not found:
        return ["the kernel did not say how many traces it has compared"]
    different, stored, reported = map(int, found[-1].groups())
    wrong = when(different, f"{different} traces differ, of {stored} stored and {reported} reported")
    if stored < 100000 or reported < 1000:
        wrong.append(f"only {stored} stored and {reported} reported traces were compared")
    return wrong


def run(context):
    """Yield the results."""

    def boot(item):
        name, image, arch, cpus = item
        target = qemu.Machine(
            image.image, arch=arch, smp=cpus, mode="generic", append=[SPOILS_FRAMES], timeout=TIMEOUT
        )
        return name, kunit.boot(context, name, target)

    def preset(configuration):
        _, compiler, arch = configuration
        return preset_name(compiler=compiler, arch=arch, features=["scs", "compare"])

    def label(configuration):
        _, compiler, arch = configuration
        return compiler if arch == DEFAULT else f"{compiler}-{arch}"

    built, skipped = context.kernels(CONFIGURATIONS, preset, label)
    yield from skipped
    ready = [
        (f"{label(configuration)}-{cpus}cpu", image, configuration[2], cpus)
        for configuration, image in built
        for cpus in (CPUS if configuration[2] == DEFAULT else CPUS[:1])
    ]
    for name, ended in context.each(boot, ready):
        failed = [f"{case.name}: {case.detail}" for case in ended.parsed.cases if case.status == FAIL]
        yield result(name, failed + ended.parsed.errors + wrong_with(ended.lines), ended.log)
