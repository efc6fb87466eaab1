# SPDX-License-Identifier: MIT
"""Ten minutes of random traffic with planted bugs: all are reported, nothing else is, memory does not grow.

docs/dev/soak.md says what runs and what is compared. --seconds and --seed choose the length and the sequence,
--arch the kernel.
A tag-based mode sees some bugs with a known probability only: their number is compared with it.
"""

import random

from redzone.build.builder import KERNEL, check_kernel, preset_name
from redzone.core.arch import DEFAULT
from redzone.core.base import Failure
from redzone.machine import qemu
from redzone.testing import soak
from redzone.testing.runner import result

SLOW = True
MODES = ("generic", "sw_tags", "hw_tags", "off")
OPTIONS = ("seconds", "seed", "filter", "arch")
# The value of --filter: a kernel without a mode whose objects are sampled.
SAMPLE = "sample"
TOOLS = (*KERNEL, "clang-19")
SECONDS = 600
CPUS = 4
MEMORY = "512M"
# The machine may wait for the host: allow a few times the length, plus the boot.
TIMEOUT_FACTOR = 4
TIMEOUT_MORE = 300
NOTE_SECONDS = 10
# The ring of allocations must not lose a planted bug's before the bug is reported, however slow a thread is.
RING = "kasan.stack_ring_size=262144"


def run(context):
    seconds = context.seconds or SECONDS
    seed = context.seed if context.seed is not None else random.randrange(1 << 32)
    sampled = context.filter == SAMPLE
    if context.filter and not sampled:
        raise Failure(f"the suite 'soak' takes --filter {SAMPLE} only: objects are sampled, without a mode")
    if sampled and context.mode not in (None, "off"):
        raise Failure(f"--filter {SAMPLE} with --mode {context.mode}: sampling is tested without a mode")
    mode = "off" if sampled else context.mode or "generic"
    features = ["sample"] if sampled else None
    arch = context.arch or DEFAULT
    check_kernel(arch, mode)
    preset = preset_name(mode, features=features, arch=arch)
    ready, skipped = context.kernels([(mode,)], lambda one: preset, lambda one: "all", "redzone-soak")
    yield from skipped
    for _, image in ready:
        machine = {"image": image.image, "arch": arch, "mode": mode}
        yield from _run(context, machine, seconds, seed, ["kasan.sample=1"] if sampled else [])


def _run(context, machine, seconds, seed, append):
    """machine: what differs from one qemu.Machine to another."""
    mode = machine["mode"]
    context.note(f"{seconds} s, seed {seed}: repeat with --seconds {seconds} --seed {seed}")
    target = qemu.Machine(
        **machine,
        smp=CPUS,
        memory=MEMORY,
        append=[
            "kasan_multi_shot",
            "kasan.repeat=full",
            *append,
            *([RING] if mode.endswith("_tags") else []),
        ],
        arguments=[f"seconds={seconds}", f"seed={seed}"],
        timeout=seconds * TIMEOUT_FACTOR + TIMEOUT_MORE,
    )
    seen = soak.Console()
    reports = []
    noted = 0

    def follow(text, event, value):
        nonlocal noted
        sample = seen.feed(text)
        if event == "report":
            reports.append(value)
        if sample and sample["seconds"] >= noted + NOTE_SECONDS:
            noted = sample["seconds"]
            context.note(
                f"{noted} of {seconds} s: {sample['steps']} steps, {len(reports)} reports, "
                f"{sample['used']} pages in use, {sample['quarantine'] >> 20} MiB in quarantine"
            )

    outcome, _, log = context.boot(mode, target, follow)
    yield from results(seen, outcome, log)
    chances = soak.chance_text(outcome.reader.reports, seen.planted)
    if chances:
        context.note(chances)
    if len(seen.quiet) > 1:
        context.note(f"at rest, middle and end of the run: {soak.memory_text(seen.quiet)}")
        context.note(f"{seen.quiet[-1]['steps']} steps, {len(reports)} reports")


def results(seen, outcome, log):
    """Yield the results of a run: @seen is its console, @outcome how it ended."""

    error = None
    if outcome.reader.panic or not outcome.reader.halted:
        error = outcome.message or "the kernel did not come to its end"
    elif not seen.begin or not seen.end or not seen.quiet:
        error = "the soak test did not come to its end"
    yield result("ends", error, log)
    if error:
        return
    errors, others = soak.judge_reports(outcome.reader.reports, seen.planted)
    for name, text in errors.items():
        if seen.begin["bugs"]:
            yield result(f"planted.{name}", text, log)
    errors, other_locks = soak.judge_locks(seen.lock_reports, seen.locks)
    for name, text in errors.items():
        if seen.begin["bugs"]:
            yield result(f"planted-lock.{name}", text, log)
    yield result("no-other-report", others + other_locks, log)
    failures = list(seen.failures)
    if seen.killed != seen.end["killed"]:
        failures.append(f"{seen.killed} threads were killed, {seen.end['killed']} of them by planted bugs")
    if seen.end["no_memory"]:
        failures.append(f"{seen.end['no_memory']} allocations failed: the machine has too little memory")
    yield result("nothing-else-wrong", failures, log)
    for key, text in soak.judge_memory(seen.quiet, seen.begin["seconds"]).items():
        yield result(f"no-growth.{key}", text, log)
