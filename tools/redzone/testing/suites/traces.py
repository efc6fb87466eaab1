# SPDX-License-Identifier: MIT
"""Traces from the shadow call stack are those that frame pointers give, over all KUnit cases.

The kernel makes every stored trace and that of every report in both ways (preset feature `+compare`),
and says at its end how many differ. With three compilers, on 1 and 4 CPUs."""

import re

from redzone.build.builder import COMPILERS, KERNEL, preset_name
from redzone.machine import ktap, qemu
from redzone.testing.runner import FAIL, PASS, SKIP, Result

TOOLS = KERNEL
TIMEOUT = 900
# Three kernels of its own, which no other suite needs.
SLOW = True
CPUS = (1, 4)
# They overwrite frame records, so that frame pointers give less than the shadow call stack.
SPOILS_FRAMES = "kunit.filter_skip=kasan_garbage.stack_pointer_of_the_task,kasan_garbage.frame_record"

_COUNTS = re.compile(r"kasan: traces: (\d+) different of (\d+) stored and (\d+) reported")


def wrong_with(lines, parsed):
    """Return what is wrong with a boot whose console was @lines; an empty list: nothing."""
    wrong = [f"{case.name}: {case.detail}" for case in parsed.cases if case.status == FAIL] + list(
        parsed.errors
    )
    found = [match for match in map(_COUNTS.search, lines) if match]
    if not found:
        return [*wrong, "the kernel did not say how many traces it has compared"]
    different, stored, reported = map(int, found[-1].groups())
    if different:
        wrong.append(f"{different} traces differ, of {stored} stored and {reported} reported")
    if stored < 100000 or reported < 1000:
        wrong.append(f"only {stored} stored and {reported} reported traces were compared")
    return wrong


def run(context):
    """Yield the results."""

    def boot(item):
        name, image, cpus = item
        target = qemu.Machine(image.image, smp=cpus, mode="generic", append=[SPOILS_FRAMES], timeout=TIMEOUT)
        _, lines, log = context.boot(name, target)
        return name, lines, log

    ready = []
    for compiler in COMPILERS:
        preset = preset_name(compiler=compiler, features=["scs", "compare"])
        reason = context.missing_for(preset)
        if reason:
            yield Result(compiler, SKIP, reason)
            continue
        image = context.build(preset, targets=["redzone"])["redzone"]
        ready += [(f"{compiler}-{cpus}cpu", image, cpus) for cpus in CPUS]
    for name, lines, log in context.each(boot, ready):
        wrong = wrong_with(lines, ktap.parse(lines))
        yield Result(name, FAIL if wrong else PASS, "\n".join(wrong), log)
