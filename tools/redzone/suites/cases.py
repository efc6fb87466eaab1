# SPDX-License-Identifier: MIT
"""Programs with a known verdict: type, access, size and line of the first report.

The verdicts are in INDEX.tsv beside the programs."""

import csv
import shutil
from dataclasses import dataclass
from pathlib import Path

from redzone import builder, machine, symbolize, view
from redzone.base import BUILD
from redzone.runner import FAIL, PASS, SKIP, Result

TOOLS = ("cmake", "ninja", "clang-19", "lld", "nm", "objcopy", "symbolizer", "qemu-arm64")
TIMEOUT = 60


@dataclass(frozen=True)
class Case:
    """One row of INDEX.tsv; fields that are not to be compared are None."""

    name: str
    path: Path
    verdict: str
    access: str | None
    size: int | None
    line: int | None


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
                )
            )
    return cases


def judge(case, outcome, symbolizer):
    """Return what differs from the row, as a list of texts."""
    reports = outcome.reader.reports
    if case.verdict == "clean":
        if reports:
            return [f"a clean program, but: {reports[0].type}"]
        return [] if outcome.status == 0 else [outcome.message or f"status {outcome.status}"]
    if not reports:
        return [f"no report, expected {case.verdict}; {outcome.message or 'the program ended well'}"]
    report = reports[0]
    wrong = []
    if report.type != case.verdict:
        wrong.append(f"type {report.type}, expected {case.verdict}")
    if case.access is not None and report.access != case.access:
        wrong.append(f"access {report.access or 'none'}, expected {case.access}")
    if case.size is not None and report.size != case.size:
        wrong.append(f"size {report.size}, expected {case.size}")
    if case.line is not None:
        frames = report.traces.get("call", [])
        for frame in frames:
            symbolizer.frame(frame)
        source = view.own_source(frames, {str(case.path)})
        if source is None or source.path != str(case.path):
            wrong.append("no frame of the trace lies in the program")
        elif source.line != case.line:
            wrong.append(f"line {source.line}, expected {case.line}")
    if not report.complete:
        wrong.append("the report is not complete")
    return wrong


def _configuration(context, cases, where):
    folder = BUILD / "runs" / f"cases-{where}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    programs = [builder.Program(f"case_{case.name}", [case.path]) for case in cases]
    preset = builder.preset_name(instrumentation=where)
    images = context.build(preset, programs=programs, copy_to=folder)

    def one(case):
        image = images[f"case_{case.name}"]
        target = machine.Machine(image.image, append=["kasan_multi_shot"], timeout=TIMEOUT)
        outcome, _, log = context.boot(f"{where}/{case.name}", target)
        with symbolize.Symbolizer(image.elf) as symbolizer:
            wrong = judge(case, outcome, symbolizer)
        return Result(f"{where}.{case.name}", FAIL if wrong else PASS, "; ".join(wrong), log)

    yield from context.each(one, cases)
    shutil.rmtree(folder, ignore_errors=True)


def run(context):
    if context.cases_dir is None:
        reason = (
            "no cases folder: ../shared/cases does not exist, and neither --cases-dir nor "
            "REDZONE_CASES is given"
        )
        yield Result("all", SKIP, reason)
        return
    cases = load(context.cases_dir)
    for where in ("inline", "outline"):
        yield from _configuration(context, cases, where)
