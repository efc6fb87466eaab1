# SPDX-License-Identifier: MIT
"""Runs xv6 in QEMU, types commands into its shell, and reads the answers."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from redzone.kit import guest, ports

HARTS = 3
PROMPT = "$ "
# For one command, at a load of many times the CPUs.
TIMEOUT = 300
_PANIC = re.compile(r"^panic: ")


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


def play(image, commands, log, timeout=TIMEOUT, echo=None):
    """Boot @image, type @commands one after the other. Return a Session.

    timeout: seconds that one command may take. echo: called with each line, with names and places.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    ports.note_console(log, image.kernel)
    command = [
        *("qemu-system-riscv64", "-machine", "virt", "-bios", "none", "-kernel", image.kernel),
        *("-m", "192M", "-smp", HARTS, "-nographic", "-monitor", "none", "-serial", "stdio"),
        *("-global", "virtio-mmio.force-legacy=false"),
        # xv6 gets the disk as it was built, each time.
        *("-drive", f"file={ports.option_value(image.disk)},if=none,format=raw,id=x0,snapshot=on"),
        *("-device", "virtio-blk-device,drive=x0,bus=virtio-mmio-bus.0"),
    ]
    names = guest.Names(image.kernel, [image.folder]) if image.kasan else None
    session = Session([], None, log)
    # xv6 stops in a loop when it panics.
    with guest.Machine("xv6", command, PROMPT, _PANIC, names, log, echo) as machine:
        try:
            for typed in ("", *commands):
                reply = Reply(typed)
                session.replies.append(reply)
                lines, reports = len(machine.lines), len(machine.reports)
                try:
                    machine.command(typed, timeout) if typed else machine.wait_prompt(timeout)
                finally:
                    reply.lines, reply.reports = machine.lines[lines:], machine.reports[reports:]
        except guest.Stopped as stopped:
            session.ended = str(stopped)
    return session
