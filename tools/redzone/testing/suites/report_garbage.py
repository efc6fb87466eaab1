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
from redzone.machine import qemu
from redzone.testing.runner import PASS, result, when
from redzone.testing.suites import kunit

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
        return label, kunit.boot(context, label, target)

    ready = []
    for where, compiler, cpus in CONFIGURATIONS:
        preset = preset_name(instrumentation=where, compiler=compiler)
        image = context.build(preset, targets=["redzone"])["redzone"]
        ready.append((f"{where}-{compiler}-{cpus}cpu", cpus, image))
    for label, ended in context.each(boot, ready):
        for case in ended.parsed.cases:
            name = case.name.rpartition(".")[2]
            done = f"# {name}: {ROUNDS} of {ROUNDS} rounds, kasan_test.seed={seed}"
            wrong = when(case.status != PASS, case.detail or case.status)
            wrong += when(
                not any(done in text for text in ended.lines), f"not {ROUNDS} rounds with seed {seed}"
            )
            yield result(f"{label}.{case.name}", wrong, ended.log)
        if ended.errors:
            yield result(label, [*ended.errors, f"REDZONE_SEED={seed}"], ended.log)
