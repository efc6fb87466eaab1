# SPDX-License-Identifier: MIT
"""Work items from all sides: 10,000 rounds of the case workqueue.stress_all on 4 CPUs in each mode.

kernel/tests/workqueue_stress_test.c says what a round is. --mode chooses one mode, --seed the sequence, and
--rounds the number of rounds.
"""

import random
import re
from operator import itemgetter

from redzone.build.builder import KERNEL, preset_name
from redzone.machine import qemu
from redzone.testing.runner import PASS, result, when
from redzone.testing.suites import kunit

SLOW = True
MODES = ("generic", "sw_tags", "hw_tags", "off")
OPTIONS = ("seed", "rounds")
TOOLS = (*KERNEL, "clang-19")
ROUNDS = 10000
CPUS = 4
# A round takes a tenth of a second, mostly asleep. The kernel notices a round that hangs; this limit is for a
# kernel that no longer can.
SECONDS_EACH = 3
SECONDS_MORE = 300
# How often a long run reports its progress.
NOTE_ROUNDS = 500
BATCH = re.compile(
    r"# stress_all: (?P<rounds>\d+) rounds in (?P<milliseconds>\d+) ms: (?P<runs>\d+) runs, "
    r"\d+ freed themselves, (?P<holds>\d+) holds$"
)


class Batches:
    """Adds up the kernel's figures for each batch of rounds."""

    def __init__(self):
        self.rounds = self.milliseconds = self.runs = self.holds = 0

    def feed(self, line):
        """Take a console line. Return True every NOTE_ROUNDS rounds."""
        match = BATCH.search(line)
        if not match:
            return False
        before = self.rounds // NOTE_ROUNDS
        for name, value in match.groupdict().items():
            setattr(self, name, getattr(self, name) + int(value))
        return self.rounds // NOTE_ROUNDS != before

    def __str__(self):
        return (
            f"{self.rounds} rounds in {self.milliseconds // 1000} s: {self.runs} runs of items, "
            f"threads held back {self.holds} times"
        )


def run(context):
    rounds = context.rounds or ROUNDS
    seed = context.seed if context.seed is not None else random.randrange(1, 1 << 32)
    context.note(f"{rounds} rounds, seed {seed}: repeat with --rounds {rounds} --seed {seed}")

    def boot(item):
        (mode,), image = item
        target = qemu.Machine(
            image.image,
            smp=CPUS,
            mode=mode,
            append=[
                "kunit.filter_glob=workqueue.stress_all",
                f"workqueue_test.rounds={rounds}",
                f"random.seed={seed}",
            ],
            timeout=rounds * SECONDS_EACH + SECONDS_MORE,
        )
        batches = Batches()

        def follow(text, event, value):
            if batches.feed(text):
                context.note(f"{mode}: {batches.rounds} of {rounds} rounds, {batches.milliseconds // 1000} s")

        return mode, kunit.boot(context, mode, target, follow), batches

    modes = [(mode,) for mode in MODES]
    ready, skipped = context.kernels(modes, lambda one: preset_name(mode=one[0]), itemgetter(0))
    yield from skipped
    for mode, ended, batches in context.each(boot, ready):
        errors = [f"{case.name}: {case.detail}" for case in ended.parsed.cases if case.status != PASS]
        errors += ended.errors + ended.reported
        errors += when(batches.rounds != rounds, f"{batches.rounds} of {rounds} rounds were run; seed {seed}")
        context.note(f"{mode}: {batches}")
        yield result(mode, errors, ended.log)
