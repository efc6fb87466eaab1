# SPDX-License-Identifier: MIT
"""Logs as people paste them: quoted, indented, in a mail, on a page, with prefixes that decode has not met; and
what scripts and other architectures make of a trace."""

# Lines of logs.
# ruff: noqa: E501

import base64
import csv
import html
import io
import json
import quopri
import re

import pytest
from conftest import ROOT, decode, reports
from redzone.decode import roles

GOLDEN = ROOT / "tests" / "golden"
PLAIN = re.sub(
    r"(?m)^\[ *\d+\.\d{6}\] ", "", (GOLDEN / "slab-use-after-free.log").read_text(encoding="utf-8")
)
REPORT = PLAIN[PLAIN.index("=====") :]


def lined(make):
    """Return a function that applies @make to each line of a text."""
    return lambda text: "".join(make(number, line) + "\n" for number, line in enumerate(text.splitlines()))


def mail(text):
    head = "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    return head + quopri.encodestring(text.encode()).decode()


def base64_mail(text):
    head = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
    return "Subject: a crash\n" + head + base64.encodebytes(text.encode()).decode()


def table(text, quoting):
    """Return the lines of @text as the last column of CSV."""
    output = io.StringIO()
    rows = [(at, "rig7", line) for at, line in enumerate(text.splitlines())]
    csv.writer(output, quoting=quoting).writerows(rows)
    return output.getvalue()


def grep(name, at, line):
    """Return @line as grep shows it with its context."""
    mark = ":" if "KASAN" in line else "-"
    return f"{name and name + mark}{at}{mark}{line}"


# How a report is pasted: (name, what is done to it).
PASTED = (
    ("quoted", lined(lambda _, line: f"> {line}".rstrip())),
    ("quoted twice", lined(lambda _, line: f"> >> {line}")),
    ("indented by two", lined(lambda _, line: f"  {line}")),
    ("indented by three", lined(lambda _, line: f"   {line}".rstrip())),
    ("piped", lined(lambda _, line: f"  | {line}".rstrip())),
    ("list item", lambda text: "- I see this:\n\n" + lined(lambda _, line: f"    {line}")(text)),
    ("fenced", lambda text: f"It crashed:\n```console\n{text}```\n"),
    ("fenced and quoted", lambda text: lined(lambda _, line: f"> {line}")(f"```\n{text}```\n")),
    ("added by a diff", lambda text: "@@ -0,0 +1,60 @@\n" + lined(lambda _, line: f"+{line}")(text)),
    ("removed by a diff", lined(lambda _, line: f"-{line}")),
    ("on a page", lambda text: f"<html><body><pre>\n{html.escape(text)}</pre></body></html>\n"),
    ("on a page with breaks", lambda text: "<p>" + html.escape(text).replace("\n", "<br>\n") + "</p>\n"),
    ("on a page of one line", lambda text: "<p>" + html.escape(text).replace("\n", "<br />") + "</p>"),
    (
        "on a page of one line of blocks",
        lambda text: "".join(f"<div class=x>{html.escape(line)}</div>" for line in text.splitlines()),
    ),
    ("on a page as a list", lined(lambda _, line: f"<li>{html.escape(line)}</li>")),
    ("source of a page", lambda text: f"<pre>\n{html.escape(html.escape(text))}</pre>\n"),
    (
        "attribute of XML",
        lambda text: '<failure message="failed:&#10;' + html.escape(text).replace("\n", "&#10;") + '"/>\n',
    ),
    ("in a mail", mail),
    ("in a mail as base64", base64_mail),
    ("in a mail as BASE64", lambda text: base64_mail(text).replace("Encoding: base64", "encoding: BASE64")),
    ("in a mail as base64 without an end", lambda text: base64_mail(text).rstrip()),
    ("in a mail as base64, quoted", lambda text: lined(lambda _, line: f"> {line}")(base64_mail(text))),
    ("with colours", lined(lambda _, line: f"\x1b[1;31m{line}\x1b[0m")),
    ("with colours that lost their escapes", lined(lambda _, line: f"[1;31m{line}[0m")),
    ("with spaces at the ends", lined(lambda _, line: f"{line}  ")),
    ("quoted in a mail", lambda text: mail(lined(lambda _, line: f"> {line}")(text))),
    (
        "docker",
        lined(
            lambda _, line: json.dumps(
                {"log": line + "\n", "stream": "stdout", "time": "2026-01-01T00:00:00Z"}
            )
        ),
    ),
    (
        "a list of JSON",
        lambda text: (
            "[\n"
            + ",\n".join(json.dumps({"n": at, "text": line}) for at, line in enumerate(text.splitlines()))
            + "\n]\n"
        ),
    ),
    ("table", lambda text: table(text, csv.QUOTE_MINIMAL)),
    ("table of strings", lambda text: table(text, csv.QUOTE_ALL)),
    ("logfmt", lined(lambda at, line: f"ts={at} level=info msg={json.dumps(line)}")),
    ("journald", lined(lambda _, line: json.dumps({"PRIORITY": "1", "MESSAGE": line}))),
    ("clock and kernel", lined(lambda at, line: f"18:49:{at:02} kernel: {line}")),
    ("clock in brackets", lined(lambda at, line: f"[17:28:{at:02}] {line}")),
    ("time and kernel", lined(lambda at, line: f"[   48.{at:06}] kernel: {line}")),
    (
        "task without a space",
        lined(lambda at, line: f"[    0.{at:06}] [pid:71,cpu{at % 4},kworker/1:0]{line}"),
    ),
    ("CI's clock", lined(lambda at, line: f"01:10:{at:02}.615 [  575.{at:06}] {line}")),
    ("unknown", lined(lambda at, line: f"rig7 <{at}> (uart {at * 7}) :: {line}")),
    ("hexadecimal counter", lined(lambda at, line: f"{at * 7 + 1:04x}|kern|{line}")),
    ("context of grep", lined(lambda at, line: grep("a.log", at, line))),
    ("context of grep in one file", lined(lambda at, line: grep("", at, line))),
    ("unknown words", lined(lambda at, line: f"console {'abc'[at % 3]}{at} says, {line}")),
)


@pytest.mark.parametrize(("name", "paste"), PASTED, ids=[name for name, _ in PASTED])
def test_pasted(name, paste):
    """A pasted report is the same report."""
    whole, found = reports(decode(REPORT)), reports(decode(paste(REPORT)))
    assert len(found) == len(whole) == 1
    one, expected = found[0], whole[0]
    assert (one.type, one.where, one.access, one.task) == (
        expected.type,
        expected.where,
        expected.access,
        expected.task,
    )
    assert one.object == expected.object
    assert one.mode == "generic"
    assert not one.truncated

    def frames(report):
        return [
            (stack.kind, [(frame.name, frame.offset) for frame in stack.frames]) for stack in report.stacks
        ]

    assert frames(one) == frames(expected)
    rows = [(row.address, row.cells, row.bad) for row in one.memory.rows]
    assert rows == [(row.address, row.cells, row.bad) for row in expected.memory.rows]
    assert one.memory.column == expected.memory.column
    assert one.signature == expected.signature


@pytest.mark.parametrize(("name", "paste"), PASTED[:1] + PASTED[-3:])
def test_pasted_twice(name, paste):
    """A quotation with two reports has two, and text around it does not matter."""
    other = REPORT.replace("read_after_free", "read_too_late")
    text = f"Hello,\n\nthis is what I get:\n\n{paste(REPORT + other)}\nAny idea?\n"
    assert [one.where for one in reports(decode(text))] == ["read_after_free", "read_too_late"]


def test_sentence_is_no_report():
    """Words about a report are not one."""
    log = decode("We saw BUG: KASAN: slab-use-after-free in demo_read+0x1/0x2 last week.\nThanks.\n")
    assert log.reports == 0
    assert "demo_read" in log.suspect


def test_page_of_one_line_is_suspect():
    """A long line that mentions a report far from its beginning is shown."""
    log = decode("x" * 5000 + " saw 'BUG: KASAN: slab-use-after-free in demo_read' " + "x" * 5000 + "\n")
    assert log.reports == 0
    assert "demo_read" in log.suspect


def test_text_recognition():
    """Spaces that text recognition adds do not hide a report."""
    text = "BUG : KASAN : slab-out-of-bounds in demo_read + 0x1c / 0x40\nRead of size 8 at addr ffff 000012341000 by task demo / 17\n"
    found = reports(decode(text))[0]
    assert (found.type, found.where, found.access.address) == (
        "slab-out-of-bounds",
        "demo_read",
        0xFFFF000012341000,
    )
    assert (found.task.name, found.task.id) == ("demo", 17)


# --- Which function it is ---------------------------------------------------------------------------------------

# Ordinary functions whose names look like a helper's, a sanitizer's or an allocator's.
ORDINARY = (
    "raw_rcv",
    "raw_ioctl_event_fetch",
    "raw_release",
    "my_trap",
    "snmp_trap",
    "print_debug_info",
    "print_driver_bug",
    "string_table_add",
    "strings_show",
    "number_of_ports",
    "numbered_open",
    "pointer_event",
    "pointers_walk",
    "foo_strlen",
    "panic_button_open",
    "die_roll",
    "oops_count",
    "down_converter_probe",
    "up_link_poll",
    "set_bit_rate",
    "frame_bit_count",
    "kasan_strings",
    "kmalloc_oob_right",
    "demo_alloc",
    "lockdep",
)


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_function(name):
    """A report names this function, not its caller."""
    text = REPORT.replace("read_after_free", name)
    found = decode(text).bugs[0]
    assert found.function == name
    for stack in found.reports[0].stacks[:3]:
        frame = next(frame for frame in stack.frames if frame.name == name)
        assert frame.role == "", name


@pytest.mark.parametrize(
    "name", ["memcpy", "__pi_strlen", "_raw_spin_lock_irqsave", "list_add_tail", "vsnprintf"]
)
def test_helper(name):
    """A helper's caller is named; a function of a module is never a helper."""
    assert roles.role(name) == "helper"
    assert roles.role(name, module="demo_driver") == ""
    text = REPORT.replace("in read_after_free+", f"in {name}+").replace(
        "Call trace:\n", f"Call trace:\n {name}+0x10/0x20\n"
    )
    assert decode(text).bugs[0].function == "read_after_free"


def test_helper_of_a_driver():
    """A prefix makes a function a helper only outside of drivers."""
    assert roles.role("crc_result_show") == "helper"
    assert roles.role("crc_result_show", path="drivers/misc/demo.c") == ""
    assert roles.role("device_del", path="drivers/base/core.c") == "helper"


# --- Symbolized by scripts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("sanitizer", ["KASAN", "KMSAN", "KFENCE"])
@pytest.mark.parametrize("inlined", [0, 1, 2, 5])
def test_headline_for_each_inlined_function(sanitizer, inlined):
    """One report has one headline for each inlined function."""
    kind = {"KASAN": "slab-use-after-free", "KMSAN": "uninit-value", "KFENCE": "use-after-free read"}[
        sanitizer
    ]
    heads = [
        f"BUG: {sanitizer}: {kind} in inner_{at} include/demo.h:{at + 10} [inline]\n" for at in range(inlined)
    ]
    heads.append(f"BUG: {sanitizer}: {kind} in demo_read+0x1c/0x40 drivers/demo/main.c:77\n")
    access = "Read of size 8 at addr ffff888012345678 by task demo/17\n" if sanitizer == "KASAN" else ""
    found = reports(decode("".join(heads) + access))
    assert [one.where for one in found] == ["demo_read"]
    assert [(one.location.path, one.location.line) for one in found[0].excerpts] == [
        ("drivers/demo/main.c", 77)
    ]


TRACES = (
    # decode_stacktrace.sh, with the spaces that mail programs leave.
    (
        "indented",
        " demo_check (mm/kasan/report.c:590) \n demo_read (drivers/demo/main.c:77 (discriminator 1)) \n ? demo_poll (drivers/demo/poll.c:5) \n demo_ioctl (drivers/demo/main.c:120 drivers/demo/main.c:200) \n",
    ),
    (
        "flush left",
        "demo_check (mm/kasan/report.c:590) \ndemo_read (drivers/demo/main.c:77 (discriminator 1)) \n? demo_poll (drivers/demo/poll.c:5) \ndemo_ioctl (drivers/demo/main.c:120 drivers/demo/main.c:200) \n",
    ),
    (
        "not symbolized",
        "demo_check+0x1/0x2\ndemo_read+0x1c/0x40\n? demo_poll+0x1/0x2\ndemo_ioctl+0x3/0x4 [demo]\n",
    ),
    (
        "powerpc",
        "[c000000015f3f840] [c000000001ba524c] demo_check+0xb0/0x108\n[c000000015f3faf0] [c000000000fb9d6c] demo_read+0x8c/0x2c0\n[c000000015f3fb00] [c000000000fb9d70] demo_poll+0x8c/0x2c0 (unreliable)\n[c000000015f3fb10] [c000000000fb9d80] demo_ioctl+0x8c/0x2c0\n",
    ),
    (
        "powerpc, 32 bits",
        "[c5f3f840] [c1ba524c] demo_check+0xb0/0x108\n[c5f3faf0] [c0fb9d6c] demo_read+0x8c/0x2c0\n[c5f3fb00] [c0fb9d70] demo_poll+0x8c/0x2c0 (unreliable)\n[c5f3fb10] [c0fb9d80] demo_ioctl+0x8c/0x2c0\n",
    ),
    (
        "s390",
        " [<00000000001135b2>] demo_check+0x8a/0xd0\n [<000003ffe00a7e4c>] demo_read+0x1c/0x40\n ([<000003ffe00a7e50>] ? demo_poll+0x8a/0xd0)\n [<000003ffe00a7e60>] demo_ioctl+0x8a/0xd0\n",
    ),
    (
        "loongarch",
        "[<900000000224f3c8>] demo_check+0x5c/0x180\n[<900000000224f3d0>] demo_read+0x5c/0x180\n[<900000000224f3d0>] ? demo_poll+0x5c/0x180\n[<900000000224f3e0>] demo_ioctl+0x5c/0x180\n",
    ),
    (
        "riscv",
        "[<ffffffff80005b5e>] demo_check+0x2c/0x38\n[<ffffffff80005b60>] demo_read+0x2c/0x38\n[<ffffffff80005b60>] ? demo_poll+0x2c/0x38\n[<ffffffff80005b70>] demo_ioctl+0x2c/0x38\n",
    ),
    (
        "mips",
        "[<80106d2c>] demo_check+0x44/0x58\n[<80106d30>] demo_read+0x44/0x58\n[<80106d30>] ? demo_poll+0x44/0x58\n[<80106d40>] demo_ioctl+0x44/0x58\n",
    ),
    (
        "xtensa",
        "  [<d0004f4c>] demo_check+0x3c/0x50\n  [<d0004f50>] demo_read+0x3c/0x50\n  [<d0004f50>] ? demo_poll+0x3c/0x50\n  [<d0004f60>] demo_ioctl+0x3c/0x50\n",
    ),
)


@pytest.mark.parametrize(("name", "trace"), TRACES, ids=[name for name, _ in TRACES])
def test_traces(name, trace):
    """Each frame is there, and those that the unwinder was not sure about are marked."""
    text = (
        "BUG: KASAN: slab-use-after-free in demo_read+0x1c/0x40\nRead of size 8 at addr ffff888012345678 by task demo/17\n\n"
        f"Call Trace:\n <TASK>\n{trace} </TASK>\n\nAllocated by task 17:\n{trace}\n"
    )
    found = reports(decode(text))[0]
    assert [stack.kind for stack in found.stacks] == ["call", "allocated"]
    for stack in found.stacks:
        frames = [(frame.name, frame.reliable) for frame in stack.frames]
        assert frames == [
            ("demo_check", True),
            ("demo_read", True),
            ("demo_poll", False),
            ("demo_ioctl", True),
        ]


# What names the instruction of a crash.
CRASHES = (
    ("x86", "RIP: 0010:demo_read+0x1c/0x40", "demo_read"),
    ("arm64", "pc : demo_read+0x1c/0x40\nlr : demo_ioctl+0x1c/0x40", "demo_read"),
    ("arm", "PC is at demo_read+0x1c/0x40\nLR is at demo_ioctl+0x1c/0x40", "demo_read"),
    ("riscv", "epc : demo_read+0x1c/0x40\n ra : demo_ioctl+0x1c/0x40", "demo_read"),
    ("riscv, one line", "epc : demo_read+0x1c/0x40 ra : demo_ioctl+0x1c/0x40", "demo_read"),
    (
        "powerpc",
        "NIP [c000000000fb9d6c] demo_read+0x8c/0x2c0\nLR [c000000000fb9d60] demo_ioctl+0x80/0x2c0",
        "demo_read",
    ),
    ("s390", "Krnl PSW : 0704c00180000000 000003ffe0a1b2c3 (demo_read+0x12/0x40)", "demo_read"),
    (
        "loongarch",
        "   ra: 900000000224f3c8 demo_ioctl+0x5c/0x180\n  ERA: 900000000224f3d0 demo_read+0x5c/0x180",
        "demo_read",
    ),
    ("mips", "epc   : 80106d2c demo_read+0x44/0x58\nra    : 80106d30 demo_ioctl+0x44/0x58", "demo_read"),
)


@pytest.mark.parametrize(("name", "registers", "function"), CRASHES, ids=[one[0] for one in CRASHES])
def test_crash(name, registers, function):
    """The register says where a crash was; a return address is not where it was."""
    text = f"Oops: Kernel access of bad area, sig: 11 [#1]\n{registers}\nCall Trace:\n demo_poll+0x1/0x2\n\n"
    found = decode(text).bugs[0]
    assert found.function == function
    assert found.reports[0].stack("call").frames[0].exact


@pytest.mark.parametrize(
    ("headline", "kind"),
    [
        ("Unable to handle kernel paging request at virtual address 8000001c", "kernel paging request"),
        (
            "Unable to handle kernel paging request at virtual address 8000001c when read",
            "kernel paging request",
        ),
        (
            "CPU 0 Unable to handle kernel paging request at virtual address 8000001c, epc == 80101234, ra == 80101200\nOops[#1]:",
            "kernel paging request",
        ),
        (
            "CPU 3 Unable to handle kernel paging request at virtual address 000000008000001c, era == 9000000000221234, ra == 9000000000221200\nOops[#1]:",
            "kernel paging request",
        ),
        (
            "BUG: Unable to handle kernel data access on write at 0x8000001c\nFaulting instruction address: 0xc0001234",
            "Unable to handle kernel data access",
        ),
        (
            "BUG: Kernel NULL pointer dereference on read at 0x8000001c\nFaulting instruction address: 0xc0001234",
            "Kernel NULL pointer dereference",
        ),
    ],
)
@pytest.mark.parametrize("prefix", ["", "[    1.000000] ", "> "])
def test_headline_of_a_crash(headline, kind, prefix):
    """Each architecture's words begin one crash, whose type has no address in it."""
    text = f"{headline}\nCall Trace:\n demo_read+0x1c/0x40\n demo_poll+0x1/0x2\n\n"
    (found,) = reports(decode(lined(lambda _, line: prefix + line)(text)))
    assert (found.kind, found.type, found.access.address) == ("oops", kind, 0x8000001C)
    assert [frame.name for frame in found.frames("call")] == ["demo_read", "demo_poll"]


def test_last_jump_is_not_in_the_trace():
    """s390 prints the address of its last jump below the trace, in the form of a frame."""
    text = (
        "Oops: 0004 ilc:2 [#1] SMP\nCall Trace:\n [<000003ff80001034>] demo_read+0x34/0x50\n"
        "Last Breaking-Event-Address:\n [<00000000001c2a44>] demo_print+0x5c/0x68\n"
    )
    (found,) = reports(decode(text))
    assert [frame.name for frame in found.frames("call")] == ["demo_read"]


def test_crash_and_its_trace():
    """The trace begins with the instruction that the registers name: it is one trace, and no call."""
    text = (
        "Insufficient stack space to handle exception!\nESR: 0x0000000096000047\nTask stack:     [0x1, 0x2)\n"
        "pc : demo_read+0x1c/0x40\nlr : demo_read+0x30/0x40\n"
        "Kernel panic - not syncing: kernel stack overflow\n"
        "Call trace:\n demo_read+0x1c/0x40\n demo_read+0x30/0x40\n---[ end Kernel panic ]---\n"
    )
    (bug,) = decode(text).bugs
    assert (bug.kind, bug.title) == ("oops", "Insufficient stack space in demo_read")
    (stack,) = bug.reports[0].stacks
    assert [(frame.offset, frame.exact) for frame in stack.frames] == [(0x1C, True), (0x30, False)]


def test_registers_are_not_frames():
    """32-bit Arm prints registers below each frame; none of them is a function or a file."""
    text = (
        "BUG: KASAN: user-memory-access in demo_put+0x1/0x2\nWrite of size 8 at addr 000de581 by task init/1\nBacktrace: \n"
        "[<80bd5078>] (demo_show) from [<80be621c>] (demo_dump+0xd4/0xf0)\n r7:8057d618 r6:00000001 r5:00000a7f r4:000de581\n"
        "[<80be6148>] (demo_dump) from [<80be6300>] (demo_put+0xd4/0xf0)\n r10:00000000 r9:8057d618\n"
    )
    found = reports(decode(text))[0]
    assert [frame.name for frame in found.stack("call").frames] == ["demo_dump", "demo_put"]
    assert not found.excerpts


@pytest.mark.parametrize(
    ("where", "place"),
    [
        ("demo_read+0x1/0x2 demo.c:3", ("demo.c", 3)),
        ("demo_read (drivers/demo/main.c:77)", ("drivers/demo/main.c", 77)),
        ("demo_read (drivers/demo/main.c:77 (discriminator 2))", ("drivers/demo/main.c", 77)),
        ("demo_read+0x1/0x2 [demo]", None),
        ("demo_read+0x1/0x2", None),
    ],
)
def test_place_of_a_headline(where, place):
    """A headline's place is a file or nothing, and the function stays a function."""
    text = f"BUG: KASAN: slab-use-after-free in {where}\nRead of size 8 at addr ffff888012345678 by task demo/17\n"
    found = reports(decode(text))[0]
    assert found.where == "demo_read"
    assert [(one.location.path, one.location.line) for one in found.excerpts] == ([place] if place else [])


def test_inlined_helper():
    """The place is the ordinary function's, not the helper's that was inlined there."""
    text = (
        "BUG: KMSAN: uninit-value in demo_recv+0x2b8/0x9e0 net/demo/raw.c:1008\n memcpy_to_msg include/linux/demo.h:4113 [inline]\n"
        " demo_recv+0x2b8/0x9e0 net/demo/raw.c:1008\n sock_demo+0x2c4/0x340 net/socket.c:1068\n"
    )
    found = reports(decode(text))[0]
    assert [(one.location.path, one.location.line) for one in found.excerpts] == [("net/demo/raw.c", 1008)]


def test_inlined_function_of_a_cut_trace():
    """An inlined function whose frame is missing stays in its own trace."""
    text = (
        "BUG: KASAN: slab-use-after-free in demo_read+0x1/0x2\nRead of size 4 at addr ffff888064f0a978 by task demo/1\nCall Trace:\n"
        " demo_read+0x1/0x2 a.c:1\n left_over b.c:9 [inline]\n\nAllocated by task 7:\n demo_open+0x1/0x2 c.c:3\n"
    )
    call, allocated = reports(decode(text))[0].stacks
    assert [frame.name for frame in call.frames] == ["demo_read", "left_over"]
    assert [where.path for where in allocated.frames[0].locations] == ["c.c"]


@pytest.mark.parametrize(
    ("address", "shown"), [("0x000000005aa3dbbd", None), ("0xffff888012345678", 0xFFFF888012345678)]
)
def test_hashed_pointer(address, shown):
    """printk's hash of a pointer is not an address."""
    text = (
        f"BUG: KFENCE: use-after-free read in demo_read+0x1/0x2\n\nUse-after-free read at {address} (in kfence-#5):\n"
        " demo_read+0x1/0x2\n demo_ioctl+0x1/0x2\n"
    )
    assert reports(decode(text))[0].access.address == shown


# --- Cut logs -----------------------------------------------------------------------------------------------------


def test_log_begins_inside_a_trace():
    """A ring buffer that begins inside a report: the trace above the first known line is the report's."""
    lines = REPORT.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "Allocated by" in line)
    inside = "".join(f"[    1.{number:06}][   T17] {line}" for number, line in enumerate(lines[at - 5 :]))
    found = reports(decode("[    0.900000][   T17] demo: ready\n" + inside))[0]
    assert [frame.name for frame in found.stack("call").frames][-2:] == ["kthread", "ret_from_fork"]
    assert found.stack("allocated").frames
    assert found.truncated


def test_panic_has_the_trace():
    """The report's own trace is lost, and the panic that it caused has one."""
    lines = REPORT.splitlines(keepends=True)
    at = next(
        number for number, line in enumerate(lines) if "The buggy address belongs to the object" in line
    )
    panic = "Kernel panic - not syncing: kasan.fault=panic set ...\nCall trace:\n panic+0x1/0x2\n kasan_report+0x1/0x2\n demo_read+0x1/0x2\n"
    log = decode("".join(lines[at:]) + panic)
    assert log.reports == 1
    found = log.bugs[0]
    assert found.function == "demo_read"
    assert found.reports[0].object.cache == "kmalloc-96"


# --- The mode -------------------------------------------------------------------------------------------------------

# (what shows the mode, the address of the access, a frame of the trace, the mode)
MODES = (
    ("scope", "ffff800012345678", "", "generic"),
    ("compiler's call", "ffff000012345678", "__asan_load4", "generic"),
    ("compiler's tag check", "f1ff000012345678", "__hwasan_load4_noabort", "sw_tags"),
    ("CPU's tag check", "f1ff000012345678", "do_tag_check_fault", "hw_tags"),
    ("x86's addresses", "ffff888012345678", "", "generic"),
    ("x86's system call", "ffffc90012345678", "entry_SYSCALL_64_after_hwframe", "generic"),
    ("32 bits", "c2345678", "", "generic"),
    ("powerpc", "c000000012345678", "", "generic"),
    ("no tags below", "ffff000012345678", "demo_read", "generic"),
    ("nothing", "ffff000012345678", "", ""),
    ("wild", "dead000012345678", "demo_read", ""),
)
TYPES = {"scope": "use-after-scope", "wild": "wild-memory-access"}


@pytest.mark.parametrize(("name", "address", "frame", "mode"), MODES, ids=[one[0] for one in MODES])
def test_mode(name, address, frame, mode):
    """The mode is said if the report shows it, and not guessed."""
    # The CPU does not tell the size.
    size = "" if mode == "hw_tags" else "of size 4 "
    text = f"BUG: KASAN: {TYPES.get(name, 'slab-use-after-free')} in demo_read+0x1/0x2\n"
    text += f"Read {size}at addr {address} by task demo/1\n"
    text += f"Call trace:\n {frame}+0x1/0x2\n" if frame else ""
    assert reports(decode(text))[0].mode == mode


def test_error_code_is_not_the_type():
    """The type of a crash does not include the error code."""
    assert (
        decode("Internal error: synchronous external abort: 96000210 [#1] SMP\n").bugs[0].type
        == "synchronous external abort"
    )


# --- No report ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "KASAN: slab-use-after-free in demo_read+0x1/0x2\nRead of size 8 at addr ffff000000001000 by task demo/1",
        "mykernel: kasan caught something at 0x1234",
        "!! Address Sanitizer: bad write !!",
        "[asan] heap broken at 0x1234",
        " kasan_report+0xc8/0x110",
        " __asan_report_load8_noabort+0x14/0x20",
    ],
)
def test_unknown_report(line, run_decode, tmp_path):
    """A line that looks like a sanitizer's is not "no report": it is shown, and the status is 2."""
    log = tmp_path / "console.log"
    log.write_text(f"booting\n{line}\ndone\n", encoding="utf-8")
    result = run_decode(log, status=2)
    assert line.splitlines()[0] in result.stderr


@pytest.mark.parametrize(
    "line",
    [
        "kasan: KernelAddressSanitizer initialized (generic)",
        "ok 5 kasan.kmalloc_oob_right",
        "    # Subtest: kasan",
        "Kernel command line: kasan.fault=panic kasan=on",
        "CONFIG_KASAN=y",
        "Redzone reference kernel 0.2.0 (arm64, generic, KASAN inline)",
        "cc -fsanitize=address -o demo-asan demo.c",
    ],
)
def test_harmless_line(line, run_decode, tmp_path):
    """A boot message, an option or a test's name is not a report."""
    log = tmp_path / "console.log"
    log.write_text(f"booting\n{line}\ndone\n", encoding="utf-8")
    run_decode(log, status=0)


@pytest.mark.parametrize("chunk", [1, 7, 100, 4096])
def test_base64_in_pieces(chunk):
    text = base64_mail("Hello,\n" + REPORT) + "\n--\nThe next part\n\n" + REPORT
    assert decode(text, chunk=chunk).bugs == decode(text).bugs
    assert [bug.count for bug in decode(text).bugs] == [2]


def test_unusual_letters():
    """Others in the same piece of the log make no difference."""
    text = base64_mail(REPORT).replace("base64", "basE64") + "\n--\n" + base64_mail(REPORT)
    text += REPORT.replace("\n", "<Br>") + REPORT.replace("\n", "<br>")
    assert decode(text, chunk=50) == decode(text)


def test_which_line_is_suspect():
    """A line that names a sanitizer comes before what reads like a report and was none, wherever the log is cut."""
    prose = "Memory state around the buggy address:\n" + "words about it, and more of them\n" * 70
    text = prose + "kasan_report+0x45/0x60\n"
    whole = decode(text)
    assert not whole.reports and whole.suspect
    assert decode(text, chunk=40) == whole
