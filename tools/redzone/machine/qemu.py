# SPDX-License-Identifier: MIT
"""Boots a kernel in QEMU, follows its console, and says how it ended."""

import contextlib
import fcntl
import functools
import os
import re
import selectors
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from redzone.core import base, maskqemu, mteqemu, outside, process
from redzone.core.arch import DEFAULT, KERNELS
from redzone.core.base import Failure
from redzone.machine import accel, stream
from redzone.machine.console import ProgramLine, Reader

# The kernel's own limits. CPUs:
MAX_CPUS = base.kernel_value("NR_CPUS")
# Bytes of the kernel's command line buffer, including its NUL; arguments of a program (kernel/init/main.c).
MAX_COMMAND_LINE = 4096
MAX_ARGUMENTS = 255
# Ports of the device of kernel/drivers/virtio_console.c.
_PORTS = 4
# Bytes that the pipe with QEMU's output holds: so long the kernel need not wait for this process.
_PIPE_SIZE = 1 << 20
# The standard's virtio devices. Without ioeventfd=off, newer QEMUs leave the work to another thread, and the
# kernel has to wait for it: under -icount no boot is then like another.
VIRTIO = ("-global", "virtio-mmio.force-legacy=false", "-global", "virtio-mmio.ioeventfd=off")
# What QEMU need not be able to do, where it has been built so that it can give it up.
_SANDBOX = ("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny")


class NotStarted(Failure):
    """QEMU could not start the machine; the text says why."""


@dataclass
class Machine:
    """A kernel to boot, and the machine for it.

    memory: QEMU's -m. append: boot parameters. arguments: the program's. icount: count instructions as time,
    so that two boots run alike. mode: the kernel's; with hw_tags the machine gets memory tags if the CPU
    supports them, with sw_tags a CPU that masks pointers if some do not. timeout: seconds, None for no limit;
    grace: seconds more, in which the kernel may keep to the limit itself. max_reports: stop the machine after
    this many complete reports, None for no limit. seed: of QEMU's random numbers, which the kernel gets by
    rng-seed in the device tree and by RNDR; the same by default, so that runs repeat. options: further
    options of QEMU.
    host: host.Host, which has what the kernel may ask for; None: nothing. turn: number of this boot of
    several: from the second on, all random numbers are others, so that a bug that needs luck has another
    chance. emulated: QEMU runs it, whatever the user has chosen.
    """

    image: Path
    initrd: Path | None = None
    arch: str = DEFAULT
    cpu: str = "max"
    smp: int = 1
    memory: str = "512M"
    append: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    icount: bool = False
    mode: str = "generic"
    timeout: float | None = 60.0
    grace: float = 0.0
    max_reports: int | None = None
    seed: int = 1
    options: list = field(default_factory=list)
    host: object = None
    turn: int = 1
    emulated: bool = False


@dataclass
class Outcome:
    """How a boot ended.

    status: base.OK, REPORTED, CRASHED, PROGRAM_FAILED or LOCKS_REPORTED. message: one line for the user, None
    if the console has said it all. code: the status that the kernel gave, None if it gave none. ended: the
    kernel ended on its own, even if by a panic.
    """

    status: int
    message: str | None
    code: int | None
    reader: Reader
    seconds: float
    ended: bool = True


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
    # Any bytes may be in an argument.
    size = len(os.fsencode(text))
    if size >= MAX_COMMAND_LINE:
        raise Failure(
            f"boot parameters and program arguments are {size} bytes long; "
            f"at most {MAX_COMMAND_LINE - 1} are possible"
        )
    return text


def emulator(machine):
    """Return the command that starts QEMU."""
    if machine.mode == "hw_tags":
        return mteqemu.command()
    if machine.mode == "sw_tags" and KERNELS[machine.arch].tags_cpu:
        return maskqemu.command()
    return [outside.BY_KEY[f"qemu-{machine.arch}"].command]


def reason(arch, mode):
    """Return why no QEMU here boots kernels of @arch and @mode, None if one does. It may be fetched now."""
    if mode == "hw_tags":
        return mteqemu.reason()
    return maskqemu.reason() if mode == "sw_tags" and KERNELS[arch].tags_cpu else None


def machine_type(machine):
    """Return QEMU's -machine for @machine. QEMU refuses memory tags for CPUs without them."""
    name = KERNELS[machine.arch].machine
    return f"{name},mte=on" if machine.mode == "hw_tags" and machine.cpu == "max" else name


def cpu_model(machine):
    """Return QEMU's -cpu for @machine."""
    kernel = KERNELS[machine.arch]
    if machine.cpu != "max":
        return machine.cpu
    return kernel.tags_cpu if machine.mode == "sw_tags" and kernel.tags_cpu else kernel.cpu


@functools.cache
def sandbox(*command):
    """Return the options that make the QEMU @command give up rights that it need not have."""
    status, _ = process.call([*command, *_SANDBOX, "-machine", "help"])
    return list(_SANDBOX) if status == 0 else []


def output_to(name, path, kind="null"):
    """Return QEMU's words for a character device @name that writes to the file @path.

    QEMU waits until all is written: what the kernel writes is not lost, and does not change its course."""
    path = str(path).replace(",", ",,")
    return ["-chardev", f"{kind},id={name},logfile={path},logappend=on"]


def port(number, name):
    """Return QEMU's words that connect port @number of the kernel's virtio console with the device @name."""
    return ["-device", f"virtconsole,nr={number},chardev={name}"]


def qemu_command(machine, output):
    """Return QEMU's command line as a list. @output: the file that gets what stream.Stream takes.

    There is no semihosting: by that, a program in the machine could run commands here."""
    qemu = emulator(machine)
    with_input = machine.host is not None and machine.host.has_input
    command = [
        *qemu,
        *sandbox(*qemu),
        *accel.words(accel.choose(machine, emulator), machine_type(machine), cpu_model(machine)),
        *("-smp", str(machine.smp)),
        *("-m", machine.memory),
        *("-display", "none", "-no-reboot", "-nic", "none", "-monitor", "none"),
        # Before the kernel has found the other device, and when all else fails.
        *output_to("uart", output),
        *("-serial", "chardev:uart"),
        *output_to("host", output, "stdio,signal=off" if with_input else "null"),
        *VIRTIO,
        *("-device", f"virtio-serial-device,bus=virtio-mmio-bus.0,max_ports={_PORTS}"),
        *port(0, "host"),
        *("-kernel", str(machine.image)),
        *("-seed", str(machine.seed + machine.turn - 1)),
    ]
    if machine.initrd is not None:
        command += ["-initrd", str(machine.initrd)]
    if machine.icount:
        command += ["-icount", "shift=0,sleep=off"]
    command += machine.options
    # First, because one that the user gives overrides it.
    append = [f"random.seed={machine.turn}"] * (machine.turn > 1) + machine.append
    return [*command, "-append", command_line(append, machine.arguments)]


# QEMUs that are running now; several threads may each follow one.
_running = set()


def stop_all():
    """End every running QEMU, because the command was interrupted. Their boot() calls then return."""
    for running in list(_running):
        running.kill()


class Cancelled(Exception):
    """cancel() has ended the machine: there is nothing to be said about it."""


_cancelled = threading.Event()


def cancel():
    """End every running QEMU; boot() then raises Cancelled, until forget_cancel()."""
    _cancelled.set()
    stop_all()


def forget_cancel():
    _cancelled.clear()


class _Boot:
    """A machine that runs, and what is known about it so far."""

    def __init__(self, machine, on_line, on_program, reader, on_part):
        self.machine, self.on_line, self.on_program = machine, on_line, on_program
        self.on_part = on_part
        self.reader, self.stream = reader or Reader(), stream.Stream()
        self.limit_from = time.monotonic()
        self.errors = b""
        self.stopped = None
        self.end = None
        self._complete = 0
        # The request for standard input that waits for the input.
        self._request = None
        output, into = os.pipe()
        # macOS has no such size.
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        self.output = open(output, "rb", buffering=0)  # noqa: SIM115
        try:
            command = qemu_command(machine, f"/dev/fd/{into}")
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(into,),
                bufsize=0,
            )
        except OSError as error:
            raise NotStarted(f"{command[0]} cannot be started: {error.strerror}") from None
        finally:
            os.close(into)
        # A machine that asks for more than it reads must not stop this process.
        os.set_blocking(self.process.stdin.fileno(), False)
        _running.add(self.process)
        if machine.host is not None:
            machine.host.restart_input()

    def close(self):
        self.process.kill()
        self.process.wait()
        _running.discard(self.process)
        for pipe in (self.output, self.process.stdin, self.process.stderr):
            pipe.close()

    def _lines(self, texts):
        if self.on_program is not None and isinstance(texts[0], ProgramLine):
            self.reader.program(texts)
            self.on_program(texts)
            return
        for text in texts:
            event, value = self.reader.feed(text)
            if self.on_line is not None and self.on_line(text, event, value) is True:
                self.limit_from = time.monotonic()
            if event in ("report", "again"):
                self._complete += 1 + value.silent
                if self.machine.max_reports and self._complete >= self.machine.max_reports:
                    self.stopped = "reports"
                    return

    def _message(self, message, selector):
        host = self.machine.host
        if message.word == "end":
            self.end = message
        elif host is None:
            return
        elif message.word == "saved":
            host.saved(message.first, message.second)
        elif message.word == "restart":
            if self._request is not None:
                # Whoever asked is gone.
                selector.unregister(host.input_file())
                self._request = None
            host.restart_input()
        elif message.word == "read" and self._request is None:
            self._request = message
            source = host.input_file()
            if source is None:
                self._answer()
                return
            try:
                selector.register(source, selectors.EVENT_READ)
            except PermissionError:
                # An ordinary file always has something, or its end.
                self._answer()

    def _answer(self):
        """Answer the request for standard input."""
        request, self._request = self._request, None
        # It does not fit only if nobody reads it.
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            self.process.stdin.write(self.machine.host.read_input(request.first, request.second))

    def _take(self, items, selector):
        for item in items:
            if isinstance(item, list):
                self._lines(item)
            elif isinstance(item, stream.Message):
                self._message(item, selector)
            elif self.machine.host is not None:
                self.machine.host.save(item.number, item.data)
            if self.stopped is not None:
                return

    def _follow(self, selector):
        ends = [self.output, self.process.stderr]
        for end in ends:
            selector.register(end, selectors.EVENT_READ)
        while ends and self.stopped is None:
            wait = None
            if self.machine.timeout is not None:
                wait = self.limit_from + self.machine.timeout + self.machine.grace - time.monotonic()
                if wait <= 0:
                    self.stopped = "timeout"
                    return
            for key, _ in selector.select(wait):
                if key.fileobj not in ends:
                    selector.unregister(key.fileobj)
                    self._answer()
                    continue
                data = os.read(key.fd, _PIPE_SIZE)
                if not data:
                    selector.unregister(key.fileobj)
                    ends.remove(key.fileobj)
                elif key.fileobj is self.output:
                    self._take(self.stream.feed(data), selector)
                    part = self.stream.part() if self.on_part is not None else None
                    if part:
                        self.on_part(part)
                else:
                    self.errors += data
                if self.stopped is not None:
                    return

    def follow(self):
        """Read until the machine has ended, or is to be stopped."""
        with selectors.DefaultSelector() as selector:
            self._follow(selector)
            if self.stopped != "reports":
                self._take(self.stream.end(), selector)
        if self.stopped is None:
            self.process.wait()


def boot(machine, on_line=None, on_program=None, reader=None, on_part=None):
    """Boot @machine; call on_line(text, event, value) for each console line, with the result of
    Reader.feed(). Lines of a program are ProgramLines; on_program(), if it is given, gets them instead, in
    lists.

    on_part(text), if it is given, gets the beginning of a program's line that has no end yet, as a prompt has
    none; on_program() gets the whole line later.

    If on_line() returns True, the time limit restarts. reader: follows the console; None: a new Reader. With
    one of its own, the caller knows what came before an interrupt.

    Returns an Outcome. Raises NotStarted if QEMU could not start the machine, Cancelled after cancel().
    """
    started = time.monotonic()
    running = _Boot(machine, on_line, on_program, reader, on_part)
    try:
        running.follow()
    finally:
        running.close()
    if _cancelled.is_set():
        raise Cancelled
    seconds = time.monotonic() - started
    reader, end, stopped = running.reader, running.end, running.stopped
    reader.end()
    code = None if stopped or end is None else end.first
    if code is not None and not end.second:
        # Whatever the console looks like, the kernel has reported nothing.
        reader.reports.clear()
    errors = running.errors.decode("utf-8", "replace").strip()
    failed = running.process.returncode if stopped is None else 0
    status, message = _judge(machine, reader, code, stopped, failed, errors)
    return Outcome(status, message, code, reader, seconds, stopped is None)


def _last_words(reader):
    return f"the kernel last said: {reader.last.strip()}" if reader.last else "the kernel said nothing"


def _judge(machine, reader, code, stopped, failed, errors):
    """Return (exit status, message) of a boot that ended. A report takes precedence over how it ended.

    code: the kernel's status. failed: that of QEMU."""
    reported = base.REPORTED if reader.reports else None
    if stopped == "reports":
        # Those without a line come with the next line, so there may be more than were allowed.
        count = base.plural(sum(1 + report.silent for report in reader.reports), "report")
        return base.REPORTED, f"stopped after {count} (--max-reports {machine.max_reports})"
    if stopped == "timeout":
        text = f"no end after {machine.timeout:g} s (--timeout); {_last_words(reader)}"
        return reported or base.CRASHED, text
    if reader.lines == 0 and failed and errors:
        raise NotStarted(f"QEMU could not start the machine: {errors}")
    if reader.reports:
        unfinished = reader.reports[-1].truncated
        return (
            base.REPORTED,
            f"the last report is not complete; {_last_words(reader)}" if unfinished else None,
        )
    if code == base.REPORTED:
        return base.REPORTED, f"KASAN reported, but no report arrived; {_last_words(reader)}"
    if code == base.CRASHED or reader.panic:
        return base.CRASHED, f"the kernel crashed: {reader.panic or reader.oops or _last_words(reader)}"
    if code is None or not reader.halted:
        why = f"QEMU ended with status {failed}" + (f" ({errors})" if errors else "")
        return base.CRASHED, f"the machine stopped before the kernel was done: {why}; {_last_words(reader)}"
    if code == base.PROGRAM_FAILED:
        return base.PROGRAM_FAILED, "the program returned non-zero"
    if code == base.LOCKS_REPORTED:
        return base.LOCKS_REPORTED, "the lock validator reported"
    if code == base.OK:
        return base.OK, None
    return base.CRASHED, f"the kernel ended with status {code}; {_last_words(reader)}"
