# SPDX-License-Identifier: MIT
"""Tests of the port that need neither FreeRTOS's source nor a network."""

import json
import re

import pytest
from redzone.core.base import Failure
from redzone.kit import ports
from redzone.machine import console
from redzone.testing.needs import need

pytestmark = pytest.mark.quick

boots = ports.load("freertos", "host.boots")
build = ports.load("freertos", "host.build")
planted = ports.load("freertos", "host.planted")
source = ports.load("freertos", "host.source")
suite = ports.load("freertos", "suite")

REPORT = """\
==================================================================
BUG: KASAN: slab-use-after-free in use_after_free+0x18/0x28
Read of size 4 at addr 000000002000749c by task supervisor/3

CPU: 0 PID: 3 Comm: supervisor
Call trace:
 use_after_free+0x18/0x28
 plant_bugs+0x36/0xbc

Allocated by task 3:
 use_after_free+0x8/0x28
 plant_bugs+0x36/0xbc

Freed by task 3:
 use_after_free+0x10/0x28
 plant_bugs+0x36/0xbc

The buggy address belongs to the object at 20007498
 which belongs to the cache FreeRTOS heap of size 40
The buggy address is located 4 bytes inside of
 freed 40-byte region [20007498, 200074c0)
==================================================================
"""


def reports_of(text):
    reader = console.Reader()
    for line in text.splitlines():
        reader.feed(line)
    return reader.reports


def bug(name, board="mps2-an385"):
    return next(one for one in planted.expected(board, 4) if one.name == name)


# --- What is planted, and what is expected ------------------------------------------------------------


@pytest.mark.parametrize("board", build.BOARDS)
def test_every_planted_bug_is_expected_in_its_order(board):
    text = (source.PORT / "demo" / "bugs.c").read_text(encoding="utf-8").partition("bugs[] = {")[2]
    rows = re.findall(r"ROW(?:_OF_TASK)?\((\w+)\)", text)
    assert [one.name for one in planted.expected(board, 4)] == rows
    assert len(rows) >= 20


def test_a_heap_without_frees_has_only_bugs_without_them():
    names = {one.name for one in planted.expected("mps2-an385", 1)}
    assert "heap_overflow" in names and "null_pointer" in names
    assert not names & {one.name for one in planted.FREED}


def test_a_refused_stack_write_has_the_function_that_made_it():
    assert bug("stack_overrun").function == "burrow"
    assert bug("stack_overrun", "riscv-virt").function == ""


def test_a_right_report_is_accepted():
    assert bug("use_after_free").problem(reports_of(REPORT)) is None


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("BUG: KASAN", "BUG", "no report"),
        ("slab-use-after-free", "wild-memory-access", "expected slab-use-after-free"),
        (" use_after_free+0x18/0x28\n plant", " other+0x18/0x28\n plant", "the trace has no use_after_free"),
        ("supervisor/3", "interrupt/0", "by task supervisor/"),
        ("freed 40-byte", "freed 44-byte", "freed 40-byte region"),
        (" use_after_free+0x10/0x28\n", "", "'freed' has no use_after_free"),
        ("Allocated by task", "Lost by task", "'allocated' has no use_after_free"),
    ],
)
def test_a_wrong_report_is_refused(old, new, fault):
    assert old in REPORT
    found = bug("use_after_free").problem(reports_of(REPORT.replace(old, new, 1)))
    assert found and fault in found


def test_the_suite_has_each_board_by_each_compiler_and_each_heap():
    assert {(board, cc) for board, _, cc in suite.BUILDS} == {
        (board, cc) for board in build.BOARDS for cc in build.COMPILERS
    }
    assert {heap for _, heap, _ in suite.BUILDS} == set(build.HEAPS)


def test_what_the_suite_expects_of_a_refusal_is_in_the_port():
    code = "".join(path.read_text(encoding="utf-8") for path in source.PORT.glob("*.c"))
    code = re.sub(r'"\s*\n\s*"', "", code)
    assert sorted(suite.REFUSED) == sorted(build.REFUSE)
    for text in suite.REFUSED.values():
        assert f'"{text}' in code


def test_make_and_cmake_compile_the_same_files():
    make = (source.PORT / "kasan_freertos.mk").read_text(encoding="utf-8")
    cmake = (source.PORT / "kasan_freertos.cmake").read_text(encoding="utf-8")
    for path in source.PORT.glob("*.c"):
        stem = path.stem.removesuffix("_heap")
        assert re.search(rf"kasan_freertos_files := .*\b{stem}\b", make), path.name
        assert path.name in cmake, path.name
    wrapped = re.findall(
        r"\bvPort\w+|\bpvPort\w+|\bvApplication\w+|\b_?\w*alloc(?:_r)?\b|\b_?free(?:_r)?\b", make
    )
    for name in {"vPortDefineHeapRegions", "pvPortMalloc", "_realloc_r"}:
        assert name in wrapped and name in cmake


# --- The console ---------------------------------------------------------------------------------------


def test_a_session_says_why_it_ended():
    assert "in time" in boots.Session().ended
    assert "status 3" in boots.Session(lines=["out of memory"], status=3).ended
    assert "status 0" in boots.Session(lines=["traffic: 1"], status=0).ended
    done = boots.Session(lines=["traffic: 9 messages", "end"], status=0)
    assert done.ended is None and done.traffic == "traffic: 9 messages"


# --- The source ----------------------------------------------------------------------------------------


def make_source(folder, version="V11.3.0"):
    (folder / "include").mkdir(parents=True)
    (folder / "include" / "task.h").write_text(f'#define tskKERNEL_VERSION_NUMBER       "{version}"\n')
    for part in source.PINS["parts"]:
        path = folder / part
        if path.suffix:
            path.write_text(f"/* {part} */\n")
        else:
            path.mkdir(parents=True, exist_ok=True)
            (path / "file.c").write_text(f"/* {part} */\n")
    return folder


def test_versions_that_the_port_is_not_for_are_refused(tmp_path):
    assert source.version(make_source(tmp_path / "new")) == "V11.3.0"
    with pytest.raises(Failure, match=r"is FreeRTOS V10\.4\.3; the port is for V11"):
        source.version(make_source(tmp_path / "old", "V10.4.3"))
    with pytest.raises(Failure, match="is not FreeRTOS-Kernel"):
        source.version(tmp_path)


def test_the_digest_sees_names_and_contents(tmp_path):
    folder = make_source(tmp_path / "kernel")
    first = source.digest(folder)
    (folder / "readme.txt").write_text("not compiled\n")
    assert source.digest(folder) == first
    (folder / "queue.c").write_text("/* other */\n")
    second = source.digest(folder)
    (folder / "include" / "task.h").rename(folder / "include" / "tasks.h")
    assert len({first, second, source.digest(folder)}) == 3


@pytest.fixture
def no_network(tmp_path, monkeypatch):
    """Neither a folder nor a mirror is named, and the repository cannot be reached."""
    need("git")
    monkeypatch.setattr(source, "PINS", {**source.PINS, "repository": "file:///absent/repository"})
    monkeypatch.setattr(source, "HOME", tmp_path / "home")
    monkeypatch.delenv(source.VARIABLE, raising=False)
    monkeypatch.delenv("REDZONE_FREERTOS_GIT", raising=False)
    (tmp_path / "home").mkdir()


def test_without_source_and_network_it_says_what_to_do(no_network):
    with pytest.raises(
        source.Unavailable, match=r"--source DIR or REDZONE_FREERTOS=DIR, .*REDZONE_FREERTOS_GIT=URL"
    ):
        source.get()


def test_without_source_and_network_the_suite_is_skipped_by_name(no_network):
    results = list(suite.run(None))
    assert [(result.name, result.status) for result in results] == [("all", suite.SKIP)]
    assert "cannot be fetched" in results[0].detail


def test_the_pins_are_whole():
    pins = json.loads((source.PORT / "source.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"[0-9a-f]{40}", pins["commit"]) and re.fullmatch(r"[0-9a-f]{64}", pins["sha256"])
