# SPDX-License-Identifier: MIT
"""Boots Linux in QEMU and reads the results of its KUnit suites."""

import json
import re
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from redzone.core import mteqemu, newqemu, outside
from redzone.core.base import Failure
from redzone.kit import ports
from redzone.machine import ktap

from . import build

# Seconds that a boot with the suite may take.
TIMEOUT = 600
# A kernel that has crashed prints the first; the second, one that has booted and finds no init.
PANIC = "Kernel panic - not syncing"
NO_INIT = f"{PANIC}: (VFS: Unable to mount root fs|No working init found)"
# Seconds until QEMU answers.
START = 30
_CPUS = re.compile(r"smp: Brought up \d+ nodes?, (\d+) CPU")


@dataclass
class Session:
    """A boot. cases: [ktap.Case]. ended: why it stopped early, None if it did not."""

    log: Path
    cases: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    ended: str | None = None

    def totals(self):
        """Return {"pass": n, "fail": n, "skip": n}."""
        return {word: sum(case.status == word for case in self.cases) for word in ("pass", "fail", "skip")}


def _machine(image):
    """Return the program, its machine and its CPU."""
    arch = build.ARCHES[image.make.arch]
    if image.make.mode == "hw_tags":
        return [*mteqemu.command(), "-machine", "virt,mte=on", "-cpu", "max"]
    if image.make.arch == "arm64":
        return [*mteqemu.command(), *arch.board]
    if image.make.arch == "loongarch":
        return [*newqemu.command("qemu-system-loongarch64", newqemu.LOONGARCH), *arch.board]
    return [outside.BY_KEY[arch.machine].command, *arch.board]


def command(image, parameters, smp=1, memory="1G", icount=False, initrd=None, options=()):
    """Return QEMU's command line. @parameters: of the boot, besides those of each boot. @options: of QEMU."""
    return [
        *_machine(image),
        # On x86_64 the BIOS's table, by which Linux finds the CPUs, has one of each socket.
        *("-smp", f"{smp},sockets={smp}", "-m", memory),
        *("-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot", "-nic", "none"),
        *(("-icount", "shift=0,sleep=off") if icount else ()),
        *(("-initrd", str(initrd)) if initrd else ()),
        *options,
        *("-kernel", str(image.image), "-append"),
        " ".join([*build.ARCHES[image.make.arch].parameters, "panic=-1", *parameters]),
    ]


def lacking_cpus(lines, smp):
    """Return what is wrong if the Linux of the console @lines has not started @smp CPUs, or None."""
    started = next((int(match[1]) for match in map(_CPUS.search, lines) if match), smp)
    return None if started == smp else f"{started} of {smp} CPUs started"


def run(image, log, parameters, timeout=TIMEOUT, echo=None, **machine):
    """Boot @image until the machine stops. Return the Session."""
    log = Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    ports.note_console(log, image.elf)
    session = Session(log)
    line = command(image, parameters, **machine)
    with subprocess.Popen(
        line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            _follow(process, session, timeout, echo)
        finally:
            process.kill()
    session.ended = session.ended or lacking_cpus(session.lines, machine.get("smp", 1))
    return session


def kunit(image, log, append=(), suites="kasan*", **options):
    """Boot @image, which runs its KUnit @suites. Then it stops the machine, or with an initrd starts init.

    Return the Session."""
    # In a real-time kernel, and in Linux 7 with several CPUs, a thread prints, while reports go on.
    parameters = [f"kunit.filter_glob={suites}", "log_buf_len=16M", *append]
    if not options.get("initrd"):
        # Without ACPI a machine cannot switch itself off, and QEMU does not start it again.
        parameters.append("kunit_shutdown=reboot")
    session = run(image, log, parameters, **options)
    parsed = ktap.parse(session.lines)
    session.cases = parsed.cases
    if not session.ended and parsed.errors:
        session.ended = parsed.errors[0]
    return session


def _follow(process, session, timeout, echo):
    """Read the console of @process into @session until it ends, or @timeout seconds are over."""
    late = threading.Event()
    timer = threading.Timer(timeout, lambda: (late.set(), process.kill()))
    timer.start()
    try:
        with session.log.open("wb") as file:
            for raw in process.stdout:
                file.write(raw)
                line = raw.decode(errors="replace").rstrip("\r\n")
                session.lines.append(line)
                if echo:
                    echo(line)
                if PANIC in line and not session.ended:
                    session.ended = line.partition("] ")[2] or line
    finally:
        timer.cancel()
    if late.is_set():
        session.ended = f"it did not end within {timeout} seconds"
    elif process.wait() and not session.ended:
        raise Failure(f"QEMU did not start: {session.lines[-1] if session.lines else 'it printed nothing'}")


def _ask(file, name):
    """Send the command @name of QEMU's monitor protocol. Return the answer, without events before it."""
    file.write(json.dumps({"execute": name}) + "\n")
    file.flush()
    while True:
        answer = json.loads(file.readline())
        if "error" in answer:
            raise Failure(f"QEMU does not know {name}: {answer['error'].get('desc')}")
        if "return" in answer:
            return answer["return"]


def _connect(path, process):
    """Return a socket to the monitor of QEMU's @process, at the file @path."""
    end = time.monotonic() + START
    while process.poll() is None and time.monotonic() < end:
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(str(path))
            return client
        except OSError:
            client.close()
            time.sleep(0.05)
    raise Failure("QEMU did not start")


def instructions(image, log, parameters=(), timeout=TIMEOUT):
    """Boot @image, which has no init, up to the panic that says so. Return how many instructions that took.

    Raise Failure if something else ended the boot."""
    log = Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "monitor"
        options = [
            *("-qmp", f"unix:{path},server=on,wait=on", "-action", "reboot=shutdown,shutdown=pause"),
        ]
        line = command(image, parameters, icount=True, options=options)
        with (
            log.open("wb") as console,
            subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT
            ) as process,
        ):
            try:
                with _connect(path, process) as client, client.makefile("rw", encoding="utf-8") as file:
                    client.settimeout(timeout)
                    _ask(file, "qmp_capabilities")
                    # After the reboot that the panic wants; on s390 after the panic itself.
                    while json.loads(file.readline()).get("event") != "STOP":
                        pass
                    # What QEMU has counted, although it replays nothing.
                    count = _ask(file, "query-replay")["icount"]
            except (OSError, ValueError) as error:
                raise Failure(f"the boot did not end: {error} (log: {log})") from None
            finally:
                process.kill()
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    panic = next((text for text in lines if PANIC in text), "")
    if not re.search(NO_INIT, panic) or any("BUG: " in text for text in lines):
        raise Failure(f"the boot ended before init: {panic.partition('] ')[2] or 'no panic'} (log: {log})")
    return count
