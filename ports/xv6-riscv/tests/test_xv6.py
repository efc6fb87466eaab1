# SPDX-License-Identifier: MIT
"""Tests of the port that need neither xv6's source nor a network."""

import re

import pytest
from redzone.core.base import Failure
from redzone.kit import ports
from redzone.machine import console
from redzone.testing.needs import need

pytestmark = pytest.mark.quick

bugs = ports.load("xv6-riscv", "host.bugs")
build = ports.load("xv6-riscv", "host.build")
session = ports.load("xv6-riscv", "host.session")
source = ports.load("xv6-riscv", "host.source")
suite = ports.load("xv6-riscv", "suite")

REPORT = """\
planted: page_use_after_free
==================================================================
BUG: KASAN: use-after-free in page_use_after_free+0x2a/0x3a
Write of size 8 at addr 0000000087ef4038 by task mkdir/3

CPU: 0 PID: 3 Comm: mkdir
Call trace:
 page_use_after_free+0x2a/0x3a
 syscall+0x70/0xd6
 usertrap+0xd6/0x16a

Allocated by task 3:
 __wrap_kalloc+0x1a/0x22
 syscall+0x70/0xd6
 usertrap+0xd6/0x16a

Freed by task 3:
 __wrap_kfree+0x1e/0x26
 syscall+0x70/0xd6
 usertrap+0xd6/0x16a

The buggy address belongs to the object at 0000000087ef4000
 which belongs to the cache kalloc of size 4096
==================================================================
"""


def reply_of(text):
    reply = session.Reply("")
    reader = console.Reader()
    for line in text.splitlines():
        reply.lines.append(line)
        reader.feed(line)
    reply.reports = reader.reports
    return reply


def bug(name):
    return next(one for one in bugs.BUGS if one.name == name)


def test_what_a_user_writes_is_short():
    assert 30 < build.written_lines() <= suite.LINES_MAX


def test_every_planted_bug_is_expected():
    text = (source.PORT / "bugs.c").read_text(encoding="utf-8")
    planted = re.findall(r"\bBUG\((\w+)\)", text.partition("bugs[] = {")[2])
    assert sorted(planted) == sorted(one.name for one in bugs.BUGS)


def test_a_right_report_is_accepted():
    assert bugs.problem(bug("page_use_after_free"), reply_of(REPORT)) is None


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("planted: page_use_after_free", "", "not planted"),
        ("KASAN: use-after-free", "KASAN: wild-memory-access", "reported as wild-memory-access"),
        ("in page_use_after_free+", "in syscall+", "expected page_use_after_free"),
        (" __wrap_kfree+0x1e/0x26\n syscall+0x70/0xd6", " __wrap_kfree+0x1e/0x26", "'freed' lacks syscall"),
        ("Freed by", "Lost by", "'freed' lacks"),
        ("the cache kalloc", "the cache other", "no line"),
        (" usertrap+0xd6/0x16a\n\nFreed", " usertrap+0xd6/0x16a\n 0x3a6\n\nFreed", "no code"),
        (" usertrap+0xd6/0x16a\n\nFreed", " usertrap+0xd6/0x16a\n spin+0x0/0x4\n\nFreed", "ends with spin"),
        ("BUG: KASAN", "BUG", "no report"),
    ],
)
def test_a_wrong_report_is_refused(old, new, fault):
    assert old in REPORT
    found = bugs.problem(bug("page_use_after_free"), reply_of(REPORT.replace(old, new, 1)))
    assert found and fault in found


def test_a_report_of_correct_use_is_refused():
    text = REPORT.replace("planted: page_use_after_free", "planted: correct_use")
    assert "expected none" in bugs.problem(bug("correct_use"), reply_of(text))
    assert bugs.problem(bug("correct_use"), reply_of("planted: correct_use")) is None


def test_a_folder_without_xv6_is_refused(tmp_path):
    with pytest.raises(Failure, match="has no source of xv6-riscv"):
        source.find(str(tmp_path))


def test_the_digest_sees_names_and_contents(tmp_path):
    for name in source.FOLDERS:
        (tmp_path / name).mkdir()
    (tmp_path / "Makefile").write_text("all:\n")
    (tmp_path / "kernel" / "a.c").write_text("one\n")
    first = source.digest(tmp_path)
    (tmp_path / "kernel" / "a.o").write_text("built\n")
    (tmp_path / "user" / "usys.S").write_text("made\n")
    assert source.digest(tmp_path) == first
    (tmp_path / "kernel" / "a.c").write_text("two\n")
    changed = source.digest(tmp_path)
    (tmp_path / "kernel" / "a.c").rename(tmp_path / "kernel" / "b.c")
    assert len({first, changed, source.digest(tmp_path)}) == 3
    assert not source.pinned().is_known(tmp_path)


@pytest.fixture
def no_network(tmp_path, monkeypatch):
    """Neither a folder nor a mirror is named, and the repository cannot be reached."""
    need("git")
    monkeypatch.setattr(source, "PINS", {**source.PINS, "repository": "file:///absent/repository"})
    monkeypatch.setattr(source, "HOME", tmp_path / "home")
    monkeypatch.delenv(source.VARIABLE, raising=False)
    monkeypatch.delenv("REDZONE_XV6_GIT", raising=False)


def test_without_source_and_network_it_says_what_to_do(no_network):
    with pytest.raises(
        source.Unavailable, match=f"--source DIR or {source.VARIABLE}=DIR, .*REDZONE_XV6_GIT=URL"
    ):
        source.find()
    assert not (source.HOME / "source").exists()


def test_without_source_and_network_the_suite_is_skipped_by_name(no_network):
    results = list(suite.run(None))
    assert [(result.name, result.status) for result in results] == [
        ("lines", "pass"),
        ("xv6", "skip"),
    ]
