# SPDX-License-Identifier: MIT
"""Boots a kernel in QEMU, follows its console, and says how it ended."""

import os
import re
import selectors
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from redzone import base, mteqemu
from redzone.base import Failure
from redzone.console import Reader

COMMAND = {"arm64": "qemu-system-aarch64"}
# The kernel's own limits. CPUs:
MAX_CPUS = int(re.search(r"set\(REDZONE_NR_CPUS (\d+)\)", (base.ROOT / "kernel/config.cmake").read_text())[1])
# Bytes of the kernel's command line buffer, including its NUL; arguments of a program (kernel/init/main.c).
MAX_COMMAND_LINE = 4096
MAX_ARGUMENTS = 255
# A longer line is shown in parts, so that the user need not wait for its end.
MAX_LINE = 16384


class NotStarted(Failure):
    """QEMU could not start the machine; the text says why."""


@dataclass
class Machine:
    """A kernel to boot, and the machine for it.

    memory: QEMU's -m. append: boot parameters. arguments: the program's. icount: count instructions as time,
    so that two boots run alike. mode: the kernel's; with hw_tags the machine gets memory tags if the CPU
    supports them. timeout: seconds, None for no limit. max_reports: stop the machine after this many complete
    reports, None for no limit. seed: of QEMU's random numbers, which the kernel gets by rng-seed in the
    device tree and by RNDR; the same by default, so that runs repeat. options: further options of QEMU.
    inherited: descriptors that QEMU gets.
    """

    image: Path
    initrd: Path | None = None
    arch: str = "arm64"
    cpu: str = "max"
    smp: int = 1
    memory: str = "512M"
    append: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    icount: bool = False
    mode: str = "generic"
    timeout: float | None = 60.0
    max_reports: int | None = None
    seed: int = 1
    options: list = field(default_factory=list)
    inherited: tuple = ()


@dataclass
class Outcome:
    """How a boot ended.

    status: base.OK, REPORTED, CRASHED, PROGRAM_FAILED or LOCKS_REPORTED. message: one line for the user, None
    if the console has said it all. code: QEMU's exit status, None if this module stopped it. ended: the
    kernel ended on its own, even if by a panic.
    """

    status: int
    message: str | None
    code: int | None
    reader: Reader
    seconds: float
    ended: bool = True


def memory_size(text):
    """Return @text in the form that QEMU's -m takes. Raises ValueError."""
    match = re.fullmatch(r"(\d+)([KMGkmg]?)", text)
    if not match:
        raise ValueError(text)
    unit = {"": 1 << 20, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[match[2].upper()]
    size = int(match[1]) * unit
    if not 64 << 20 <= size <= 64 << 30:
        raise ValueError(text)
    return f"{match[1]}{match[2].upper() or 'M'}"


def quote_argument(text):
    """Put one program argument in double quotes; a backslash escapes them and itself."""
    if text and not re.search(r'[\s"]', text):
        return text
    return '"' + re.sub(r'([\\"])', r"\\\1", text) + '"'


def command_line(append, arguments):
    """Return the kernel's command line: boot parameters, and after `--` the program's arguments."""
    text = " ".join(append)
    if len(arguments) > MAX_ARGUMENTS:
        raise Failure(f"{len(arguments)} program arguments; at most {MAX_ARGUMENTS} are possible")
    if arguments:
        text += " -- " + " ".join(quote_argument(word) for word in arguments)
    if len(text.encode()) >= MAX_COMMAND_LINE:
        raise Failure(
            f"boot parameters and program arguments are {len(text.encode())} bytes long; "
            f"at most {MAX_COMMAND_LINE - 1} are possible"
        )
    return text


def emulator(machine):
    """Return the command that starts QEMU."""
    return mteqemu.command() if machine.mode == "hw_tags" else [COMMAND[machine.arch]]


def machine_type(machine):
    """Return QEMU's -machine for @machine. QEMU refuses memory tags for CPUs without them."""
    return "virt,mte=on" if machine.mode == "hw_tags" and machine.cpu == "max" else "virt"


def qemu_command(machine):
    """Return QEMU's command line as a list."""
    command = [
        *emulator(machine),
        *("-machine", machine_type(machine)),
        *("-cpu", machine.cpu),
        *("-smp", str(machine.smp)),
        *("-m", machine.memory),
        *("-nographic", "-no-reboot", "-nic", "none", "-monitor", "none", "-serial", "stdio"),
        *("-semihosting-config", "enable=on,target=native"),
        *("-kernel", str(machine.image)),
        *("-seed", str(machine.seed)),
    ]
    if machine.initrd is not None:
        command += ["-initrd", str(machine.initrd)]
    if machine.icount:
        command += ["-icount", "shift=0,sleep=off"]
    command += machine.options
    return [*command, "-append", command_line(machine.append, machine.arguments)]


class _Lines:
    """Cuts a stream of bytes into lines of text. A carriage return before the line feed is dropped."""

    def __init__(self):
        self._rest = b""

    def feed(self, data):
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE:
            lines.append(self._rest)
            self._rest = b""
        return [self._text(line) for line in lines]

    def end(self):
        return [self._text(self._rest)] if self._rest else []

    @staticmethod
    def _text(line):
        return line.rstrip(b"\r").decode("utf-8", "surrogateescape")


# QEMUs that are running now; several threads may each follow one.
_running = set()


def stop_all():
    """End every running QEMU, because the command was interrupted. Their boot() calls then return."""
    for process in list(_running):
        process.kill()


def boot(machine, on_line=None):
    """Boot @machine; call on_line(text, event, value) for each console line, with the result of
    Reader.feed().

    If on_line() returns True, the time limit restarts.

    Returns an Outcome. Raises NotStarted if QEMU could not start the machine.
    """
    command = qemu_command(machine)
    reader = Reader()
    lines = _Lines()
    started = limit_from = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=machine.inherited,
        )
    except OSError as error:
        raise NotStarted(f"{command[0]} cannot be started: {error.strerror}") from None

    _running.add(process)
    errors = b""
    stopped = None
    complete = 0

    def take(texts):
        nonlocal complete, stopped, limit_from
        for text in texts:
            event, value = reader.feed(text)
            if on_line is not None and on_line(text, event, value) is True:
                limit_from = time.monotonic()
            if event in ("report", "again"):
                complete += 1
                if machine.max_reports and complete >= machine.max_reports:
                    stopped = "reports"
                    return

    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            while selector.get_map() and stopped is None:
                wait = None
                if machine.timeout is not None:
                    wait = limit_from + machine.timeout - time.monotonic()
                    if wait <= 0:
                        stopped = "timeout"
                        break
                for key, _ in selector.select(wait):
                    data = os.read(key.fd, 65536)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stderr:
                        errors += data
                    else:
                        take(lines.feed(data))
                        if stopped is not None:
                            break
        if stopped != "reports":
            take(lines.end())
        if stopped is None:
            process.wait()
    finally:
        process.kill()
        process.wait()
        _running.discard(process)
        process.stdout.close()
        process.stderr.close()
    seconds = time.monotonic() - started
    code = None if stopped else process.returncode
    status, message = _judge(machine, reader, code, stopped, errors.decode("utf-8", "replace").strip())
    return Outcome(status, message, code, reader, seconds, stopped is None)


def _last_words(reader):
    return f"the kernel last said: {reader.last.strip()}" if reader.last else "the kernel said nothing"


def _judge(machine, reader, code, stopped, errors):
    """Return (exit status, message) of a boot that ended. A report takes precedence over how it ended."""
    reported = base.REPORTED if reader.reports else None
    if stopped == "reports":
        count = base.plural(machine.max_reports, "report")
        return base.REPORTED, f"stopped after {count} (--max-reports {machine.max_reports})"
    if stopped == "timeout":
        text = f"no end after {machine.timeout:g} s (--timeout); {_last_words(reader)}"
        return reported or base.CRASHED, text
    if reader.lines == 0 and code != 0 and errors:
        raise NotStarted(f"QEMU could not start the machine: {errors}")
    if reader.reports:
        unfinished = not reader.reports[-1].complete
        return (
            base.REPORTED,
            f"the last report is not complete; {_last_words(reader)}" if unfinished else None,
        )
    if code == base.CRASHED or reader.panic:
        return base.CRASHED, f"the kernel crashed: {reader.panic or reader.oops or _last_words(reader)}"
    if not reader.halted:
        why = f"QEMU ended with status {code}" + (f" ({errors})" if errors else "")
        return base.CRASHED, f"the machine stopped before the kernel was done: {why}; {_last_words(reader)}"
    if code == base.PROGRAM_FAILED:
        return base.PROGRAM_FAILED, "the program returned non-zero"
    if code == base.LOCKS_REPORTED:
        return base.LOCKS_REPORTED, "the lock validator reported"
    if code == base.OK:
        return base.OK, None
    return base.CRASHED, f"QEMU ended with status {code}; {_last_words(reader)}"
