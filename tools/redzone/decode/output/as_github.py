# SPDX-License-Identifier: MIT
"""`--github`: annotations of GitHub Actions, one per new bug, at the line of source.

A job's output is also its command channel: a line that starts with `::` is a command. So everything between
begin() and end() is marked as plain text, because a log may hold such lines.
"""

import contextlib
import secrets

from redzone.core import base
from redzone.decode.output import as_text as text
from redzone.decode.output import as_types as types

# GitHub shows this many annotations of a kind for each step.
SHOWN = 10


def _data(words):
    return text.clean(words).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(words):
    return _data(words).replace(":", "%3A").replace(",", "%2C")


@contextlib.contextmanager
def plain(stream):
    """While it lasts, GitHub takes no line of @stream for a command."""
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", file=stream, flush=True)
    try:
        yield
    finally:
        # The text before may have ended within a line.
        print(f"\n::{token}::", file=stream, flush=True)


def annotation(bug, roots):
    """Return the line for @bug."""
    report = text.main_report(bug)
    properties = {"title": text.bug_title(bug)[:250]}
    where = bug.location
    if where is not None and where.path:
        properties = {"file": text.relative(where.path, roots), "line": str(max(1, where.line)), **properties}
    words = [text.line(one) for one in report.explanation] if report is not None else []
    seen = base.plural(bug.count, "time", bug.at_least)
    words.append(f"Seen {seen}, first in line {bug.first_line} of the log.")
    command = "error" if types.is_error(bug) else "warning"
    head = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{command} {head}::{_data(chr(10).join(words))}"


def write(stream, log, roots):
    """Write the annotations of the bugs of @log that the baseline does not have."""
    bugs = log.new_bugs()
    for bug in bugs:
        stream.write(annotation(bug, roots) + "\n")
    if len(bugs) > SHOWN:
        words = f"{len(bugs)} bugs, of which GitHub shows the first {SHOWN}: the job's log has all"
        stream.write(f"::notice title=redzone::{_data(words)}\n")
