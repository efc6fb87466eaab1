# SPDX-License-Identifier: MIT
"""Reads a kernel console line by line, and finds KASAN reports, panics and the end in it."""

import re
from dataclasses import dataclass, field

from redzone import exact

RULE = "=" * 66

_PREFIX = re.compile(r"^\[ *\d+\.\d{6}\] ?")
_BUG = re.compile(r"^BUG: KASAN: (?P<type>[a-z-]+)(?: in (?P<where>\S+))?")
_ACCESS = re.compile(
    r"^(?P<access>Read|Write|Access|Free) of (?:size (?P<size>\d+) at )?addr (?P<addr>[0-9a-f]{16})"
)
# A place that has been reported before: the bug and the access, then the callers.
AGAIN = re.compile(
    r"^KASAN: (?P<type>[a-z-]+) in (?P<where>.+?) again \((?P<times>\d+) times\): (?P<access>.*?)"
    r"(?:, called by (?P<callers>.*))?$"
)
# This many lines of a trace identify a place.
_PLACE_FRAMES = 3
# A line of a trace, or the program counter or link register of a register dump.
FRAME = re.compile(
    r"^(?: |(?P<register>pc|lr) : )(?P<name>[^\s+]+)\+0x(?P<offset>[0-9a-f]+)/0x(?P<size>[0-9a-f]+)"
    r"(?: \[(?P<module>\S+)\])?$"
)
# Headlines of the traces inside a report.
_SECTIONS = (
    ("call", re.compile(r"^Call trace:")),
    ("allocated", re.compile(r"^Allocated by task \d+")),
    ("freed", re.compile(r"^Freed by task \d+")),
    ("work", re.compile(r"^Last potentially related work creation:")),
)
_PANIC = re.compile(r"^Kernel panic - not syncing: ")
_OOPS = re.compile(
    r"^(Unable to handle kernel |Internal error: |Insufficient stack space to handle exception)"
)
_SHADOW_CALL_STACK = re.compile(
    r"^(shadow call stack (?:overflow|underflow)|corrupted shadow call stack pointer): "
)
# The kernel checks nothing: there are no memory tags, or kasan=off.
_KASAN_OFF = re.compile(r"^kasan: (.+): KASAN is off, ")
_NO_DETAILS = "Asynchronous fault: no details available"
# The kernel's lines about how its program ended, and what it wanted in vain.
_HANG = re.compile(r"^program: no end after \d+ ms$")
_SIGNAL = re.compile(r"^program: ended by signal (\d+)$")
_MISSING = re.compile(r"^program: calls that are not there: (.+)$")
_PROGRAM_RETURNED = re.compile(r"^program returned (-?\d+)$")
_OVERFLOW = re.compile(r"^kernel stack overflow: ")
_TASK_STACK = re.compile(r"^Task stack: +\[([0-9a-f]{16}), ([0-9a-f]{16})\)$")
# Where the account of a crash ends.
_CRASH_END = re.compile(r"^(---\[ end |Thread \S+ is killed|reboot: )")
HALTED = "reboot: System halted"


@dataclass
class Frame:
    """One line of a trace.

    exact: the trace says that the address is the instruction itself, not the one after a call. access: (kind,
    size or None) of the report whose place it is, None for other frames. module: name of the loadable module
    that holds it, None for the kernel. sources: filled by the symbolizer, innermost inlined function first.
    """

    name: str
    offset: int
    size: int
    exact: bool = False
    access: tuple | None = None
    module: str | None = None
    sources: list = field(default_factory=list)


@dataclass
class Report:
    """One KASAN report. @lines: as printed, without the timestamps, rules included.

    asynchronous: hardware tags recorded the access, and the kernel noticed it later, so the trace is not its
    place. again: it is one line; the traces are those of the earlier report of the same place, if there was
    one.
    """

    type: str = ""
    where: str = ""
    access: str = ""
    size: int | None = None
    address: int | None = None
    lines: list = field(default_factory=list)
    traces: dict = field(default_factory=dict)
    asynchronous: bool = False
    again: bool = False
    complete: bool = False

    @property
    def signed_size(self):
        """The size as the program meant it: below zero, if as an unsigned number it is larger than memory."""
        return self.size - (1 << 64) if self.size is not None and self.size >> 63 else self.size

    def place(self):
        """Return the part that is the same in two reports of one place."""
        at = self.lines.index("Call trace:") + 1 if "Call trace:" in self.lines else len(self.lines)
        trace = [line.strip() for line in self.lines[at : at + _PLACE_FRAMES] if line.startswith(" ")]
        return self.type, self.access, tuple(trace)


@dataclass
class Crash:
    """A fault or a panic outside of a report, or a program that did not end in time.

    text: its first line. frames: the faulting instruction, if it was printed, then the call trace.
    stack: size in bytes of the stack that overflowed, None if none did. hang: it did not end.
    """

    text: str
    frames: list = field(default_factory=list)
    stack: int | None = None
    hang: bool = False


def frame_of(match):
    """Return the Frame of a match of FRAME."""
    offset, size = int(match["offset"], 16), int(match["size"], 16)
    return Frame(match["name"], offset, size, match["register"] == "pc", module=match["module"])


class ProgramLine(str):
    """A console line that a program printed and not the kernel, as stream.Stream knows. It proves nothing."""

    __slots__ = ()


def split(line):
    """Return (timestamp prefix, rest) of a console line; the prefix of a program's own output is "".

    A line of another kernel, or of a file, is a program's if it has no timestamp."""
    if isinstance(line, ProgramLine):
        return "", line
    match = _PREFIX.match(line)
    return (match[0], line[match.end() :]) if match else ("", line)


class Reader:
    """Follows one console. After feed(), the attributes hold what is known so far.

    reports: list of Report; the last one may be incomplete. panic: the line of a panic; oops: the first line
    of a fault that may have ended one thread only. crash: the first Crash. returned: the program's return
    value if it was not 0; signal: the number of the one that ended it; missing: the calls that it made and
    the kernel does not have, as the kernel names them; None without any. halted: the kernel said that it was
    done. last: the last line that was not empty. kasan_off: the reason, as printed at boot, why a kernel with
    KASAN checks nothing; None if it checks.
    """

    def __init__(self):
        self.reports = []
        self.panic = None
        self.oops = None
        self.crash = None
        self.returned = None
        self.signal = None
        self.missing = None
        self.halted = False
        self.kasan_off = None
        self.last = None
        self.lines = 0
        self._report = None
        self._rule_seen = False
        self._section = None
        self._in_crash = False
        self._overflowed = False
        # The frame that the next one of a trace follows, and the program counter of a register dump.
        self._before = self._pc = None

    def feed(self, line):
        """Take one line, without its line feed. A ProgramLine is never part of a report.

        Returns ("frame", Frame), ("begin", Report) when this line is the headline of one, ("report",
        Report) when it completed one, ("again", Report) when this line is all of one, or (None, None).
        """
        self.lines += 1
        if isinstance(line, ProgramLine):
            if line.strip():
                self.last = line
            return None, None
        prefix, text = split(line)
        if text.strip():
            self.last = line
        if text == HALTED:
            self.halted = True
        # The prefix distinguishes the kernel's lines from a program's.
        off = _KASAN_OFF.match(text) if prefix else None
        if off and self.kasan_off is None:
            self.kasan_off = off[1]
        if self.panic is None and _PANIC.match(text):
            self.panic = text
        if self.oops is None and _OOPS.match(text):
            self.oops = text
        returned = _PROGRAM_RETURNED.match(text)
        if returned:
            self.returned = int(returned[1])
        if prefix:
            self._follow_program(text)
        self._follow_crash(text, bool(prefix))
        if text == "Call trace:":
            self._before, self._pc = self._pc, None
        elif text[:1] != " ":
            self._before = None
        if self._report is None:
            return self._outside(text)
        return self._inside(text)

    def program(self, lines):
        """Take ProgramLines: the same as feed() for each, and faster."""
        self.lines += len(lines)
        self.last = next((line for line in reversed(lines) if line.strip()), self.last)

    def _follow_program(self, text):
        """Take a line of the kernel."""
        signal, missing = _SIGNAL.match(text), _MISSING.match(text)
        if signal:
            self.signal = int(signal[1])
        if missing:
            self.missing = missing[1]

    def _follow_crash(self, text, is_kernels):
        shadow, hang = _SHADOW_CALL_STACK.match(text), is_kernels and bool(_HANG.match(text))
        begins = shadow or hang or _PANIC.match(text) or _OOPS.match(text)
        if begins and self.crash is None:
            self.crash = Crash(shadow[1] if shadow else text, hang=hang)
            self._in_crash = True
        elif self._in_crash and (begins or _CRASH_END.match(text)):
            # The "Internal error" line of the same fault is followed by its registers and its trace.
            self._in_crash = bool(begins) and not self.crash.frames
        if not self._in_crash:
            return
        if _OVERFLOW.match(text):
            self._overflowed = True
        stack = _TASK_STACK.match(text)
        if stack and self._overflowed:
            self.crash.stack = int(stack[2], 16) - int(stack[1], 16)

    def _frame(self, match):
        """Return the Frame of a match of FRAME, with what the lines before it say."""
        frame, before = frame_of(match), self._before
        if match["register"]:
            self._pc = frame if frame.exact else self._pc
            return frame
        if before is not None:
            # The trace of a crash begins with the program counter.
            same = before.exact and (before.name, before.offset) == (frame.name, frame.offset)
            frame.exact = same or exact.after_entry(frame.name, before.name)
        self._before = frame
        return frame

    def _outside(self, text):
        bug = _BUG.match(text)
        if bug and self._rule_seen:
            self._report = Report(type=bug["type"], where=bug["where"] or "", lines=[RULE, text])
            self._section = None
            self.reports.append(self._report)
            return "begin", self._report
        self._rule_seen = text == RULE
        again = AGAIN.match(text)
        if again:
            self.reports.append(self._repeated(again, text))
            return "again", self.reports[-1]
        frame = FRAME.match(text)
        if frame:
            parsed = self._frame(frame)
            # The link register is not a frame of its own: the trace has the caller.
            if self._in_crash and frame["register"] != "lr":
                self.crash.frames.append(parsed)
            return "frame", parsed
        return None, None

    def _repeated(self, again, text):
        """Return the Report that the line @text stands for; @again: its match."""
        report = Report(again["type"], again["where"].split()[0], lines=[text], again=True, complete=True)
        access = again["access"][:1].upper() + again["access"][1:]
        self._note_access(report, access)
        report.asynchronous = access == _NO_DETAILS
        callers = again["callers"].split(" < ") if again["callers"] else []
        place = (report.type, report.access, (again["where"], *callers))
        whole = [other for other in self.reports if not other.again]
        # A line that was too long has lost its end.
        first = next((other for other in whole if other.place() == place), None) or next(
            (
                other
                for other in whole
                if (other.type, other.access, other.where) == (report.type, report.access, report.where)
            ),
            None,
        )
        if first is not None:
            report.traces = first.traces
        return report

    @staticmethod
    def _note_access(report, text):
        """Put into @report what the line @text says about the access."""
        access = _ACCESS.match(text)
        if not access:
            return
        report.access = access["access"]
        report.size = int(access["size"]) if access["size"] else None
        report.address = int(access["addr"], 16)

    def _inside(self, text):
        report = self._report
        report.lines.append(text)
        if text == RULE:
            report.complete = True
            self._report = None
            self._rule_seen = False
            return "report", report
        if text == _NO_DETAILS:
            report.asynchronous = True
        if not report.access:
            self._note_access(report, text)
        for name, pattern in _SECTIONS:
            if pattern.match(text):
                self._section = name
                report.traces.setdefault(name, [])
                return None, None
        frame = FRAME.match(text)
        if frame:
            parsed = self._frame(frame)
            if self._section == "call" and not report.traces["call"] and frame[0] == f" {report.where}":
                parsed.access = report.access.lower(), report.size
            if self._section:
                report.traces[self._section].append(parsed)
            return "frame", parsed
        self._section = None
        return None, None
