# SPDX-License-Identifier: MIT
"""Hardware tags: CPUs that can do less, kasan=off, late reports, sampling of page allocations, slack."""

import re

from redzone.build import builder
from redzone.core import base, mteqemu
from redzone.core.base import ROOT
from redzone.machine import ktap, qemu
from redzone.testing.runner import FAIL, PASS, SKIP, Result
from redzone.testing.suites.kunit import wrong_with

TOOLS = (*builder.KERNEL, "clang-19")
MODES = ("hw_tags",)
TIMEOUT = 300
# Suites that expect no report, so that they hold whether KASAN is on or not.
SUITES = "kunit.filter_glob=lib,sched,pages,slab,vmalloc,workqueue"
# With kasan.slack=check, the suite of its own and code that is legal.
SLACK_SUITES = "kunit.filter_glob=kasan_slack,kasan_clean,slab,mempool,fault_inject"
NO_TAGS = "kasan: this CPU has no memory tags (MTE): KASAN is off, its parameters are ignored"
NOT_WANTED = "kasan: kasan=off: KASAN is off, nothing is checked"
CANNOT = "kasan.{}: CPU 0 cannot do that ({}); {}"
# CPUs that can do less: {name: (boot parameters, what the kernel must say)}. Bad reads are reported at once.
LIMITED = {
    "no-asymm": (
        ["id_aa64pfr1.mte=2", "kasan.mode=asymm"],
        CANNOT.format("mode=asymm", "FEAT_MTE3", "sync is used"),
    ),
    "no-async": (
        ["id_aa64pfr1.mte_frac=15", "kasan.mode=async"],
        CANNOT.format("mode=async", "FEAT_MTE_ASYNC", "sync is used"),
    ),
    "no-store-only": (
        ["kasan.write_only=on"],
        CANNOT.format("write_only=on", "FEAT_MTE_STORE_ONLY", "reads are checked as well"),
    ),
}
STORE_ONLY = re.compile(r"kasan: MTE: .*store-only yes")
SAMPLE = re.compile(r"page_alloc\.sample=10: (\d+) of (\d+) page allocations (of the boot|in all) are tagged")

# An access that is only recorded, and then at once an end without a context switch or an interrupt.
LATE_PANIC = """\
#include <stdlib.h>

int main(void)
{
	char *volatile freed = malloc(64);

	free(freed);
	freed[20] = 1;
	__builtin_trap();
}
"""

# An overflow that stays in the last granule, of an object that lives to the end.
KEPT = """\
#include <stdlib.h>

char *volatile kept;

int main(void)
{
	kept = malloc(13);
	kept[13] = 0;
	return 0;
}
"""
REASON = "Kernel panic - not syncing: kasan.fault=panic: bad access or free"


def _result(name, wrong, log):
    return Result(name, FAIL if wrong else PASS, "\n".join(wrong), log)


def _suites(context, image, name, target_options, said):
    """Boot SUITES: they pass, nothing is reported, and the line @said comes once (None: no such check)."""
    target = qemu.Machine(image.image, smp=4, mode="hw_tags", timeout=TIMEOUT, **target_options)
    outcome, lines, log = context.boot(name, target)
    parsed = ktap.parse(lines)
    wrong = wrong_with(outcome, parsed)
    wrong += [f"reported: {report.type}" for report in outcome.reader.reports]
    if said and sum(line.endswith(said) for line in lines) != 1:
        wrong.append(f"not said, or more than once: {said}")
    return wrong, lines, log


def _plain(context, image, name, options, said):
    wrong, _, log = _suites(context, image, name, options, said)
    return _result(name, wrong, log)


def _sample(context, image):
    options = {"append": [SUITES, "kasan.page_alloc.sample=10"]}
    wrong, lines, log = _suites(context, image, "sample", options, None)
    found = [match for match in map(SAMPLE.search, lines) if match]
    if [match[3] for match in found] != ["of the boot", "in all"]:
        wrong.append("the share of tagged page allocations is not said")
    elif not 0 < int(found[1][1]) < int(found[1][2]):
        wrong.append(f"{found[1][0]}: all or none of them")
    return _result("sample", wrong, log)


def _reports(context, image, kasan_mode):
    """Boot the example with two bugs; the second is a read of freed memory."""
    target = qemu.Machine(
        image.image, mode="hw_tags", append=["kasan_multi_shot", f"kasan.mode={kasan_mode}"], timeout=TIMEOUT
    )
    outcome, lines, log = context.boot(f"report-{kasan_mode}", target)
    wrong = [] if outcome.status == base.REPORTED else [f"status {outcome.status}: {outcome.message}"]
    text = "\n".join(lines)
    late = "Asynchronous fault: no details available" in text
    if late != (kasan_mode == "async"):
        wrong.append("an asynchronous report" if late else "no asynchronous report")
    if not late and "BUG: KASAN: slab-use-after-free in message_length+" not in text:
        wrong.append("no report of the read of freed memory")
    return _result(f"report.{kasan_mode}", wrong, log)


def _limited(context, image, name):
    """A CPU that cannot do what the parameters ask for: the kernel says so, and checks more instead."""
    append, said = LIMITED[name]
    target = qemu.Machine(image.image, mode="hw_tags", append=["kasan_multi_shot", *append], timeout=TIMEOUT)
    outcome, lines, log = context.boot(name, target)
    if name == "no-store-only" and any(map(STORE_ONLY.search, lines)):
        return Result(name, SKIP, "QEMU's CPU can check stores only")
    text = "\n".join(lines)
    wrong = [] if outcome.status == base.REPORTED else [f"status {outcome.status}: {outcome.message}"]
    if sum(line.endswith(said) for line in lines) != 1:
        wrong.append(f"not said, or more than once: {said}")
    if "Asynchronous fault" in text or "BUG: KASAN: slab-use-after-free in message_length+" not in text:
        wrong.append("no report of the read of freed memory at once")
    return _result(name, wrong, log)


def _late_panic(context, image):
    """The report comes before the panic, not inside it: there it would cut both short."""
    append = ["kasan.mode=async", "kasan.fault=panic", "panic_on_oops=1"]
    target = qemu.Machine(image.image, mode="hw_tags", append=append, timeout=TIMEOUT)
    outcome, lines, log = context.boot("late-panic", target)
    wrong = [] if outcome.status == base.REPORTED else [f"status {outcome.status}: {outcome.message}"]
    wrong += [] if any(line.endswith(REASON) for line in lines) else [f"not said: {REASON}"]
    return _result("late-panic", wrong, log)


def _slack(context, image, cpus):
    """Boot SLACK_SUITES with kasan.slack=check: they pass, and the cases that need the parameter run."""
    append = [SLACK_SUITES, "kasan.slack=check"]
    target = qemu.Machine(image.image, smp=cpus, mode="hw_tags", append=append, timeout=TIMEOUT)
    outcome, lines, log = context.boot(f"slack-{cpus}cpu", target)
    parsed = ktap.parse(lines)
    wrong = wrong_with(outcome, parsed)
    cases = [case for case in parsed.cases if case.name.startswith("kasan_slack.")]
    wrong += [f"{case.name}: {case.status}" for case in cases if case.status == SKIP]
    if not cases:
        wrong.append("the suite kasan_slack did not run")
    return _result(f"slack.{cpus}cpu", wrong, log)


def _slack_at_the_end(context, image):
    """A program that never frees its object: it is compared when the program ends."""
    target = qemu.Machine(image.image, mode="hw_tags", append=["kasan.slack=check"], timeout=TIMEOUT)
    outcome, lines, log = context.boot("slack-at-the-end", target)
    wrong = [] if outcome.status == base.REPORTED else [f"status {outcome.status}: {outcome.message}"]
    if sum("Write of size 1 at addr " in line and " found in a walk by task " in line for line in lines) != 1:
        wrong.append("no report of the object that is never freed")
    return _result("slack.at-the-end", wrong, log)


def run(context):
    reason = mteqemu.reason()
    if reason:
        yield Result("all", SKIP, reason)
        return
    with base.scratch("hw-tags-") as folder:
        program = builder.Program("hw_tags_bugs", [ROOT / "examples" / "heap_bugs.c"])
        source = folder / "late_panic.c"
        source.write_text(LATE_PANIC, encoding="utf-8")
        kept = folder / "kept.c"
        kept.write_text(KEPT, encoding="utf-8")
        programs = [
            program,
            builder.Program("hw_tags_late_panic", [source]),
            builder.Program("hw_tags_kept", [kept]),
        ]
        preset = builder.preset_name(mode="hw_tags")
        built = context.build(preset, targets=["redzone"], programs=programs, copy_to=folder)
        image = built["redzone"]

        bugs = built["hw_tags_bugs"]
        # A parameter with a valid value, and one that only this mode has: both are silently ignored.
        parameters = [SUITES, "kasan.mode=async", "kasan.fault=panic"]
        parts = [
            (_plain, image, "cortex-a72", {"cpu": "cortex-a72", "append": parameters}, NO_TAGS),
            (_plain, image, "no-tags", {"append": [SUITES, "id_aa64pfr1.mte=1"]}, NO_TAGS),
            *((_limited, bugs, name) for name in LIMITED),
            (_plain, image, "off", {"append": [SUITES, "kasan=off"]}, NOT_WANTED),
            (_sample, image),
            *((_reports, bugs, kasan_mode) for kasan_mode in ("sync", "async", "asymm")),
            (_late_panic, built["hw_tags_late_panic"]),
            *((_slack, image, cpus) for cpus in (1, 4)),
            (_slack_at_the_end, built["hw_tags_kept"]),
        ]
        yield from context.each(lambda part: part[0](context, *part[1:]), parts)
