# SPDX-License-Identifier: MIT
"""--accel: who runs the instructions of a machine. The hosts with a CPU for that are made up here."""

import os
import platform
from pathlib import Path

import pytest
from redzone import cli
from redzone.build import builder
from redzone.core.base import Failure
from redzone.machine import accel, qemu

pytestmark = pytest.mark.quick
PROGRAM = "int main(void) { return 0; }"


@pytest.fixture
def host(tmp_path, monkeypatch):
    """Return host(cpu, system, accelerators, device), which makes this host one like that. @device: whether
    it has the device of KVM."""
    monkeypatch.delenv(accel.VARIABLE, raising=False)

    def become(cpu="aarch64", system="Linux", accelerators=("tcg", "kvm"), device=True):
        monkeypatch.setattr(platform, "machine", lambda: cpu)
        monkeypatch.setattr(platform, "system", lambda: system)
        monkeypatch.setattr(accel, "_built_into", lambda *emulator: accelerators)
        path = tmp_path / "kvm"
        path.unlink(missing_ok=True)
        if device:
            path.write_bytes(b"")
        monkeypatch.setattr(accel, "_DEVICE", str(path))

    monkeypatch.setattr(qemu, "sandbox", lambda *command: [])
    return become


def words(wanted, monkeypatch, **options):
    """Return {option: its value} of the QEMU that boots a machine with @options."""
    monkeypatch.setenv(accel.VARIABLE, wanted)
    command = qemu.qemu_command(qemu.Machine(Path("image"), **options), "out")
    found = [name for name in ("-machine", "-cpu", "-accel") if name in command]
    return {name: command[command.index(name) + 1] for name in found}


EMULATED = {"-machine": "virt", "-cpu": "max"}
KVM = {"-machine": "virt,gic-version=max", "-accel": "kvm", "-cpu": "host"}
HVF = {"-machine": "virt", "-accel": "hvf", "-cpu": "host"}
MAC = {"cpu": "arm64", "system": "Darwin", "accelerators": ("tcg", "hvf"), "device": False}


@pytest.mark.parametrize(
    ("on", "wanted", "expected"),
    [
        ({}, "tcg", EMULATED),
        ({}, "", EMULATED),
        ({}, "auto", KVM),
        ({}, "kvm", KVM),
        (MAC, "auto", HVF),
        (MAC, "hvf", HVF),
        ({"cpu": "x86_64"}, "auto", EMULATED),
        ({"device": False}, "auto", EMULATED),
        ({"accelerators": ("tcg",)}, "auto", EMULATED),
    ],
)
def test_who_runs_it(host, monkeypatch, on, wanted, expected):
    host(**on)
    assert words(wanted, monkeypatch) == expected


@pytest.mark.parametrize(
    ("on", "wanted", "options", "why"),
    [
        ({"cpu": "x86_64"}, "kvm", {}, "this host's CPU is x86_64, the machine's is arm64"),
        ({}, "hvf", {}, "it needs macOS"),
        (MAC, "kvm", {}, "it needs Linux"),
        ({}, "kvm", {"mode": "hw_tags"}, "memory tags"),
        ({}, "kvm", {"icount": True}, "--icount"),
        ({}, "kvm", {"cpu": "cortex-a57"}, "--cpu cortex-a57"),
        ({"accelerators": ("tcg",)}, "kvm", {}, "built without it"),
        ({"device": False}, "kvm", {}, "kvm: No such file"),
    ],
)
def test_what_cannot_be_is_refused(host, monkeypatch, on, wanted, options, why):
    """By its name it is one line, and `auto` lets QEMU do it."""
    monkeypatch.setattr(qemu, "emulator", lambda machine: ["qemu"])
    host(**on)
    with pytest.raises(Failure) as error:
        words(wanted, monkeypatch, **options)
    assert str(error.value).startswith(f"--accel {wanted} is not possible: ") and why in str(error.value)
    assert "\n" not in str(error.value)
    if on is not MAC and wanted != "hvf":
        found = words("auto", monkeypatch, **options)
        assert "-accel" not in found and found["-cpu"] == options.get("cpu", "max")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_device_of_others(host, monkeypatch):
    host()
    os.chmod(accel._DEVICE, 0)
    with pytest.raises(Failure, match="kvm: Permission denied"):
        words("kvm", monkeypatch)


def test_the_hosts_own_cpu(host, monkeypatch):
    host()
    assert words("auto", monkeypatch, cpu="host") == KVM
    with pytest.raises(Failure, match="--cpu host needs the host's CPU: give --accel kvm or --accel auto"):
        words("tcg", monkeypatch, cpu="host")
    host(device=False)
    with pytest.raises(Failure, match=r"--cpu host needs the host's CPU: .*kvm: No such file"):
        words("auto", monkeypatch, cpu="host")


def test_a_fuzzer_is_emulated_everywhere(host, monkeypatch):
    host()
    assert words("kvm", monkeypatch, emulated=True) == EMULATED


def test_commands(redzone, source):
    """`auto` runs on any host. A refusal is one line, and comes before anything is built."""
    program = source(PROGRAM)
    redzone("run", "--accel", "auto", program, status=0)
    for words, said, changes in (
        (("--accel", "kvm", "--icount"), "--accel kvm is not possible: ", {}),
        (("--accel", "xen"), "'xen' is not accepted; accepted: tcg, auto, kvm, hvf", {}),
        ((), "REDZONE_ACCEL=xen is not accepted; accepted: tcg, auto, kvm, hvf", {"REDZONE_ACCEL": "xen"}),
    ):
        result = redzone("run", *words, program, **changes, status=2)
        (line,) = result.stderr.splitlines()
        assert line.startswith("redzone: error: ") and said in line


def test_the_interrupt_controller_of_kvm():
    """Most hosts have no GICv2 for their guests, and QEMU's default is one."""
    image = builder.build("arm64-generic-inline-clang", ("redzone",))["redzone"].image
    more = {"options": ["-machine", "gic-version=3"], "append": ["kunit.filter_glob=sched"]}
    outcome = qemu.boot(qemu.Machine(image, smp=4, **more))
    assert (outcome.status, outcome.message) == (0, None)


def test_the_commands_of_tests_get_it_too(monkeypatch):
    monkeypatch.setenv(accel.VARIABLE, "")
    assert cli.command.main(["test", "--accel", "kvm", "--list"], standalone_mode=False) == 0
    assert os.environ[accel.VARIABLE] == "kvm"
