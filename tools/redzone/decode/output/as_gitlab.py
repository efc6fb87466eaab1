# SPDX-License-Identifier: MIT
"""`--code-quality`: the new bugs as a code quality report of GitLab, which shows them in merge requests."""

import hashlib
import json

from redzone.decode.output import as_text as text
from redzone.decode.output import as_types as types


def _place(bug, roots):
    """Return (path, line) of @bug: of the source, else of the log, because GitLab takes no issue without."""
    if bug.location is not None and bug.location.path:
        return text.relative(bug.location.path, roots), max(1, bug.location.line)
    report = text.main_report(bug)
    return (report.source if report is not None else "") or "-", max(1, bug.first_line)


def _issue(bug, roots):
    path, line = _place(bug, roots)
    report = text.main_report(bug)
    words = [text.bug_title(bug), *(text.line(one) for one in (report.explanation if report else ()))]
    # The signature stays the same in the next build and in other modes: it is then one issue.
    name = bug.signature or hashlib.sha256(f"{path}:{line}:{words[0]}".encode()).hexdigest()
    return {
        "description": " ".join(words),
        "check_name": f"{bug.kind}/{text.line(bug.type) or 'other'}",
        "fingerprint": name,
        "severity": "critical" if types.is_error(bug) else "minor",
        "location": {"path": path, "lines": {"begin": line}},
    }


def write(stream, log, roots):
    """Write the bugs of @log, a model.Log, that the baseline does not have, for paths below @roots."""
    json.dump([_issue(bug, roots) for bug in log.new_bugs()], stream, indent=1)
    stream.write("\n")
