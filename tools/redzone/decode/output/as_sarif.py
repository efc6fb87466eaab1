# SPDX-License-Identifier: MIT
"""`--sarif`: one result per bug in SARIF 2.1.0 (the OASIS standard), for code scanning and editors."""

import json
import re

from redzone.core import base
from redzone.decode.output import as_text as text
from redzone.decode.output import as_types as types

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# What code scanning shows beside a result; its scale is that of CVSS. Writes are worse than reads.
_SEVERITY = {"read": "6.5", "": "7.0", "access": "7.0", "write": "8.0", "free": "8.0"}
# The steps of a bug in the order of time: (Stack.kind, what happened there).
_STEPS = (
    ("page_allocated", "the page was allocated"),
    ("allocated", "the memory was allocated"),
    ("freed", "the memory was freed"),
    ("page_freed", "the page was freed"),
    ("call", "the bad access"),
)
_FRAMES = 64


def _message(words):
    """Return a SARIF message. Square brackets would be links in it."""
    return {"text": re.sub(r"([\\\[\]])", r"\\\1", text.clean(words))}


def _physical(location, roots):
    found = {"artifactLocation": {"uri": text.uri(location.path, roots)}}
    if location.line > 0:
        found["region"] = {"startLine": location.line}
        if location.column > 0:
            found["region"]["startColumn"] = location.column
    return found


def _location(location, roots, words=None):
    found = {"physicalLocation": _physical(location, roots)}
    if location.function:
        name = text.line(location.function)
        found["logicalLocations"] = [{"name": name, "kind": "function"}]
    if words:
        found["message"] = _message(words)
    return found


def _frames(stack, roots):
    """Return the frames of @stack, inlined functions as frames of their own."""
    found = []
    for frame in stack.frames[:_FRAMES]:
        printed = text.line(frame.text)
        places = [one for one in frame.locations if one.path]
        for one in places:
            found.append({"location": _location(one, roots, printed)})
        if not places:
            name = {"name": text.line(frame.name) or printed, "kind": "function"}
            found.append({"location": {"logicalLocations": [name], "message": _message(printed)}})
        if frame.module:
            for one in found[-max(1, len(places)) :]:
                one["module"] = text.line(frame.module)
    return found


def _steps(report, roots):
    """Return the places of @report in the order of time, [(Location in SARIF, words)]."""
    found = []
    for kind, words in _STEPS:
        where = text.place(report.stack(kind))
        if where is not None:
            found.append(_location(where, roots, words))
    return found


def _primary(bug, report, roots):
    """Return where @bug is: the line of source, else the line of the log."""
    if bug.location is not None and bug.location.path:
        return _location(bug.location, roots)
    source = (report.source if report is not None else "") or "-"
    first = report.first_line if report is not None else bug.first_line
    found = {
        "physicalLocation": {
            "artifactLocation": {"uri": "standard-input" if source == "-" else text.uri(source, roots)},
            "region": {"startLine": max(1, first)},
        }
    }
    if bug.function:
        found["logicalLocations"] = [{"name": text.line(bug.function), "kind": "function"}]
    return found


def _rule_id(bug):
    """Return the rule of @bug. Its type comes from the log, and so it is cut to what an identifier may be."""
    type_ = re.sub(r"[^A-Za-z0-9_.-]+", "-", bug.type).strip("-").lower()[:80] or "other"
    return f"{re.sub(r'[^a-z]+', '', bug.kind) or 'other'}/{type_}"


def _access(bug):
    report = text.main_report(bug)
    return report.access.kind if report is not None else ""


def _rule(identifier, bug):
    words = types.text(bug)
    tags = ["memory-safety"]
    numbers = types.known(bug).cwe
    if numbers:
        tags += ["security", *(f"external/cwe/cwe-{one:03}" for one in numbers)]
    properties = {"tags": tags}
    if numbers:
        properties["security-severity"] = "8.0"
    return {
        "id": identifier,
        "name": "".join(word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", identifier)),
        "shortDescription": {"text": words},
        "fullDescription": {"text": words},
        "help": {"text": f"{words} The stacks of the result say how the program got there."},
        "defaultConfiguration": {"level": "error" if types.is_error(bug) else "warning"},
        "properties": properties,
    }


def _result(bug, index, identifier, roots, baseline):
    report = text.main_report(bug)
    words = [text.bug_title(bug)]
    if report is not None:
        words += [text.line(one) for one in report.explanation]
    result = {
        "ruleId": identifier,
        "ruleIndex": index,
        "level": "error" if types.is_error(bug) else "warning",
        "message": _message("\n\n".join(words)),
        "locations": [_primary(bug, report, roots)],
        "occurrenceCount": max(1, bug.count),
        "properties": {
            "modes": [text.line(one) for one in bug.modes],
            "testCases": [text.line(one) for one in bug.cases],
            "firstLine": bug.first_line,
            "lastLine": bug.last_line,
            "security-severity": _SEVERITY.get(_access(bug), "7.0"),
        },
    }
    if bug.signature:
        result["partialFingerprints"] = {"redzoneSignature/v1": text.line(bug.signature)}
    if baseline:
        result["baselineState"] = "unchanged" if bug.known else "new"
    if report is None:
        return result
    stacks = [
        {"message": _message(text.line(stack.title) or stack.kind), "frames": _frames(stack, roots)}
        for stack in report.stacks
        if stack.frames
    ]
    if stacks:
        result["stacks"] = stacks
    steps = _steps(report, roots)
    if len(steps) > 1:
        flow = {"threadFlows": [{"locations": [{"location": one} for one in steps]}]}
        result["codeFlows"] = [flow]
        result["relatedLocations"] = [{**one, "id": number} for number, one in enumerate(steps[:-1])]
    return result


def document(log, roots, baseline=False):
    """Return @log, a model.Log, as a dictionary. @baseline: results say whether they are new."""
    rules, results = {}, []
    for bug in log.bugs:
        identifier = _rule_id(bug)
        index = list(rules).index(identifier) if identifier in rules else len(rules)
        rules.setdefault(identifier, _rule(identifier, bug))
        results.append(_result(bug, index, identifier, roots, baseline))
    driver = {
        "name": "Redzone",
        "semanticVersion": base.version(),
        "rules": [*rules.values()],
    }
    notes = [{"level": "note", "message": _message(one)} for one in log.notes]
    if log.dropped:
        words = f"{log.dropped} reports of further bugs were left out"
        notes.append({"level": "warning", "message": _message(words)})
    invocation = {"executionSuccessful": True}
    if notes:
        invocation["toolExecutionNotifications"] = notes
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "redzone/"},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def write(stream, log, roots, baseline=False):
    json.dump(document(log, roots, baseline), stream, indent=1)
    stream.write("\n")
