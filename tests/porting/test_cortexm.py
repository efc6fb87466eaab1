# SPDX-License-Identifier: MIT
"""The example on Cortex-M: faults, traces, tasks with small stacks; the stack that hooks and reports take."""

import itertools
import os
import re
import shutil

from kit import CORTEX_M, ROOT, boot, change, expect_all_reported, few, make_template, need
from redzone.core import process
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, linkage, symbols
from redzone.testing.needs import first

COMPILERS = ("clang-19", "gcc")
SOURCE = ROOT / "tests" / "porting" / "images" / "stack_use.c"
TABLE = ROOT / "bench" / "stack-use.md"
TARGETS = ("arm64", "riscv64", "riscv32", *CORTEX_M)


def functions(elf):
    """Return {name: (start, end)} of the image's functions."""
    return {
        name: (value & ~1, (value & ~1) + size)
        for name, value, size, kind, *_ in symbols(File.open(elf))
        if kind == FUNC
    }


def names(trace, table):
    """Return the functions of a trace's lines; every line must be in one."""
    result = []
    for number, line in enumerate(trace):
        # An address behind a call; the first may be the instruction itself.
        pc = int(line, 16) - (1 if number == 0 else 2)
        found = [name for name, (start, end) in table.items() if start <= pc < end]
        assert found, (line, trace)
        result.append(found[0])
    return result


def traces(console):
    """Return {bug's name: [lines of its first call trace]}."""
    found = {}
    for part in re.split(r"^template: (?=ok|NOT OK)", console, flags=re.MULTILINE)[:-1]:
        found[len(found)] = part
    order = re.findall(r"^template: (?:ok|NOT OK) (\w+)$", console, re.MULTILINE)
    result = {}
    for name, part in zip(order, found.values(), strict=True):
        trace = re.search(r"^Call trace:\n((?: 0x.*\n)*)", part, re.MULTILINE)
        if trace:
            result[name] = trace[1].split()
    return result


@few(("cpu", "cc"), itertools.product(CORTEX_M, COMPILERS), pairs=False, most=1)
def test_reports_every_bug(tree, cpu, cc):
    """Faults, null pointers in readable flash, overflows of a task's stack; every frame is code."""
    elf, _ = make_template(tree, cpu, cc)
    expect_all_reported(cpu, elf)
    status, console = boot(cpu, elf)
    assert status == 0
    table = functions(elf)
    found = {name: names(trace, table) for name, trace in traces(console).items()}
    assert found["use_after_free"][0] == "use_after_free"
    # A fault, a call of address 0, and an overflow: the interrupted task's own functions.
    assert found["wild_write"][0] == "wild_write"
    assert found["null_call"][0] == "null_call"
    assert "main" in found["silent_overflow"] or "board_start" in found["silent_overflow"]
    assert re.search(r"null-ptr-deref in .*\n(Read|Access).* addr 00000010 by task worker/1\n", console)
    assert "Access at addr 5fff0000 by task worker/1\n" in console
    assert re.search(r"The stack of task worker/1 has overflowed: 1024 bytes \[", console)
    assert re.search(r"stack-overflow in .*\n\w+ at addr \w+ by task worker/1\n", console)
    # Bugs of tasks have their callers: no trace is one word long but those of faults at the end of a stack.
    assert all(len(found[name]) >= 2 for name in found if name != "recursion"), found


@first(1, "cc", reversed(COMPILERS))
def test_without_instructions_for_atomics_or_division(tree, cc):
    """Cortex-M0+ builds: the runtime's atomic operations are its own. Division is the compiler's library."""
    need("arm-none-eabi-gcc")
    elf, _ = make_template(tree, "cortex-m0plus", cc)
    assert elf.exists()


def test_atomics_between_two_cores(tmp_path):
    """RP2040: masking interrupts keeps no other core out. The build fails, or the system has its own."""
    need("clang-19")
    mode = ["-DCONFIG_KASAN_GENERIC=1", "-DCONFIG_KASAN_SHADOW_WINDOWED=1"]
    base = ["clang-19", "--target=thumbv6m-none-eabi", "-std=gnu17", "-ffreestanding", *mode]
    base += [f"-I{ROOT / 'include'}", "-c", "-o", str(tmp_path / "abi.o")]

    def compile_abi(*options):
        """Return (status, messages, the functions of atomic operations)."""
        command = [*base, *options, str(ROOT / "runtime" / "base" / "arm_abi.c")]
        done = process.run(command)
        if done.returncode:
            return done.returncode, done.stderr, []
        defined, _ = linkage(File.open(tmp_path / "abi.o"))
        return 0, done.stderr, [name for name in defined if name.startswith("__atomic_")]

    status, _, found = compile_abi("-DCONFIG_KASAN_NR_CPUS=1")
    assert status == 0 and "__atomic_compare_exchange_4" in found
    status, messages, _ = compile_abi("-DCONFIG_KASAN_NR_CPUS=2")
    assert status != 0 and "define KASAN_PORT_HAS_ATOMICS" in messages
    assert compile_abi("-DCONFIG_KASAN_NR_CPUS=2", "-DKASAN_PORT_HAS_ATOMICS") == (0, "", [])


def test_one_frame_without_tables(tree):
    """GCC's frames are no chain: without the tables a trace is one line, and says what to compile with."""
    change(
        tree / "cortexm.lds",
        ("*(.ARM.exidx*)", ""),
        ("*(.comment)", "*(.comment) *(.ARM.exidx*)"),
    )
    elf, _ = make_template(tree, "cortex-m3", "gcc")
    _, console = boot("cortex-m3", elf)
    whole = re.findall(r"^Call trace:\n(?: 0x.*\n)+", console, re.MULTILINE)
    assert whole
    for trace in whole:
        assert trace.count("\n") <= 3, trace
    assert "(no callers: compile with -funwind-tables, link .ARM.exidx)\n" in console


@first(1, "cc", COMPILERS)
def test_short_reports_without_a_stack(tree, cc):
    """1 KiB stacks and no stack for reports: a short report, and the task's stack is not overflowed by it."""
    port = tree / "cortexm_port.c"
    port.write_text("#define TEMPLATE_NO_REPORT_STACK\n" + port.read_text(encoding="utf-8"), encoding="utf-8")
    elf, _ = make_template(tree, "cortex-m3", cc)
    _, console = boot("cortex-m3", elf)
    assert "template: ok heap_overflow\n" in console
    assert "template: ok use_after_free\n" in console
    assert re.search(
        r"^kasan: a short report: \d+ bytes of stack are left, a whole one takes \d+ ", console, re.M
    )
    assert console.count("BUG: KASAN: stack-overflow in") <= 2, console
    assert "template: done" in console


def test_lines_through_a_buffer(tree):
    """LOG=1: reports are copied to a buffer, and printed when they are over."""
    elf, _ = make_template(tree, "cortex-m3", "clang-19", "LOG=1")
    expect_all_reported("cortex-m3", elf)
    change(tree / "log.c", ("SIZE 8192U", "SIZE 64U"))
    elf, _ = make_template(tree, "cortex-m3", "clang-19", "LOG=1")
    _, console = boot("cortex-m3", elf)
    assert "template: done, all as expected" in console and "Memory state" not in console


# --- bench/stack-use.md ---


def measure(tree, arch, cc):
    """Return {what: bytes}: the most of several calls."""
    shutil.copy(SOURCE, tree / "main.c")
    elf, _ = make_template(tree, arch, cc, "KASAN_SANITIZE_main.o=n", "OUT=build")
    status, console = boot(arch, elf)
    assert status == 0 and "stack-use: done" in console, console
    result = {}
    for name, number in re.findall(r"^stack-use: (\S+) (\d+)$", console, re.MULTILINE):
        result[name] = max(int(number), result.get(name, 0))
    return result


COLUMNS = ("check", "memcpy", "malloc", "realloc", "free", "report", "report-own")
ROW = re.compile(
    r"^\| (\S+) \| (\S+) \| " + r" \| ".join([r"(\d+|-)"] * len(COLUMNS)) + r" \|$", re.MULTILINE
)


def row(arch, cc, figures):
    numbers = " | ".join(str(figures.get(name, "-")) for name in COLUMNS)
    return f"| {arch} | {cc} | {numbers} |"


def limits():
    """Return {targets: KASAN_REPORT_STACK_MIN}."""
    text = (ROOT / "include/kasan/report.h").read_text(encoding="utf-8")
    wide, riscv32, arm = map(int, re.findall(r"#define KASAN_REPORT_STACK_MIN\s+(\d+)UL", text))
    return {"arm64": wide, "riscv64": wide, "riscv32": riscv32, **dict.fromkeys(CORTEX_M, arm)}


@few(("arch", "cc"), itertools.product(TARGETS, COMPILERS), pairs=False, most=1)
def test_stack_use_is_as_documented(tree, arch, cc):
    """Within a fifth and 32 bytes of the table. REDZONE_WRITE=1 writes the table's row instead."""
    figures = measure(tree, arch, cc)
    text = TABLE.read_text(encoding="utf-8")
    if os.environ.get("REDZONE_WRITE"):
        old = re.compile(rf"^\| {arch} \| {re.escape(cc)} \|.*$", re.MULTILINE)
        TABLE.write_text(old.sub(row(arch, cc, figures), text), encoding="utf-8")
        return
    told = {(found[1], found[2]): found.groups()[2:] for found in ROW.finditer(text)}[(arch, cc)]
    for name, number in zip(COLUMNS, told, strict=True):
        assert (number == "-") == (name not in figures), name
        if name in figures:
            assert abs(figures[name] - int(number)) <= int(number) / 5 + 32, (name, figures[name], number)
    # A port is promised this many bytes; 256 of them are for its own functions.
    most = limits()[arch]
    assert (
        max(figures["report"] if "report-own" not in figures else 0, figures.get("report-own", 0)) + 256
        <= most
    )
