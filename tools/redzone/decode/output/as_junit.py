# SPDX-License-Identifier: MIT
"""`--junit`: the bugs as failed tests, and the log's own test cases, in the XML that CI systems read."""

import xml.etree.ElementTree as ET

from redzone.core import base
from redzone.decode.output import as_text as text
from redzone.decode.output import as_types as types

_FRAMES = 40


def _where(bug, roots):
    if bug.location is not None and bug.location.path:
        return f"{text.relative(bug.location.path, roots)}:{bug.location.line}"
    return text.line(bug.function)


def _details(bug, roots):
    """Return the text of a failure: the explanation, the place, the stacks."""
    report = text.main_report(bug)
    lines = [text.bug_title(bug)]
    where = _where(bug, roots)
    if where:
        lines.append(f"at {where}")
    times = base.plural(bug.count, "time", bug.at_least)
    seen = f"seen {times}, lines {bug.first_line} to {bug.last_line} of the log"
    lines.append(f"line {bug.first_line} of the log" if bug.count < 2 else seen)
    if bug.signature:
        lines.append(f"signature {text.line(bug.signature)}")
    if report is None:
        return "\n".join(lines)
    if report.explanation:
        lines += ["", *(text.line(one) for one in report.explanation)]
    for stack in report.stacks:
        lines += ["", text.line(stack.title) or stack.kind]
        for frame in stack.frames[:_FRAMES]:
            place = next((one for one in frame.locations if one.path and one.line), None)
            words = f" {text.line(frame.text)}"
            if place is not None:
                words += f"  {text.relative(place.path, roots)}:{place.line}"
            lines.append(words)
    return "\n".join(lines)


def _suite(root, name, cases):
    """Add a test suite @name to @root. Each of @cases: (class, name, tag or None, message, type, text)."""
    tags = [case[2] for case in cases]
    suite = ET.SubElement(
        root,
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(tags.count("failure")),
        errors="0",
        skipped=str(tags.count("skipped")),
    )
    for owner, title, tag, message, kind, words in cases:
        case = ET.SubElement(suite, "testcase", classname=owner, name=title)
        if tag is not None:
            child = ET.SubElement(case, tag, message=message, type=kind)
            child.text = words
    return suite


def _bug_cases(log, roots):
    cases = []
    for bug in log.bugs:
        name = text.bug_title(bug)
        owner = f"{bug.kind}.{text.line(bug.type).replace('.', '-') or 'other'}"
        tag = "skipped" if bug.known else "failure"
        message = "known: the baseline has it" if bug.known else types.text(bug)
        cases.append((owner, name, tag, message, text.line(bug.type), _details(bug, roots)))
    # Some CI systems take a file without a test for a broken one.
    return cases or [("redzone", "no report in the log", None, "", "", "")]


def _ktap_cases(log):
    cases = []
    tags = {"fail": "failure", "skip": "skipped"}
    for one in log.cases:
        owner, _, name = text.line(one.name).rpartition(".")
        words = text.line(one.detail)
        if one.reports:
            words = f"{words} ({one.reports} reports while it ran)".strip()
        cases.append((owner or "ktap", name or "unnamed", tags.get(one.status), words, one.status, words))
    return cases


def document(log, roots):
    """Return @log, a model.Log, as an Element."""
    root = ET.Element("testsuites", name="redzone decode")
    _suite(root, "bugs in the log", _bug_cases(log, roots))
    if log.cases:
        _suite(root, "tests in the log", _ktap_cases(log))
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key)) for suite in root)))
    return root


def write(stream, log, roots):
    root = document(log, roots)
    ET.indent(root, " ")
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    stream.write(ET.tostring(root, encoding="unicode"))
    stream.write("\n")
