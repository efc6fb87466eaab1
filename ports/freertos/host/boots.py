# SPDX-License-Identifier: MIT
"""Boots a demonstration in QEMU, and sorts its reports by the bugs that were planted.

QEMU counts instructions instead of time, so a boot is the same on a busy machine as on an idle one.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from redzone.core.base import ROOT
from redzone.elf.symbols import FUNC
from redzone.kit import guest, ports

# Time limit of a boot, in seconds, for each second of traffic and for all bugs.
TIMEOUT_EACH = 20
TIMEOUT_BUGS = 600
_BUG = re.compile(r"^bug (\w+)$")


def machine(board):
    """Return QEMU's command for @board, without the image."""
    if board.startswith("riscv"):
        bits = 32 if board.startswith("riscv32") else 64
        qemu = [f"qemu-system-riscv{bits}", "-machine", "virt", "-bios", "none"]
    else:
        qemu = ["qemu-system-arm", "-machine", board, "-semihosting"]
    return [*qemu, "-nographic", "-nic", "none", "-icount", "shift=6,sleep=off"]


@dataclass
class Session:
    """A boot. bugs: {name: [Report]} in order; reports: those before the first bug. status: QEMU's, None if
    it was ended for lack of time. lines: all of the console, decoded."""

    bugs: dict = field(default_factory=dict)
    reports: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    status: int | None = None
    log: Path | None = None

    @property
    def ended(self):
        """Why the demonstration did not come to its end; None if it did."""
        if self.status is None:
            return "it did not end in time"
        if self.status or "end" not in self.lines:
            return f"QEMU ended with status {self.status}: {self.lines[-1] if self.lines else 'no output'}"
        return None

    @property
    def traffic(self):
        """The line about the ordinary traffic, "" if it was not printed."""
        return next((line for line in self.lines if line.startswith("traffic: ")), "")


def functions(report, trace="call"):
    """Return the names of all functions in one trace of @report, inlined ones included."""
    names = []
    for frame in report.frames(trace):
        names += [*(one.function for one in frame.locations[:-1]), frame.name]
    return names


class _Machine(guest.Machine):
    """A demonstration whose reports go into a Session, each to the bug that was planted before it."""

    def __init__(self, image, session, log, echo):
        folders = [image.source, image.elf.parent, ROOT]
        names = guest.Names(image.elf, folders, (FUNC,), entries=True)
        command = [*machine(image.board), "-kernel", image.elf]
        self._current = session.reports
        self._session = session
        self._log_file, self._echo_line = log, echo
        super().__init__("QEMU", command, names=names, echo=self._show)

    def _show(self, text):
        print(text, file=self._log_file)
        if self._echo_line:
            self._echo_line(text, self._current)

    def feed(self, text):
        planted = _BUG.match(text)
        if planted:
            self._current = self._session.bugs.setdefault(planted[1], [])
        return super().feed(text)

    def heard(self, event, found):
        if event in ("report", "again"):
            self._current.append(found)


def boot(image, echo=None):
    """Boot @image to its end; return the Session. @echo: called with each decoded line, and the reports of
    the bug that it belongs to."""
    session = Session(log=image.elf.with_name("boot.log"))
    ports.note_console(session.log, image.elf)
    # As many lines as it takes: the time limit is that of the whole boot.
    with (
        open(session.log, "w", encoding="utf-8", errors="surrogateescape") as log,
        _Machine(image, session, log, echo) as running,
    ):
        session.status = running.wait_end(image.seconds * TIMEOUT_EACH + TIMEOUT_BUGS)
        session.lines = running.lines
    return session
