# SPDX-License-Identifier: MIT
"""Shows a console: colour on a terminal, source lines beside trace frames, an explanation after a report."""

import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from redzone import base, console
from redzone.base import ROOT

# Sources of these folders are the sanitizer, the allocator and the library: not where the bug is.
_PLUMBING = tuple(str(ROOT / folder) + "/" for folder in ("runtime", "kernel"))
_CONTEXT = 2
_COLUMN = 36


class View:
    """Prints console lines to @stream. Without a @symbolizer they are printed as they come.

    sources: the user's files; frames in them are the ones that explain a bug.
    """

    def __init__(self, symbolizer=None, sources=(), stream=None):
        self.symbolizer = symbolizer
        self.sources = {str(Path(source).resolve()) for source in sources}
        self.stream = stream or sys.stdout
        self.console = Console(file=self.stream, highlight=False, soft_wrap=True, emoji=False, markup=False)
        self.color = self.console.is_terminal

    def line(self, text, event=None, value=None):
        """Take one console line and what console.Reader.feed() said about it."""
        prefix, rest = console.split(text)
        if event == "frame" and self.symbolizer is not None and self.symbolizer.frame(value):
            self._frame(prefix, rest, value)
        elif not self.color or not prefix:
            self._print(text)
        else:
            self._print(Text.assemble((prefix, "dim"), (rest, self._style(rest))))
        if event == "report" and self.symbolizer is not None:
            self._explain(value)

    def _print(self, text):
        """Print styled Text, or a str exactly as it is: a program's output may hold tabs and escapes."""
        if isinstance(text, Text):
            self.console.print(text)
        else:
            self.stream.write(text + "\n")

    @staticmethod
    def _style(rest):
        if rest.startswith("BUG: KASAN:") or rest.startswith("Kernel panic"):
            return "bold red"
        if rest.startswith(("Read of ", "Write of ", "Free of ")):
            return "red"
        if rest == console.RULE:
            return "red"
        if rest.endswith(":"):
            return "bold"
        if rest.startswith(">"):
            return "yellow"
        # What the kernel says is background; what the program says is not.
        return "dim"

    def _frame(self, prefix, rest, frame):
        """Print a frame with its source line, and before it the functions inlined at that place."""
        for source in frame.sources[:-1]:
            self._row(prefix, f" {source.function} (inlined)", source)
        self._row(prefix, rest, frame.sources[-1])

    def _row(self, prefix, text, source):
        place = f"{_shown(source.path)}:{source.line}"
        mine = source.path in self.sources
        gap = " " * max(2, _COLUMN - len(text))
        if not self.color:
            self._print(f"{prefix}{text}{gap}{place}")
            return
        style = "bold" if mine else "dim"
        self._print(
            Text.assemble((prefix, "dim"), (text, style), gap, (place, "cyan" if mine else "dim cyan"))
        )

    def _own(self, frames):
        """Return the first Source of @frames that lies in the user's code, or None."""
        return own_source(frames, self.sources)

    def _explain(self, report):
        """After a report: the source lines that matter."""
        for name, words in (("call", ""), ("allocated", "allocated at "), ("freed", "freed at ")):
            source = self._own(report.traces.get(name, []))
            if source is None:
                continue
            place = f"{base.relative(source.path)}:{source.line}: "
            if name == "call":
                head = (
                    f"{report.type}: " if not report.access else f"{report.type} ({report.access.lower()}): "
                )
            else:
                head = words
            self._print("")
            self._print(
                Text.assemble((head, "bold"), (place, "cyan"), f"in {source.function}()")
                if self.color
                else f"{head}{place}in {source.function}()"
            )
            self._excerpt(source, _CONTEXT if name == "call" else 0)
        self._print("")

    def _excerpt(self, source, context):
        try:
            lines = Path(source.path).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return
        first = max(1, source.line - context)
        last = min(len(lines), source.line + context)
        for number in range(first, last + 1):
            mark = ">" if number == source.line else " "
            text = f"{mark} {number:5} | {lines[number - 1].expandtabs(4)}".rstrip()
            bad = number == source.line
            self._print(Text(text, "bold" if bad else "dim") if self.color else text)


def _shown(path):
    """Return @path as people know it: the kernel's files by their place in the repository."""
    return base.relative(path, ROOT) if path.startswith(_PLUMBING) else base.relative(path)


def own_source(frames, sources):
    """Return the first Source of the symbolized @frames whose file is in @sources (absolute paths).

    A header of the user's counts as well: then any file outside the kernel and the runtime.
    """
    for frame in frames:
        for source in frame.sources:
            if source.path in sources:
                return source
    for frame in frames:
        for source in frame.sources:
            if not source.path.startswith(_PLUMBING):
                return source
    return None


def headline(report, sources):
    """Return one line about @report for a summary."""
    text = report.type
    if report.access:
        text += f", {report.access.lower()}"
        if report.size is not None:
            text += f" of {base.plural(report.size, 'byte')}"
    source = own_source(report.traces.get("call", []), sources)
    if source is not None:
        return f"{text}, {base.relative(source.path)}:{source.line} in {source.function}()"
    return f"{text}, in {report.where}" if report.where else text
