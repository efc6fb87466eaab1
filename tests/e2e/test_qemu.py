# SPDX-License-Identifier: MIT
"""QEMU where modules of another QEMU lie in its way, as a desktop's do."""

import shutil
import subprocess
from pathlib import Path

import pytest
from redzone.core import apt, mteqemu

# What a module does when it is loaded, without the mark by which its own QEMU would know it.
MODULE = """
void register_dso_module_init(void (*start)(void), int kind);
static void start(void) {}
static __attribute__((constructor)) void loaded(void) { register_dso_module_init(start, 0); }
"""
SOUND = ("pipewire", "pa", "alsa", "jack", "oss", "sdl", "sndio", "spice", "dbus", "coreaudio")
PROGRAM = """
#include <stdlib.h>
int main(void) { volatile char *p = malloc(16); p[16] = 1; return 0; }
"""


@pytest.fixture
def modules(tmp_path):
    """A folder in which every QEMU finds modules of another QEMU for sound."""
    (tmp_path / "module.c").write_text(MODULE, encoding="utf-8")
    folder = tmp_path / "modules"
    folder.mkdir()
    for name in SOUND:
        command = ["clang-19", "-shared", "-fPIC", "-nostdlib", "-fuse-ld=lld", tmp_path / "module.c"]
        subprocess.run([*command, "-o", folder / f"audio-{name}.so"], check=True)
    return str(folder)


def unpacked():
    """Is the QEMU for hardware tags another one than the machine's own?"""
    return mteqemu.reason() is None and mteqemu.command()[0] != mteqemu.COMMAND


@pytest.mark.skipif(not unpacked(), reason="this machine's own QEMU has memory tags, or there is none")
def test_hardware_tags_beside_other_modules(redzone, source, modules):
    result = redzone("run", "--mode", "hw_tags", source(PROGRAM), QEMU_MODULE_DIR=modules, status=1)
    assert "BUG: KASAN: slab-out-of-bounds" in result.stdout


def test_doctor_starts_a_machine(redzone, path_without):
    """It says of a QEMU that answers --version and starts nothing what is wrong with it."""
    assert "does not start" not in redzone("doctor").stdout
    folder = Path(path_without(mteqemu.COMMAND))
    own = shutil.which(mteqemu.COMMAND)
    script = f'#!/bin/sh\n[ "$1" = --version ] && exec {own} --version\necho "no module fits" >&2\nexit 1\n'
    (folder / mteqemu.COMMAND).write_text(script, encoding="utf-8")
    (folder / mteqemu.COMMAND).chmod(0o755)
    result = redzone("doctor", PATH=folder)
    lines = result.stdout.splitlines()
    (row,) = [number for number, line in enumerate(lines) if line.split()[:2] == ["broken", mteqemu.COMMAND]]
    assert lines[row + 1].strip() == "does not start a machine: no module fits", result.stdout
    assert result.returncode == 2
    assert "Broken: qemu-system-aarch64" in result.stdout.splitlines()[-1]


@pytest.mark.quick
@pytest.mark.skipif(shutil.which("apt-get") is None, reason="this machine has no apt")
def test_archives_without_package_lists(tmp_path, monkeypatch):
    """A container's image has none, and the newer QEMU must be found from there."""
    (tmp_path / "list").write_text("deb http://mirror.example/debian bookworm main\n", encoding="utf-8")
    values = {"State::lists": tmp_path, "Etc::SourceList": tmp_path / "list", "Etc::SourceParts": "/dev/null"}
    text = "".join(f'Dir::{key} "{value}";\n' for key, value in values.items())
    (tmp_path / "configuration").write_text(text, encoding="utf-8")
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "configuration"))
    assert apt.targets() == [("http://mirror.example/debian/", "bookworm")]
