# SPDX-License-Identifier: MIT
"""The example on x86_64: fixed and PIE, windows and the whole upper half, one and two CPUs; its faults."""

import itertools
import re
import shutil

import pytest
from kit import ROOT, boot, call, change, cmake_template, expect_all_reported, few, first, make_template
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, symbols
from test_cortexm import names, traces

MODELS = {"kernel": (), "pie": ("PIE=1",)}


def build(tree, cc, *variables):
    return make_template(tree, "x86_64", cc, *variables)[0]


def functions(elf, console):
    """Return {name: (start, end)} of the image's functions where they were in that boot."""
    moved = re.search(r"^Kernel Offset: 0x(\w+)$", console, re.MULTILINE)
    offset = int(moved[1], 16) if moved else 0
    return {
        name: (value + offset, value + size + offset)
        for name, value, size, kind, *_ in symbols(File.open(elf))
        if kind == FUNC and size
    }


@pytest.mark.quick
@few(
    ("cc", "model", "where", "layout", "cpus"),
    itertools.product(("clang-19", "gcc"), MODELS, ("inline", "outline"), ("windowed", "full"), (2, 1)),
    pairs=False,
)
def test_reports_every_bug(tree, cc, model, where, layout, cpus):
    """Interrupts, NMIs and faults on stacks of their own; every trace is that of the code with the bug."""
    elf = build(tree, cc, f"WHERE={where}", f"LAYOUT={layout}", *MODELS[model])
    console = expect_all_reported("x86_64", elf, "generic", "-smp", str(cpus))
    assert ("\nCPU: 1 PID: 2 Comm: second\n" in console) == (cpus == 2), console
    assert ("Kernel Offset: 0x" in console) == (model == "pie")
    found = {
        name: names([line for line in trace if line.startswith("0x")], functions(elf, console))
        for name, trace in traces(console).items()
    }
    # GCC may have restored the caller's frame pointer before the access of a function that calls nothing.
    for name in ("null_call", "wild_call", "null_read", "wild_write", "use_after_free"):
        assert found[name][0] == name, (name, found[name])
    assert "wild_fill" in found["wild_fill"][1:3], found["wild_fill"]
    # A handler with a stack of its own: its frames, and the instruction that it has interrupted.
    assert found["in_interrupt"][:3] == ["use_freed", "x86_64_timer", "timer_entry"]
    assert found["in_nmi"][:3] == ["use_freed", "x86_64_nmi", "nmi_entry"] and len(found["in_nmi"]) == 4
    assert found["recursion"].count("recurse") > 20
    assert "The stack of task worker/1 has overflowed: 8192 bytes [" in console
    # The faults come without these addresses.
    assert re.search(r"null-ptr-deref in .*\n\w+ .*at addr 0000000000000010 by task worker/1\n", console)
    assert re.search(r"wild-memory-access in .*\n\w+ .*at addr 4141414141414140 by task worker/1\n", console)
    assert "registers:" not in console
    # A constructor has registered it.
    assert "The buggy address belongs to the variable:\n table+0x" in console


@first(0, "cc", ["gcc", "clang-19"])
def test_with_cmake(tree, cc):
    elf = cmake_template(
        tree, "x86_64", cc, f"-DREDZONE_DIR={ROOT}", "-DTEMPLATE_PIE=ON", "-DTEMPLATE_FULL=ON"
    )
    assert "Kernel Offset: 0x" in expect_all_reported("x86_64", elf)


def test_nothing_is_left_out(tree):
    """The command that the page ends with."""
    elf = build(tree, "clang-19", "LAYOUT=full")
    excluded = [word for name in ("board.c", "heap.c", "x86_64_*.c") for word in ("--exclude", name)]
    output = call([ROOT / "redzone", "audit", elf, *excluded], tree)
    assert "x86_64, generic\n" in output and "main.c" in output and "no findings\n" in output, output


def test_an_instruction_that_is_not_known(tree):
    """The registers that hold no address are reported, and all of them printed."""
    change(tree / "x86_64_decode.c", ("opcode == 0x62", "opcode == 0x0f"))
    change(tree / "main.c", ("\t*(volatile uint32_t *)runtime(WILD) = 1;", READ_BYTE))
    elf = build(tree, "clang-19", "WHERE=outline", "KASAN_SANITIZE_main.o=n")
    _, console = boot("x86_64", elf)
    assert re.search(r"wild-memory-access in .*\nAccess at addr 4141414141414140 by task worker/1\n", console)
    assert "kasan: the operand of this instruction is not known; registers:\nrax: " in console
    assert "template: ok wild_write\n" in console and "template: ok wild_call\n" in console


READ_BYTE = '\t__asm__ volatile("movzbl (%0), %%eax" : : "r"(WILD) : "eax");'


def test_other_protection_faults_are_no_bad_accesses(tree):
    """A segment that does not exist: #GP without any bad address."""
    change(
        tree / "main.c",
        ("\t*(volatile uint32_t *)runtime(WILD) = 1;", '\t__asm__ volatile("mov %0, %%ds" : : "r"(0x1230));'),
    )
    status, console = boot("x86_64", build(tree, "clang-19"))
    assert status == 3 and "panic: #GP: general protection" in console
    assert "template: ok null_call\n" in console and "wild-memory-access" not in console


def test_names_in_reports(tree):
    """A table of symbols, linked into a PIE, is right wherever the image runs."""
    elf = build(tree, "clang-19", "PIE=1")
    table = tree / "build" / "ksyms.c"
    call([ROOT / "redzone", "ksyms", elf, "-o", table], tree)
    change(tree / "Makefile", ("x86_64_trap.o)", "x86_64_trap.o ksyms.o)"))
    shutil.copy(table, tree)
    elf = build(tree, "clang-19", "PIE=1")
    call([ROOT / "redzone", "ksyms", elf, "-o", table, "--check"], tree)
    console = expect_all_reported("x86_64", elf)
    assert "BUG: KASAN: wild-memory-access in wild_write+0x" in console
    assert re.search(r"^Call trace:\n wild_call\+0x\w+/0x\w+\n run_on\+0x", console, re.MULTILINE)
