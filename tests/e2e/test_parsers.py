# SPDX-License-Identifier: MIT
"""The command reads consoles, KTAP and the index of cases; it writes archives and arguments."""

import pytest
from redzone.build import builder
from redzone.core import options
from redzone.core.base import Failure
from redzone.machine import console, ktap, qemu
from redzone.run import cpio

pytestmark = pytest.mark.quick

REPORT = f"""\
{console.RULE}
BUG: KASAN: slab-out-of-bounds in fill+0x58/0x7c
Write of size 1 at addr ffff00000612a04d by task main/21

CPU: 0 PID: 21 Comm: main
Call trace:
 fill+0x58/0x7c
 main+0x48/0x120

Allocated by task 21:
 malloc+0x38/0x58
 main+0x30/0x120

{console.RULE}
"""


def feed(text, prefix="[    1.000000] "):
    reader = console.Reader()
    for line in text.splitlines():
        reader.feed(prefix + line)
    reader.end()
    return reader


def test_report_is_read():
    (report,) = feed(REPORT).reports
    assert not report.truncated
    assert (report.type, report.where) == ("slab-out-of-bounds", "fill")
    access = report.access
    assert (access.kind, access.size, access.address) == ("write", 1, 0xFFFF00000612A04D)
    assert [frame.name for frame in report.frames("call")] == ["fill", "main"]
    assert [frame.name for frame in report.frames("allocated")] == ["malloc", "main"]
    assert report.frames("call")[0].offset == 0x58


def test_free_has_no_size():
    text = REPORT.replace("Write of size 1 at addr", "Free of addr")
    (report,) = feed(text).reports
    assert (report.access.kind, report.access.size) == ("free", None)


def test_two_reports_and_a_cut_one():
    reader = feed(REPORT + REPORT + "\n".join(REPORT.splitlines()[:6]))
    assert [report.truncated for report in reader.reports] == [False, False, True]


AGAIN = (
    "KASAN: slab-out-of-bounds in fill+0x58/0x7c again (12 times): "
    "write of size 1 at addr ffff00000612a04e by task main/21, called by main+0x48/0x120\n"
)


def test_repeated_report_is_one_line():
    reader = console.Reader()
    events = [reader.feed("[    1.000000] " + line) for line in (REPORT + AGAIN).splitlines()]
    whole, again = reader.reports
    assert events[-1] == ("again", again)
    assert again.again and not whole.again
    access = again.access
    assert (again.type, again.where, access.kind, access.size) == ("slab-out-of-bounds", "fill", "write", 1)
    assert access.address == 0xFFFF00000612A04E
    # It has the traces of the whole report from the same place.
    assert again.stacks is whole.stacks


@pytest.mark.parametrize(
    ("change", "known"),
    [
        # Another caller is another place. If that has no whole report, the nearest place counts.
        (("main+0x48/0x120", "other+0x8/0x10"), True),
        # The end of a line that was too long is missing.
        ((", called by main+0x48/0x120", ", called by main+0x4"), True),
        ((", called by main+0x48/0x120", ""), True),
        (("write of", "read of"), False),
        (("slab-out-of-bounds", "slab-use-after-free"), False),
        (("in fill+0x58", "in fill+0x5c"), False),
    ],
)
def test_repeated_report_of_another_place(change, known):
    whole, again = feed(REPORT + AGAIN.replace(*change)).reports
    assert again.again
    assert (again.stacks is whole.stacks) == known


def test_repeated_report_of_one_of_two_callers():
    other = REPORT.replace(" main+0x48/0x120", " other+0x8/0x10")
    first, second, again = feed(REPORT + other + AGAIN).reports
    assert again.stacks is first.stacks and again.stacks is not second.stacks
    first, second, again = feed(other + REPORT + AGAIN).reports
    assert again.stacks is second.stacks


def test_repeated_asynchronous_report():
    text = "KASAN: invalid-access in tick+0x8/0x10 again (3 times): asynchronous fault: no details available"
    (report,) = feed(text).reports
    assert report.access.asynchronous and report.again and not report.access.kind


def test_ktap_counts_repeated_reports():
    case = "ok 1 first\n" + REPORT + AGAIN + "ok 2 second\n"
    parsed = ktap.parse(("KTAP version 1\n1..2\n" + case).splitlines())
    assert [case.reports for case in parsed.cases] == [0, 2]


def test_text_of_a_program_is_no_report():
    reader = feed("BUG: KASAN: slab-out-of-bounds in nothing\n")
    assert reader.reports == []


def test_panic_and_end():
    reader = feed("Kernel panic - not syncing: no memory\nreboot: System halted\n")
    assert reader.panic == "Kernel panic - not syncing: no memory"
    assert reader.halted
    assert reader.last.endswith("reboot: System halted")


KTAP = """\
KTAP version 1
1..2
    KTAP version 1
    # Subtest: first
    1..3
    ok 1 one
BUG: KASAN: slab-out-of-bounds in two+0x1/0x2
    ok 2 two
    # three: EXPECTATION FAILED at tests/t.c:3
    not ok 3 three
# first: pass:2 fail:1 skip:0 total:3
not ok 1 first
    KTAP version 1
    # Subtest: second
    1..2
        KTAP version 1
        # Subtest: param
        ok 1 a
        ok 2 b
    ok 1 param
    ok 2 other # SKIP no reason
ok 2 second
"""


def test_ktap():
    parsed = ktap.parse([f"[    0.100000] {line}" for line in KTAP.splitlines()])
    assert parsed.errors == []
    assert [(case.name, case.status, case.reports) for case in parsed.cases] == [
        ("first.one", "pass", 0),
        ("first.two", "pass", 1),
        ("first.three", "fail", 0),
        ("second.param.a", "pass", 0),
        ("second.param.b", "pass", 0),
        ("second.other", "skip", 0),
    ]
    assert "tests/t.c:3" in parsed.cases[2].detail
    assert parsed.cases[5].detail == "no reason"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (("    ok 2 two\n", ""), "numbered"),
        (("ok 2 second\n", ""), "ends inside a suite"),
        (("KTAP version 1\n", ""), "no KTAP output"),
        (("1..2\n    KTAP", "1..3\n    KTAP"), "3 suites planned, 2 seen"),
    ],
)
def test_ktap_that_is_not_whole(change, error):
    parsed = ktap.parse(KTAP.replace(*change).splitlines())
    assert any(error in text for text in parsed.errors), parsed.errors


def test_archive_layout(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    data = cpio.pack([("name", tmp_path / "a")], tmp_path).read_bytes()
    assert data[:6] == b"070701"
    assert int(data[54:62], 16) == 5
    assert int(data[94:102], 16) == len("name") + 1
    assert data[110:115] == b"name\0"
    assert data[116:121] == b"12345"
    assert len(data) % 4 == 0
    assert b"TRAILER!!!\0" in data


def test_archive_refuses_a_name_twice(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(Failure, match="twice"):
        cpio.pack([("n", tmp_path / "a"), ("n", tmp_path / "a")], tmp_path)


def test_arguments_are_quoted():
    assert qemu.command_line(["a=1", "b"], ["x", "y z", "", 'a"b', "c\\d"]) == (
        'a=1 b -- x "y z" "" "a\\"b" c\\d'
    )


@pytest.mark.parametrize(("text", "value"), [("256M", "256M"), ("2g", "2G"), ("512", "512M")])
def test_memory_size(text, value):
    assert options.Memory().convert(text, None, None) == value


def test_every_combination_of_options_has_a_preset():
    known = builder.presets()
    for compiler in builder.COMPILERS:
        for mode in builder.MODES:
            for where in ("inline", "outline"):
                exists = builder.preset_name(mode, where, compiler) in known
                assert exists == builder.can_instrument(mode, where, compiler)
