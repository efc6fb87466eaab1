# SPDX-License-Identifier: MIT
"""Hostile logs: random ones, and the known kinds one by one. The suite decode-fuzz has a million."""

import io
import json
import random
import tracemalloc

import hostile
import pytest
from conftest import decode, reports
from redzone.decode import collect, model, parse, scan, terminal

RANDOM = 1000


def test_random_logs():
    assert hostile.run("default", 0, RANDOM) is None


def test_the_check_can_fail(monkeypatch):
    """A decoder that lets control characters through is found out."""
    monkeypatch.setattr("redzone.decode.lines.clean", lambda text: text)
    failed = hostile.run("default", 0, 300)
    assert failed is not None
    assert "control character" in failed[1]


def test_the_same_input_again():
    pool = hostile.seeds()
    assert hostile.make(random.Random("a/1"), pool) == hostile.make(random.Random("a/1"), pool)


HEAD = "BUG: KASAN: slab-out-of-bounds in demo+0x1/0x2\nRead of size 1 at addr ffff000000000001 by task a/1\n"


def test_a_report_without_end_is_bounded():
    text = HEAD + "Call trace:\n" + "".join(f" f{at}+0x1/0x2\n" for at in range(100000))
    log = decode(text)
    assert all(len(one.raw) <= parse.MAX_LINES for one in reports(log))
    assert all(len(stack.frames) <= parse.MAX_FRAMES for one in reports(log) for stack in one.stacks)
    assert all(one.truncated for one in reports(log))


def test_a_line_without_end_is_bounded():
    tracemalloc.start()
    scanner = scan.Scanner()
    scanner.begin("log")
    for _ in range(40):
        scanner.feed(b"x" * scan.CHUNK)
    scanner.feed(b"\n" + HEAD.encode())
    log = scanner.end()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert log.reports == 1
    assert peak < 64 << 20


def test_a_long_line_inside_a_report():
    log = decode(HEAD + "Call trace:\n demo+0x1/0x2\n" + "y" * 1000000 + "\n next+0x1/0x2\n")
    report = reports(log)[0]
    assert [frame.name for frame in report.stack("call").frames] == ["demo", "next"]
    assert report.truncated


def test_ever_new_bugs_are_bounded():
    """A log in which each report is another bug: the memory stays bounded, and the rest is counted."""
    text = "".join(
        HEAD.replace("demo", f"demo{at}") + "Call trace:\n" + f" demo{at}+0x1/0x2\n" + "=" * 66 + "\n"
        for at in range(collect.MAX_BUGS + 500)
    )
    log = decode(text)
    assert len(log.bugs) == collect.MAX_BUGS
    assert log.dropped == 500
    assert log.reports == collect.MAX_BUGS + 500


def test_the_budget_of_kept_reports(monkeypatch):
    monkeypatch.setattr(collect, "BUDGET", 50000)
    body = "".join(f" demo{at}+0x1/0x2\n" for at in range(200))
    text = "".join(
        HEAD.replace("demo", f"bug{at}") + "Call trace:\n" + body + "=" * 66 + "\n" for at in range(50)
    )
    log = decode(text)
    assert len(log.bugs) == 50
    assert sum(len(one.raw) for one in reports(log)) < 600
    assert all(bug.reports for bug in log.bugs)


def test_more_cpus_than_reports_can_be_open():
    text = "".join(f"[    1.000000][T{at}] {line}\n" for at in range(500) for line in HEAD.splitlines())
    log = decode(text)
    assert log.reports == 500


EVIL = [
    "<script>alert(1)</script>",
    "\x1b[2J\x1b]0;title\x07",
    "\x9b2J",
    "\u202egnp.exe",
    "{{ 7*7 }}",
    "[bold]x[/bold]",
    "'; DROP TABLE bugs; --",
]


@pytest.mark.parametrize("evil", EVIL)
def test_names_that_are_commands(evil):
    text = (
        "=" * 66 + "\n"
        f"BUG: KASAN: slab-out-of-bounds in {evil}+0x1/0x2\n"
        f"Read of size 1 at addr ffff000000000001 by task {evil}/1\n"
        f"CPU: 0 PID: 1 Comm: {evil}\nCall trace:\n {evil}+0x1/0x2\n"
        f" which belongs to the cache {evil} of size 64\n" + "=" * 66 + "\n"
    )
    log = decode(text)
    assert log.reports == 1
    for one in hostile.strings(log):
        assert not hostile._BAD.search(one)
    stream = io.StringIO()
    terminal.show(log, everything=True, stream=stream)
    assert "\x1b" not in stream.getvalue()
    # Markup of the terminal's library is text.
    if evil.startswith("[bold]"):
        assert "[bold]x[/bold]" in stream.getvalue()


def test_a_log_does_not_make_anyone_read_files(tmp_path):
    """A place in the log is no permission: only --source and the images say which files may be read."""
    secret = tmp_path / "secret"
    secret.write_text("password\n" * 9, encoding="utf-8")
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "demo.c").write_text("int demo;\n" * 9, encoding="utf-8")
    (folder / "link.c").symlink_to(secret)
    for path in (str(secret), "../secret", "x/../../secret", "link.c"):
        log = decode(HEAD + f"Call trace:\n demo+0x1/0x2 {path}:3\n", folders=[folder])
        assert "password" not in json.dumps(model.to_json(log))
    log = decode(HEAD + "Call trace:\n demo+0x1/0x2 /build/tree/demo.c:3\n", folders=[folder])
    assert [line.text for one in reports(log)[0].excerpts for line in one.lines] == ["int demo;"] * 5


def test_constant_memory():
    """Ten times the log takes no more memory."""
    noise = b"[    1.000000] usb 1-1: an ordinary line of a driver, as logs have them\n" * 20000
    body = (HEAD + "Call trace:\n demo+0x1/0x2\n" + "=" * 66 + "\n").encode()

    def peak(times):
        tracemalloc.start()
        scanner = scan.Scanner()
        scanner.begin("log")
        for _ in range(times):
            scanner.feed(noise + body)
        assert scanner.end().reports == times
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(60) < peak(6) + (1 << 20)
