# SPDX-License-Identifier: MIT
"""What `doctor` says on systems other than Debian. Each is a made-up os-release: none of them is tried."""

import shutil
import sys

import pytest
from redzone.core import distributions, doctor, outside

pytestmark = pytest.mark.quick
OTHERS = [one for one in distributions.ALL if one is not distributions.DEBIAN]
RUN = [tool for tool in outside.TOOLS if tool.level == "run"]


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Return system(text): make this machine one whose os-release is @text, without apt-get."""
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **kw: None if name == "apt-get" else which(name, **kw))

    def become(text):
        path = tmp_path / "os-release"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(distributions, "OS_RELEASE", path)

    return become


def test_the_table_is_whole():
    """Each row is of a program that is called, and each of these has one; `run` works on all systems."""
    known = [tool for tool in outside.TOOLS if tool.level != "port"]
    rows = {row.split()[0] for row in distributions._TABLE.strip().splitlines()[1:]}
    assert all(rows & {tool.key, tool.package} for tool in known)
    assert rows <= {name for tool in outside.TOOLS for name in (tool.key, tool.package)}
    for one in OTHERS:
        assert one.packages(RUN)[1] == []
    assert distributions.DEBIAN.packages(outside.TOOLS) == (doctor.packages_of(outside.TOOLS), [])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("ID=debian\n", "debian"),
        ('NAME="Fedora Linux"\nID=fedora\nVERSION_ID=44\n', "fedora"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "fedora"),
        ("ID=manjaro\nID_LIKE=arch\n", "arch"),
        ("ID=arch\nBUILD_ID=rolling\n", "arch"),
        ("# of Alpine\nID=alpine\n", "alpine"),
        ("ID=nixos\nID_LIKE=\n", "nix"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "debian"),
        ('ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', None),
        ("", None),
    ],
)
def test_which_system_this_is(system, text, key):
    system(text)
    assert getattr(distributions.here(), "key", None) == key


def test_a_mac(system, monkeypatch):
    system("")
    distributions.OS_RELEASE.unlink()
    assert distributions.here() is None
    monkeypatch.setattr(sys, "platform", "darwin")
    assert distributions.here().key == "homebrew"


def test_what_is_missing_on_fedora(system, monkeypatch, capsys):
    """The error of a command, the table, and --install, which installs nothing there."""
    system("ID=fedora\n")
    gone = {"qemu-arm64", "go", "mmdebstrap"}
    monkeypatch.setattr(outside, "missing", lambda keys: [outside.BY_KEY[key] for key in keys])
    monkeypatch.setattr(outside, "status", lambda tool: ("missing" if tool.key in gone else "ok", "", None))
    with pytest.raises(doctor.Missing) as error:
        doctor.require(["clang-19", "lld"], "run a program", assume_yes=True)
    said = "clang-19, ld.lld-19 not found, needed to run a program; install by: sudo dnf install clang lld"
    assert str(error.value) == said
    assert doctor.main([]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert "Needed by ./redzone run, and missing: sudo dnf install qemu-system-aarch64" in lines
    assert "Needed by some of ./redzone test, and missing: sudo dnf install golang" in lines
    assert ["missing", "go", "golang", "suite", "syzkaller"] in [line.split() for line in lines]
    doctor.main(["--install", "go"])
    printed = capsys.readouterr()
    assert "install these by: sudo dnf install golang" in printed.err
    assert printed.out.splitlines()[-1] == "Still missing: golang-go"


def test_the_list_for_another_machine(redzone):
    result = redzone("doctor", "--for", "run", "--distribution", "fedora", status=0)
    packages = "cmake ninja-build clang lld llvm qemu-system-aarch64 python3"
    assert result.stdout == f"sudo dnf install {packages}\n" and result.stderr == ""
    result = redzone("doctor", "--distribution=alpine", "git", "mmdebstrap", status=0)
    assert result.stdout.splitlines() == [
        "sudo apk add git",
        "# Alpine Linux has no package, or none is known here, of: mmdebstrap",
    ]
    result = redzone("doctor", "--distribution", "homebrew", "clang-19", status=0)
    assert result.stdout.splitlines() == [
        "brew install llvm",
        'export PATH="$(brew --prefix llvm)/bin:$PATH"',
    ]
