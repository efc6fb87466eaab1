# SPDX-License-Identifier: MIT
"""Tests of the port that need neither OpenSBI's source nor a network."""

import re
import struct

import pytest
from redzone.core import apt
from redzone.core.base import Failure
from redzone.kit import ports
from redzone.machine import console

pytestmark = pytest.mark.quick

boots = ports.load("opensbi", "host.boots")
build = ports.load("opensbi", "host.build")
planted = ports.load("opensbi", "host.planted")
source = ports.load("opensbi", "host.source")
suite = ports.load("opensbi", "suite")

REPORT = """\
planted: heap_use_after_free
==================================================================
BUG: KASAN: slab-use-after-free in heap_use_after_free+0x2a/0x3a
Write of size 4 at addr 00000000800cb0c8 by task hart/0

CPU: 0 PID: 0 Comm: hart
Call trace:
 heap_use_after_free+0x2a/0x3a
 sbi_ecall_handler+0x70/0xd6
 sbi_trap_handler+0xd6/0x16a

Allocated by task 0:
 __wrap_sbi_malloc_from+0x1a/0x22
 heap_use_after_free+0x1a/0x3a

Freed by task 0:
 __wrap_sbi_free_from+0x1e/0x26
 heap_use_after_free+0x22/0x3a

The buggy address belongs to the object at 00000000800cb0c0
 which belongs to the cache sbi_heap of size 16
==================================================================
"""


def reports_of(text):
    reader = console.Reader()
    for line in text.splitlines():
        reader.feed(line)
    return reader.reports


def bug(name):
    return next(one for one in planted.BUGS if one.name == name)


def test_every_planted_bug_is_expected_in_its_order():
    """The payload plants by number, and the first that a hart does not survive has a fixed one."""
    text = (source.PORT / "kasan" / "bugs.c").read_text(encoding="utf-8")
    names = re.findall(r"\bBUG\((\w+)\)", text.partition("bugs[] = {")[2])
    assert names == planted.NAMES
    payload = (source.PORT / "payload" / "main.c").read_text(encoding="utf-8")
    fatal = int(re.search(r"#define FATAL\s+(\d+)", payload)[1])
    assert [one.fatal for one in planted.BUGS] == [False] * fatal + [True] * (len(names) - fatal)
    freed = int(re.search(r"#define FREED\s+(\d+)", payload)[1])
    assert names[freed] == "heap_use_after_free"
    for name in ("ALL", "HARTS", "COST", "HOLE", "CHOICE"):
        value = int(re.search(rf"#define {name}\s+(0x[0-9a-f]+)", payload)[1], 16)
        assert value == getattr(boots, name, None) or value == build.CHOICE


def test_a_right_report_is_accepted():
    assert planted.problem(bug("heap_use_after_free"), reports_of(REPORT)) is None


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("KASAN: slab-use-after-free", "KASAN: wild-memory-access", "reported as wild-memory-access"),
        ("in heap_use_after_free+", "in sbi_memcpy+", "in sbi_memcpy, expected"),
        (" sbi_trap_handler+0xd6/0x16a\n", "", "trace lacks sbi_trap_handler"),
        ("Freed by", "Lost by", "'freed' names no function"),
        ("the cache sbi_heap", "the cache other", "no line"),
        ("BUG: KASAN", "BUG", "no report"),
    ],
)
def test_a_wrong_report_is_refused(old, new, fault):
    assert old in REPORT
    found = planted.problem(bug("heap_use_after_free"), reports_of(REPORT.replace(old, new, 1)))
    assert found and fault in found


def test_what_must_not_be_reported():
    reports = reports_of(REPORT)
    assert "expected none" in planted.problem(bug("correct_use"), reports)
    assert "expected none" in planted.problem(bug("stack_overflow"), reports, checks_stack=False)
    assert planted.problem(bug("stack_overflow"), [], checks_stack=False) is None
    assert planted.problem(bug("stack_overflow"), []) == "no report"
    assert planted.problem(bug("stack_overflow"), None) == "it was not planted"


def test_a_failure_of_ordinary_use_is_seen():
    session = boots.Session(None, ["5 PASSED / 0 FAILED / 5 TOTAL", "traffic: hart 1"])
    assert not session.failures
    session.lines += ["4 PASSED / 1 FAILED / 5 TOTAL", "traffic: FAILED set_timer"]
    assert session.failures == session.lines[2:]


@pytest.mark.parametrize("distance", [0x4000000, -0x4600000, 0x1234, -8, 0x7FF, 0x800])
def test_the_jump_leads_there(distance):
    """auipc adds its upper 20 bits to pc, jalr the lower 12, both with a sign."""
    auipc, jalr = struct.unpack("<iI", boots.jump(distance))
    assert auipc & 0xFFF == 0x297 and jalr & 0xFFFFF == 0x28067
    lower = jalr >> 20
    assert (auipc & ~0xFFF) + (lower - 0x1000 if lower & 0x800 else lower) == distance


def make_source(folder):
    """A folder with the texts that the port asks for."""
    for name, texts in source.ANCHORS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(texts))
    (folder / "include/sbi/sbi_version.h").write_text(
        "#define OPENSBI_VERSION_MAJOR 1\n#define OPENSBI_VERSION_MINOR 9\n"
    )


def test_a_folder_without_opensbi_is_refused(tmp_path):
    with pytest.raises(Failure, match="has no source of OpenSBI"):
        source.find(str(tmp_path))


@pytest.mark.parametrize("name", source.ANCHORS)
def test_another_version_is_refused_with_what_it_lacks(tmp_path, name):
    make_source(tmp_path)
    assert source.find(str(tmp_path)) == tmp_path
    (tmp_path / name).write_text("something else")
    with pytest.raises(Failure, match=rf"OpenSBI 1\.9 differs from .*{re.escape(name)} has no '"):
        source.find(str(tmp_path))


@pytest.fixture
def no_network(tmp_path, monkeypatch):
    """Neither a folder is named, nor does the archive answer."""
    monkeypatch.setattr(source, "HOME", tmp_path / "home")
    monkeypatch.setattr(apt, "pool_file", lambda *ignored: "no such host")
    monkeypatch.delenv(source.VARIABLE, raising=False)


def test_without_source_and_network_it_says_what_to_do(no_network):
    with pytest.raises(source.Unavailable, match=f"no such host\n.*--source DIR or {source.VARIABLE}=DIR"):
        source.find()
    assert not source.fetched().exists()


def test_without_source_and_network_the_suite_is_skipped_by_name(no_network):
    results = list(suite.run(None))
    assert [(result.name, result.status) for result in results] == [("lines", "pass"), ("opensbi", "skip")]


def test_what_a_user_writes_is_bounded():
    assert 200 < build.written_lines() <= suite.LINES_MAX
