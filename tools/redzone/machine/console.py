# SPDX-License-Identifier: MIT
"""Follows the console of the reference kernel: what it says about itself and about its program.

Reports, crashes and their traces are decode's business: each line of the kernel goes through its scanner.
"""

import re
from dataclasses import dataclass

from redzone.decode import lines, parse, scan
from redzone.decode.model import Report

RULE = "=" * 66
# The type of a report of objects that nothing points to.
LEAK = "memory-leak"

_PREFIX = re.compile(r"^\[ *\d+\.\d{6}\] ?")
_SHADOW_CALL_STACK = re.compile(
    r"^(shadow call stack (?:overflow|underflow)|corrupted shadow call stack pointer): "
)
# The kernel checks nothing: there are no memory tags, or kasan=off.
_KASAN_OFF = re.compile(r"^kasan: (.+): KASAN is off, ")
# The kernel's lines about how its program ended, and what it wanted in vain.
_HANG = re.compile(r"^(program|module \S+): no end after \d+ ms$")
_SIGNAL = re.compile(r"^program: ended by signal (\d+)$")
# Printed at the end of each program, if leaks are looked for.
_LEAKS = re.compile(r"^program: leaks: (.+)$")
_MISSING = re.compile(r"^program: calls that are not there: (.+)$")
_PROGRAM_RETURNED = re.compile(r"^program returned (-?\d+)$")
_OVERFLOW = "kernel stack overflow: "
_TASK_STACK = re.compile(r"^Task stack: +\[([0-9a-f]{16}), ([0-9a-f]{16})\)$")
HALTED = "reboot: System halted"


@dataclass
class Crash:
    """A fault or a panic, or a program or a module that did not end in time.

    text: its first line. report: what followed it. stack: size in bytes of the stack that overflowed, None if
    none did. hang: it did not end.
    """

    text: str
    report: Report
    stack: int | None = None
    hang: bool = False

    @property
    def frames(self):
        """The faulting instruction, if it was printed, then the call trace."""
        return [frame for stack in self.report.stacks if stack.kind == "call" for frame in stack.frames]


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
    """Follows one console. After feed(), the attributes hold what is known so far; end() cuts what is open.

    reports: list of model.Report, of KASAN or UBSan, and of leaks. leaks: what was found of these, None
    if they were not looked for. panic: the line of a panic; oops: the first line of a fault that may have
    ended one thread only. crash: the first Crash. returned: the program's return value if it was not 0;
    signal: the number of the one that ended it; missing: the calls that it made and the kernel does not
    have, as the kernel names them; None without any. halted: the kernel said that it was done. last: the
    last line that was not empty. kasan_off: the reason, as printed at boot, why a kernel with KASAN
    checks nothing; None if it checks.
    """

    def __init__(self):
        self.reports = []
        self.panic = self.oops = self.crash = None
        self.returned = self.signal = self.missing = self.leaks = None
        self.halted = False
        self.kasan_off = None
        self.last = None
        self.lines = 0
        self._scanner = scan.Scanner(self._finished, self._begun)
        # The report that is open, the number of the last line that is a rule, and what feed() returns.
        self._open, self._rule, self._event = None, -1, (None, None)
        # Takes the lines of the crash.
        self._builder = None
        self._overflowed = False

    def feed(self, line):
        """Take one line, without its line feed. A ProgramLine is never part of a report.

        Returns ("begin", model.Report) when this line is the headline of one, ("report", it) when it
        completed one, ("again", it) when this line is all of one, or (None, None).
        """
        self.lines += 1
        if isinstance(line, ProgramLine):
            if line.strip():
                self.last = line
            return None, None
        parsed = lines.parse(line.encode("utf-8", "surrogateescape"), self.lines)
        if parsed.text.strip():
            self.last = line
        self._event = None, None
        self._scanner.line(parsed)
        if parsed.text == RULE:
            self._rule = self.lines
        # The prefix distinguishes the kernel's lines from a program's.
        is_kernels = bool(_PREFIX.match(line))
        self._follow_program(parsed.text, is_kernels)
        self._follow_crash(parsed, is_kernels)
        return self._event

    def program(self, texts):
        """Take ProgramLines: the same as feed() for each, and faster."""
        self.lines += len(texts)
        self.last = next((line for line in reversed(texts) if line.strip()), self.last)

    def end(self):
        """There are no more lines. A report that is open is truncated."""
        self._scanner.end()
        self._end_crash()

    # --- Reports ------------------------------------------------------------------------------------------

    def _begun(self, report):
        # Whoever prints a headline without the rule is not the sanitizer.
        own = report.kind in ("kasan", "ubsan") or report.type == LEAK
        if own and report.first_line == self._rule + 1:
            self._open = report
            self.reports.append(report)
            self._event = "begin", report

    def _finished(self, report):
        if report is self._open:
            self._open = None
            self._event = "report", report
        elif report.again:
            self._add_traces(report)
            self.reports.append(report)
            self._event = "again", report

    def _add_traces(self, again):
        """Give to a report of one line the traces of the report whose place it names."""
        calls = [frame.text for frame in again.frames("call")]

        def alike(report):
            """How many of the calls are the same? A line that was too long has lost its end."""
            texts = [frame.text for frame in report.frames("call")]
            same = (text == call for text, call in zip(texts, calls, strict=False))
            return next((at for at, equal in enumerate(same) if not equal), len(calls))

        same = [
            report
            for report in self.reports
            if not report.again
            and (report.kind, report.type, report.access.kind) == (again.kind, again.type, again.access.kind)
        ]
        first = max(same, key=alike, default=None)
        if first is not None and alike(first):
            again.stacks = first.stacks

    # --- The program and the kernel -----------------------------------------------------------------------

    def _follow_program(self, text, is_kernels):
        if text == HALTED:
            self.halted = True
        returned = _PROGRAM_RETURNED.match(text)
        if returned:
            self.returned = int(returned[1])
        if not is_kernels:
            return
        off, signal, missing = _KASAN_OFF.match(text), _SIGNAL.match(text), _MISSING.match(text)
        if off and self.kasan_off is None:
            self.kasan_off = off[1]
        if signal:
            self.signal = int(signal[1])
        if missing:
            self.missing = missing[1]
        if leaks := _LEAKS.match(text):
            self.leaks = leaks[1]

    def _follow_crash(self, line, is_kernels):
        text = line.text
        kind, _ = parse.headline(text)
        if kind == "panic" and self.panic is None:
            self.panic = text
        if kind == "oops" and self.oops is None:
            self.oops = text
        shadow, hang = _SHADOW_CALL_STACK.match(text), is_kernels and bool(_HANG.match(text))
        begins = shadow or hang or kind in ("oops", "panic")
        if begins and self.crash is None:
            self._builder = parse.Builder("oops", line)
            self.crash = Crash(shadow[1] if shadow else text, self._builder.report, hang=hang)
        elif self._builder is not None and ((begins and self.crash.frames) or self._builder.feed(line)):
            # The "Internal error" line of the same fault is followed by its registers and its trace.
            self._end_crash()
        if self._builder is not None:
            self._overflowed = self._overflowed or text.startswith(_OVERFLOW)
            stack = _TASK_STACK.match(text)
            if stack and self._overflowed:
                self.crash.stack = int(stack[2], 16) - int(stack[1], 16)

    def _end_crash(self):
        builder, self._builder = self._builder, None
        if builder is not None:
            builder.end()
