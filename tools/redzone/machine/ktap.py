# SPDX-License-Identifier: MIT
"""Reads KTAP (and TAP) results out of a kernel console or a test program's output."""

import re
from dataclasses import dataclass, field

from redzone.decode.shapes import AGAIN
from redzone.machine import console

_RESULT = re.compile(
    r"^(?P<indent> *)(?P<not>not )?ok (?P<number>\d+)(?: -)? ?(?P<name>.*?)"
    r"(?: # (?P<directive>SKIP|skip)\b:? ?(?P<reason>.*))?$"
)
_PLAN = re.compile(r"^(?P<indent> *)1\.\.(?P<count>\d+)(?: *#.*)?$")
_VERSION = re.compile(r"^ *K?TAP version \d+$")
_BUG = re.compile(r"^BUG: (?:KASAN|lockdep): ")


@dataclass
class Case:
    """One result without subresults.

    name: includes the names of its parents, "suite.case". status: "pass", "fail" or "skip". detail: the
    reason for a skip, or the lines that explain a failure. reports: printed while it ran, by KASAN or by the
    lock validator.
    """

    name: str
    status: str
    detail: str = ""
    reports: int = 0


@dataclass
class Parsed:
    """All results of one output. errors: what is wrong with the output itself, such as a missing result."""

    cases: list = field(default_factory=list)
    errors: list = field(default_factory=list)

    def by_name(self):
        return {case.name: case for case in self.cases}


def parse(lines):
    """Parse console @lines. Lines that are not KTAP become the detail of the next failure."""
    parsed = Parsed()
    plans = {}
    seen = {}
    children = {}
    context = []
    reports = 0
    started = False
    for line in lines:
        text = console.split(line)[1].rstrip()
        if _VERSION.match(text):
            started = True
            continue
        plan = _PLAN.match(text)
        if plan and started:
            plans[len(plan["indent"])] = int(plan["count"])
            continue
        result = _RESULT.match(text) if started else None
        if result is None:
            if _BUG.match(text) or AGAIN.match(text):
                reports += 1
            if text.strip() and started:
                context.append(text.strip())
            continue
        indent = len(result["indent"])
        seen[indent] = seen.get(indent, 0) + 1
        below = [depth for depth in children if depth > indent and children[depth]]
        skipped = (result["directive"] or "").upper() == "SKIP"
        status = "skip" if skipped else "fail" if result["not"] else "pass"
        name = result["name"].strip() or result["number"]
        if int(result["number"]) != seen[indent]:
            parsed.errors.append(f"result {seen[indent]} is numbered {result['number']}: {text.strip()}")
        for depth in [depth for depth in seen if depth > indent]:
            if depth in plans and plans[depth] != seen[depth]:
                parsed.errors.append(f"{name}: {plans[depth]} results planned, {seen[depth]} seen")
        if below:
            cases = [case for depth in sorted(below) for case in children.pop(depth)]
            for case in cases:
                case.name = f"{name}.{case.name}"
            if status == "fail" and not any(case.status == "fail" for case in cases):
                cases.append(Case(name, "fail", "\n".join(context[-20:])))
        else:
            detail = result["reason"] or "" if skipped else ""
            if status == "fail":
                detail = "\n".join(context[-20:])
            cases = [Case(name, status, detail, reports)]
            reports = 0
        children.setdefault(indent, []).extend(cases)
        for depth in [depth for depth in seen if depth > indent]:
            seen.pop(depth)
            plans.pop(depth, None)
        context = []
    for depth in sorted(children):
        parsed.cases.extend(children[depth])
    if not started:
        parsed.errors.append("no KTAP output")
    elif any(depth > 0 for depth in children if children[depth]):
        parsed.errors.append("the output ends inside a suite")
    if plans.get(0, seen.get(0, 0)) != seen.get(0, 0):
        parsed.errors.append(f"{plans[0]} suites planned, {seen.get(0, 0)} seen")
    return parsed
