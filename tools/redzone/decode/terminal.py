# SPDX-License-Identifier: MIT
"""Shows a decoded log on a terminal: the bugs in order, each with its traces, source and memory.

All text of the log has passed lines.clean(), and rich gets it as Text, never as markup.
"""

import sys
import textwrap

from rich.console import Console
from rich.text import Text

from redzone.core import base
from redzone.decode.explain import place

_TITLES = {
    "call": "Call trace",
    "allocated": "Allocated",
    "freed": "Freed",
    "work": "Handed over",
    "work2": "Handed over before",
    "page_allocated": "Page last allocated",
    "page_freed": "Page last freed",
    "vmalloc": "Area created",
    "frame": "Stack frame",
    "thread": "Thread created",
    "stored": "Stored",
    "other": "Another trace",
}
_COLUMN = 44


class Screen:
    """Prints lines with colours, where the @stream is a terminal."""

    def __init__(self, stream):
        self.console = Console(
            file=stream, highlight=False, soft_wrap=True, emoji=False, markup=False, legacy_windows=False
        )

        self._lines = []

    def line(self, *parts):
        """Print a line of @parts: str, or (str, style)."""
        self._lines.append(Text.assemble(*parts))

    def flush(self):
        """Show the lines so far. Many at once take half the time."""
        if self._lines:
            self.console.print(Text("\n").join(self._lines))
        self._lines = []


def show(log, everything=False, quiet=False, baseline=False, stream=None):
    """Print the model.Log."""
    screen = Screen(stream or sys.stdout)
    for note in log.notes:
        screen.line(("note: ", "bold"), note)
    for number, bug in enumerate(log.bugs, 1):
        if quiet or (bug.known and not everything):
            continue
        _bug(screen, number, bug, everything)
        screen.flush()
    _summary(screen, log, baseline)
    screen.flush()


def _summary(screen, log, baseline):
    if not log.reports:
        screen.line(f"no report in {base.plural(log.lines, 'line')}")
        return
    kinds = ", ".join(f"{name} {count}" for name, count in sorted(log.by_mode.items()))
    bugs = base.plural(len(log.bugs), "bug")
    reports = base.plural(log.reports, "report", log.at_least)
    screen.line((f"{reports}, {bugs}", "bold"), f" ({kinds})" if kinds else "")
    for number, bug in enumerate(log.bugs, 1):
        where = f"  {place(bug.location)}" if bug.location else ""
        state = "  known" if bug.known else "  new" if baseline else ""
        screen.line(
            f"{number:4}. {bug.count:5} x{'+' if bug.at_least else ' '} {bug.title}",
            (where, "cyan"),
            (state, "green" if bug.known else "bold red"),
        )
    if log.dropped:
        screen.line(f"and {base.plural(log.dropped, 'report')} of more bugs than are told apart")


def _bug(screen, number, bug, everything):
    report = bug.reports[bug.smallest] if bug.reports else None
    screen.line((f"{number}. {bug.title}", "bold red"))
    seen = f"seen {base.plural(bug.count, 'time', bug.at_least)}" if bug.count > 1 else "seen once"
    if bug.first_time:
        seen += f", first at {bug.first_time}" + (f", last at {bug.last_time}" if bug.count > 1 else "")
    screen.line(("   ", ""), (f"{seen}, signature {bug.signature}", "dim"))
    if bug.cases:
        screen.line(("   test: " + ", ".join(bug.cases[:8]), "dim"))
    if report is None:
        return
    if report.truncated:
        screen.line(("   a part of this report is missing", "yellow"))
    explain(screen, report, "   ")
    for stack in report.stacks:
        _stack(screen, stack, everything)
    _memory(screen, report)
    screen.line("")


def explain(screen, report, margin=""):
    """Say in words what the model.Report @report means, and show the source. @margin: before each line."""
    for sentence in report.explanation:
        lines = [sentence]
        if screen.console.is_terminal:
            width = screen.console.width - len(margin)
            lines = textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False)
        for line in lines:
            screen.line(margin, line)
    for excerpt in report.excerpts:
        # Where an access was noticed late is not its place.
        if not (report.access.asynchronous and excerpt.about == "call"):
            _excerpt(screen, excerpt, margin)


def _excerpt(screen, excerpt, margin):
    """Show lines of source: all of them for the access, the line itself for the others."""
    if not excerpt.lines:
        return
    words = {"call": "Access", "variable": "Declared"}.get(excerpt.about, excerpt.about.capitalize())
    screen.line((f"{margin}{words} at ", "bold"), (place(excerpt.location), "cyan"))
    for line in excerpt.lines:
        if line.bad or excerpt.about == "call":
            screen.line((margin + numbered(line), "bold" if line.bad else "dim"))


def numbered(line):
    """Return the text of a model.SourceLine with its number."""
    return f"{'>' if line.bad else ' '} {line.number:5} | {line.text}".rstrip()


def _stack(screen, stack, everything):
    if not stack.frames:
        return
    by = ""
    if stack.task is not None:
        by = f" by task {stack.task.name or stack.task.id}"
    screen.line((f"   {_TITLES.get(stack.kind, stack.kind)}{by}", "bold"))
    hidden = same = 0
    last = None
    for frame in stack.frames:
        if frame.text == last:
            same += 1
            continue
        same = _same(screen, same)
        last = frame.text
        if not everything and (not frame.reliable or frame.role == "sanitizer"):
            hidden += 1
            continue
        style = "dim" if frame.role else ""
        module = f" [{frame.module}]" if frame.module else ""
        name = f"{frame.name}{module}" if frame.name else frame.text
        for location in frame.locations[:-1]:
            _row(screen, f"     {location.function} (inlined)", location, style)
        _row(screen, f"     {name}", frame.locations[-1] if frame.locations else None, style)
    _same(screen, same)
    if hidden:
        words = "of the sanitizer or not certain, left out (--all shows them)"
        screen.line((f"     ... {base.plural(hidden, 'frame')} {words}", "dim"))


def _same(screen, count):
    """Fold a row of @count equal frames. Return 0."""
    if count:
        screen.line((f"     ... {count} more of the same", "dim"))
    return 0


def _row(screen, text, location, style):
    if location is None:
        screen.line((text, style))
        return
    screen.line((text, style), " " * max(2, _COLUMN - len(text)), (place(location), "cyan"))


def _memory(screen, report):
    found = report.memory
    if found is None:
        return
    screen.line(("   Memory", "bold"))
    for row in found.rows:
        parts = [f"    {'>' if row.bad else ' '}{row.address:x}:"]
        for at, cell in enumerate(row.cells):
            text = "--" if cell is None else f"{cell:02x}"
            bad = row.bad and at == found.column
            if bad:
                parts += [(f"[{text}]", "bold red"), ""]
            else:
                parts[-1] += f" {text} "
        screen.line(*parts)
    used = ", ".join(f"{value} {text}" for value, text in found.meanings.items())
    screen.line((f"     {used}", "dim"))
