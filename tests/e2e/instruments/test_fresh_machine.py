# SPDX-License-Identifier: MIT
"""The suite fresh-machine: its verdicts, what it takes along from this machine, and that it cleans up.

The suite itself needs root and an hour. These tests fetch and mount nothing.
"""

import os
import re
import subprocess
import time

import pytest
from redzone import cli
from redzone.core.base import ROOT, Failure
from redzone.testing import debianroot, processes, suites
from redzone.testing.runner import FAIL, PASS
from redzone.testing.suites import fresh_machine

RUN = ["BUG: KASAN: slab-out-of-bounds in a+0x1/0x2", "BUG: KASAN: slab-use-after-free in b+0x1/0x2"]


class Context:
    """The parts of a runner.Context that the suite uses."""

    def __init__(self, logs, quick=False):
        self.logs, self.quick, self.notes = logs, quick, []
        self.recommends = False

    def note(self, text):
        self.notes.append(text)


@pytest.mark.parametrize(
    ("status", "lines", "wrong"),
    [
        (1, RUN, ""),
        (2, [*RUN, "redzone: error: x"], "ended with status 2, expected status 1"),
        (None, RUN, "no end after"),
        (1, RUN[:1], "no report of the slab-use-after-free"),
    ],
)
def test_judge_of_run(status, lines, wrong):
    said = fresh_machine.judge_run(status, lines)
    assert bool(said) == bool(wrong) and wrong in said


@pytest.mark.parametrize(
    ("status", "lines", "wrong"),
    [
        (0, ["ok 1 a.b", "2 passed, 0 failed"], []),
        (0, ["ok 1 a.b", "ok 2 a.c # SKIP no tool", "1 passed, 0 failed, 1 skipped"], []),
        (
            1,
            ["not ok 1 a.b[x y]", "# why", "ok 2 a.c", "1 passed, 1 failed"],
            ["1 passed, 1 failed:", "a.b[x y]"],
        ),
        (2, ["redzone: error: x"], ["without a line of totals", "redzone: error: x"]),
        (None, ["ok 1 a.b"], ["no end after"]),
        (0, ["0 passed, 0 failed, 9 skipped"], ["nothing was tested"]),
        (
            0,
            [
                "# 9 skipped for what can be installed: ./redzone doctor --install x",
                "1 passed, 0 failed, 9 skipped",
            ],
            ["9 skipped for what can be installed"],
        ),
        (141, ["2 passed, 0 failed"], ["ended with status 141"]),
        (1, [], ["ended with status 1"]),
    ],
)
def test_judge_of_test(status, lines, wrong):
    said = fresh_machine.judge_test(status, lines)
    assert bool(said) == bool(wrong)
    assert all(text in said for text in wrong)


def test_judge_of_an_installed_command():
    assert fresh_machine.judge_own(1, RUN) == fresh_machine.judge_install(0, []) == ""
    assert "it fetched something" in fresh_machine.judge_own(1, ["redzone: fetching the C library", *RUN])
    assert "no report of the slab-out-of-bounds" in fresh_machine.judge_own(1, RUN[1:])
    assert fresh_machine.judge_install(2, ["E: no network"]) == "ended with status 2\nE: no network"
    said = ["redzone: error: this user has no home folder: name a folder with REDZONE_BUILD=DIR"]
    assert fresh_machine.judge_no_home(2, said) == ""
    assert fresh_machine.judge_no_home(2, ["no home"]) and fresh_machine.judge_no_home(1, said)


def test_skips_are_known_by_name_and_reason():
    lines = ["ok 1 a.b", "ok 2 a c # SKIP no tool; install it", "not ok 3 d"]
    assert fresh_machine.skipped(lines) == [("a c", "no tool; install it")]


def test_steps():
    """What the README tells a newcomer to type is run, whole, on one of the machines."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^(\./redzone \w+) +# ", text, re.MULTILINE)[:2]
    assert shown == ["./redzone run", "./redzone test"]
    whole = {" ".join(step.words) for step in fresh_machine.steps(False) if step.release == "bookworm"}
    assert {f"{command} --yes" for command in shown} <= whole
    quick = fresh_machine.steps(True)
    assert len(quick) < len(fresh_machine.steps(False)) and {step.release for step in quick} == {"bookworm"}


def test_the_command_takes_all_steps():
    known = suites.load()
    for quick in (False, True):
        for step in fresh_machine.steps(quick):
            if step.words[0] != "./redzone":
                continue
            verb, *words = step.words[1:]
            context = cli.command.commands[verb].make_context(verb, list(words))
            assert set(context.params.get("names", ())) <= set(known)
            # On a machine without anything, a command that may not install does not get far.
            assert verb == "doctor" or context.params["yes"]


def test_judge_of_doctor():
    assert fresh_machine.judge_doctor(0, ["  ok       cmake", "Everything is there."]) == ""
    assert fresh_machine.judge_doctor(2, ["  missing  cmake"]) == "ended with status 2"
    broken = ["  broken   qemu-system-aarch64", "           does not start a machine: no module fits"]
    assert fresh_machine.judge_doctor(0, broken) == "does not start a machine: no module fits"


@pytest.mark.parametrize("modules", [True, False])
def test_recommended_packages(machines, tmp_path, modules):
    """They are there before the first command, and if they bring nothing that is a failure."""
    script = "mkdir -p {0}; touch {0}/ui-gtk.so" if modules else "true"
    fresh_machine.QEMU = script.format(machines / "bookworm/usr/lib/x/qemu")
    context = Context(tmp_path, quick=True)
    context.recommends = True
    results = list(fresh_machine.run(context))
    if modules:
        assert results[0].name == "bookworm.run" and results[0].status == PASS
    else:
        assert [result.name for result in results] == ["bookworm.machine", "installed.machine"]
        assert "would show nothing" in results[0].detail


def test_root_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (result,) = fresh_machine.run(Context(tmp_path))
    assert result.status == FAIL
    assert result.detail.endswith("run as root: ./redzone test fresh-machine")


@pytest.fixture
def machines(tmp_path, monkeypatch):
    """The suite without root: base systems are empty folders, and commands run directly on this machine."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(fresh_machine, "FOLDER", tmp_path / "machines")
    monkeypatch.setattr(debianroot, "base_system", lambda release, folder, log: folder / f"{release}.tar")
    monkeypatch.setattr(debianroot, "make_root", lambda tar, root: root.mkdir(parents=True))
    monkeypatch.setattr(debianroot, "clone", lambda source, root, where: None)
    monkeypatch.setattr(debianroot, "uncommitted", lambda source: ["a.c", "b.c"])
    inside = {
        "sh": list,
        "./redzone": lambda words: ["sh", "-c", script[words[1]]],
        "setpriv": lambda words: ["sh", "-c", script["run" if "-u" not in words else "no-home"]],
    }
    monkeypatch.setattr(debianroot, "inside", lambda root, where, words: inside[words[0]](words))
    monkeypatch.setattr(fresh_machine, "QEMU", "false")
    monkeypatch.setattr(fresh_machine, "INSTALL", "true")
    monkeypatch.setattr(fresh_machine, "_put_wheel", lambda context, root: None)
    said = "'not ok 1 e2e.broken' '# e2e: 0 passed, 1 failed (1 s)' '0 passed, 1 failed'"
    script = {
        "run": f"printf '%s\\n' '{RUN[0]}' '{RUN[1]}'; exit 1",
        "test": f"printf '%s\\n' {said}; exit 1",
        "doctor": "echo Everything is there.",
        "no-home": "echo no home folder: REDZONE_BUILD=DIR; exit 2",
    }
    return tmp_path / "machines"


def test_each_command_is_a_result(machines, tmp_path):
    context = Context(tmp_path, quick=True)
    results = list(fresh_machine.run(context))
    assert [(result.name, result.status) for result in results] == [
        ("bookworm.run", PASS),
        ("bookworm.run-hw-tags", PASS),
        ("bookworm.test-e2e", FAIL),
        ("bookworm.doctor", PASS),
        ("bookworm.install", PASS),
        ("bookworm.first-run", PASS),
        ("bookworm.second-run", PASS),
        ("bookworm.no-home", PASS),
    ]
    assert results[2].detail.splitlines() == ["0 passed, 1 failed:", "e2e.broken"]
    assert "e2e.broken" in results[2].log.read_text(encoding="utf-8")
    text = "\n".join(context.notes)
    assert "as it is committed, without the changes to a.c and 1 more" in text
    assert "bookworm.test-e2e: e2e: 0 passed, 1 failed (1 s)" in text
    assert not (machines / "bookworm").exists()


def test_no_base_system_is_a_failure(machines, tmp_path, monkeypatch):
    def fail(release, folder, log):
        raise Failure("mmdebstrap could not make it")

    monkeypatch.setattr(debianroot, "base_system", fail)
    result, _ = fresh_machine.run(Context(tmp_path, quick=True))
    assert (result.name, result.status) == ("bookworm.machine", FAIL)
    assert "mmdebstrap could not make it" in result.detail


def test_an_interrupt_ends_the_command_and_removes_the_machine(machines, tmp_path, monkeypatch):
    pids = tmp_path / "pid"
    command = ["sh", "-c", f"sleep 1000 & echo $! > {pids}; echo '# e2e: 0 passed, 0 failed'; wait"]
    monkeypatch.setattr(debianroot, "inside", lambda root, where, words: command)

    class Interrupted(Context):
        def note(self, text):
            if "0 passed" in text:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(fresh_machine.run(Interrupted(tmp_path, quick=True)))
    assert not (machines / "bookworm").exists()
    assert not processes.gone([int(pids.read_text())])


def test_a_command_that_does_not_end_is_ended(tmp_path):
    started = time.monotonic()
    assert debianroot.run(["sleep", "1000"], tmp_path / "log", timeout=0.5) is None
    assert time.monotonic() - started < 100
    lines = []
    status = debianroot.run(["sh", "-c", "echo a; printf b; exit 7"], tmp_path / "log", lines.append, 60)
    assert (status, lines, (tmp_path / "log").read_text()) == (7, ["a", "b"], "a\nb\n")


def test_nothing_is_removed_through_a_mount(tmp_path, monkeypatch):
    root = tmp_path / "a root"
    (root / "dev").mkdir(parents=True)
    table = tmp_path / "mountinfo"
    escaped = str(root).replace(" ", "\\040")
    table.write_text(f"22 1 0:5 / / rw - ext4 x rw\n23 22 0:6 / {escaped}/dev rw - devtmpfs y rw\n")
    assert debianroot.mounts_below(root, table) == [f"{root}/dev"]
    assert debianroot.mounts_below(tmp_path / "a", table) == []
    real = debianroot.mounts_below
    monkeypatch.setattr(debianroot, "mounts_below", lambda folder: real(folder, table))
    with pytest.raises(Failure, match="dev is a mount point: umount it"):
        debianroot.remove(root)
    assert (root / "dev").is_dir()
    table.write_text("22 1 0:5 / / rw - ext4 x rw\n")
    debianroot.remove(root)
    assert not root.exists()
    debianroot.remove(root)


def test_ways_to_archives_are_taken_along(tmp_path):
    dump = """\
APT::Architecture "amd64";
Acquire::http::Proxy "http://proxy.example:3128";
Acquire::https::Verify-Peer "";
Acquire::Check-Valid-Until "false";
Acquire::IndexTargets::deb::Packages::Optional "0";
DPkg::Post-Invoke:: "something of this machine";
"""
    assert debianroot.access_options(dump) == [
        'Acquire::http::Proxy "http://proxy.example:3128";',
        'Acquire::Check-Valid-Until "false";',
    ]
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "there.crt").write_text("")
    outside = {
        "https_proxy": "http://proxy.example:3128",
        "PIP_INDEX_URL": "https://mirror.example/simple",
        "PIP_CERT": "/etc/there.crt",
        "PIP_FIND_LINKS": "/absent/wheels",
        "HOME": "/home/me",
        "PATH": "/home/me/bin",
        "CI": "true",
        "TERM": "xterm",
        "LANG": "de_DE",
    }
    assert debianroot.environment(outside, tmp_path) == {
        "PATH": debianroot.PATH,
        "HOME": "/root",
        "DEBIAN_FRONTEND": "noninteractive",
        "https_proxy": "http://proxy.example:3128",
        "PIP_INDEX_URL": "https://mirror.example/simple",
        "PIP_CERT": "/etc/there.crt",
    }


def test_sources_are_this_machines_archives():
    targets = [
        "http://mirror.example/debian/ bookworm",
        "http://mirror.example/debian/ bookworm-updates",
        "http://mirror.example/security/ bookworm-security",
        "http://other.example/tool stable",
    ]
    assert debianroot.sources("trixie", "bookworm", targets) == [
        "deb http://mirror.example/debian trixie main",
        "deb http://mirror.example/debian trixie-updates main",
        "deb http://mirror.example/security trixie-security main",
    ]
    assert debianroot.sources("trixie", "noble", targets) == []
    assert debianroot.sources("trixie", "", targets) == []


def test_a_base_system_is_made_once_a_week(tmp_path, monkeypatch):
    made = []

    def make(release, folder, log):
        made.append(release)
        (folder / f"{release}.tar").write_text("")

    monkeypatch.setattr(debianroot, "_make_base", make)
    for _ in range(2):
        path = debianroot.base_system("trixie", tmp_path / "cache", tmp_path / "log")
    assert made == ["trixie"] and path.is_file()
    old = time.time() - (debianroot.FRESH_DAYS + 1) * 86400
    os.utime(path, (old, old))
    debianroot.base_system("trixie", tmp_path / "cache", tmp_path / "log")
    assert made == ["trixie", "trixie"]


def test_the_clone_is_what_is_committed(tmp_path):
    tree = tmp_path / "tree"
    identity = {
        f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    git = ["git", "-C", str(tree)]
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    (tree / "file").write_text("committed")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True, env={**os.environ, **identity})
    assert debianroot.uncommitted(tree) == []
    (tree / "file").write_text("changed")
    (tree / "new").write_text("new")
    assert debianroot.uncommitted(tree) == ["file", "new"]
    debianroot.clone(tree, tmp_path / "root", "/root/redzone")
    clone = tmp_path / "root" / "root" / "redzone"
    assert sorted(path.name for path in clone.iterdir()) == [".git", "file"]
    assert (clone / "file").read_text() == "committed"
