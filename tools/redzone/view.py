# SPDX-License-Identifier: MIT
"""Shows a console: colour on a terminal, source lines beside trace frames, an explanation after a report.

It shows nothing twice: a report from a place that has already been reported is one line, and equal frames in
a row are counted. Without a symbolizer, lines are printed as they come.
"""

import re
import sys
import textwrap
from pathlib import Path

from rich.console import Console
from rich.text import Text

from redzone import base, console, variables
from redzone.base import ROOT
from redzone.symbolize import Source

# The sanitizer, the allocator and the library: the bug is not in these folders.
_PLUMBING = tuple(str(ROOT / folder) + "/" for folder in ("runtime", "fuzz", "kernel"))
# Nor is it, as a rule, in these: our headers and ports, the C library, headers of the compiler.
_OURS = [*_PLUMBING, *(str(ROOT / folder) + "/" for folder in ("include", "ports")), f"{base.BUILD}/libc/"]
_NOT_THE_USERS = re.compile("|".join([*map(re.escape, _OURS), ".*/lib/(?:clang|gcc|gcc-cross)/"]))
_CONTEXT = 2
# For a report that comes late, where a source line would wrongly look like the place of the bug.
LATE = "asynchronous: the access was earlier; kasan.mode=sync shows where"
_COLUMN = 36
# Columns of a report's lines with their timestamps.
WIDE = 96


class View:
    """Prints console lines to @stream. Without a @symbolizer they are printed as they come.

    sources: the user's files; frames in them explain a bug.
    """

    def __init__(self, symbolizer=None, sources=(), stream=None):
        self.symbolizer = symbolizer
        self.sources = {str(Path(source).resolve()) for source in sources}
        self.stream = stream or sys.stdout
        self.console = Console(file=self.stream, highlight=False, soft_wrap=True, emoji=False, markup=False)
        self.color = self.console.is_terminal
        # A terminal that is too narrow for timestamps shows none. Elsewhere all lines stay as they are.
        self.narrow = self.console.width if self.color and self.console.width < WIDE else None
        # Lines that may turn out to belong to a repeated report: (text, event, value).
        self._held = []
        self._in_report = False
        self._seen = set()
        self._count = 0
        # The frame printed last, and how many equal ones followed it.
        self._last_frame = None
        self._same = 0
        self._same_prefix = ""

    def line(self, text, event=None, value=None):
        """Take one console line and what console.Reader.feed() said about it."""
        if self.symbolizer is None:
            self._show(text, event, value)
            return
        if event == "frame":
            self.symbolizer.frame(value)
        if not self._in_report and event != "begin":
            self._release()
            if console.split(text)[1] == console.RULE:
                # The next line tells whether this is the head of a report.
                self._held.append((text, event, value))
            elif event == "again":
                self._again(text, value)
            else:
                self._show(text, event, value)
            return
        self._held.append((text, event, value))
        self._in_report = event != "report"
        if event == "report":
            self._report(value)

    def program(self, lines):
        """Take lines that a program printed."""
        # The kernel prints its reports without a pause, so this is no part of one.
        self.end()
        self.stream.write("\n".join(lines) + "\n")

    def end(self):
        """Show the lines that are still held back. Call it after the last line."""
        self._release()
        self._end_same()

    def _release(self):
        """Show the held lines."""
        held, self._held = self._held, []
        self._in_report = False
        for text, event, value in held:
            self._show(text, event, value)

    def _report(self, report):
        """A report is complete: show it, or say that it has been seen."""
        self._count += 1
        key = place_key(report, self.sources)
        if key not in self._seen:
            self._seen.add(key)
            self._release()
            self._explain(report)
            return
        held, self._held = self._held, []
        self._end_same()
        stamped = bool(console.split(held[0][0])[0])
        for text, event, value in held:
            # The program printed this meanwhile, on another CPU.
            if stamped and not console.split(text)[0]:
                self._show(text, event, value)
        self._say_again(report)

    def _again(self, text, report):
        """The kernel itself says that it has reported this place before."""
        self._count += 1
        if place_key(report, self.sources) not in self._seen:
            # Not on this screen, so there is nothing more than the kernel's line.
            self._show(text, None, None)
            return
        self._end_same()
        self._say_again(report)

    def _say_again(self, report):
        text = f"redzone: again: {headline(report, self.sources)} (report {self._count})"
        self._print(Text(text, "bold") if self.color else text)

    def _show(self, text, event, value):
        """Print one line that is not held back."""
        prefix, rest = console.split(text)
        is_kernels, lines = bool(prefix), [rest]
        if is_kernels and self.narrow:
            prefix, lines = "", _folded(rest, self.narrow)
        if event == "frame" and self.symbolizer is not None:
            if rest == self._last_frame:
                self._same += 1
                self._same_prefix = prefix
                return
            self._end_same()
            self._last_frame = rest
            if value.sources:
                self._frame(prefix, rest, value)
                return
        else:
            self._end_same()
        for line in lines:
            if not self.color or not is_kernels:
                self._print(prefix + line)
            else:
                self._print(Text.assemble((prefix, "dim"), (line, self._style(rest))))

    def _end_same(self):
        """End the row of equal frames, if there is one."""
        if self._same:
            text = f" ... {self._same} more of the same"
            self._print(
                Text.assemble((self._same_prefix, "dim"), (text, "dim"))
                if self.color
                else f"{self._same_prefix}{text}"
            )
        self._same = 0
        self._last_frame = None

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
        # The kernel's lines are background; the program's are not.
        return "dim"

    def _frame(self, prefix, rest, frame):
        """Print a frame with its source line, and before it the functions inlined at that place.

        One without a line tells nothing, unless it is the program's own: the title may name it."""
        for source in frame.sources[:-1]:
            if not source.line and source.path not in self.sources:
                continue
            self._row(prefix, f" {source.function} (inlined)", source)
        self._row(prefix, rest, frame.sources[-1])

    def _row(self, prefix, text, source):
        place = source.at(_shown(source.path))
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
        """Show the source lines that matter, after a report."""
        if report.asynchronous:
            self._print(Text(headline(report, self.sources), "bold") if self.color else headline(report, ()))
            self._print("")
            return
        for name, words in (("call", ""), ("allocated", "allocated at "), ("freed", "freed at ")):
            source = self._own(report.traces.get(name, []))
            if source is None:
                continue
            place = f"{source.at(base.relative(source.path))}: "
            if name == "call":
                head = bug_name(report)
                head += f" ({access_text(report)}): " if report.access else ": "
            else:
                head = words
            self._print("")
            self._print(
                Text.assemble((head, "bold"), (place, "cyan"), f"in {source.function}()")
                if self.color
                else f"{head}{place}in {source.function}()"
            )
            for text, bad in excerpt(source, _CONTEXT if name == "call" else 0):
                self._print(Text(text, "bold" if bad else "dim") if self.color else text)
        self._explain_variable(report)
        self._explain_locals(report)
        self._print("")

    def _explain_variable(self, report):
        """Show where the global variable of the report is declared."""
        named = variables.named(report)
        tagged = variables.tagged(report)
        if named is None and tagged is None:
            return
        name, file, line = named or (tagged[0], None, None)
        if tagged:
            found = (variables.at_address(elf, *tagged) for elf in self.symbolizer.files)
            source = next(filter(None, found), None)
        elif line is not None:
            source = Source(name, str(Path(file).resolve()), line)
        else:
            found = (variables.declared(elf, name, file) for elf in self.symbolizer.files)
            source = next(filter(None, found), None)
        if source is not None:
            self._declared("variable declared at ", source)

    def _explain_locals(self, report):
        """Show where the local variables are declared that have the memory of the report."""
        found = variables.in_frame(report)
        if found is None:
            return
        frame, start, end = found
        for one in self.symbolizer.locals_of(frame):
            if one.start < end and start < one.start + one.size:
                gone = "variable out of scope, " if report.type == "use-after-scope" else "variable "
                self._declared(gone + "declared at ", Source(one.name, one.path, one.line))

    def _declared(self, words, source):
        """Print @words, the place of @source, and its line."""
        place = source.at(_shown(source.path))
        self._print("")
        self._print(
            Text.assemble((words, "bold"), (place, "cyan"), f": {source.function}")
            if self.color
            else f"{words}{place}: {source.function}"
        )
        for text, bad in excerpt(source, 0):
            self._print(Text(text, "bold" if bad else "dim") if self.color else text)


def _folded(text, width):
    """Return the kernel's line @text as lines of at most @width characters, as far as it has spaces."""
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def excerpt(source, context=_CONTEXT):
    """Return the line of @source with @context lines before and after it, as [(text, is it that line)]."""
    if not source.line:
        return []
    try:
        lines = Path(source.path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    first = max(1, source.line - context)
    last = min(len(lines), source.line + context)
    result = []
    for number in range(first, last + 1):
        mark = ">" if number == source.line else " "
        text = f"{mark} {number:5} | {lines[number - 1].expandtabs(4)}".rstrip()
        result.append((text, number == source.line))
    return result


def _shown(path):
    """Return @path in its familiar form: the kernel's files relative to the repository."""
    return base.relative(path, ROOT) if path.startswith(_PLUMBING) else base.relative(path)


def own_source(frames, sources):
    """Return the first Source of the symbolized @frames whose file is in @sources (absolute paths) or is a
    header or another file of the user's.

    If none is, any file outside the kernel and the runtime counts: the C library's.
    """
    for frame in frames:
        for source in frame.sources:
            if source.path in sources or not _NOT_THE_USERS.match(source.path):
                return source
    for frame in frames:
        for source in frame.sources:
            if not source.path.startswith(_PLUMBING):
                return source
    return None


def place_key(report, sources):
    """Return what two reports of one bug share: the type, and the line or else the function."""
    source = own_source(report.traces.get("call", []), sources)
    if source is not None:
        return report.type, source.path, source.line or source.function
    return report.type, report.where.partition("+")[0]


def bug_name(report):
    """Return the name of the bug. The kernel has none of its own for a size that is negative."""
    negative = report.size is not None and report.signed_size < 0
    return "negative-size-param" if negative and report.type == "out-of-bounds" else report.type


def access_text(report):
    """Return what was done, as in "read"; with its size, if that explains the bug."""
    text = report.access.lower()
    return f"{text} of size {report.signed_size}" if report.size and report.signed_size < 0 else text


def headline(report, sources):
    """Return one line about @report for a summary."""
    text = bug_name(report)
    if report.asynchronous:
        function = report.where.partition("+")[0]
        return f"{text}, noticed in {function}() ({LATE})" if function else f"{text} ({LATE})"
    if report.access:
        text += f", {access_text(report)}"
        if report.size is not None and report.signed_size >= 0:
            text += f" of {base.plural(report.size, 'byte')}"
    source = own_source(report.traces.get("call", []), sources)
    if source is not None:
        return f"{text}, {source.at(base.relative(source.path))} in {source.function}()"
    return f"{text}, in {report.where}" if report.where else text
