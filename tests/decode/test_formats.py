# SPDX-License-Identifier: MIT
"""Reports of every sanitizer and version, behind every prefix, whole and damaged: what is found in them."""

# Rows of a table, and lines of logs.
# ruff: noqa: E501

import codecs
import collections
import re
from pathlib import Path

import pytest
from conftest import ROOT, decode, reports
from redzone.decode import collect, repeats, roles, whole

LOGS = Path(__file__).parent / "logs"
GOLDEN = ROOT / "tests" / "golden"
MODES = {"": "generic", "sw_tags": "sw_tags", "hw_tags": "hw_tags"}
CONSOLES = ROOT.parent / "shared" / "linux-reports"


def golden(name):
    return (GOLDEN / name).read_text(encoding="utf-8")


def only_report(log):
    """Return the lines of the one report in @log, from rule to rule."""
    return re.search(r"(?ms)^\[[^]]*\] ={66}$.*^\[[^]]*\] ={66}\n", log)[0]


@pytest.mark.parametrize("folder", MODES)
def test_golden_reports(folder):
    """Each golden report: one report, its mode, and the title that syzkaller gives it."""
    titles = dict(
        line.split("\t")
        for line in (GOLDEN / folder / "titles.tsv").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    )
    for path in sorted((GOLDEN / folder).glob("*.log")):
        log = decode(path.read_bytes())
        assert log.by_mode == {MODES[folder]: 1}, path
        assert log.reports == 1, path
        report = log.bugs[0].reports[0]
        assert not report.truncated and not report.interleaved
        assert report.explanation
        # syzkaller's older rules name the allocator here.
        if path.stem in titles and path.stem != "slack-krealloc":
            assert log.bugs[0].title == titles[path.stem]


# One line of a report behind each prefix: what is read as time and caller.
PREFIXES = [
    ("", "", ""),
    ("[   12.345678] ", "12.345678", ""),
    ("[   12.345678][  T123] ", "12.345678", "T123"),
    ("[   12.345678][    C1] ", "12.345678", "C1"),
    ("[   12.345678@2] ", "12.345678", "C2"),
    ("[   12.345678] (3)[411:kworker/3:1] ", "12.345678", "C3"),
    ("<4>[   12.345678] ", "12.345678", ""),
    ("kern  :err   : [   12.345678] ", "12.345678", ""),
    ("[Mon Nov 23 10:55:10 2026] ", "Mon Nov 23 10:55:10 2026", ""),
    ("Nov 23 10:55:10 myhost kernel: ", "Nov 23 10:55:10", ""),
    ("Nov 23 10:55:10 myhost kernel: [   12.345678] ", "12.345678", ""),
    ("Nov 23 10:55:10.123456 myhost kernel: ", "Nov 23 10:55:10.123456", ""),
    ("2026-11-23T10:55:10.123456+00:00 myhost kernel: ", "2026-11-23T10:55:10.123456+00:00", ""),
    ("2026-11-23T10:55:10,123456+00:00 ", "2026-11-23T10:55:10,123456+00:00", ""),
    ("1764000000.123456 myhost kernel: ", "1764000000.123456", ""),
    ("<6>1 2026-11-23T10:55:10.1Z myhost kernel - - - ", "2026-11-23T10:55:10.1Z", ""),
    ("11-23 10:55:10.123  1234  1234 E kernel  : ", "11-23 10:55:10.123", ""),
    ("11-23 10:55:10.123  root  1234  1234 E kernel  : [   12.345678][  T99] ", "12.345678", "T99"),
    ("11-23 10:55:10.123 E/kernel( 123): ", "11-23 10:55:10.123", ""),
    ("E/kernel  (    0): ", "", ""),
    ("6,416,12345678,-,caller=T77;", "12.345678", "T77"),
    ("4,416,12345678,-;", "12.345678", ""),
    ("[00:00:12.345,678] <err> os: ", "00:00:12.345,678", ""),
    ("2026-11-23T10:55:10.1234567Z ", "2026-11-23T10:55:10.1234567Z", ""),
    ("** 93 printk messages dropped ** [   12.345678] ", "12.345678", ""),
    ("qemu-3: [   12.345678] ", "12.345678", ""),
    ("\x1b[33m[   12.345678]\x1b[0m\x1b[31m ", "12.345678", ""),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("prefix", "time", "caller"), PREFIXES)
def test_prefixes(prefix, time, caller, end):
    """The golden report behind each prefix is the same report."""
    plain = re.sub(r"(?m)^\[ *\d+\.\d{6}\] ", "", golden("slab-use-after-free.log"))
    whole = reports(decode(plain))[0]
    found = reports(decode("".join(f"{prefix}{line}{end}" for line in plain.splitlines())))
    assert len(found) == 1
    assert found[0].time == time
    found[0].time = ""
    assert found[0] == whole
    assert [len(stack.frames) for stack in whole.stacks] == [6, 8, 8]
    assert whole.memory.column == 5


def test_interleaved_cpus():
    """Two CPUs print at once; each line has its caller, and each report is whole."""
    texts = [
        re.sub(r"(?m)^\[ *\d+\.\d{6}\] ", "", golden(name)).splitlines()
        for name in ("slab-use-after-free.log", "global-out-of-bounds.log")
    ]
    alone = [reports(decode("\n".join(text) + "\n"))[0] for text in texts]
    mixed = []
    for at in range(max(map(len, texts))):
        for caller, text in zip(("  T42", "   C1"), texts, strict=True):
            mixed += [f"[    1.{at:06}][{caller}] {line}" for line in text[at : at + 1]]
    found = reports(decode("\n".join(mixed) + "\n"))
    assert [one.title for one in found] == [one.title for one in alone]
    for one, expected in zip(found, alone, strict=True):
        assert not one.truncated
        assert one.raw == expected.raw
        assert one.stacks == expected.stacks
        assert one.memory == expected.memory


@pytest.mark.parametrize(
    "prefix",
    [
        "[    1.{at:06}] [pid:4{cpu},cpu{cpu},init/0]",
        "[    1.{at:06}] [{cpu}:      swapper/{cpu}:    0] ",
        "[    1.{at:06}]  ({cpu})[4{cpu}:init]",
    ],
)
def test_interleaved_cpus_of_other_prefixes(prefix):
    """A prefix that only the log explains may name the CPU too."""
    text = re.sub(r"(?m)^\[ *\d+\.\d{6}\] ", "", golden("slab-use-after-free.log"))
    text = text[text.index("=====") :]
    expected = reports(decode(text))[0]
    mixed = []
    # The second CPU is three lines late.
    rows = text.splitlines()
    for at in range(len(rows) + 3):
        for cpu, row in ((0, at), (1, at - 3)):
            if 0 <= row < len(rows):
                mixed.append(prefix.format(at=at, cpu=cpu) + rows[row])
    found = reports(decode("\n".join(mixed) + "\n"))
    assert len(found) == 2
    for one in found:
        assert not (one.truncated or one.interleaved)
        assert one.stacks == expected.stacks
        assert one.memory == expected.memory


def test_interleaved_cpus_without_callers():
    """Nothing tells the lines of two CPUs apart: both reports are counted, and the mixture is said."""
    names = ("slab-use-after-free.log", "global-out-of-bounds.log")
    texts = [golden(name).splitlines() for name in names]
    texts = [text[next(at for at, line in enumerate(text) if "====" in line) :] for text in texts]
    mixed = [line for at in range(max(map(len, texts))) for text in texts for line in text[at : at + 1]]
    log = decode("\n".join(mixed) + "\n")
    assert log.reports == 2
    found = reports(log)
    assert any(one.interleaved for one in found)
    assert not any("Nothing" in sentence for sentence in found[0].explanation)
    said = [one for one in found if any("tells them apart" in sentence for sentence in one.explanation)]
    assert said == [one for one in found if one.interleaved]


# (rows of tags, the access, a function of the call trace, the mode)
_TAGS = [
    ("f1 fe fe f3 fe fe fe fe", "Write of size 1 at", "demo", ""),
    ("f1 f2 f3 f4 fe fe fe fe", "Write of size 1 at", "demo", "hw_tags"),
    ("f1 fe fe f3 fe fe fe fe", "Write at", "demo", "hw_tags"),
    ("f1 fe fe f3 fe fe fe fe", "Write of size 1 at", "__hwasan_tag_mismatch", "sw_tags"),
    ("f1 fe fe f3 fe fe fe fe", "Free of", "do_tag_check_fault", "hw_tags"),
    ("f1 fe 1a f3 fe fe fe fe", "Write of size 1 at", "demo", "sw_tags"),
]


@pytest.mark.parametrize(("row", "access", "function", "mode"), _TAGS)
def test_mode_without_a_banner(row, access, function, mode):
    """A report shows which kind of tags it is about, or it is said that this is not known."""
    rows = "".join(f"{'>' if at == 1 else ' '}ffff000000001{at}00: {row} {row}\n" for at in range(3))
    text = (
        f"{'=' * 66}\nBUG: KASAN: invalid-access in demo+0x1/0x2\n{access} addr f1ff000000001000 by task a/1\n"
        f"Pointer tag: [f1], memory tag: [fe]\n\nCPU: 0 PID: 1 Comm: a\nCall trace:\n {function}+0x1/0x2\n"
        f" demo+0x1/0x2\n\nMemory state around the buggy address:\n{rows}{'=' * 66}\n"
    )
    log = decode(text)
    assert log.by_mode == {mode or "unknown": 1}
    assert reports(log)[0].memory.kind == "tags"
    # A later report of the same kernel tells.
    other = text.replace(row, row.replace("f3", "1b"))
    assert decode(text + other).by_mode == (
        {"sw_tags": 2} if mode in ("", "sw_tags") else {mode: 1, "sw_tags": 1}
    )


def test_encodings():
    text = golden("slab-out-of-bounds.log")
    whole = decode(text)
    for data in (
        codecs.BOM_UTF8 + text.encode(),
        codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    ):
        for chunk in (None, 1000, 7):
            log = decode(data, chunk=chunk)
            assert [one.title for one in log.bugs] == [one.title for one in whole.bugs]
    log = decode(b"\xfe\xc3\x28 not text\n" + text.encode("latin-1"))
    assert log.bugs[0].title == whole.bugs[0].title


def test_any_cut_into_pieces():
    data = golden("slab-use-after-free.log").encode()
    whole = decode(data)
    for chunk in (1, 2, 63, 1000, 4096):
        assert decode(data, chunk=chunk) == whole


def test_truncated_at_the_end():
    text = golden("slab-use-after-free.log")
    lines = text.splitlines(keepends=True)
    begin = next(at for at, line in enumerate(lines) if "BUG: KASAN" in line)
    end = max(at for at, line in enumerate(lines) if "=====" in line)
    for last in range(begin + 1, end):
        log = decode("".join(lines[:last]))
        assert log.reports == 1
        assert log.bugs[0].reports[0].truncated
        assert log.bugs[0].type == "slab-use-after-free"


def test_truncated_at_the_beginning():
    """A report without its headline is one report, marked, with what is there."""
    lines = golden("slab-use-after-free.log").splitlines(keepends=True)
    begin = next(at for at, line in enumerate(lines) if "BUG: KASAN" in line)
    last = next(at for at, line in enumerate(lines) if "Memory state" in line)
    for first in range(begin + 1, last + 1):
        log = decode("".join(lines[first:]))
        assert log.reports == 1, lines[first]
        report = log.bugs[0].reports[0]
        assert report.truncated
        assert report.type == ""
        assert report.memory.column == 5
        assert "without its beginning" in log.bugs[0].title


def test_no_report():
    log = decode("[    0.0] Linux version 6.1\nall is well\nWrite of size is not a report\n")
    assert (log.reports, log.bugs, log.lines) == (0, [], 3)
    assert decode("").reports == 0


def test_fault_behind_its_report():
    """The oops that a reported access ends in is not a bug of its own; one elsewhere is."""
    text = golden("null-ptr-deref.log")
    assert "Unable to handle kernel NULL pointer dereference" in text
    assert decode(text).reports == 1
    other = text.replace("at virtual address 0000000000000018", "at virtual address 0000000000004242")
    log = decode(other)
    assert [bug.kind for bug in log.bugs] == ["kasan", "oops"]
    assert log.bugs[1].reports[0].access.address == 0x4242


CALLS = (
    ("invalid-call.log", "call_of_null() called a null pointer."),
    ("memcpy-param-overlap.log", "shift_up_by_one() wrote 26 bytes at "),
    ("dma-use.log", "read_too_early() read 1 byte at "),
    ("dma-invalid-unmap.log", "unmap_of_a_part() wrote 13 bytes at "),
)


@pytest.mark.parametrize(("name", "start"), CALLS, ids=[name for name, _ in CALLS])
def test_calls_are_explained(name, start):
    (report,) = reports(decode(golden(name)))
    first, *others = report.explanation
    assert first.startswith(start)
    assert len(others) >= 2
    # The stack of a mapping is none of the call.
    other = report.stack("other")
    assert (other is not None) == name.startswith("dma")
    assert [frame.name for frame in report.stack("call").frames][1:2] == ["main"]
    assert other is None or [frame.name for frame in other.frames][1:2] == ["main"]


def test_copies_of_cpus_are_explained():
    (report,) = reports(decode(golden("per-cpu.log")))
    assert report.object.type == "variable hits of CPU 0"
    assert "just past the end of an 8-byte variable hits of CPU 0" in report.explanation[0]


def test_repeated_places():
    """`again` lines of this runtime count for the bug that they repeat."""
    text = golden("slab-use-after-free.log")
    place, *callers = re.findall(r"(?m)^\[.*?\]  (\S+)$", text)
    again = (
        f"[    0.4] KASAN: slab-use-after-free in {place} again (2 times): read of size 8 at addr "
        f"ffff00001fd23028 by task main/2, called by {callers[0]} < {callers[1]}\n"
    )
    log = decode(text + again * 3)
    assert len(log.bugs) == 1
    assert log.bugs[0].count == log.reports == 4
    assert log.bugs[0].smallest == 0


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("cut", [False, True])
def test_repeated_places_of_a_helper(counted, cut):
    """A string function that runs on is one bug: the `again` line names the function and two callers, the whole
    report has the next caller too."""
    block = only_report(golden("slab-use-after-free.log"))
    place, caller, *_ = re.findall(r"(?m)^\[.*?\]  (\S+)$", block)
    helper = "strcpy+0x18/0x40"
    if cut:
        # The line has room for a part of the second caller's name only.
        block, caller = block.replace(f" {caller}\n", f" {'x' * 130}{caller}\n"), "x" * 130 + caller
    whole = re.sub(rf"(?m)^(\[.*?\] ) {re.escape(place)}$", rf"\1 {helper}\n\1 {place}", block, count=1)
    whole = whole.replace(f"free in {place}", f"free in {helper}")
    line = (
        f"KASAN: slab-use-after-free in {helper} again (2 times): read of size 8 at addr "
        f"ffff00001fd23028 by task main/2, called by {place} < {caller}"
    )
    assert (len(line) > 255) == cut
    again = f"[    0.4] {line[:255]}\n"
    # Another place of the same helper, of which only the line is there, is another bug.
    other = again.replace(place, "elsewhere+0x10/0x20")
    # Whether its last report is parsed or only counted, the place is known.
    before = block * 40 if counted else ""
    log = decode(before + whole + again * 3 + other)
    # The number in its line says how often it was.
    assert [bug.count for bug in log.bugs] == [44 if counted else 4, 2]
    assert len({one.signature for one in log.bugs[0].reports}) == 1


def test_many_repeats_are_all_counted():
    """The way around the parser counts, times and numbers as the parser does."""
    block = only_report(golden("slab-use-after-free.log"))
    time = re.search(r"\[ *(\S+)\] BUG: ", block)[1]
    text = "".join(block.replace(time, f"{at}.288484") for at in range(300))
    log = decode(text)
    assert len(log.bugs) == 1
    bug = log.bugs[0]
    assert (bug.count, log.reports, log.by_mode) == (300, 300, {"generic": 300})
    assert (bug.first_time, bug.last_time) == ("0.288484", "299.288484")
    size = block.count("\n")
    assert (bug.first_line, bug.last_line, log.lines) == (2, 300 * size, 300 * size)
    assert len(bug.reports) == 4


def test_one_log_of_many_boots():
    """Reports of one place belong to the mode of the kernel that printed them, also once they are only counted."""
    modes = ("generic", "sw_tags", "hw_tags")
    reports_of = {}
    for mode in modes:
        path = GOLDEN / ("" if mode == "generic" else mode) / "slab-use-after-free.log"
        text = path.read_text(encoding="utf-8")
        # The same trace in each, and behind it a panic, whose report is open when the next kernel boots.
        report = re.search(r"(?m)^.*={60,}\n.*BUG: KASAN(?s:.*?)={60,}\n", text)[0]
        trace = r"(?s)(?<=Call trace:\n).*?(?=\n[^\n]*llocated)"
        reports_of.setdefault("trace", re.search(trace, report)[0])
        reports_of[mode] = re.sub(trace, lambda _: reports_of["trace"], report)
    text = ""
    for mode in modes * 3:
        text += f"[    0.0] Redzone reference kernel 0.1.0 (arm64, {mode}, inline, clang 19.1.7, 1 CPUs, 512 MiB)\n"
        text += reports_of[mode] * 8
        text += "[    9.9] Kernel panic - not syncing: No working init found.\n[    9.9] Call trace:\n"
    log = decode(text)
    assert log.by_mode == dict.fromkeys(modes, 24)


@pytest.mark.parametrize(
    "name",
    [
        *("__wrap_kalloc", "__wrap_kfree", "kalloc", "__wrap_pvPortMalloc", "vPortFree", "__wrap__malloc_r"),
        *("__wrap_mempool_alloc", "__real_kmem_cache_alloc", "__wrap_vmalloc"),
    ],
)
def test_wrapped_allocators(name):
    """A linker's --wrap and small systems have allocators of other names: the bug is in their caller."""
    text = golden("slab-use-after-free.log").replace(" kmalloc+", f" {name}+")
    assert f" {name}+" in text
    found = reports(decode(text))[0]
    assert found.stack("allocated").frames[0].role == "allocator"
    assert not any(f"{name}()" in sentence for sentence in found.explanation)
    assert roles.role(f"{name}_oob_right") == ""


def test_allocators_that_the_user_names(run_decode, tmp_path):
    """A system's own allocator of a name that nothing tells apart from a function with a bug."""
    text = golden("slab-use-after-free.log").replace(" kmalloc+", " mem_get+")
    text = text.replace(" kfree+", " __wrap_mem_put+").replace("read_after_free+", "mem_put+")
    named = reports(decode(text, allocators=("mem_get", "mem_put")))[0]
    assert [named.stack(kind).frames[0].role for kind in ("call", "allocated", "freed")] == ["allocator"] * 3
    assert "mem_" not in named.title.split(" in ")[0] and not any("mem_" in one for one in named.explanation)
    file = tmp_path / "log"
    file.write_text(text, encoding="utf-8")
    shown = run_decode(file, "-q", "--allocator", "mem_get", "--allocator", "mem_put", status=1).stdout
    assert "slab-use-after-free Read in main" in shown
    # They are of one run.
    assert "Read in mem_put" in run_decode(file, "-q", status=1).stdout
    assert reports(decode(text))[0].stack("allocated").frames[0].role == ""


def _many():
    """Return a log of Linux's and our reports: each once, again, and many times with other functions."""
    blocks = []
    for path in sorted(GOLDEN.glob("*.log")):
        text = path.read_text(encoding="utf-8")
        blocks += re.findall(r"(?m)^.*={60,}\n.*BUG: KASAN(?s:.*?)={60,}\n", text)
    other = [
        re.sub(r"\b(main|program_thread|[a-z]+_after_free)\+", rf"\1_{at}+", block)
        for at in range(12)
        for block in blocks
    ]
    later = [block.replace("program_thread", f"thread_{at}") for at in range(9) for block in blocks]
    return "".join(blocks + other + blocks * 6 + later)


@pytest.mark.parametrize("bugs", [5, 40, 2000])
def test_counting_without_parsing(monkeypatch, bugs):
    """Reports that are only counted give the same numbers as if they had been parsed: repeats, more bugs, more traces."""
    monkeypatch.setattr(collect, "MAX_BUGS", bugs)
    text = _many()
    fast = decode(text)
    counted = []
    find = repeats.Repeats.find

    def note(self, *arguments):
        found = find(self, *arguments)
        counted.append(found is not None)
        return found

    monkeypatch.setattr(repeats.Repeats, "find", note)
    assert decode(text, chunk=70000) == fast
    assert sum(counted) > 20
    monkeypatch.setattr(repeats.Repeats, "find", lambda *_: None)
    assert decode(text) == fast


def test_counting_tells_scripted_frames_apart(monkeypatch):
    """A frame with a place in the source needs no offset; reports that differ in such frames alone are two bugs."""
    monkeypatch.setattr(collect, "MAX_BUGS", 1)
    head = "BUG: KASAN: slab-out-of-bounds in memcpy+0x1/0x2\nRead of size 1 at addr ffff000000000001 by task a/1\n"
    trace = "Call trace:\n memcpy+0x1/0x2\n {} (net/a.c:3)\n main+0x1/0x2\n\nAllocated by task 1:\n main+0x1/0x2\n"
    report = head + trace + "=" * 66 + "\n"
    log = decode(
        "kasan: KernelAddressSanitizer initialized (generic)\n"
        + (report.format("first") * 9 + report.format("second")) * 4
    )
    assert (log.reports, log.dropped, log.bugs[0].count) == (40, 4, 36)


_MIXED = {
    "generic": ("", "00 fc " * 8, 8),
    "sw_tags": ("Pointer tag: [3c], memory tag: [b7]\n", "3c b7 " * 8, 16),
    "hw_tags": ("Pointer tag: [f1], memory tag: [f4]\n", "f1 f4 f5 f6 " * 4, 16),
    # The first half of one report and the second of another.
    "rows": ("", "3c b7 08 51 " * 4, 16),
}


@pytest.mark.parametrize("first", _MIXED)
@pytest.mark.parametrize("second", _MIXED)
def test_counting_tells_modes_apart(monkeypatch, first, second):
    """A log of two kernels has the same bug in two modes."""

    def report(name):
        tags, cells, granule = _MIXED[name]
        rows = [f" ffff0000{at * granule * 16:08x}: {cells[:-1]}\n" for at in range(3)]
        return (
            "BUG: KASAN: slab-use-after-free in demo+0x1/0x2\n"
            f"Read of size 1 at addr f1ff000000000001 by task a/1\n{tags}\n"
            "Call trace:\n demo+0x1/0x2\n next+0x1/0x2\n main+0x1/0x2\n\nAllocated by task 1:\n main+0x1/0x2\n\n"
            f"Memory state around the buggy address:\n{''.join(rows)}" + "=" * 66 + "\n"
        )

    text = (report(first) * 9 + report(second) * 3) * 2
    counted = decode(text)
    monkeypatch.setattr(repeats.Repeats, "find", lambda *_: None)
    assert decode(text) == counted
    expected, last = collections.Counter(), ""
    for name in ([first] * 9 + [second] * 3) * 2:
        mode = "sw_tags" if name == "rows" else name
        # By chance tags of software look like those of hardware, so the kernel's mode stays.
        last = last if (last, mode) == ("sw_tags", "hw_tags") else mode
        expected[last] += 1
    assert counted.by_mode == expected


@pytest.mark.parametrize(
    "odd",
    [
        " ffff000036b27200: fc fc fc fc fc fc fc fc fc fc fc fc fc fc fc fc",
        " </IRQ>",
        " inlined net/a.c:3 [inline]",
        "RIP: 0033:0x7f0000001234",
        "",
    ],
)
def test_counting_sees_where_a_trace_ends(monkeypatch, odd):
    """A line that is no frame may end a trace; frames behind it are not the report's."""
    monkeypatch.setattr(collect, "MAX_BUGS", 2)
    report = (
        "BUG: KASAN: slab-out-of-bounds in demo+0x1/0x2\nRead of size 1 at addr ffff000000000001 by task a/1\n"
        "Call trace:\n demo+0x1/0x2\n{} next+0x1/0x2\n main+0x1/0x2\n\nAllocated by task 1:\n main+0x1/0x2\n"
        + "=" * 66
        + "\n"
    )
    text = "kasan: KernelAddressSanitizer initialized (generic)\n"
    text += (report.format("") * 9 + report.format(odd + "\n") + report.format("  last+0x1/0x2\n")) * 3
    log = decode(text)
    monkeypatch.setattr(repeats.Repeats, "find", lambda *_: None)
    assert decode(text) == log


@pytest.mark.parametrize(
    "prefix", ["", "[  1.000000] ", "[  1.000000][  T1] ", "Nov 27 03:00:00 host kernel: [  1.000000] "]
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_report_in_one_piece(monkeypatch, prefix, ending):
    """A report in one piece comes out as if it had been read line by line, and so does one with a foreign line."""
    blocks = [
        re.sub(r"(?m)^\[ *[\d.]+\] ?", "", one)
        for one in re.findall(r"(?m)^.*={60,}\n.*BUG: KASAN(?s:.*?)={60,}\n", _many())
    ]
    foreign = [
        "Linux version 6.1",
        "WARNING: CPU: 0 PID: 1 at a.c:1 f+0x1/0x2",
        "x <6> BUG: KASAN: double-free in f+0x1/0x2",
    ]
    for at, one in enumerate(foreign):
        lines = blocks[at].splitlines(True)
        blocks.append("".join([*lines[:9], one + "\n", *lines[9:]]))
    text = "".join(prefix + line + ending for line in "".join(blocks).splitlines())
    taken = []
    parse = whole.parse

    def note(*arguments):
        found = parse(*arguments)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(repeats.Repeats, "find", lambda *_: None)
    monkeypatch.setattr(whole, "parse", note)
    log = decode(text)
    assert sum(taken) >= 100
    assert taken.count(False) == len(foreign)
    monkeypatch.setattr(whole, "parse", lambda *_: None)
    assert decode(text) == log


def test_outlines_are_as_the_parser_has_them():
    for path in sorted((*GOLDEN.glob("*.log"), *GOLDEN.glob("*_tags/*.log"), *LOGS.glob("linux*.log"))):
        data = path.read_bytes()
        for block in re.findall(rb"[^\n]*BUG: KASAN(?s:.*?)={60,}\n", data):
            key = repeats._key(block[: block.find(b"Memory state")].split(b"llocated by")[0], "")
            outline = repeats.outline(block, key) if key is not None else None
            if outline is not None:
                parsed = reports(decode(block))[0]
                assert outline.signature == parsed.signature, path


def test_ktap():
    """Each report belongs to the case whose result follows it."""
    report = only_report(golden("slab-use-after-free.log"))
    text = (
        "KTAP version 1\n1..2\n    KTAP version 1\n    # Subtest: slab\n    1..3\n"
        f"{report}    ok 1 uaf\n    ok 2 fine # SKIP not here\n{report}{report}    not ok 3 twice\n"
        "# slab: pass:1 fail:1\nnot ok 1 slab\n    KTAP version 1\n    # Subtest: page\n    1..1\n    ok 1 none\nok 2 page\n"
    )
    log = decode(text)
    assert [(case.name, case.status, case.reports) for case in log.cases[:3]] == [
        ("slab.uaf", "pass", 1),
        ("slab.fine", "skip", 0),
        ("slab.twice", "fail", 2),
    ]
    assert ("page.none", "pass", 0) in [(case.name, case.status, case.reports) for case in log.cases]
    assert [one.case for one in reports(log)] == ["slab.uaf", "slab.twice", "slab.twice"]
    assert log.bugs[0].cases == ["slab.uaf", "slab.twice"]


def expected():
    """Return the rows of logs/expected.tsv: what each log has, one bug in each."""
    lines = (LOGS / "expected.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@pytest.mark.parametrize(("name", "kind", "of_type", "title", "stacks", "about"), expected())
def test_other_formats(name, kind, of_type, title, stacks, about):
    log = decode((LOGS / name).read_bytes())
    assert log.reports == 1
    report = log.bugs[0].reports[0]
    assert (report.kind, report.type, log.bugs[0].title) == (kind, of_type, title)
    assert {stack.kind for stack in report.stacks if stack.frames} >= set(stacks.split(","))
    assert not report.truncated
    if about != "-":
        found = (report.object.kind, report.object.size, report.object.distance)
        assert " ".join(map(str, found)).replace("None", "-") == about


def test_locations_that_a_script_put_into_the_log():
    report = reports(decode((LOGS / "linux-6.8-symbolized.log").read_bytes()))[0]
    frame = next(frame for frame in report.stack("call").frames if frame.name == "demo_poll")
    assert [(one.function, one.path, one.line) for one in frame.locations] == [
        ("demo_peek", "drivers/demo/demo.c", 310),
        ("demo_poll", "drivers/demo/demo.c", 402),
    ]
    # The log alone does not make anyone read a file.
    assert not any(excerpt.lines for excerpt in report.excerpts)


@pytest.mark.parametrize(
    ("name", "mode", "count"),
    [("generic_stack", "generic", 164), ("sw_tags_inline", "sw_tags", 186), ("hw_tags_jl", "hw_tags", 147)],
)
def test_whole_linux_consoles(name, mode, count):
    path = CONSOLES / f"linux-6.12-{name}.log"
    if not path.is_file():
        pytest.skip("the consoles of Linux 6.12 are not beside the repository (../shared/linux-reports)")
    text = path.read_text(encoding="utf-8")
    log = decode(text)
    assert log.by_mode == {mode: count}
    headlines = re.findall(r"BUG: KASAN: ([a-z-]+) in", text)
    assert len(headlines) == count
    kasan = {kind: number for kind, number in log.by_type.items() if kind != "panic"}
    assert kasan == {kind: headlines.count(kind) for kind in set(headlines)}
    # Each belongs to a case, and the cases are those of the KTAP lines.
    results = re.findall(r"(?m)^\[[ .\d]+\]     (not ok|ok) \d+ (\w+)(.*)$", text)
    status = {"ok": "pass", "not ok": "fail"}
    expected = [
        (f"kasan.{case}", "skip" if "# SKIP" in rest else status[result]) for result, case, rest in results
    ]
    assert [(case.name, case.status) for case in log.cases] == expected
    assert sum(case.reports for case in log.cases) == count
    assert not any(report.truncated for report in reports(log) if report.kind == "kasan")


def test_size_below_zero():
    """What a subtraction has made of a size is shown as the program meant it."""
    rule = "=" * 66
    text = (
        f"{rule}\nBUG: KASAN: out-of-bounds in fill+0x10/0x20\n"
        "Write of size 18446744073709551614 at addr ffff000012345010 by task a/1\n\n"
        f"CPU: 0 PID: 1 Comm: a\nCall trace:\n fill+0x10/0x20\n main+0x10/0x20\n{rule}\n"
    )
    said = " ".join(reports(decode(text))[0].explanation)
    assert " -2 bytes " in said
    assert "18446744073709551614" not in said
    assert "subtraction" in said


@pytest.mark.parametrize("folder", ["", "sw_tags", "hw_tags"])
def test_place_in_an_area(folder):
    """The place of an access in an area of vmalloc() does not depend on the pointer's tag."""
    found = reports(decode((GOLDEN / folder / "vmalloc-out-of-bounds.log").read_bytes()))[0]
    assert (found.object.kind, found.object.side) == ("vmalloc", "inside")
    assert found.object.distance < found.object.size
