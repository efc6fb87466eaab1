# SPDX-License-Identifier: MIT
"""Boots a demonstration in QEMU, and sorts its reports by the bugs that were planted.

The image has no symbol table in memory, so the frames are bare addresses; this module names them from the ELF
file. QEMU counts instructions instead of time, so a boot is the same on a busy machine as on an idle one.
"""

import contextlib
import os
import re
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from redzone.decode.images import Image
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, Functions
from redzone.kit import ports
from redzone.machine import console

# Time limit of a boot, in seconds, for each second of traffic and for all bugs.
TIMEOUT_EACH = 20
TIMEOUT_BUGS = 600
_FRAME = re.compile(r"^ 0x([0-9a-f]+)$")
_HEADLINE = re.compile(r"^(BUG: KASAN: [a-z-]+ in )0x([0-9a-f]+)$")
_ADDRESS = re.compile(r"^((?:Read|Write|Access|Free) (?:of )?(?:size \d+ )?(?:at )?addr )([0-9a-f]{8})( )")
_BUG = re.compile(r"^bug (\w+)$")
_COLUMN = 40


def machine(board):
    """Return QEMU's command for @board, without the image."""
    if board.startswith("riscv"):
        bits = 32 if board.startswith("riscv32") else 64
        qemu = [f"qemu-system-riscv{bits}", "-machine", "virt", "-bios", "none"]
    else:
        qemu = ["qemu-system-arm", "-machine", board, "-semihosting"]
    return [*qemu, "-nographic", "-nic", "none", "-icount", "shift=6,sleep=off"]


class Decoder:
    """Names the addresses in the lines of one image."""

    def __init__(self, elf):
        self._image = Image(elf)
        self._functions = Functions(File.open(elf), (FUNC,))

    def close(self):
        self._image.close()

    def name(self, address):
        """Return ("name+0xOFFSET/0xSIZE", [Location]) of the code at @address, which is behind a call, or is
        the instruction itself. (None, []) if it is no function's."""
        address &= ~1
        found = self._functions.at(address)
        inside = address if found and found[1] == 0 else address - 1
        found = self._functions.at(inside)
        if found is None:
            return None, []
        name, offset, size = found
        return f"{name}+{offset + address - inside:#x}/{size:#x}", self._image.lines_at(inside)

    def line(self, text):
        """Return (@text in the runtime's own format, the same for people, a line for each inlined one)."""
        wide = _ADDRESS.sub(lambda found: f"{found[1]}{found[2]:0>16}{found[3]}", text)
        headline, frame = _HEADLINE.match(text), _FRAME.match(text)
        if not headline and not frame:
            return wide, text, []
        name, sources = self.name(int((headline[2] if headline else frame[1]), 16))
        if name is None:
            return wide, text, []
        if headline:
            return headline[1] + name, headline[1] + name, []
        if not sources:
            return f" {name}", f" {name}", []
        *inner, last = sources
        shown = f"{f' {name}':{_COLUMN}} {Path(last.path).name}" + (f":{last.line}" if last.line else "")
        if inner:
            shown += f" (inlined: {', '.join(one.function for one in inner)})"
        inlined = [f" {one.function} {one.path}:{one.line} [inline]" for one in inner]
        return f" {name} {last.path}:{last.line}", shown, inlined


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


def boot(image, echo=None):
    """Boot @image to its end; return the Session. @echo: called with each decoded line."""
    session = Session(log=image.elf.with_name("boot.log"))
    ports.note_console(session.log, image.elf)
    reader = console.Reader()
    decoder = Decoder(image.elf)
    current = session.reports
    # As many lines as it takes: the time limit is that of the whole boot.
    process = subprocess.Popen(
        [*machine(image.board), "-kernel", str(image.elf)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    watch = _Watch(process, image.seconds * TIMEOUT_EACH + TIMEOUT_BUGS)
    try:
        with process.stdout, open(session.log, "w", encoding="utf-8") as log, watch:
            for raw in process.stdout:
                text, shown, inlined = decoder.line(raw.rstrip("\r\n"))
                log.write(shown + "\n")
                session.lines.append(shown)
                planted = _BUG.match(text)
                if planted:
                    current = session.bugs.setdefault(planted[1], [])
                for one in inlined:
                    reader.feed(one)
                event, found = reader.feed(text)
                if event in ("report", "again"):
                    current.append(found)
                if echo:
                    echo(shown, current)
        status = process.wait()
        session.status = None if watch.expired else status
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        decoder.close()
    return session


class _Watch:
    """Ends a process that runs for too long."""

    def __init__(self, process, seconds):
        self.expired = False
        self._process = process
        self._timer = threading.Timer(seconds, self._expire)

    def _expire(self):
        self.expired = True
        self._process.kill()

    def __enter__(self):
        self._timer.start()
        return self

    def __exit__(self, *ignored):
        self._timer.cancel()
