# SPDX-License-Identifier: MIT
"""Runs xv6 in QEMU, types commands into its shell, reads the answers, and names the functions in reports.

xv6 has no symbols at run time: frames are bare addresses, which are looked up in the ELF file.
"""

import os
import re
import selectors
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from redzone.decode.images import Image
from redzone.kit import ports
from redzone.machine import console

HARTS = 3
PROMPT = "$ "
# For one command, at a load of many times the CPUs.
TIMEOUT = 300
_FRAME = re.compile(r"^ 0x([0-9a-f]+)$")
_HEADLINE = re.compile(r"^(BUG: KASAN: [a-z-]+ in )0x([0-9a-f]+)$")
_PANIC = re.compile(r"^panic: ")


class Names:
    """Turns the addresses in the console lines of @elf into functions and places."""

    def __init__(self, elf, folder):
        self._folder = f"{folder}/"
        self._image = Image(elf)

    def close(self):
        self._image.close()

    def _name(self, address):
        """Return (`name+0xOFFSET/0xSIZE`, `file:line`) of the instruction before @address."""
        found = self._image.functions.at(address - 1)
        if found is None:
            return None, ""
        name, offset, size = found
        found = self._image.lines_at(address - 1)
        place = f"{found[-1].path.removeprefix(self._folder)}:{found[-1].line}" if found else ""
        return f"{name}+{offset + 1:#x}/{size:#x}", place

    def line(self, text):
        """Return (@text with a name, in the runtime's own format; the same with the place behind it)."""
        for pattern, before in ((_HEADLINE, None), (_FRAME, " ")):
            match = pattern.match(text)
            if match:
                head = before or match[1]
                name, place = self._name(int(match[match.lastindex], 16))
                named = f"{head}{name}" if name else text
                return named, f"{named:<46} {place}".rstrip() if before else named
        return text, text


@dataclass
class Reply:
    """What followed one typed command. reports: list of model.Report."""

    command: str
    lines: list = field(default_factory=list)
    reports: list = field(default_factory=list)


@dataclass
class Session:
    """One boot. replies: the first is the boot itself. ended: why the last prompt is missing, else None."""

    replies: list
    ended: str | None
    log: Path

    @property
    def reports(self):
        return [report for reply in self.replies for report in reply.reports]


class _Machine:
    def __init__(self, image, log, echo):
        self._names = Names(image.kernel, image.folder) if image.kasan else None
        self._reader = console.Reader()
        self._echo = echo
        self._pending = ""
        self._log = open(log, "wb", buffering=0)  # noqa: SIM115
        self.replies = [Reply("")]
        self.panic = None
        disk = ports.option_value(image.disk)
        self._process = subprocess.Popen(
            [
                *("qemu-system-riscv64", "-machine", "virt", "-bios", "none", "-kernel", str(image.kernel)),
                *("-m", "192M", "-smp", str(HARTS), "-nographic", "-monitor", "none", "-serial", "stdio"),
                *("-global", "virtio-mmio.force-legacy=false"),
                # xv6 gets the disk as it was built, each time.
                *("-drive", f"file={disk},if=none,format=raw,id=x0,snapshot=on"),
                *("-device", "virtio-blk-device,drive=x0,bus=virtio-mmio-bus.0"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    def close(self):
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            pipe.close()
        self._selector.close()
        self._log.close()
        if self._names:
            self._names.close()

    def type(self, command):
        self.replies.append(Reply(command))
        self._process.stdin.write(command.encode() + b"\n")
        self._process.stdin.flush()

    def _take(self, line):
        reply = self.replies[-1]
        named, shown = self._names.line(line) if self._names else (line, line)
        reply.lines.append(named)
        before = len(self._reader.reports)
        self._reader.feed(named)
        reply.reports += self._reader.reports[before:]
        if _PANIC.match(named):
            self.panic = named
        if self._echo:
            self._echo(shown)

    def wait(self, timeout):
        """Read until the prompt. Return None, or why it does not come."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if not self._selector.select(timeout=1):
                # xv6 stops in a loop. All of the line has come when nothing follows it.
                if self.panic:
                    return self.panic
                continue
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                return f"QEMU ended with {self._process.wait()}"
            self._log.write(data)
            self._pending += data.decode("utf-8", "replace").replace("\r", "")
            *lines, self._pending = self._pending.split("\n")
            for line in lines:
                self._take(line)
            if self._pending == PROMPT:
                self._pending = ""
                return None
        return f"no prompt after {timeout} s"


def play(image, commands, log, timeout=TIMEOUT, echo=None):
    """Boot @image, type @commands one after the other. Return a Session.

    timeout: seconds that one command may take. echo: called with each line, with names and places.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    ports.note_console(log, image.kernel)
    machine = _Machine(image, log, echo)
    try:
        ended = machine.wait(timeout)
        for command in commands:
            if ended:
                break
            machine.type(command)
            ended = machine.wait(timeout)
        return Session(machine.replies, ended, log)
    finally:
        machine.close()
