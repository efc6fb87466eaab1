# SPDX-License-Identifier: MIT
"""Boots OpenSBI in QEMU with its payload or with U-Boot, and reads what the console says."""

import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

from redzone.kit import guest, ports
from redzone.machine import console

from . import build, source

# What the payload is to do: see payload/main.c.
ORDINARY, ALL, HARTS, COST, HOLE = 0, 0x10000, 0x20000, 0x30000, 0x40000
# For one boot, at a load of many times the CPUs.
TIMEOUT = 300
MOVED = build.RAM + 0x4000000
U_BOOT = build.RAM + 0x200000
PROMPT = "=> "
_PLANTED = re.compile(r"^planted: (\w+)$")
_COST = re.compile(r"^cost: (\w+) (\d+)$")
_FAILED = re.compile(r"^traffic: FAILED|[1-9]\d* FAILED")
_END = "payload: end"
# Lines that a boot without a fault has.
DONE = "traffic: done, harts"
TESTED = re.compile(r"^[1-9]\d* PASSED / 0 FAILED")


@dataclass
class Session:
    """One boot. lines: of the console, with names. reports: all. bugs: {planted bug: [Report]}. costs: {what:
    instructions}. ended: why it did not come to its end, else None."""

    log: Path
    lines: list = field(default_factory=list)
    reports: list = field(default_factory=list)
    bugs: dict = field(default_factory=dict)
    costs: dict = field(default_factory=dict)
    ended: str | None = None

    @property
    def failures(self):
        """What the payload or OpenSBI's own unit tests, which run at its start, say is wrong."""
        return [line for line in self.lines if _FAILED.search(line)]


def jump(distance):
    """Return RISC-V code that jumps @distance bytes on from its own start: auipc t0; jalr t0."""
    upper = (distance + 0x800) >> 12
    lower = distance - (upper << 12)
    return struct.pack("<II", (upper & 0xFFFFF) << 12 | 0x297, (lower & 0xFFF) << 20 | 0x28067)


def _loader(path, address):
    return ["-device", f"loader,file={ports.option_value(path)},addr={address:#x},force-raw=on"]


def _machine(image, harts, load, folder):
    """Return QEMU's command with @image at the address @load."""
    command = ["qemu-system-riscv64", "-machine", "virt", "-m", "256M", "-smp", harts, "-nographic"]
    command += ["-monitor", "none", "-serial", "stdio", "-nic", "none"]
    if load == build.RAM:
        return [*command, "-bios", image.binary]
    # The machine starts at the start of RAM.
    start = folder / f"start-{load:#x}.bin"
    start.write_bytes(jump(load - build.RAM))
    return [*command, "-bios", "none", *_loader(start, build.RAM), *_loader(image.binary, load)]


def _names(image, load):
    names = guest.Names(image.elf, [image.folder], entries=True)
    names.moved = load - image.linked
    return names


def boot(image, log, choice=ORDINARY, harts=4, load=build.RAM, timeout=TIMEOUT, echo=None, exact=False):
    """Boot @image with the payload, which does @choice. Return a Session.

    load: address of the image. exact: count instructions, so that costs are the same each time. echo: called
    with each line, with names and places.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    ports.note_console(log, image.elf)
    command = _machine(image, harts, load, log.parent)
    command += _loader(image.payload, load + build.NEXT)
    command += ["-device", f"loader,addr={load + build.NEXT + build.CHOICE:#x},data={choice},data-len=4"]
    command += ["-icount", "shift=0,sleep=off"] if exact else []
    session = Session(log)
    names = _names(image, load)
    # A hart that is stopped by a fault stays so, and the others wait for it.
    last = re.compile(r"^sbi_trap_error: hart\d+: trap0: t6=")
    with guest.Machine("OpenSBI", command, "\0", last, names, log, echo) as machine:
        try:
            machine.wait_prompt(timeout)
        except guest.Stopped as stopped:
            session.ended = None if any(line == _END for line in machine.lines) else str(stopped)
        session.lines, session.reports = machine.lines, machine.reports
    _sort(session)
    if session.costs:
        session.ended = None
    return session


def _sort(session):
    """Give each planted bug the reports that its boot printed after it; costs go into costs."""
    reader, name = console.Reader(), None
    for line in session.lines:
        planted, cost = _PLANTED.match(line), _COST.match(line)
        if planted:
            name = planted[1]
            session.bugs.setdefault(name, [])
        if cost:
            session.costs[cost[1]] = int(cost[2])
        before = len(reader.reports)
        reader.feed(line)
        if name:
            session.bugs[name] += reader.reports[before:]


def u_boot(image, commands, log, harts=4, timeout=TIMEOUT, echo=None):
    """Boot @image, which runs anywhere, far up, and then U-Boot. Type @commands. Return (Session,
    [output lines of a command])."""
    log.parent.mkdir(parents=True, exist_ok=True)
    ports.note_console(log, image.elf)
    stub = log.parent / "stub.bin"
    stub.write_bytes(jump(U_BOOT - MOVED - build.NEXT))
    command = [*_machine(image, harts, MOVED, log.parent), *_loader(stub, MOVED + build.NEXT)]
    command += _loader(source.u_boot(), U_BOOT)
    session, outputs = Session(log), []
    with guest.Machine("U-Boot", command, PROMPT, None, _names(image, MOVED), log, echo) as machine:
        try:
            machine.wait_text("Hit any key", timeout)
            machine.type("\n")
            machine.wait_prompt(timeout)
            for typed in commands:
                outputs.append(machine.command(typed, timeout))
        except guest.Stopped as stopped:
            session.ended = str(stopped)
        session.lines, session.reports = machine.lines, machine.reports
    return session, outputs
