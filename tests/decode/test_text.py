# SPDX-License-Identifier: MIT
"""Reports in the text of mails, commit messages and documents: what a mail program breaks, what only mentions a
report, and whole logs of each kind with each prefix."""

# Lines of logs.
# ruff: noqa: E501

import quopri
import re
import unittest.mock
from pathlib import Path

import pytest
from conftest import decode, reports
from redzone.decode import scan
from test_pasted import PASTED, REPORT
from test_systems import LOGS

ACCESS = "Write of size 4 at addr ffff88810a3b7c28 by task gizmod/4711\n"
TRACE = "Call Trace:\n gizmo_pull+0x5c/0x1a0 [gizmo]\n gizmo_write+0x98/0x220 [gizmo]\n\n"
HEAD = "BUG: KASAN: slab-use-after-free in gizmo_pull+0x5c/0x1a0 [gizmo]\n"


def quoted(text, mark="> "):
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


# --- Broken lines -----------------------------------------------------------------------------------------------

BROKEN = (
    ("function", HEAD.replace(" in ", " in\n") + ACCESS),
    ("task", HEAD + ACCESS.replace("task ", "task\n")),
    ("by", HEAD + ACCESS.replace("by ", "by\n")),
    ("address", HEAD + ACCESS.replace("addr ", "addr\n")),
    ("both", HEAD.replace(" in ", " in \n") + ACCESS.replace("task ", "task\n")),
)


@pytest.mark.parametrize(("name", "text"), BROKEN, ids=[name for name, _ in BROKEN])
@pytest.mark.parametrize("mark", ["", "> ", "[   33.120000] "])
def test_broken_line(name, text, mark):
    """A mail program breaks long lines; the rest may lack what stands in front of the others."""
    whole = quoted(text + TRACE, mark)
    for one in (whole, re.sub(rf"\n{re.escape(mark)}(gizmo|ffff)", r"\n\1", whole)):
        (found,) = reports(decode(one))
        assert (found.type, found.where) == ("slab-use-after-free", "gizmo_pull")
        assert (found.access.kind, found.access.size, found.access.address) == (
            "write",
            4,
            0xFFFF88810A3B7C28,
        )
        assert (found.task.name, found.task.id) == ("gizmod", 4711)
        assert [frame.name for frame in found.stack("call").frames] == ["gizmo_pull", "gizmo_write"]


@pytest.mark.parametrize("mark", ["", "> ", "  "])
def test_broken_place(mark):
    """A place that has become a line of its own belongs to the line above."""
    text = quoted(
        "BUG: KASAN: slab-use-after-free in gizmo_pull+0x5c/0x1a0\ndrivers/gizmo/packet.c:77\n"
        + ACCESS
        + "\n"
        "Call Trace:\n gizmo_pull+0x5c/0x1a0\n drivers/gizmo/packet.c:77\n gizmo_write+0x98/0x220 drivers/gizmo/main.c:5\n\n",
        mark,
    )
    (found,) = reports(decode(text))
    assert [(one.location.path, one.location.line) for one in found.excerpts] == [
        ("drivers/gizmo/packet.c", 77)
    ]
    places = [[(where.path, where.line) for where in frame.locations] for frame in found.stack("call").frames]
    assert places == [[("drivers/gizmo/packet.c", 77)], [("drivers/gizmo/main.c", 5)]]


def test_broken_headlines():
    """Each of the headlines of inlined functions may be broken."""
    text = (
        "BUG: KASAN: slab-use-after-free in gizmo_next\nnet/gizmo/core.c:7522 [inline]\n"
        "BUG: KASAN: slab-use-after-free in\ngizmo_pull+0x1e6/0x4f0 net/gizmo/core.c:7570\n" + ACCESS
    )
    (found,) = reports(decode(text))
    assert (found.where, found.access.kind) == ("gizmo_pull", "write")


def test_broken_line_with_a_clock():
    """A prefix without letters is one, even if the next line has lost it."""
    text = (
        "[  +0,000012] BUG: KASAN: slab-use-after-free in gizmo_pull\n(drivers/gizmo/packet.c:77) gizmo\n"
        f"[  +0,000105] {ACCESS}[  +0,000006] Call Trace:\n[  +0,000006]  gizmo_pull+0x5c/0x1a0 [gizmo]\n"
    )
    (found,) = reports(decode(text))
    assert (found.type, found.where, found.access.kind) == ("slab-use-after-free", "gizmo_pull", "write")


@pytest.mark.parametrize("mark", ["", "> "])
def test_broken_frames(mark):
    """The name of a frame has got below its addresses."""
    rows = (
        "[  452.604370] [c0000000c1867840] [c00000000187ea4c]\ndump_stack_lvl+0x84/0xe8 (unreliable)\n"
        "[  452.604380] [c0000000c1867870] [c000000000803754]\nkasan_report+0x1/0x2\n"
        "[  452.604390] [c0000000c1867b40] [c0000000008b6a2c] gizmo_pull+0x5c/0x1a0\n"
    )
    text = "".join(f"[  452.604300] {line}\n" for line in (HEAD + ACCESS + "Call Trace:").splitlines()) + rows
    (found,) = reports(decode(quoted(text, mark)))
    frames = found.stack("call").frames
    assert [frame.name for frame in frames] == ["dump_stack_lvl", "kasan_report", "gizmo_pull"]
    assert not frames[0].reliable


def test_task_without_its_number():
    (found,) = reports(decode(HEAD + ACCESS.replace("/4711", "") + TRACE))
    assert (found.access.address, found.task.name, found.task.id) == (0xFFFF88810A3B7C28, "gizmod", None)


def test_module_after_a_place():
    """A script puts the module after the place, with brackets or without."""
    for module in ("gizmo", "[gizmo]"):
        text = f"BUG: KASAN: slab-use-after-free in gizmo_pull (drivers/gizmo/packet.c:77 drivers/gizmo/main.c:5) {module}\n{ACCESS}Call Trace:\n memcpy (drivers/gizmo/packet.c:9) {module}\n gizmo_open (drivers/gizmo/main.c:7)\n"
        (found,) = reports(decode(text))
        assert found.where == "gizmo_pull"
        frames = found.stack("call").frames
        assert [(frame.name, frame.module, frame.role) for frame in frames] == [
            ("memcpy", "gizmo", ""),
            ("gizmo_open", "", ""),
        ]


def test_several_places():
    """A script names all functions that are inlined at a place."""
    where = "(./arch/x86/include/asm/atomic.h:23 ./include/linux/atomic/atomic-arch-fallback.h:444 ./include/linux/demo-counters.h:33 (discriminator 4) drivers/gizmo/packet.c:77)"
    text = f"BUG: KASAN: slab-use-after-free in gizmo_pull {where}\n{ACCESS}\nCall Trace:\n gizmo_pull {where}\n gizmo_write (drivers/gizmo/main.c:5) (C)\n\n"
    (found,) = reports(decode(text))
    assert (found.type, found.where) == ("slab-use-after-free", "gizmo_pull")
    assert [frame.name for frame in found.stack("call").frames] == ["gizmo_pull", "gizmo_write"]


def test_quoted_printable_far_below():
    """A line of a mail that goes on is one line, also where only the words of reports are looked for."""
    body = "filler\n" * 1000 + HEAD.replace("pull", "p" * 40) + ACCESS + TRACE
    mail = "Content-Transfer-Encoding: quoted-printable\n\n" + quopri.encodestring(body.encode()).decode()
    assert "=\n" in mail
    (found,) = reports(decode(mail))
    assert found.where == "gizmo_" + "p" * 40
    assert found.task.id == 4711


@pytest.mark.parametrize("end", ["=0A=\n", "=0D=0A=\n", "=0A\n"])
def test_encoded_line_ends(end):
    body = quopri.encodestring((HEAD + ACCESS + TRACE).encode()).decode().replace("=\n", "")
    (found,) = reports(decode("Content-Transfer-Encoding: quoted-printable\n\n" + body.replace("\n", end)))
    assert (found.where, found.access.kind, found.task.id) == ("gizmo_pull", "write", 4711)
    assert len(found.stack("call").frames) == 2


def test_spaces_that_do_not_break():
    text = quoted(HEAD + ACCESS + TRACE, "[   33.120000] ").replace("  ", " \xa0").replace("[ ", "[\xa0")
    for before in ("", "filler\n" * 1000):
        (found,) = reports(decode(before + text))
        assert found.time == "33.120000"
        assert len(found.stack("call").frames) == 2


# --- Words about a report ---------------------------------------------------------------------------------------

MENTIONS = (
    "Hello,\nthe robot found this:\n\nBUG: KASAN: slab-use-after-free in gizmo_pull+0x5c/0x1a0\n\nIt is an old bug.\nMy patch fixes it.\n",
    "> [   33.100000] BUG: KASAN: slab-use-after-free in gizmo_pull+0x5c/0x1a0\n\nWhich line is that?\nI can't see it.\nThanks\n",
    "Subject: Re: [   33.100000] BUG: KASAN: slab-use-after-free in gizmo_pull+0x5c/0x1a0\nTo: a\nCc: b\n",
    "Subject: Re: BUG: KASAN: slab-use-after-free in\n gizmo_pull+0x5c/0x1a0 (v6.12)\nTo: a\nCc: b\n",
    '+\tpr_err("BUG: KASAN: invalid-access\\n");\n+\tpr_err("Asynchronous fault: no details available\\n");\n',
    "BUG: KFENCE: out-of-bounds read in gizmo_pull+0x5c/0x1a0\nis what one sees then.\nDo you?\n",
)
# These have no name of a sanitizer that would make decode show them.
HARMLESS = (
    "@data must have been allocated\nby kmalloc() only if\nthe size is 0.\n",
    'pr_err("Freed by task %d:\\n", pid);\nFreed by task 5:\nis a line of it.\nNothing else.\n',
)


@pytest.mark.parametrize("text", MENTIONS)
def test_mention(text, run_decode, tmp_path):
    """Words about a report are not one, and not "no report" either."""
    path = tmp_path / "mail"
    path.write_text(text, encoding="utf-8")
    result = run_decode(path)
    assert (result.returncode, result.stdout) == (2, f"no report in {len(text.splitlines())} lines\n")


@pytest.mark.parametrize("text", HARMLESS)
def test_words_of_a_report(text):
    assert decode(text).reports == 0


def test_mention_of_a_report_that_follows():
    (found,) = reports(decode(MENTIONS[0] + "\n" + HEAD + ACCESS + TRACE))
    assert found.access.kind == "write"


def test_cut_log_is_no_mention():
    """A log that ends below a headline has a report, and so has one whose kernel goes on."""
    line = "[   33.120000] BUG: KASAN: slab-use-after-free in gizmo_pull+0x5c/0x1a0\n"
    assert decode(line).reports == 1
    assert (
        decode(line + "[   34.000000] demo: up\n[   35.000000] demo: down\n[   36.000000] demo: up\n").reports
        == 1
    )


def test_diff_of_a_document():
    """Lines that did not change stand between the others."""
    text = (
        "-    BUG: KASAN: slab-use-after-free in gizmo_pull+0x5c/0x1a0 [old]\n"
        "+    BUG: KASAN: slab-use-after-free in gizmo_pull+0x5c/0x1a0 [new]\n"
        f"     {ACCESS}     \n     Call Trace:\n      dump_stack+0x1/0x2\n-     gizmo_pull+0x5c/0x1a0 [old]\n+     gizmo_pull+0x5c/0x1a0 [new]\n"
    )
    (found,) = reports(decode(text))
    assert (found.where, found.access.kind) == ("gizmo_pull", "write")
    assert [frame.name for frame in found.stack("call").frames] == ["dump_stack", "gizmo_pull", "gizmo_pull"]


# --- Other headlines of Linux -----------------------------------------------------------------------------------

HEADLINES = (
    (
        "warning",
        "WARNING: drivers/gizmo/main.c:58 at gizmo_put+0x334/0x430, CPU#2: gizmod/4711\nModules linked in: gizmo\n",
        "WARNING in gizmo_put",
    ),
    (
        "oops",
        "divide error: 0000 [#1] PREEMPT SMP KASAN\nRIP: 0010:gizmo_rate+0x1c/0x40\n",
        "divide error in gizmo_rate",
    ),
    ("oops", "Oops: int3: 0000 [#1] SMP\nRIP: 0010:gizmo_rate+0x1c/0x40\n", "int3 in gizmo_rate"),
    (
        "ubsan",
        "UBSAN: shift-out-of-bounds in drivers/gizmo.c:12:3\nshift by 40, but type 'int' has 32 bits\nCPU: 0 PID: 1 Comm: a\nCall trace:\n gizmo_rate+0x1/0x2\n",
        "UBSAN: shift-out-of-bounds in gizmo_rate",
    ),
    (
        "ubsan",
        "panic: UBSan: Undefined Behavior in /src/sys/net/gizmo.c:667:41, left shift of 255 by 24 places\n",
        "UBSAN: left shift of 255 by 24 places in /src/sys/net/gizmo.c:667",
    ),
    (
        "kasan",
        "BUG: KASAN: invalid-access in __memset+0x16c/0x188\nRead at addr 0bff00002a0f4600 by task a/1\nCall trace:\n kasan_report+0x1/0x2\n"
        " do_tag_check_fault+0x1/0x2\n el1_abort+0x1/0x2\n el1_sync_handler+0x1/0x2\n el1_sync+0x1/0x2\n __memset+0x16c/0x188\n gizmo_open+0x1/0x2\n",
        "KASAN: invalid-access Read in gizmo_open",
    ),
    (
        "kasan",
        "BUG: KASAN: dma-while-mapped in gizmo_send+0xdc/0x1a8\nRead of size 4 at addr 40419f00\n\nCall trace:\n [<7fbd4a40>] (kasan_report+0x1/0x2) from [<7fbd4a48>] (gizmo_send+0xdc/0x1a8)\n",
        "KASAN: dma-while-mapped Read in gizmo_send",
    ),
)


@pytest.mark.parametrize(("kind", "text", "title"), HEADLINES, ids=[title for _, _, title in HEADLINES])
def test_headline(kind, text, title):
    (bug,) = decode(text).bugs
    assert (bug.kind, bug.title) == (kind, title)


def test_warning_names_its_task():
    (found,) = reports(decode(HEADLINES[0][1]))
    assert (found.task.name, found.task.id, found.cpu) == ("gizmod", 4711, 2)
    assert [(one.location.path, one.location.line) for one in found.excerpts] == [
        ("drivers/gizmo/main.c", 58)
    ]


@pytest.mark.parametrize("kind", ["double-free", "double-free or invalid-free", "invalid-free"])
def test_free_without_an_access(kind):
    """Old kernels say only in the headline that it was a free."""
    text = f"BUG: KASAN: {kind} in gizmo_put+0x1/0x2\n\nCPU: 1 PID: 5 Comm: a Not tainted 4.19.0\n{TRACE}"
    assert reports(decode(text))[0].access.kind == "free"


RACE = (
    "BUG: KCSAN: data-race in gizmo_next+0x1/0x2 / gizmo_work [gizmo]\n\n"
    "write (marked) to 0xffff888012345678 of 8 bytes by task 4711 on cpu 7:\n gizmo_next+0x1/0x2\n gizmo_ioctl+0x1/0x2\n\n"
    "read to 0xffff888012345678 of 8 bytes by interrupt on cpu 4:\n gizmo_work+0x1/0x2 [gizmo]\n gizmo_irq+0x1/0x2 [gizmo]\n\n"
    "Reported by Kernel Concurrency Sanitizer on:\nCPU: 4 PID: 6 Comm: swapper Not tainted 6.12.0\n"
)


@pytest.mark.parametrize("text", [RACE, RACE.replace(" / ", " /\n")])
def test_race(text):
    """Both accesses of a race have their trace, and both functions are in the title."""
    (bug,) = decode(text).bugs
    assert bug.title == "KCSAN: data-race in gizmo_next / gizmo_work"
    found = bug.reports[0]
    assert (found.access.kind, found.access.size, found.access.address) == ("write", 8, 0xFFFF888012345678)
    assert (found.task.id, found.cpu) == (4711, 7)
    traces = [[frame.name for frame in stack.frames] for stack in found.stacks]
    assert traces == [["gizmo_next", "gizmo_ioctl"], ["gizmo_work", "gizmo_irq"]]


# --- All kinds, with all prefixes -------------------------------------------------------------------------------

# A mail shows that it is quoted-printable in its header or in a headline of Linux.
FOLDER = Path(__file__).parent / "logs"
KINDS = [(one.stem, one.read_text(encoding="utf-8")) for one in sorted(FOLDER.glob("*.log"))]
KINDS += [(f"{name} {at}", text) for at, (name, text, _) in enumerate(LOGS)]


def essence(log):
    found = reports(log)
    return [
        (
            one.type,
            one.where,
            one.access,
            one.object,
            one.truncated,
            one.memory,
            [(stack.kind, [frame.name for frame in stack.frames]) for stack in one.stacks],
        )
        for one in found
    ]


@pytest.mark.parametrize(("kind", "text"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_kind_without_indentation(kind, text):
    """A report that has lost its indentation is the same, but for carets, and for where Zircon's point."""
    bare = "".join(line.strip() + "\n" for line in text.splitlines())
    (one,), (other,) = essence(decode(bare)), essence(decode(text))
    if kind.startswith("Zircon"):
        one, other = (found[:5] + found[6:] for found in (one, other))
    assert one == other


@pytest.mark.parametrize(("kind", "text"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_kind_is_pasted(kind, text):
    """Each kernel's and each sanitizer's report loses the prefix that somebody has put in front."""
    whole = essence(decode(text))
    assert whole
    for name, paste in PASTED:
        # Two times of printk in a row occur in no log, and of other systems' lines only the headline is known.
        twice = text.startswith("[ ") and "  48." in paste("x")
        if not twice and not (name == "unknown words" and kind[-1].isdigit()):
            assert essence(decode(paste(text))) == whole, name


def test_a_report_of_a_headline_only():
    """What stands between two rules without a trace or rows is judged line by line: somebody may write about one."""
    rule = "=" * 66
    about = "kasan: tags start from the CPU\nkasan: hardware tags, mode sync\nMemory: 513436K/524288K available\nclock: 100 ticks per second\n"
    text = f"{about}{rule}\nBUG: KASAN: slab-" * 3
    with unittest.mock.patch.object(scan.Scanner, "_whole", lambda *_: 0):
        line_by_line = decode(text)
    assert decode(text) == line_by_line


def test_a_second_prefix_inside_of_a_report():
    """A line of a report in one piece that has another prefix more, of any text before printk's time."""
    lines = [f"2026-11-23T10:55:10.123456+00:00 host kernel: {line}" for line in REPORT.splitlines()]
    at = next(number for number, line in enumerate(lines) if " program_thread+" in line)
    lines[at] = lines[at].replace(" program_thread+", " kthr rig7: [    0.277860]  program_thread+")
    text = "\n".join(lines) + "\n"
    with unittest.mock.patch.object(scan.Scanner, "_whole", lambda *_: 0):
        line_by_line = decode(text)
    assert decode(text) == line_by_line
    frames = [frame.name for frame in reports(line_by_line)[0].stack("call").frames]
    assert "program_thread" in frames
