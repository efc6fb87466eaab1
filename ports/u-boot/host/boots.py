# SPDX-License-Identifier: MIT
"""Boots U-Boot, types commands, feeds it malicious input, and says which reports belong to which bug."""

import importlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.kit import ports

from . import build, qemu
from .fetch import HOME, PORT

CVES = (
    "CVE-2024-57259",
    "CVE-2024-57256",
    "CVE-2024-42040",
    "CVE-2024-57255",
    "CVE-2024-57257",
    "CVE-2024-57254",
)
# Bugs that this port found in the patched source, see ports/u-boot/bugs.md.
OPEN = (
    *("open-fat-date", "open-sqfs-size", "open-sqfs-inode", "open-sqfs-empty-link", "open-bootp-option"),
    *("open-fdt-reserved", "open-fdt-cells", "open-fdt-print"),
    *("open-sqfs-fragment-index", "open-sqfs-fragment-block"),
)
# The same for `bootefi selftest`: type of the report, function.
OPEN_SELFTEST = (
    ("slab-use-after-free", "efi_exit"),
    ("global-out-of-bounds", "add_keyboard_package"),
    ("slab-out-of-bounds", "new_string"),
)
# Time limit of one command, in seconds.
TIMEOUT = 240
# Functions that do what their callers ask: the bug is further up.
_CARRIERS = {
    *("memcpy", "memmove", "memset", "memcmp", "memchr", "strcpy", "strncpy", "strlcpy", "strcat", "strlen"),
    *("strnlen", "strcmp", "strncmp", "strchr", "strdup", "strndup", "strtok", "strsep"),
}


def load_input(name):
    """Return the generator module @name of ports/u-boot/inputs."""
    return importlib.import_module(f"...inputs.{name}", __name__)


def input_module(name):
    """Return the generator module of the bug @name, one of CVES or OPEN."""
    return load_input(name.lower().replace("-", "_"))


# --- Reports --------------------------------------------------------------------------------------


def culprit(report):
    """Return the first function of the report's trace that is neither the port's nor a string function."""
    for frame in report.frames("call"):
        if frame.name not in _CARRIERS and not frame.name.startswith("__wrap_"):
            return frame.name
    return report.where


def describe(report):
    text = f"{report.type} in {culprit(report)}()"
    return f"{report.access.kind}, {text}" if report.access.kind else text


def frames(report):
    """Return the names of all functions in the call trace of @report, inlined ones included."""
    names = set()
    for frame in report.frames("call"):
        names.add(frame.name)
        names.update(location.function for location in frame.locations)
    return names


def matching(reports, types, function):
    """Return the @reports that have one of @types, and @function in their call trace."""
    return [report for report in reports if report.type in types and function in frames(report)]


def expected(module, session):
    """Return the reports of @session that @module's bug causes."""
    return matching(session.reports, module.TYPES, module.FUNCTION)


def unknown(module, session):
    """Return the reports of @session that no other known open bug explains."""
    known = getattr(module, "OPEN", ())
    return [
        report
        for report in session.reports
        if not any(matching([report], (kind,), where) for kind, where in known)
    ]


# --- Boots ----------------------------------------------------------------------------------------


@dataclass
class Session:
    """The result of a boot with some commands. ended: why it stopped early, None if it did not.

    outputs: the lines of each command; by_command: the reports of each; both are in order. answers: those of
    the malicious server, if there was one.
    """

    reports: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    by_command: list = field(default_factory=list)
    ended: str | None = None
    log: Path | None = None
    answers: int = 0


def booted(image, tree, log, work, **machine):
    """Boot @image, call work(session, target), and return the Session.

    target: the qemu.Machine, which gets the other arguments. work may raise qemu.Stopped.
    """
    session = Session(log=log)
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    ports.note_console(log, image.elf)
    with qemu.Machine(image, HOME / "source" / tree, log=log, **machine) as target:
        try:
            work(session, target)
        except qemu.Stopped as stopped:
            session.ended = str(stopped)
            target.wait_end(1)
        session.reports = list(target.reports)
        session.lines = list(target.lines)
    return session


def play(image, tree, commands, log, timeout=TIMEOUT, **machine):
    """Boot @image, type @commands, return the Session. The other arguments are qemu.Machine's."""

    def work(session, target):
        target.wait_prompt(timeout)
        for command in commands:
            before = len(target.reports)
            session.outputs.append([])
            try:
                session.outputs[-1] = target.command(command, timeout)
            finally:
                session.by_command.append(target.reports[before:])

    return booted(image, tree, log, work, **machine)


def selftest(image, tree, log, timeout=TIMEOUT, echo=None):
    """Run U-Boot's own test of its EFI implementation, which ends with a reset. Return the Session."""

    def work(session, target):
        target.wait_prompt(timeout)
        target.type("bootefi selftest\n")
        target.wait_text("Press any key", timeout)

    return booted(image, tree, log, work, extra=["-device", "virtio-rng-device"], echo=echo)


# --- Ordinary commands ----------------------------------------------------------------------------


def ordinary_commands(path=PORT / "commands.txt"):
    """Return [(command, [texts that its output must have])] of commands.txt."""
    result = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("> "):
            if not result:
                raise Failure(f"{base.relative(path)}:{number}: an expectation without a command")
            result[-1][1].append(line[2:])
        elif line and not line.startswith("#"):
            result.append((line, []))
    return result


def ordinary_machine(folder):
    """Write the disks and files for commands.txt into @folder. Return the arguments for Machine."""
    ordinary = load_input("ordinary")
    shutil.rmtree(folder, ignore_errors=True)
    served = folder / "served"
    served.mkdir(parents=True)
    for name, content in ordinary.served().items():
        (served / name).write_bytes(content)
    disks = []
    for number, content in enumerate(ordinary.disks()):
        disks.append(folder / f"disk{number}.img")
        disks[-1].write_bytes(content)
    flash = folder / "flash.img"
    with open(flash, "wb") as file:
        file.truncate(64 << 20)
    drives = []
    for name in ("nvme", "scsi", "usb"):
        path = folder / f"{name}.img"
        path.write_bytes(ordinary.disks()[0])
        drives += ["-drive", f"if=none,file={ports.option_value(path)},format=raw,id={name}"]
    extra = [
        *("-drive", f"if=pflash,unit=1,format=raw,cache=unsafe,file={ports.option_value(flash)}"),
        *drives,
        *("-device", "nvme,serial=redzone,drive=nvme"),
        *("-device", "ich9-ahci,id=ahci", "-device", "ide-hd,drive=scsi,bus=ahci.0"),
        *("-device", "usb-ehci,id=ehci", "-device", "usb-storage,drive=usb,bus=ehci.0"),
        *("-device", "virtio-rng-device"),
    ]
    return {"disks": disks, "network": f"user,id=net,tftp={ports.option_value(served)}", "extra": extra}


def ordinary(image, tree, log, echo=None):
    """Type all of commands.txt. Return (Session, [missing output])."""
    commands = ordinary_commands()
    machine = ordinary_machine(HOME / "ordinary")
    session = play(image, tree, [command for command, _ in commands], log, echo=echo, **machine)
    return session, shortcomings(commands, session.outputs)


def shortcomings(commands, outputs):
    """Return the expected texts of @commands that are missing from their @outputs, as readable lines."""
    result = []
    for (command, texts), output in zip(commands, outputs, strict=False):
        got = "\n".join(output)
        result += [f"'{command}' does not print '{text}'" for text in texts if text not in got]
    return result


# --- Malicious input ------------------------------------------------------------------------------


def attack(name, tree, kasan=True, cc="clang-19", jobs=2, echo=None, log=None):
    """Build U-Boot from @tree and feed it the malicious input of @name. Return the Session."""
    module = input_module(name)
    dhcp = getattr(module, "DHCP", True)
    image = build.build(tree, kasan=kasan, dhcp=dhcp, cc=cc, jobs=jobs)
    folder = HOME / "inputs"
    folder.mkdir(parents=True, exist_ok=True)
    arguments, server = {}, None
    if hasattr(module, "image"):
        disk = folder / f"{name}.img"
        disk.write_bytes(module.image())
        arguments["disks"] = [disk]
    if hasattr(module, "server"):
        server = module.server()
        server.start()
        arguments["network"] = f"socket,id=net,connect=127.0.0.1:{server.port}"
    log = log or HOME / "logs" / f"{name}-{image.folder.name}.log"
    timeout = getattr(module, "TIMEOUT", TIMEOUT)
    try:
        session = play(image, tree, module.COMMANDS, log, timeout=timeout, echo=echo, **arguments)
        session.answers = server.answers if server else 0
        return session
    finally:
        if server:
            server.close()
