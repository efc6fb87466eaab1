# SPDX-License-Identifier: MIT
"""QEMU where modules of another QEMU lie in its way, as a desktop's do."""

import hashlib
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


def suite(archive, name, version, release=""):
    """Write a suite of Debian into the folder @archive, with a package of @version that holds its version."""
    folder = archive / "dists" / name / "main/binary-amd64"
    content = archive / version / "qemu-user"
    (content / "DEBIAN").mkdir(parents=True)
    control = f"Package: qemu-user\nVersion: {version}\nArchitecture: all\n"
    (content / "DEBIAN/control").write_text(f"{control}Maintainer: a\nDescription: b\n", encoding="utf-8")
    (content / "version").write_text(version, encoding="utf-8")
    package = archive / f"{version}.deb"
    subprocess.run(["dpkg-deb", "-b", content, package], check=True)
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    folder.mkdir(parents=True)
    where = f"Filename: {package.name}\nSize: {package.stat().st_size}\nSHA256: {digest}\n"
    packages = f"{control}{where}\n".encode()
    (folder / "Packages").write_bytes(packages)
    digest = hashlib.sha256(packages).hexdigest()
    index = f"SHA256:\n {digest} {len(packages)} main/binary-amd64/Packages\n"
    text = f"Suite: {name}\nCodename: {name}\nArchitectures: amd64\nComponents: main\n{release}{index}"
    (folder.parents[1] / "Release").write_text(text, encoding="utf-8")


@pytest.mark.quick
@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="this machine has no dpkg-deb")
@pytest.mark.skipif(shutil.which("apt-get") is None, reason="this machine has no apt")
def test_the_newest_package_of_all_suites_is_fetched(tmp_path, monkeypatch):
    """apt alone would take the one of the security suite, and a machine may exclude backports."""
    suite(tmp_path, "old-security", "7.2")
    suite(tmp_path, "old-backports", "10.0", "NotAutomatic: yes\nButAutomaticUpgrades: yes\n")
    excluded = "Package: *\nPin: release n=old-backports\nPin-Priority: -1\n"
    (tmp_path / "preferences").write_text(excluded, encoding="utf-8")
    (tmp_path / "status").touch()
    text = (
        f'Dir::Etc::Preferences "{tmp_path}/preferences"; Dir::State::status "{tmp_path}/status";'
        'Acquire::AllowInsecureRepositories "true"; APT::Get::AllowUnauthenticated "true";'
        'APT::Architecture "amd64"; APT::Architectures { "amd64"; };'
    )
    (tmp_path / "configuration").write_text(text, encoding="utf-8")
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "configuration"))
    monkeypatch.setattr(apt, "codename", lambda: "old")
    monkeypatch.setattr(
        apt, "targets", lambda: [(f"file:{tmp_path}", "old"), (f"file:{tmp_path}", "old-security")]
    )
    (tmp_path / "new").mkdir()
    apt.fetch_newer(tmp_path / "new", ("qemu-user",), 1)
    assert (tmp_path / "new/root/version").read_text(encoding="utf-8") == "10.0"
