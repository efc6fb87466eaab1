# SPDX-License-Identifier: MIT
"""Judges the console of the soak test (kernel/tests/soak/): planted bugs, other reports, memory.

A kernel function soak_bug_NAME() commits each planted bug, and the call trace of the report names it. Memory
is compared when the kernel is at rest ("quiet" lines): every worker has freed everything, queues are flushed,
and caches and the quarantine are empty.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass, field

from redzone.core import base
from redzone.machine import console

_LINE = re.compile(r"^soak: (?P<what>[a-z]+) ?(?P<rest>.*)$")
_PAIR = re.compile(r"(\w+)=(\d+)")
_ODDS = re.compile(r"1/(\d+)")
_FAILED = re.compile(r"^soak: FAILED: (.*)$")
# The kernel's lines about faults that KASAN does not see.
_COMPLAINT = re.compile(
    r"^(WARNING: |BUG:? (?!KASAN: |lockdep: )|invalid free of |page allocation failure|vmalloc: no memory"
    r"|module \S+: its symbols stay|kasan: stack depot full)"
)
_KILLED = re.compile(r"^Thread \S+ is killed$")
_PREFIX = "soak_bug_"
# A report of the lock validator. The function in its title, soak_lock_NAME(), has committed the bug.
_LOCK_REPORT = re.compile(r"^BUG: lockdep: (?P<kind>.+?)(?: in (?P<where>\S+?)\+0x\S+(?: \[\S+\])?)?$")
_LOCK_PREFIX = "soak_lock_"

# {key of a quiet line: (its name, growth allowed over the last half as a share, as a number)}. The numbers
# allow for differences from one rest to the next: workqueue workers, per-CPU objects and the like. The depot
# keeps each distinct stack trace once, and rare traces come late: in twice the time it grows by about a
# fifth. A depot that stored traces again would double.
LIMITS = {
    "live": ("slab objects", 0, 32),
    "areas": ("vmalloc areas", 0, 4),
    "slab": ("slab pages", 0, 24),
    "shadow": ("shadow pages of vmalloc and module space", 0, 8),
    "traces": ("stack traces in the depot", 0.4, 16),
    "used": ("pages in use", 0, 48),
}
# Counts that grow in the first minutes, so a shorter run says nothing about them.
SLOW_KEYS = ("slab", "shadow", "traces", "used")
LONG_RUN = 300


# A right kernel is called wrong with less than this probability, for each kind of bug that is left to chance.
FALSE_ALARM = 1e-9


@dataclass
class Planted:
    """A kind of bug: its types in reports, which traces its report has, how often it was planted.

    missed: None, or the lowest and the highest probability with which the kernel misses it.
    """

    name: str
    types: tuple
    traces: tuple
    count: int
    missed: tuple | None = None


@dataclass
class PlantedLock:
    """A kind of lock bug: its kind in reports, None if it is no bug; how often it was planted."""

    name: str
    kind: str | None
    count: int


@dataclass
class Console:
    """The contents of a console of the soak test.

    begin, end: {key: number} of those lines, None without them. busy, quiet: samples, {key: number} with
    "seconds". planted: {name: Planted}, locks: {name: PlantedLock}. lock_reports: (kind, function) of each
    report of the lock validator. failures: what is wrong apart from reports. killed: threads.
    """

    begin: dict | None = None
    end: dict | None = None
    busy: list = field(default_factory=list)
    quiet: list = field(default_factory=list)
    planted: dict = field(default_factory=dict)
    locks: dict = field(default_factory=dict)
    lock_reports: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    killed: int = 0

    def feed(self, line):
        """Take a console line. Return the sample that it holds, or None."""
        text = console.split(line)[1]
        failed = _FAILED.match(text)
        if failed:
            self.failures.append(failed[1])
        elif _COMPLAINT.match(text):
            self.failures.append(text)
        elif _KILLED.match(text):
            self.killed += 1
        lock = _LOCK_REPORT.match(text)
        if lock:
            self.lock_reports.append((lock["kind"], lock["where"] or ""))
        match = _LINE.match(text)
        if not match:
            return None
        numbers = {key: int(value) for key, value in _PAIR.findall(match["rest"])}
        if match["what"] in ("begin", "end"):
            setattr(self, match["what"], numbers)
        elif match["what"] in ("busy", "quiet"):
            numbers["seconds"] = int(match["rest"].split()[0])
            getattr(self, match["what"]).append(numbers)
            return numbers
        elif match["what"] == "planted":
            name, types, traces, count, *odds = match["rest"].split()
            traces = () if traces == "none" else tuple(traces.split(","))
            odds = tuple(1 / int(number) for number in _ODDS.findall(odds[0])) if odds else None
            self.planted[name] = Planted(name, tuple(types.split(",")), traces, int(count), odds)
        elif match["what"] == "lock":
            name, count, kind = match["rest"].split(maxsplit=2)
            self.locks[name] = PlantedLock(name, None if kind == "none" else kind, int(count))
        return None


def bug_of(report):
    """Return the name of the planted bug that @report is about, or None."""
    for frame in report.frames("call"):
        # Compilers add suffixes to the names of function copies.
        name = frame.name.partition(".")[0]
        if name.startswith(_PREFIX):
            return name.removeprefix(_PREFIX)
    return None


def fault_of(report, planted):
    """Return what is wrong with a report of the bug @planted, or None."""
    if report.truncated:
        return "it is not complete"
    if report.type not in planted.types:
        return f"it says {report.type}, not {' or '.join(planted.types)}"
    for trace in planted.traces:
        if not report.frames(trace):
            return f"it has no trace '{trace}'"
    allocated = report.frames("allocated")
    if "allocated" in planted.traces and not any(f.name.startswith(("soak_", "plant_")) for f in allocated):
        return f"it was not allocated by {allocated[0].name}()"
    if planted.name.startswith("module_") and not any(f.module for f in report.frames("call")):
        return "no frame names a module"
    return None


def tail(count, number, probability, at_least):
    """Return how probable at least (else at most) @number of @count events are, each with @probability."""
    log_p, log_q = math.log(probability), math.log1p(-probability)
    total = math.lgamma(count + 1)
    return math.fsum(
        math.exp(total - math.lgamma(n + 1) - math.lgamma(count - n + 1) + n * log_p + (count - n) * log_q)
        for n in (range(number, count + 1) if at_least else range(number + 1))
    )


def judge_chance(bug, reported):
    """Return what is wrong with @reported reports of a bug that the kernel may miss, or None."""
    missed = bug.count - reported
    least, most = bug.missed
    if missed < 0:
        return f"planted {base.plural(bug.count, 'time')}, reported {reported} times"
    for probability, at_least in ((least, False), (most, True)):
        if tail(bug.count, missed, probability, at_least) < FALSE_ALARM:
            return f"missed {missed} of {base.plural(bug.count, 'time')}; expected {expected_text(bug)}"
    return None


def expected_text(bug):
    """Return how many of the bugs @bug should be missed, for people."""
    least, most = (round(bug.count * probability, 1) for probability in bug.missed)
    return f"{least:g} to {most:g}"


def chance_text(reports, planted):
    """Return a line about the bugs that are left to chance; "" if there are none."""
    seen = Counter(bug_of(report) for report in reports)
    return "; ".join(
        f"{name}: {bug.count - seen[name]} of {bug.count} missed, expected {expected_text(bug)}"
        for name, bug in planted.items()
        if bug.missed
    )


def judge_reports(reports, planted):
    """Compare @reports with what was @planted: {name: Planted}.

    Returns ({name: error or None}, [headline of each other report]).
    """
    seen = Counter()
    faults = {}
    others = []
    for report in reports:
        name = bug_of(report)
        if name not in planted:
            others.append(report.title)
            continue
        seen[name] += 1
        fault = fault_of(report, planted[name])
        if fault:
            faults.setdefault(name, f"report {seen[name]}: {fault}")
    errors = {}
    for name, bug in planted.items():
        errors[name] = faults.get(name)
        if not bug.count:
            errors[name] = "it was never planted: the run was too short"
        elif bug.missed:
            errors[name] = errors[name] or judge_chance(bug, seen[name])
        elif seen[name] != bug.count:
            errors[name] = f"planted {base.plural(bug.count, 'time')}, reported {seen[name]} times"
    return errors, others


def judge_locks(reports, planted):
    """Compare @reports, (kind, function) each, with the lock bugs that were @planted: {name: PlantedLock}.

    Returns ({name: error or None}, [text of each other report]).
    """
    seen = Counter()
    faults = {}
    others = []
    for kind, where in reports:
        name = where.partition(".")[0].removeprefix(_LOCK_PREFIX)
        bug = planted.get(name) if where.startswith(_LOCK_PREFIX) else None
        if bug is None or bug.kind is None:
            others.append(f"{kind} in {where}")
            continue
        seen[name] += 1
        if kind != bug.kind:
            faults.setdefault(name, f"report {seen[name]}: it says {kind}, not {bug.kind}")
    errors = {}
    for name, bug in planted.items():
        wanted = bug.count if bug.kind else 0
        errors[name] = faults.get(name)
        if not bug.count:
            errors[name] = "it was never planted: the run was too short"
        elif seen[name] != wanted:
            errors[name] = f"planted {base.plural(bug.count, 'time')}, reported {seen[name]} times"
    return errors, others


def growth(samples, key):
    """Return (before, after): memory at the start and the end of the last half of the quiet @samples.

    Each is the better of two samples, so that a single jump, or a decrease, does not count as growth.
    """
    half = samples[(len(samples) - 1) // 2 :]
    before = max(sample[key] for sample in half[:2])
    after = min(sample[key] for sample in half[-2:])
    return before, after


def judge_memory(samples, seconds):
    """Return {key: error or None} of a run of @seconds, for the keys of LIMITS that it has figures for."""
    errors = {}
    for key, (title, share, number) in LIMITS.items():
        if key in SLOW_KEYS and seconds < LONG_RUN:
            continue
        before, after = growth(samples, key)
        limit = before + max(int(before * share), number)
        errors[key] = None
        if after > limit:
            errors[key] = f"{title}: {before} in the middle of the run, {after} at its end; allowed: {limit}"
    return errors


def memory_text(samples):
    """Return a line about memory in the middle and at the end of the run."""
    parts = []
    for key, (title, _, _) in LIMITS.items():
        before, after = growth(samples, key)
        parts.append(f"{title} {before} -> {after}")
    return "; ".join(parts)
