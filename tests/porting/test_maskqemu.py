# SPDX-License-Identifier: MIT
"""The QEMU and the firmware for riscv64's software tags. These tests fetch nothing."""

from pathlib import Path

import pytest
from redzone.build import builder
from redzone.core import base, doctor, maskqemu
from redzone.core.base import Failure
from redzone.machine import qemu

pytestmark = pytest.mark.quick


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Makes a computer with a QEMU of a version, and with that QEMU's firmware."""

    def refuse(folder, packages, megabytes):
        raise Failure("no network")

    def put(version, firmware):
        monkeypatch.setattr(maskqemu, "FOLDER", tmp_path / "qemu")
        monkeypatch.setattr(maskqemu.outside, "version", lambda tool: version and (str(version), version))
        monkeypatch.setattr(maskqemu.outside, "trouble", lambda command, board, cpu: None)
        monkeypatch.setattr(maskqemu.process, "call", lambda command: (0, f"/nowhere\n{tmp_path}\n"))
        monkeypatch.setattr(maskqemu.apt, "fetch_newer", refuse)
        monkeypatch.setattr(maskqemu.apt, "pool_file", lambda name, digest, target: "no network")
        (tmp_path / "opensbi-riscv64-generic-fw_dynamic.bin").write_bytes(firmware)
        return tmp_path / "qemu"

    return put


def find():
    return maskqemu.command.__wrapped__()


def test_all_is_there(place):
    place((10, 0), b"sstc\0smnpm\0")
    assert find() == [maskqemu.COMMAND]


def test_another_firmware(place):
    folder = place((10, 1), b"sstc\0svadu\0")
    with pytest.raises(maskqemu.Unavailable, match=r"OpenSBI cannot switch pointer masking on.*: no network"):
        find()
    firmware = folder / "firmware/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin"
    firmware.parent.mkdir(parents=True)
    firmware.write_bytes(b"smnpm\0")
    assert find() == [maskqemu.COMMAND, "-bios", str(firmware)]


@pytest.mark.parametrize(("version", "said"), [((7, 2), "has no pointer masking"), (None, "not installed")])
def test_another_qemu(place, version, said):
    folder = place(version, b"smnpm\0")
    with pytest.raises(maskqemu.Unavailable, match=f"{said}, and no network"):
        find()
    program = folder / "root/usr/bin" / maskqemu.COMMAND
    program.parent.mkdir(parents=True)
    program.touch()
    assert find()[:2] == [str(program), "-L"]


def doctors(capsys):
    """Return what `./redzone doctor` says of it, as one line."""
    doctor.second_qemu(maskqemu)
    text = " ".join(capsys.readouterr().out.split())
    assert "riscv64: a QEMU of at least 10.0" in text and "with OpenSBI 1.6" in text
    return text


def test_doctor(place, monkeypatch, capsys):
    folder = place((7, 2), b"sstc\0")
    program = folder / "root/usr/bin" / maskqemu.COMMAND
    said = doctors(capsys)
    assert f"missing {program}" in said
    assert "fetches Debian's backport (21 MB) and Debian 13's OpenSBI" in said
    program.parent.mkdir(parents=True)
    program.touch()
    assert f"missing {maskqemu._unpacked_firmware()}" in doctors(capsys)
    place((7, 2), b"smnpm\0")
    assert f"ok {program}" in doctors(capsys)
    monkeypatch.setattr(maskqemu.outside, "trouble", lambda command, board, cpu: "no module fits")
    assert "broken" in (said := doctors(capsys)) and "a machine: no module fits. Delete" in said


def test_doctor_and_the_own_qemu(place, capsys):
    place((10, 0), b"smnpm\0")
    assert f"ok {maskqemu.COMMAND}, the one above" in doctors(capsys)


def test_it_does_not_start(place, monkeypatch):
    place((10, 0), b"smnpm\0")
    monkeypatch.setattr(maskqemu.outside, "trouble", lambda command, board, cpu: "no module fits")
    with pytest.raises(maskqemu.Unavailable, match=r"a machine: no module fits\. Delete"):
        find()


@pytest.mark.parametrize(
    ("arch", "mode", "cpu", "model"),
    [
        ("riscv64", "sw_tags", "max", maskqemu.CPU),
        ("riscv64", "sw_tags", "rv64", "rv64"),
        ("riscv64", "generic", "max", "rv64"),
        ("arm64", "sw_tags", "max", "max"),
    ],
)
def test_cpu(arch, mode, cpu, model):
    assert qemu.cpu_model(qemu.Machine(Path("image"), arch=arch, mode=mode, cpu=cpu)) == model


def test_compilers():
    builder.check_kernel("riscv64", "sw_tags", "clang-19")
    builder.check_kernel("arm64", "sw_tags", "gcc")
    with pytest.raises(base.Failure, match="with --arch riscv64 and --cc gcc: it takes clang-19"):
        builder.check_kernel("riscv64", "sw_tags", "gcc")
    # GCC 12 has no shadow call stack for RISC-V.
    builder.choose_features(shadow_call_stack=True)
    try:
        builder.check_kernel("arm64", "generic", "gcc")
        builder.check_kernel("riscv64", "generic", "clang-19")
        words = "--shadow-call-stack with --arch riscv64 and --cc gcc: it takes clang-19"
        with pytest.raises(base.Failure, match=words):
            builder.check_kernel("riscv64", "generic", "gcc")
    finally:
        builder.choose_features()
    with pytest.raises(base.Failure, match="--arch arm: there is no kernel for it; accepted: arm64, riscv64"):
        builder.check_kernel("arm", "generic")
