# SPDX-License-Identifier: MIT
"""Reports over garbage: all that a report reads is overwritten 10,000 times; the report must stay whole.

It runs the KUnit suite kasan_garbage with more rounds than usual, and another seed each time. REDZONE_SEED in
the environment repeats a seed.
"""

import os
import secrets

from redzone.build.builder import KERNEL, preset_name
from redzone.core import base
from redzone.core.base import Failure
from redzone.machine import ktap, qemu
from redzone.testing.runner import FAIL, PASS, Result
from redzone.testing.suites.kunit import errors_of

TOOLS = (*KERNEL, "clang-19", "gcc-arm64")
SLOW = True
ROUNDS = 10000
TIMEOUT = 1200
# (instrumentation, compiler, CPUs)
CONFIGURATIONS = (("inline", "clang-19", 4), ("outline", "clang-19", 1), ("inline", "gcc", 1))


def _seed():
    text = os.environ.get("REDZONE_SEED")
    if not text:
        return secrets.randbits(48)
    if not text.isdecimal():
        raise Failure(f"REDZONE_SEED='{text}' is not accepted; accepted: a number")
    return int(text)


def run(context):
    seed = _seed()
    base.say(f"report-garbage: REDZONE_SEED={seed}")

    def boot(item):
        label, cpus, image = item
        append = [
            "kunit.filter_glob=kasan_garbage",
            f"kasan_test.rounds={ROUNDS}",
            f"kasan_test.seed={seed}",
        ]
        target = qemu.Machine(image.image, smp=cpus, append=append, timeout=TIMEOUT)
        outcome, lines, log = context.boot(label, target)
        return label, outcome, ktap.parse(lines), lines, log

    ready = []
    for where, compiler, cpus in CONFIGURATIONS:
        preset = preset_name(instrumentation=where, compiler=compiler)
        image = context.build(preset, targets=["redzone"])["redzone"]
        ready.append((f"{where}-{compiler}-{cpus}cpu", cpus, image))
    for label, outcome, parsed, lines, log in context.each(boot, ready):
        for case in parsed.cases:
            name = case.name.rpartition(".")[2]
            wrong = [] if case.status == PASS else [case.detail or case.status]
            if not any(
                f"# {name}: {ROUNDS} of {ROUNDS} rounds, kasan_test.seed={seed}" in text for text in lines
            ):
                wrong.append(f"not {ROUNDS} rounds with seed {seed}")
            yield Result(f"{label}.{case.name}", FAIL if wrong else PASS, "\n".join(wrong), log)
        errors = errors_of(outcome, parsed)
        if errors:
            yield Result(label, FAIL, "\n".join([*errors, f"REDZONE_SEED={seed}"]), log)
