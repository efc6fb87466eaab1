# SPDX-License-Identifier: MIT
"""Programs with a known verdict: type, access, size and line of the first report.

The programs are in tests/cases/ unless --cases-dir or REDZONE_CASES names another folder; the verdicts
are in INDEX.tsv beside them. All programs run in one boot, as with `./redzone run --each`, and two of each
verdict run in a kernel of their own; with --mode every program does both. With software tags the column
`tags` says what must be found: short granules turn missed-in-granule into caught, on the stack only where the
compiler lays them out (inline). With hardware tags it is the column `hw_tags`, or `mte_stack` if stack
variables have tags: a row that says missed must give no report. With --arch they run in one boot of each
kernel of that architecture."""

import collections
import contextlib
import csv
from dataclasses import dataclass, replace
from pathlib import Path

from redzone.build import builder
from redzone.core import base
from redzone.core.arch import DEFAULT
from redzone.core.base import Failure
from redzone.decode import symbols
from redzone.machine import qemu
from redzone.run import each, summary
from redzone.testing.runner import FAIL, SKIP, Result, result, when

TOOLS = (*builder.KERNEL, "clang-19", "symbolizer")
TIMEOUT = 300
# All programs in one boot: (mode, compiler, instrumentation), and what is special: the feature
# +taggedglobals, which the rows of globals need; tags for stack variables.
TOGETHER = (
    ("generic", "clang-19", "inline"),
    ("generic", "clang-19", "outline"),
    ("generic", "gcc", "inline"),
    ("generic", "gcc", "outline"),
    ("sw_tags", "clang-19", "inline"),
    ("sw_tags", "clang-19", "outline"),
    ("sw_tags", "gcc", "outline"),
    ("sw_tags", "clang-19", "inline", "with_globals"),
    ("hw_tags", "clang-19", "sync"),
    ("hw_tags", "gcc", "sync"),
    ("hw_tags", "clang-19", "sync", "stack"),
)
MODES = ("generic", "sw_tags", "hw_tags")
OPTIONS = ("rest", "arch")
QUICK = "part"
IN_QUICK = (TOGETHER[0], ("sw_tags", "clang-19", "inline"), ("hw_tags", "clang-19", "sync"))
# The same compilers and kinds of check in other combinations.
REST = (
    ("generic", "gcc", "outline"),
    ("sw_tags", "clang-19", "outline"),
    ("sw_tags", "gcc", "outline"),
    ("sw_tags", "clang-19", "inline", "with_globals"),
    ("hw_tags", "clang-19", "sync", "stack"),
    ("hw_tags", "gcc", "sync"),
)
# Names that a report by tags may use for a bug that Generic mode recognizes by the value of its redzone.
TAGS_TYPES = {
    "use-after-scope": ("invalid-access", "stack-out-of-bounds"),
    "stack-out-of-bounds": ("stack-out-of-bounds", "invalid-access"),
    "slab-out-of-bounds": ("slab-out-of-bounds", "invalid-access"),
    "slab-use-after-free": ("slab-use-after-free", "invalid-access"),
}


@dataclass(frozen=True)
class Case:
    """One row of INDEX.tsv; fields that are not compared are None."""

    name: str
    path: Path
    verdict: str
    access: str | None
    size: int | None
    line: int | None
    tags: str = "n/a"
    hw_tags: str | None = None
    mte_stack: str | None = None


def load(folder):
    """Return the cases of @folder/INDEX.tsv."""

    def value(text):
        return None if text == "-" else text

    cases = []
    with open(folder / "INDEX.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            size, line = value(row["size"]), value(row["line"])
            cases.append(
                Case(
                    Path(row["file"]).stem,
                    folder / row["file"],
                    row["verdict"],
                    value(row["access"]),
                    int(size) if size else None,
                    int(line) if line else None,
                    row.get("tags", "n/a"),
                    row.get("hw_tags"),
                    row.get("mte_stack"),
                )
            )
    return cases


def one_of_each(cases):
    """Return the first two cases of each verdict."""
    count = collections.Counter()
    chosen = []
    for case in cases:
        count[case.verdict] += 1
        if count[case.verdict] <= 2:
            chosen.append(case)
    return chosen


def judge(case, outcome, known, compare_with):
    """Return what differs from the row, as a list of texts."""
    reports = outcome.reader.reports
    if reports and case.line is not None:
        known.look_up(reports[:1])
    end = "" if outcome.status == 0 else outcome.message or f"status {outcome.status}"
    return compare_with(case, reports[0] if reports else None, end)


def compare(case, report, end):
    """Return what differs from the row, as a list of texts.

    report: the program's first, or None, symbolized if the row has a line. end: how the program ended, "" if
    well.
    """
    if case.verdict in ("missed", "clean"):
        return [f"reported as {report.type}, but the index says {case.verdict}"] if report else when(end, end)
    if not report:
        return [f"no report, expected {case.verdict}; {end or 'the program ended well'}"]
    wrong = when(report.type != case.verdict, f"type {report.type}, expected {case.verdict}")
    access = report.access
    if case.access is not None and access.kind != case.access.lower():
        wrong.append(f"access {access.kind or 'none'}, expected {case.access}")
    if case.size is not None and access.size != case.size:
        wrong.append(f"size {access.size}, expected {case.size}")
    if case.line is not None:
        source = summary.own_source(report.frames("call"), {str(case.path)})
        if source is None or source.path != str(case.path):
            wrong.append("no frame of the trace lies in the program")
        elif source.line != case.line:
            wrong.append(f"line {source.line}, expected {case.line}")
    wrong += when(report.truncated, "the report is not complete")
    return wrong


def for_tags(case, compiler, where, with_globals=False):
    """Return @case as expected with software tags, None if nothing is claimed."""
    wanted = case.tags
    if wanted == "tagged-globals":
        wanted = "caught" if with_globals else "n/a"
    if wanted == "missed-in-granule":
        # Only Clang's inline code makes short granules on the stack; the runtime makes those of the heap.
        on_stack = case.verdict.startswith("stack")
        wanted = "n/a" if on_stack and (compiler, where) != ("clang-19", "inline") else "caught"
    # GCC tags a scope's variables for the life of the frame.
    if case.verdict == "use-after-scope" and compiler == "gcc":
        return None
    return None if wanted == "n/a" else case


def for_hw_tags(case, stack=False):
    """Return @case as expected with the CPU's tags, None if nothing is claimed.

    stack: variables on the stack have tags. A case that must be missed has the verdict "missed"."""
    wanted = case.mte_stack if stack else case.hw_tags
    if wanted is None:
        # An index without these columns. Without more knowledge only the heap has tags.
        elsewhere = ("stack", "alloca", "use-after-scope", "global")
        wanted = "n/a" if case.verdict.startswith(elsewhere) else case.tags
        wanted = wanted if wanted in ("caught", "clean") else "n/a"
    if wanted == "n/a":
        return None
    if wanted.startswith("missed"):
        return replace(case, verdict="missed", access=None, size=None, line=None)
    # The CPU faults on one instruction, and a struct copy may consist of several.
    return replace(case, size=None)


def judge_tags(case, report, end):
    """compare() for a report by tags: the type may be the weaker one where tags cannot tell more."""
    accepted = TAGS_TYPES.get(case.verdict, (case.verdict,))
    if report and report.type in accepted:
        case = replace(case, verdict=report.type)
    return compare(case, report, end)


def _configuration(context, cases, where, mode="generic"):
    with base.scratch(f"cases-{mode}-{where}-") as folder:
        programs = [builder.Program(f"case_{case.name}", [case.path]) for case in cases]
        preset = builder.preset_name(mode=mode, instrumentation=where)
        prefix = where if mode == "generic" else f"{mode}.{where}"
        images = context.build(preset, programs=programs, copy_to=folder)

        def one(case):
            image = images[f"case_{case.name}"]
            target = qemu.Machine(image.image, append=["kasan_multi_shot"], timeout=TIMEOUT)
            outcome, _, log = context.boot(f"{prefix}/{case.name}", target)
            with symbols.Symbols([image.elf]) as known:
                wrong = judge(case, outcome, known, compare if mode == "generic" else judge_tags)
            return result(f"{prefix}.{case.name}", wrong, log)

        yield from context.each(one, cases)


def _together(context, cases, configuration, arch=DEFAULT):
    """Run all cases as programs in one boot of the kernel @configuration, one of TOGETHER, of @arch; the
    comparison is the same."""
    mode, compiler, where, *special = configuration
    with_globals, stack = (word in special for word in ("with_globals", "stack"))
    if mode == "sw_tags":
        cases = [case for case in cases if for_tags(case, compiler, where, with_globals)]
    elif mode == "hw_tags":
        cases = [wanted for case in cases if (wanted := for_hw_tags(case, stack))]
        where = "stack" if stack else where
    label = f"each.{compiler}.{where}" if mode == "generic" else f"{mode}.each.{compiler}.{where}"
    features = ["mtestack"] if stack else [] if mode == "hw_tags" else None
    if with_globals:
        features = ["taggedglobals"]
        label += ".taggedglobals"
    label = label if arch == DEFAULT else f"{arch}.{label}"
    kernel = {"mode": mode, "instrumentation": where, "compiler": compiler, "features": features}
    preset = builder.preset_name(**kernel, arch=arch)
    reason = context.missing_for(preset)
    if reason:
        yield Result(label, SKIP, reason)
        return
    with base.scratch("cases-each-") as folder:
        paths = [case.path for case in cases]
        program = builder.Program(each.NAME, paths, function="redzone_add_programs")
        image = context.build(preset, programs=[program], copy_to=folder)[each.NAME]
        options = {"append": ["kasan_multi_shot"], "mode": mode, "timeout": TIMEOUT}
        target = qemu.Machine(image.image, arch=arch, **options)
        verdicts, lines = [], []
        with contextlib.ExitStack() as opened:
            known = opened.enter_context(each.ProgramSymbols([image.elf]))
            names = [case.name for case in cases]
            follower = each.Follower(names, program.sources, known, verdicts.append)
            try:
                count, _ = each.boots(target, follower, lines.append)
            except Failure as error:
                # The other configurations go on.
                yield Result(label, FAIL, str(error), context.write_log(label, "\n".join(lines)))
                return
        log = context.write_log(label, "\n".join(lines))
        for case, verdict in zip(cases, verdicts, strict=True):
            # With hardware tags on the stack, the frame around the address tells which bug it is.
            exact = stack and case.verdict.startswith(("stack", "use-after-scope"))
            matches = compare if mode == "generic" or exact else judge_tags
            wrong = matches(case, verdict.report, verdict.title)
            yield result(f"{label}.{case.name}", wrong, log)
        # No case does anything that brings a machine down.
        yield result(f"{label}.one-boot", when(count != 1, f"{count} boots, expected one"), log)


def _of_arch(arch):
    """Return those of TOGETHER that the kernel of @arch has."""
    kernel = builder.kernel_of(arch)
    return [
        (mode, compiler, *rest)
        for mode, compiler, *rest in TOGETHER
        if mode in kernel.modes
        and compiler in kernel.compilers.get(mode, (compiler,))
        and not ("with_globals" in rest and "taggedglobals" in kernel.lacks)
    ]


def run(context):
    cases = load(context.cases_dir)
    if context.arch is not None:
        for configuration in context.of_mode(_of_arch(context.arch)):
            yield from _together(context, cases, configuration, context.arch)
        return
    # With --mode each program has a kernel of its own; without it, two of each verdict show that this works
    # as well.
    alone = []
    if context.mode == "generic":
        alone = [(cases, where) for where in ("inline", "outline")]
    elif context.mode == "sw_tags":
        alone = [([case for case in cases if for_tags(case, "clang-19", "inline")], "inline")]
    elif context.mode is None:
        alone = [(one_of_each(cases), "inline")]
    for chosen, where in [] if context.quick or context.rest else alone:
        yield from _configuration(context, chosen, where, context.mode or "generic")
    for configuration in context.of_mode(context.part(TOGETHER, IN_QUICK, REST)):
        yield from _together(context, cases, configuration)
