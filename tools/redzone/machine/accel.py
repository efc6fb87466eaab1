# SPDX-License-Identifier: MIT
"""Owns who runs a machine's instructions: QEMU itself (tcg), or the host's CPU (Linux: kvm, macOS: hvf).

The host's CPU is many times as fast. It has to be of the machine's architecture, and it cannot do what only
an emulator does: count instructions, be another model, have memory tags that the host has not.
"""

import functools
import os
import platform

import click

from redzone.core import process
from redzone.core.arch import DEFAULT, KERNELS
from redzone.core.base import Failure
from redzone.core.options import Choice

NAMES = ("tcg", "auto", "kvm", "hvf")
_SYSTEMS = {"kvm": "Linux", "hvf": "Darwin"}
_DEVICE = "/dev/kvm"
# Holds the user's choice. A variable of the environment, because tests start commands of their own.
VARIABLE = "REDZONE_ACCEL"


@functools.cache
def _built_into(*emulator):
    """Return the accelerators that the QEMU @emulator, a command, has."""
    status, output = process.call([*emulator, "-accel", "help"])
    return output.split() if status == 0 else []


def _closed(path):
    """Return why the device @path cannot be opened for reading and writing, None if it can."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return f"{path}: {error.strerror}"
    return None


def obstacle(name, machine, emulator):
    """Return why @name, "kvm" or "hvf", cannot run the qemu.Machine @machine here, None if it can.

    emulator: qemu.emulator, which returns the command of its QEMU."""
    host = platform.machine()
    if host not in KERNELS[machine.arch].hosts:
        return f"this host's CPU is {host}, the machine's is {machine.arch}"
    if platform.system() != _SYSTEMS[name]:
        return f"it needs {'macOS' if name == 'hvf' else _SYSTEMS[name]}"
    if machine.mode == "hw_tags":
        return "the memory tags of --mode hw_tags are emulated"
    if machine.icount:
        return "--icount counts the instructions that QEMU executes"
    if machine.cpu not in ("max", "host"):
        return f"--cpu {machine.cpu} is emulated"
    command = emulator(machine)
    if name not in _built_into(*command):
        return f"{command[0]} has been built without it"
    return _closed(_DEVICE) if name == "kvm" else None


def choose(machine, emulator):
    """Return "tcg", "kvm" or "hvf" for the qemu.Machine @machine. Raise Failure if the user has chosen what
    cannot be. emulator: as for obstacle()."""
    wanted = "tcg" if machine.emulated else os.environ.get(VARIABLE) or "tcg"
    if wanted not in NAMES:
        raise Failure(f"{VARIABLE}={wanted} is not accepted; accepted: {', '.join(NAMES)}")
    if wanted in _SYSTEMS:
        if why := obstacle(wanted, machine, emulator):
            raise Failure(f"--accel {wanted} is not possible: {why}")
        return wanted
    reasons = {}
    for name in _SYSTEMS if wanted == "auto" else ():
        reasons[name] = obstacle(name, machine, emulator)
        if reasons[name] is None:
            return name
    if machine.cpu == "host":
        here = "hvf" if platform.system() == "Darwin" else "kvm"
        why = reasons.get(here) or f"give --accel {here} or --accel auto"
        raise Failure(f"--cpu host needs the host's CPU: {why}")
    return "tcg"


def words(chosen, board, cpu):
    """Return QEMU's words for a machine with @board and @cpu that @chosen runs."""
    if chosen == "tcg":
        return ["-machine", board, "-cpu", cpu]
    # KVM's interrupt controller is of the host's version; HVF has none, and QEMU's default works.
    board = f"{board},gic-version=max" if chosen == "kvm" else board
    return ["-machine", board, "-accel", chosen, "-cpu", "host"]


def _use(context, param, value):
    if value:
        os.environ[VARIABLE] = value


OPTION = click.option(
    "--accel",
    type=Choice(NAMES),
    expose_value=False,
    callback=_use,
    help=f"On an {DEFAULT} host: its CPU runs the kernel (kvm, hvf); auto: if it can. "
    "Default: tcg, QEMU's own.",
)
