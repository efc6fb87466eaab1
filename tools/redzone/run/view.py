# SPDX-License-Identifier: MIT
"""Shows a console: colour on a terminal, source lines beside trace frames, and decode's words on each report.

A line with the bug in short comes before each report. If it is quiet, it shows three lines a bug and nothing
else.

It shows nothing twice: a report from a place that has already been reported is one line, and equal frames in
a row are counted. Without images, lines are printed as they come.
"""

import contextlib
import re
import sys
import textwrap
from functools import cached_property
from pathlib import Path

from rich.text import Text

from redzone.decode import decoder, symbols, terminal
from redzone.decode.explain import place
from redzone.decode.frames import parse_frame
from redzone.decode.model import Frame
from redzone.machine import console
from redzone.run import summary

_COLUMN = 36
# Columns of a report's lines with their timestamps.
WIDE = 96
_LINK_REGISTER = "lr : "
# How a firmware's own text begins: it ends with the kernel's first line.
_FIRMWARE = "OpenSBI v"


class View:
    """Prints console lines to @stream. Use it in a with statement.

    images: the ELF files of the kernel and of modules; None: lines are printed as they come. sources: the
    user's files; frames in them explain a bug. quiet: three lines a bug, and nothing else.
    """

    def __init__(self, images=None, sources=(), stream=None, quiet=False):
        self.images = images
        self.quiet = quiet
        self.sources = {str(Path(source).resolve()) for source in sources}
        self.stream = stream or sys.stdout
        self.screen = terminal.Screen(self.stream)
        self.color = self.screen.console.is_terminal
        # A terminal that is too narrow for timestamps shows none. Elsewhere all lines stay as they are.
        self.narrow = self.screen.console.width if self.color and self.screen.console.width < WIDE else None
        self._opened = contextlib.ExitStack()
        # Lines that may turn out to belong to a repeated report.
        self._held = []
        self._in_report = False
        # What the firmware has printed before the kernel; None: it is over, or there was none.
        self._firmware = None
        self._seen = set()
        self._count = 0
        # The frame printed last, and how many equal ones followed it.
        self._last_frame = None
        self._same = 0
        self._same_prefix = ""
        # The part of a program's unfinished line that is on the screen; is it the screen's last line?
        self._part, self._part_is_last = "", False
        # The frame that the next one of a trace follows, and the program counter of a register dump.
        self._before = self._pc = None

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self._opened.close()

    # Most runs ask nothing, and then no file is read.
    @cached_property
    def symbols(self):
        return self._opened.enter_context(symbols.Symbols(self.images))

    @cached_property
    def explainer(self):
        return self._opened.enter_context(decoder.Explainer(self.symbols))

    def line(self, text, event=None, value=None):
        """Take one console line and what console.Reader.feed() said about it."""
        if self.quiet:
            if event == "report":
                self._report(value)
            return
        if self.images is None:
            self._show(text)
            return
        if self._is_firmware(text):
            self._firmware.append(text)
            return
        if not self._in_report and event != "begin":
            self._release()
            if console.split(text)[1] == console.RULE:
                # The next line tells whether this is the head of a report.
                self._held.append(text)
            elif event == "again":
                self._again(text, value)
            else:
                self._show(text, self._frame_of(text))
            return
        self._held.append(text)
        self._in_report = event != "report"
        if event == "report":
            self._report(value)

    def program(self, lines):
        """Take lines that a program printed."""
        if self.quiet:
            return
        # The kernel prints its reports without a pause, so this is no part of one.
        self.end()
        shown, self._part, self._part_is_last = len(self._part), "", False
        self.stream.write("\n".join([lines[0][shown:], *lines[1:]]) + "\n")

    def part(self, text):
        """Take the beginning of a program's line that has no end yet. program() gets all of it again."""
        if len(text) > len(self._part):
            # Nothing else waits to be shown before it.
            self.end()
            self.stream.write(text[len(self._part) :])
            self.stream.flush()
            self._part, self._part_is_last = text, True

    def end(self):
        """Show the lines that are still held back. Call it after the last line."""
        self._release()
        self._end_same()
        # No kernel has followed, so this may say why.
        for text in self._firmware or ():
            self._show(text)
        self._firmware = None

    def _is_firmware(self, text):
        """Is the console line @text one of the firmware's, which fill a screen in each boot?"""
        if self._firmware is None:
            if not text.startswith(_FIRMWARE):
                return False
            self._firmware = []
        elif console.split(text)[0]:
            self._firmware = None
            return False
        return True

    def _release(self):
        """Show the held lines."""
        held, self._held = self._held, []
        self._in_report = False
        for text in held:
            self._show(text, self._frame_of(text))

    # --- Reports ------------------------------------------------------------------------------------------

    def _report(self, report):
        """A report is complete: show it, or say that it has been seen."""
        self._count += 1
        self.explainer.explain([report])
        key = summary.place_key(report, self.sources)
        held, self._held = self._held, []
        if key not in self._seen:
            self._seen.add(key)
            if self.quiet:
                self._brief(summary.brief(len(self._seen), report, self.sources))
                return
            self._end_same()
            self._brief([f"redzone: bug {len(self._seen)}: {summary.headline(report, self.sources)}"])
            self._show_report(held, report)
            self._print("")
            terminal.explain(self.screen, report)
            self.screen.flush()
            self._print("")
            return
        if not self.quiet:
            self._end_same()
            self._say_again(report)

    def _brief(self, lines):
        """Show @lines, the first one bold; on a terminal they are folded."""
        for number, line in enumerate(lines):
            margin = " " * (len(re.match(r" *(?:\d+\. )?", line)[0]) + 2)
            parts = _folded(line, self.screen.console.width, margin) if self.color else [line]
            for part in parts:
                self._print(Text(part, "" if number else "bold") if self.color else part)

    def _show_report(self, held, report):
        """Show the lines of @report. How each thread begins is the same in all of them, and is left out."""
        frames = [frame for stack in report.stacks for frame in stack.frames]
        hidden = {}
        for stack in report.stacks:
            own = [at for at, frame in enumerate(stack.frames) if frame.role != "entry"]
            rest = stack.frames[own[-1] + 1 :] if own else []
            hidden |= {id(frame): frame is rest[0] and len(rest) for frame in rest[len(rest) < 2 :]}
        for text in held:
            prefix, line = console.split(text)
            if not frames or frames[0].text != line.strip():
                self._show(text, self._frame_of(text))
                continue
            frame = frames.pop(0)
            count = hidden.get(id(frame))
            if count is None:
                self._show(text, frame)
            elif count:
                self._show(f"{prefix} ... {count} frames of the thread's start")

    def _again(self, text, report):
        """The kernel itself says that it has reported this place before."""
        self._count += 1 + report.silent
        self.symbols.look_up([report])
        if summary.place_key(report, self.sources) not in self._seen:
            # Not on this screen, so there is nothing more than the kernel's line.
            self._show(text)
            return
        self._end_same()
        self._say_again(report)

    def _say_again(self, report):
        self._brief([f"redzone: again: {summary.headline(report, self.sources)} (report {self._count})"])

    # --- Lines --------------------------------------------------------------------------------------------

    def _frame_of(self, text):
        """Return the Frame that the line @text is, of no report, with its source; None if it is none."""
        line = console.split(text)[1]
        link = line.startswith(_LINK_REGISTER)
        frame = parse_frame(line.replace(_LINK_REGISTER, " ", 1) if link else line)
        if not isinstance(frame, Frame):
            if line == "Call trace:":
                self._before, self._pc = self._pc, None
            elif line[:1] != " ":
                self._before = None
            return None
        before = self._before
        if frame.exact:
            self._pc = frame
        elif not link:
            # The trace of a crash begins with the program counter.
            if before is not None and before.exact:
                frame.exact = (before.name, before.offset) == (frame.name, frame.offset)
            self._before = frame
        self.symbols.look_up_frame(frame, before)
        return frame

    def _show(self, text, frame=None):
        """Print one line that is not held back. @frame: that it is."""
        prefix, rest = console.split(text)
        is_kernels, lines = bool(prefix), [rest]
        if is_kernels and self.narrow:
            prefix, lines = "", _folded(rest, self.narrow)
        if frame is not None:
            if rest == self._last_frame:
                self._same += 1
                self._same_prefix = prefix
                return
            self._end_same()
            self._last_frame = rest
            if frame.locations:
                self._frame(prefix, rest, frame)
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
        if self._part_is_last:
            self.stream.write("\n")
            self._part_is_last = False
        if isinstance(text, Text):
            self.screen.console.print(text)
        else:
            self.stream.write(text + "\n")

    @staticmethod
    def _style(rest):
        if rest.startswith(("BUG: KASAN:", "BUG: memory leak", "UBSAN: ")) or rest.startswith("Kernel panic"):
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
        for location in frame.locations[:-1]:
            if location.line or location.path in self.sources:
                self._row(prefix, f" {location.function} (inlined)", location)
        self._row(prefix, rest, frame.locations[-1])

    def _row(self, prefix, text, location):
        gap = " " * max(2, _COLUMN - len(text))
        if not self.color:
            self._print(f"{prefix}{text}{gap}{place(location)}")
            return
        mine = location.path in self.sources
        style, cyan = ("bold", "cyan") if mine else ("dim", "dim cyan")
        self._print(Text.assemble((prefix, "dim"), (text, style), gap, (place(location), cyan)))


def _folded(text, width, margin="  "):
    """Return @text as lines of at most @width characters, as far as it has spaces. @margin: of all lines but
    the first."""
    if len(text) <= width:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
    )
