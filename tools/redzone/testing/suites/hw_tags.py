# SPDX-License-Identifier: MIT
"""Hardware tags: CPUs that can do less, kasan=off, late reports, sampling of page allocations, slack."""

import re

from redzone.build import builder
from redzone.core import base, mteqemu
from redzone.core.base import ROOT
from redzone.machine import qemu
from redzone.testing.runner import SKIP, Result, result, when
from redzone.testing.suites import kunit

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


def _machine(image, **options):
    return qemu.Machine(image.image, mode="hw_tags", timeout=TIMEOUT, **options)


def _suites(context, image, name, options):
    """Boot suites on four CPUs: they pass, without a report. Return (what is wrong, the kunit.Boot)."""
    boot = kunit.boot(context, name, _machine(image, **{"smp": 4, **options}))
    return boot.wrong + boot.reported, boot


def _plain(context, image, name, options, said):
    """Boot SUITES; the line @said comes once."""
    wrong, boot = _suites(context, image, name, options)
    return result(name, wrong + _said_once(said, boot.lines), boot.log)


def _said_once(said, lines):
    count = sum(line.endswith(said) for line in lines)
    return when(count != 1, f"not said, or more than once: {said}")


def _sample(context, image):
    options = {"append": [SUITES, "kasan.page_alloc.sample=10"]}
    wrong, boot = _suites(context, image, "sample", options)
    found = [match for match in map(SAMPLE.search, boot.lines) if match]
    if [match[3] for match in found] != ["of the boot", "in all"]:
        wrong.append("the share of tagged page allocations is not said")
    elif not 0 < int(found[1][1]) < int(found[1][2]):
        wrong.append(f"{found[1][0]}: all or none of them")
    return result("sample", wrong, boot.log)


def _bugs(context, image, name, *append):
    """Boot a program with bugs. Return (what is wrong with its end, lines, log)."""
    outcome, lines, log = context.boot(name, _machine(image, append=list(append)))
    wrong = when(outcome.status != base.REPORTED, f"status {outcome.status}: {outcome.message}")
    return wrong, lines, log


def _reports(context, image, kasan_mode):
    """Boot the example with two bugs; the second is a read of freed memory."""
    name = f"report-{kasan_mode}"
    wrong, lines, log = _bugs(context, image, name, "kasan_multi_shot", f"kasan.mode={kasan_mode}")
    text = "\n".join(lines)
    late = "Asynchronous fault: no details available" in text
    if late != (kasan_mode == "async"):
        wrong.append("an asynchronous report" if late else "no asynchronous report")
    if not late and "BUG: KASAN: slab-use-after-free in message_length+" not in text:
        wrong.append("no report of the read of freed memory")
    return result(f"report.{kasan_mode}", wrong, log)


def _limited(context, image, name):
    """A CPU that cannot do what the parameters ask for: the kernel says so, and checks more instead."""
    append, said = LIMITED[name]
    wrong, lines, log = _bugs(context, image, name, "kasan_multi_shot", *append)
    if name == "no-store-only" and any(map(STORE_ONLY.search, lines)):
        return Result(name, SKIP, "QEMU's CPU can check stores only")
    text = "\n".join(lines)
    wrong += _said_once(said, lines)
    if "Asynchronous fault" in text or "BUG: KASAN: slab-use-after-free in message_length+" not in text:
        wrong.append("no report of the read of freed memory at once")
    return result(name, wrong, log)


def _late_panic(context, image):
    """The report comes before the panic, not inside it: there it would cut both short."""
    append = ("kasan.mode=async", "kasan.fault=panic", "panic_on_oops=1")
    wrong, lines, log = _bugs(context, image, "late-panic", *append)
    wrong += when(not any(line.endswith(REASON) for line in lines), f"not said: {REASON}")
    return result("late-panic", wrong, log)


def _slack(context, image, cpus):
    """Boot SLACK_SUITES with kasan.slack=check: they pass, and the cases that need the parameter run."""
    options = {"smp": cpus, "append": [SLACK_SUITES, "kasan.slack=check"]}
    boot = kunit.boot(context, f"slack-{cpus}cpu", _machine(image, **options))
    cases = [case for case in boot.parsed.cases if case.name.startswith("kasan_slack.")]
    wrong = boot.wrong + [f"{case.name}: {case.status}" for case in cases if case.status == SKIP]
    wrong += when(not cases, "the suite kasan_slack did not run")
    return result(f"slack.{cpus}cpu", wrong, boot.log)


def _slack_at_the_end(context, image):
    """A program that never frees its object: it is compared when the program ends."""
    wrong, lines, log = _bugs(context, image, "slack-at-the-end", "kasan.slack=check")
    if sum("Write of size 1 at addr " in line and " found in a walk by task " in line for line in lines) != 1:
        wrong.append("no report of the object that is never freed")
    return result("slack.at-the-end", wrong, log)


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
