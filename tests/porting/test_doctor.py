# SPDX-License-Identifier: MIT
"""./redzone doctor: the second QEMUs, for hardware tags, and for software tags on riscv64. These tests fetch
nothing."""

import pytest
from redzone.core import doctor, mteqemu

pytestmark = pytest.mark.quick


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder where the second QEMU would be. The machine's own QEMU has only one tag for each page."""
    monkeypatch.setattr(mteqemu, "FOLDER", tmp_path / "qemu")
    monkeypatch.setattr(mteqemu, "_installed", lambda: ((7, 2), "7.2"))
    return tmp_path / "qemu" / "root" / "usr" / "bin"


def put(folder, script):
    folder.mkdir(parents=True)
    path = folder / mteqemu.COMMAND
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_missing(folder, capsys):
    doctor.second_qemu(mteqemu)
    text = " ".join(capsys.readouterr().out.split())
    assert f"missing {folder / mteqemu.COMMAND}" in text
    assert "--mode hw_tags" in text and "suites hw-tags and porting" in text
    assert "The first command that needs it fetches Debian's backport" in text
    assert "install QEMU 8.1 or newer, or unpack the backports suite's qemu-system-arm" in text
    assert "tests that would are skipped" in text and "does not start" not in text


def test_there(folder, capsys):
    path = put(folder, "echo QEMU emulator version 10.0.2")
    doctor.second_qemu(mteqemu)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[1].split() == ["ok", str(path), "10.0.2"]


def test_there_but_broken(folder, capsys):
    put(folder, '[ "$1" = --version ] && echo 10.0.2 && exit; echo no module fits >&2; exit 1')
    doctor.second_qemu(mteqemu)
    text = " ".join(capsys.readouterr().out.split())
    assert "broken" in text and "does not start a machine: no module fits. Delete" in text
    with pytest.raises(mteqemu.Unavailable, match="the newer one does not start a machine: no module fits"):
        mteqemu.command.__wrapped__()


def test_the_own_is_new_enough(folder, monkeypatch, capsys):
    monkeypatch.setattr(mteqemu, "_installed", lambda: ((9, 0), "9.0"))
    monkeypatch.setattr(mteqemu, "_trouble", lambda command: None)
    doctor.second_qemu(mteqemu)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[1].split()[:2] == ["ok", "qemu-system-aarch64,"]
    monkeypatch.setattr(mteqemu, "_trouble", lambda command: "no module fits")
    doctor.second_qemu(mteqemu)
    text = " ".join(capsys.readouterr().out.split())
    assert "broken qemu-system-aarch64" in text and text.endswith("does not start a machine: no module fits.")
