# SPDX-License-Identifier: MIT
"""Reports of other kernels' sanitizers: what each row of decode/systems.py makes of a log in its system's form.

All names and numbers are invented. docs/use/decode.md has the headlines.
"""

# Lines of logs.
# ruff: noqa: E501

import re

import pytest
from conftest import ROOT, decode, reports
from redzone.decode import foreign, lines, systems

# (system, log, type, access, size, address, function or the access's pc, frames of the trace)
LOGS = (
    (
        "NuttX",
        "kasan_report: kasan detected a write access error, address at 0x40213667,size is 1, return address: 0x62f82c\n"
        "kasan_show_memory: Shadow bytes around the buggy address:\n"
        "kasan_show_memory:   0x40213610: 18 36 21 40 f8 35 21 40 00 00 00 00 00 00 00 00\n"
        "sched_dumpstack: [ 3] [<0x62f82c>] demo_write+0x78/0xa6\n"
        "sched_dumpstack: [ 3] [<0x62f90c>] demo_main+0x80/0x10e\n",
        ("invalid-access", "write", 1, 0x40213667, "demo_write", ["", "demo_write", "demo_main"]),
    ),
    (
        "FreeBSD",
        "panic: ASan: Invalid access, 8-byte read at 0xfffffe0054101168, UMAUseAfterFree(fd)\ncpuid = 0\ntime = 1630430215\n"
        "KDB: stack backtrace:\ndb_trace_self_wrapper() at db_trace_self_wrapper+0xc7/frame 0xfffffe0051234560\n"
        "kasan_report() at kasan_report+0x45/frame 0xfffffe0051234570\ndemo_read() at demo_read+0x17/frame 0xfffffe0051234580\n",
        (
            "use-after-free",
            "read",
            8,
            0xFFFFFE0054101168,
            "demo_read",
            ["db_trace_self_wrapper", "kasan_report", "demo_read"],
        ),
    ),
    (
        "NetBSD",
        "ASan: Unauthorized Access In 0xffffffff80b2ad10: Addr 0xffffa58012345671 [4 bytes, write, PoolUseAfterFree]\n"
        "#0 0xffffffff80b2ad10 in demo_put <netbsd>\n#1 0xffffffff80b2bd10 in demo_ioctl <netbsd>\n",
        ("use-after-free", "write", 4, 0xFFFFA58012345671, "demo_put", ["demo_put", "demo_ioctl"]),
    ),
    (
        "OpenBSD",
        "panic: Caught invalid memory access at ffff800012345678 size 4 op 1\nStopped at db_enter+0x14\n"
        "demo_put(ffff800012345678,4) at demo_put+0x2a\ndemo_ioctl(1) at demo_ioctl+0x1a\n",
        ("invalid-access", "write", 4, 0xFFFF800012345678, "demo_put", ["demo_put", "demo_ioctl"]),
    ),
    (
        "Zircon",
        "KASAN detected a write error: ptr={{{data:0xffffffe00864a306}}}, size=0x4, caller: {{{pc:0xffffffff0012bd10}}}\n"
        "Shadow memory state around the buggy address 0xffffffe00864a306:\n"
        "0xffffffe00864a2f8: 0xfa 0xfa 0xfa 0xfa 0xfa 0xfa 0xfa 0xfa\n0xffffffe00864a300: 0x00 0x00 0xfa 0xfd 0xfa 0xfa 0xfa 0xfa\n"
        "                                   ^^\n0xffffffe00864a308: 0xfa 0xfa 0xfa 0xfa 0xfa 0xfa 0xfa 0xfa\n"
        "   {{{bt:0:0xffffffff0012bd20:ra}}}\n",
        ("invalid-access", "write", 4, 0xFFFFFFE00864A306, "0xffffffff0012bd10", ["", ""]),
    ),
    (
        "XNU",
        'panic(cpu 1 caller 0xfffffff01234567): "KASan: invalid 8-byte load 0xffffff8012345678 [HEAP_FREED]\n'
        " Shadow             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f\n"
        " fffffbf000000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
        " fffffbf000000010: 00 00[fd]fd 00 00 00 00 00 00 00 00 00 00 00 00\n"
        "Backtrace: ffffff8000234567,ffffff8000234600,\n",
        ("use-after-free", "read", 8, 0xFFFFFF8012345678, "0xffffff8000234567", ["", ""]),
    ),
    (
        "OpenHarmony LiteOS",
        "[ERR][KProcess:DemoTask]*****  Kernel Address Sanitizer Error Detected Start *****\n"
        "[ERR][KProcess:DemoTask]Heap buffer overflow error detected\n[ERR][KProcess:DemoTask]Illegal READ address at: [0x21040414]\n"
        "[ERR][KProcess:DemoTask]Shadow memory address: [0x21041e84 : 6]  Shadow memory value: [2]\nrunTask->taskName = DemoTask\n"
        "traceback 0 -- lr = 0x210099f4\ntraceback 1 -- lr = 0x21009a10\n"
        "[ERR]*****  Kernel Address Sanitizer Error Detected End *****\n",
        ("out-of-bounds", "read", None, 0x21040414, "0x210099f4", ["", ""]),
    ),
    (
        "coreboot",
        "ASan: stack-out-of-bounds in 0x7f7432fd\nWrite of 4 bytes at addr 0x7f7c2ac8\n",
        ("stack-out-of-bounds", "write", 4, 0x7F7C2AC8, "0x7f7432fd", [""]),
    ),
    (
        "Unikraft",
        "[    0.105388] CRIT: [libkasan] <kasan.c @  179> ===========KernelAddressSanitizer===========\n"
        "[    0.108431] CRIT: [libkasan] <kasan.c @  179> * invalid access to address 0x25b01b\n"
        "[    0.110177] CRIT: [libkasan] <kasan.c @  179> * write of size 1\n"
        "[    0.111537] CRIT: [libkasan] <kasan.c @  179> * redzone code 0x2 (partial redzone)\n"
        "[    0.113275] CRIT: [libkasan] <kasan.c @  179> ============================================\n",
        ("out-of-bounds", "write", 1, 0x25B01B, "", []),
    ),
    (
        "ESP-IDF",
        "CORRUPT HEAP: Bad tail at 0x3ffe270a. Expected 0xbaad5678 got 0xbaac5678\n\n"
        "assert failed: multi_heap_free multi_heap_poisoning.c:279 (head != NULL)\n\n\n"
        "Backtrace: 0x40081f6a:0x3ffb5e30 0x40085c3d:0x3ffb5e50 0x400d1a05:0x3ffb5e70\n",
        ("out-of-bounds", "write", None, 0x3FFE270A, "0x40081f6a", ["", "", ""]),
    ),
    (
        "ESP-IDF",
        "CORRUPT HEAP: Invalid data at 0x3ffe631c. Expected 0xfefefefe got 0x00000001\n",
        ("use-after-free", "write", None, 0x3FFE631C, "", []),
    ),
    (
        "Circle, EDK2 and bare-metal runtimes",
        "[KASan] ===================================================\n"
        "[KASan] ERROR: Invalid memory access: address 0x40004032, size 0x1, is_write 1, ip 0x40000D98\n"
        "[KASan] Shadow bytes around the buggy address 0x40004030 (shadow 0x4A700806):\n"
        "[KASan]   0x4A7007F0: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
        "[KASan] =>0x4A700800: FA FA FA FA 00 00[01]FB FB FB FB 00 00 00 00 00\n"
        "[KASan]   0x4A700810: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n",
        ("invalid-access", "write", 1, 0x40004032, "0x40000d98", [""]),
    ),
    (
        "Circle, EDK2 and bare-metal runtimes",
        "[ASan] ERROR: Invalid memory access: address 0x7E12B060, size 0x60, is_write 0x0, ip 0x7F30A1B2\n"
        "bug_descr=heap-buffer-overflow in file: Demo.c at line: 0x3B\n",
        ("out-of-bounds", "read", 0x60, 0x7E12B060, "0x7f30a1b2", [""]),
    ),
    (
        "EDK2",
        "[ASAN] ERROR: pc=7F30A1B2, sp=7FE0AB10, addr=7E12B060, shadow value=FA, is_write=1\n",
        ("invalid-access", "write", None, 0x7E12B060, "0x7f30a1b2", [""]),
    ),
    (
        "SerenityOS",
        "[#0 demo(12:12)]: KASAN: Invalid 8-byte write access to V0x0000002012345678, which is marked as 'Malloc Redzone' [at 0x00000020001234ab]\n"
        "[#0 demo(12:12)]: Kernel + 0x00000000011aa2c0  Kernel::demo_write(int) +0x1a0\n",
        ("out-of-bounds", "write", 8, 0x2012345678, "Kernel::demo_write", ["", "Kernel::demo_write"]),
    ),
    (
        "SerenityOS",
        "KASAN: invalid read of size 4 on address 0x2012345678\n",
        ("invalid-access", "read", 4, 0x2012345678, "", []),
    ),
    (
        "Arm's bare-metal sample",
        "KASAN: invalid write at 0x20001234, size 4, offset 3\n",
        ("invalid-access", "write", 4, 0x20001234, "", []),
    ),
    (
        "managarm",
        "thor: KASAN failure at IP 0xffffffff80123456, 4-byte write to address 0xffff800012345678\n",
        ("invalid-access", "write", 4, 0xFFFF800012345678, "0xffffffff80123456", [""]),
    ),
    (
        "OP-TEE",
        "E/TC:0 0 Panic at core/kernel/asan.c:187 <check_access>\nE/TC:0 0 TEE load address @ 0x0e100000\nE/TC:0 0 Call stack:\n"
        "E/TC:0 0  0x0e10a8ad check_access at core/kernel/asan.c:187\nE/TC:0 0  0x0e10b8ad demo_invoke at ta/demo.c:42\n",
        ("invalid-access", "", None, None, "demo_invoke", ["check_access", "demo_invoke"]),
    ),
    (
        "Zephyr",
        "[00:00:00.123,000] <err> os: KASAN POISON: addr=0x20001234 size=4 slot=17 shadow=0x00020000 heap_base=0x20001000\n"
        "E: Faulting instruction address (r15/pc): 0x00001abc\n",
        ("invalid-access", "write", 4, 0x20001234, "0x1abc", [""]),
    ),
    (
        "RT-Thread",
        "=================================================================\n== ADDRESS SANITIZER: heap-buffer-overflow on WRITE\n"
        "== address: 0x20001234  size: 4\n== pc     : 0x08001abc\n== thread : demo\n"
        "== block  : 0x20001200 size 50 owner main (overflow by 2 bytes)\n"
        "=================================================================\n",
        ("out-of-bounds", "write", 4, 0x20001234, "0x8001abc", [""]),
    ),
    (
        "RT-Thread",
        "== ADDRESS SANITIZER: heap-buffer-overflow on READ\n== address: 0x20001204  size: 1\n== pc     : 0x08001abc\n"
        "== block  : 0x20001200 size 50 owner main (USE-AFTER-FREE, offset +4)\n"
        "=================================================================\n",
        ("use-after-free", "read", 1, 0x20001204, "0x8001abc", [""]),
    ),
    (
        "Android (memory tags of a process)",
        "signal 11 (SIGSEGV), code 9 (SEGV_MTESERR), fault addr 0x0b00007123456780\n"
        "Cause: [MTE]: Use After Free, 4 bytes into a 16-byte allocation at 0x7123456770\nbacktrace:\n"
        "      #00 pc 00000000000012ac  /data/local/tmp/demo (demo_read+12) (BuildId: 0123456789abcdef)\n"
        "      #01 pc 00000000000013ac  /data/local/tmp/demo (main+44) (BuildId: 0123456789abcdef)\n"
        "deallocated by thread 1234:\n      #00 pc 000000000004a1ac  /apex/lib64/libc.so (free+8)\n"
        "allocated by thread 1233:\n      #00 pc 000000000004b1ac  /apex/lib64/libc.so (malloc+8)\n"
        "memory near x0 ([anon:scudo:primary]):\n",
        ("use-after-free", "", None, 0x0B00007123456780, "demo_read", ["demo_read", "main"]),
    ),
)


@pytest.mark.parametrize(
    ("name", "text", "expected"), LOGS, ids=[f"{one[0]}-{at}" for at, one in enumerate(LOGS)]
)
@pytest.mark.parametrize("before", ["", "booting\n" * 500])
def test_system(name, text, expected, before):
    """The report is found once, and each part of it is right."""
    log = decode(before + text + "demo: done\n")
    assert log.reports == 1
    assert log.system == name
    found = log.bugs[0].reports[0]
    kind, access, size, address, where, frames = expected
    assert (found.type, found.access.kind, found.access.size, found.access.address) == (
        kind,
        access,
        size,
        address,
    )
    call = found.stack("call")
    assert [frame.name for frame in call.frames] == frames if call else frames == []
    assert found.where == where
    assert not found.truncated
    assert found.mode == ("hw_tags" if name.startswith("Android") else "generic")


# What the debugger of OpenBSD shows: the trace twice, inlined functions, its own account, and much else.
DEBUGGER = (
    "panic: Caught invalid memory access at ffff8000018cabc0 size 36 op 1\nStopped at      db_enter+0x17:  popq    %rbp\n"
    "db_enter() at db_enter+0x17 sys/arch/db_interface.c:457\npanic(ffff) at panic+0x270 sys/kern/subr_prf.c:198\n"
    "__asan_store4(ffff) at __asan_store4+0xde kasan_check sys/kern/subr_kasan.c:-1 [inline]\n"
    "__asan_store4(ffff) at __asan_store4+0xde sys/kern/subr_kasan.c:1038\ndemo_put(1,2) at demo_put+0x2a sys/dev/demo.c:42\n"
    "ddb{0}> show panic\n*cpu0: Caught invalid memory access at ffff8000018cabc0 size 36 op 1\nddb{0}> show kasan\n"
    "KASAN: first bad byte at 0xffff8000018cabd0 (+16); shadow 0xfb: malloc redzone (out-of-bounds)\n"
    "KASAN: 0xffff8000018cabd0 is 16 bytes inside the 16-byte malloc slot [0xffff8000018cabc0..0xffff8000018cabd0)\n"
    "KASAN: allocated at:\n#0  malloc+0xda0 sys/kern/kern_malloc.c:446\n#1  demo_open+0x377 sys/dev/demo.c:-1\n"
    "KASAN: call trace:\n#0  demo_put+0x2a sys/dev/demo.c:42\n"
    " 0xffff8000018cab00: fc 08 fc 08 fc 08 fc 08 fc 08 fc 08 fc 08 04 fb\n"
    ">0xffff8000018cab80: fc 08 04 fb 08 fb 08 fb fc 08[fb]08 fc 08 08 08\n"
    "ddb{0}> show all locks\n#0  witness_lock+0x632 sys/kern/subr_witness.c:1160\nddb{0}> trace\ndemo_put(1,2) at demo_put+0x2a sys/dev/demo.c:42\n"
)


def test_debugger():
    """It is one report; locks that the debugger lists are not in its traces."""
    (found,) = reports(decode(DEBUGGER))
    assert (found.type, found.where) == ("out-of-bounds", "demo_put")
    assert (found.object.start, found.object.size, found.object.distance) == (0xFFFF8000018CABC0, 16, 16)
    names = [(stack.kind, [frame.name for frame in stack.frames]) for stack in found.stacks]
    assert names == [
        ("call", ["db_enter", "panic", "__asan_store4", "demo_put"]),
        ("allocated", ["malloc", "demo_open"]),
        ("other", ["demo_put"]),
        ("other", ["demo_put"]),
    ]
    inlined = found.stack("call").frames[2].locations
    assert [(one.function, one.line) for one in inlined] == [("kasan_check", 0), ("__asan_store4", 1038)]
    assert (found.memory.column, found.memory.rows[1].bad) == (10, True)
    # Linux's meaning of this value is another one.
    assert "fb" not in found.memory.meanings


def test_named_addresses():
    """A monitor names the addresses of a list below it, and the functions that are inlined there; two lines that say
    that the heap is corrupt are one report."""
    text = (
        "CORRUPT HEAP: Bad tail at 0x3ffe04d1. Expected 0xbaad5678 got 0xcececece\nCORRUPT HEAP: multi_heap.c:370 detected at 0x3ffe04d8\n"
        "abort() was called at PC 0x400889bb on core 0\n0x400889bb: multi_heap_assert at /home/dev/multi_heap.c:339\n\n"
        "Backtrace: 0x40089108:0x3ffbe3e0 0x400889bb:0x3ffbe420 0x40088d5d:0x3ffbe440\n0x40089108: panic_abort at /home/dev/panic.c:648\n\n"
        "0x400889bb: multi_heap_assert at /home/dev/multi_heap.c:339\n (inlined by) multi_heap_malloc_impl at /home/dev/multi_heap.c:370\n\n"
        "  #2  0x40088d5d:0x3ffbe440 in app_run at /home/dev/app/main.c:5\nRebooting...\n"
    )
    (found,) = reports(decode(text))
    frames = found.stack("call").frames
    assert [frame.name for frame in frames] == ["panic_abort", "multi_heap_malloc_impl", "app_run"]
    assert [where.line for where in frames[1].locations] == [339, 370]
    assert found.where == "app_run"
    (alone,) = reports(decode("CORRUPT HEAP: multi_heap.c:165 detected at 0x3ffee3d8\n"))
    assert (alone.type, alone.access.address) == ("invalid-access", 0x3FFEE3D8)


def test_traceback_of_netbsd():
    text = (
        LOGS[2][1].splitlines()[0]
        + "\ncpu0: Begin traceback...\n"
        + "".join(
            f"[  77.1{at}] {name}() at netbsd:{name}+0x8{at} sys/kern/a.c:1{at}\n"
            for at, name in enumerate(("vpanic", "kasan_report", "demo_put"))
        )
    )
    (found,) = reports(decode(text))
    assert found.where == "demo_put"
    assert found.stack("call").frames[-1].locations[0].path == "sys/kern/a.c"


def test_every_system_has_an_example():
    assert {one.name for one in systems.SYSTEMS} == {name for name, _, _ in LOGS}


def test_docs_name_every_system():
    text = (ROOT / "docs" / "use" / "decode.md").read_text(encoding="utf-8")
    assert not [one.name for one in systems.SYSTEMS if one.name not in text]


@pytest.mark.parametrize(
    ("state", "trace", "expected"),
    [
        ("in use", "ALLOC", ("", "", "allocated")),
        ("Freed", "Dealloc", ("use-after-free", "freed", "freed")),
        ("FREE", "free", ("use-after-free", "freed", "freed")),
        ("live", "stack", ("", "", "other")),
    ],
)
def test_words_of_a_new_row(monkeypatch, state, trace, expected):
    """A new system spells states and traces as it likes."""
    row = systems.System(
        "Fooix",
        "bad ",
        re.compile(r"fooix: bad (?P<op>LOAD|STORE) @ (?P<addr>0x[0-9a-f]+)"),
        (
            re.compile(
                r"block (?P<start>0x\w+) of (?P<object>\d+), (?P<past>0x\w+) past, (?P<state>free|freed|in use|live)$",
                re.I,
            ),
            re.compile(r"(?P<stack>\w+) trace:"),
        ),
        frame=re.compile(r"at (?P<name>\w+)$"),
    )
    monkeypatch.setitem(systems.BY_PATTERN, row.headline, row)
    texts = ("fooix: bad STORE @ 0x80001234", "at demo_write", f"block 0x80001200 of 48, 0x4 past, {state}")
    texts += (f"{trace} trace:", "at demo_open")
    built = foreign.Builder(lines.Line(1, texts[0]), row.headline.match(texts[0]))
    for number, text in enumerate(texts[1:], 2):
        built.feed(lines.Line(number, text))
    kinds = [stack.kind for stack in built.report.stacks]
    assert (built.report.type, built.report.object.state, kinds[-1]) == expected
    assert built.report.object.distance == 4
    assert kinds[0] == "call"


def test_rows():
    """Rows with capitals or 0x are shadow bytes, and the marked one is the right one."""
    maps = {name: reports(decode(text))[0].memory for name, text, _ in LOGS}
    for name, column in (("Circle, EDK2 and bare-metal runtimes", None), ("XNU", 2), ("Zircon", 3)):
        if name.startswith("Circle"):
            first = next(text for other, text, _ in LOGS if other == name)
            memory = reports(decode(first))[0].memory
            assert (len(memory.rows), memory.column, memory.rows[1].cells[6]) == (3, 6, 1)
            continue
        assert maps[name].column == column
        bad = next(row for row in maps[name].rows if row.bad)
        assert bad.cells[column] == 0xFD
    # NuttX dumps the memory itself.
    assert maps["NuttX"] is None


def test_object():
    """RT-Thread's block and Android's allocation are objects, with the access's place in them."""
    by_type = {(name, expected[0]): reports(decode(text))[0] for name, text, expected in LOGS}
    past = by_type["RT-Thread", "out-of-bounds"]
    assert (past.object.start, past.object.size, past.object.side, past.object.distance) == (
        0x20001200,
        50,
        "right",
        2,
    )
    assert past.task.name == "demo"
    freed = by_type["Android (memory tags of a process)", "use-after-free"]
    assert (freed.object.start, freed.object.size, freed.object.side, freed.object.distance) == (
        0x7123456770,
        16,
        "inside",
        4,
    )
    assert [stack.kind for stack in freed.stacks] == ["call", "freed", "allocated"]
    assert decode(LOGS[-1][1]).bugs[0].title == "MTE: use-after-free in demo_read"


def test_two_reports():
    """Two reports of one system in a row, and one of Linux's behind them, are three."""
    linux = (ROOT / "tests" / "golden" / "slab-use-after-free.log").read_text(encoding="utf-8")
    log = decode(LOGS[7][1] + LOGS[7][1].replace("stack", "global") + linux)
    assert [one.type for one in reports(log)] == [
        "stack-out-of-bounds",
        "global-out-of-bounds",
        "slab-use-after-free",
    ]


def test_rust_panic():
    """A panic of Rust code is a crash at its line, once, although BUG follows."""
    text = "rust_kernel: panicked at drivers/demo/main.rs:12:5:\nindex out of bounds\n------------[ cut here ]------------\nkernel BUG at rust/helpers/bug.c:7!\n"
    log = decode(text)
    assert log.reports == 1
    assert (log.bugs[0].location.path, log.bugs[0].location.line) == ("drivers/demo/main.rs", 12)
