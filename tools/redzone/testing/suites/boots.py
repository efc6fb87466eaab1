# SPDX-License-Identifier: MIT
"""Ten boots in a row end alike; under -icount two boots print the same console."""

import difflib

from redzone.build import builder
from redzone.core import base, mteqemu
from redzone.core.base import ROOT
from redzone.machine import console, qemu
from redzone.testing.runner import SKIP, Result, result, when

TOOLS = (*builder.KERNEL, "clang-19")
BOOTS = 10
TIMEOUT = 300


def shape(outcome):
    """Return what must be the same in every boot: how it ended, and each report's headline."""
    reports = [(report.title, report.access.kind, report.access.size) for report in outcome.reader.reports]
    return outcome.status, outcome.reader.halted, reports


def run(context):
    with base.scratch("boots-") as folder:
        expected = {"heap_bugs": base.REPORTED, "clean": base.OK}
        programs = [builder.Program(f"boots_{name}", [ROOT / "examples" / f"{name}.c"]) for name in expected]
        built = context.build(builder.preset_name(), programs=programs, copy_to=folder)
        images = {name: built[f"boots_{name}"] for name in expected}

        for name, image in images.items():
            for cpus in (1, 4):

                def boot(number, name=name, image=image, cpus=cpus):
                    target = qemu.Machine(image.image, smp=cpus, append=["kasan_multi_shot"], timeout=TIMEOUT)
                    outcome, _, log = context.boot(f"{name}-{cpus}cpu-{number}", target)
                    return shape(outcome), outcome.message, log

                ends = list(context.each(boot, range(1, BOOTS + 1)))
                first = ends[0][0]
                odd = [end for end in ends if end[0] != first or end[0][0] != expected[name]]
                worst, message, log = (odd or ends)[0]
                detail = f"{len(odd)} of {BOOTS} boots ended otherwise: {message or worst}"
                yield result(f"{BOOTS}-boots.{name}-{cpus}cpu", when(odd, detail), log)

        yield from _identical(context, images["heap_bugs"].image, "generic", "")
        if reason := mteqemu.reason():
            yield Result("icount-identical.hw_tags", SKIP, reason)
            return
        # Another QEMU, whose devices work otherwise.
        built = context.build(builder.preset_name(mode="hw_tags"), programs=programs[:1], copy_to=folder)
        yield from _identical(context, built["boots_heap_bugs"].image, "hw_tags", "hw_tags.")


def _identical(context, image, mode, prefix):
    """Yield whether two boots of @image under -icount print the same."""
    for cpus in (1, 4):
        texts = []
        for number in (1, 2):
            target = qemu.Machine(
                image, smp=cpus, append=["kasan_multi_shot"], mode=mode, icount=True, timeout=TIMEOUT
            )
            outcome, lines, log = context.boot(f"icount-{prefix}{cpus}cpu-{number}", target)
            texts.append(lines)
        title = f"icount-identical.{prefix}{cpus}cpu"
        stamped = any(console.split(line)[0] for line in texts[0])
        wrong = when(outcome.status != base.REPORTED, outcome.message or f"status {outcome.status}")
        wrong += when(not stamped, "no line has a timestamp: nothing was compared")
        wrong += list(difflib.unified_diff(*texts, "boot 1", "boot 2", lineterm="", n=0))[:12]
        yield result(title, wrong, log)
