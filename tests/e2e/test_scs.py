# SPDX-License-Identifier: MIT
"""Programs that lose the shadow call stack, or use all of it: the kernel says so, and ends."""

import re

import pytest
from redzone.testing.needs import first

DEEP = """
static volatile int more = 1;

__attribute__((noinline)) static int depth(int level)
{
\treturn more ? depth(level + 1) + 1 : level;
}

int main(void)
{
\treturn depth(0);
}
"""
# Sets x18 to its first argument: a small number is added to the pointer, 1 stands for other memory. If the
# memory there can be written, the next interrupt finds the wrong pointer, in main(). Otherwise the first call
# faults, and no interrupt can come before it.
POINTER = """
#include <stdlib.h>

static volatile int more = 2000000;

__attribute__((noinline)) static int callee(int value)
{
\treturn value + atoi("1");
}

int main(int argc, char **argv)
{
\tunsigned long top, value = strtoul(argv[1], NULL, 16);
\tint in_main = value && value < 4096;

\t__asm__ __volatile__("mov %0, x18" : "=r"(top));
\tif (value == 1)
\t\tvalue = (unsigned long)malloc(65536);
\telse if (value < 4096)
\t\tvalue = top + value;
\tif (value != top && !in_main)
\t\t__asm__ __volatile__("msr daifset, #2" : : : "memory");
\t__asm__ __volatile__("mov x18, %0" : : "r"(value) : "memory");
\twhile (in_main)
\t\t__asm__ __volatile__("nop");
\twhile (more--)
\t\tcallee(1);
\treturn 0;
}
"""
# The pointer's register in messages, and what a program is changed to, by architecture.
REGISTER = {"arm64": "x18", "riscv64": "gp"}
OTHER = {"x18": "gp", '"mov ': '"mv ', "msr daifset, #2": "csrci sstatus, 2"}


def _for(arch, text):
    """Return the program @text, which is arm64's, for @arch."""
    for word, other in OTHER.items() if arch == "riscv64" else ():
        text = text.replace(word, other)
    return text


# Uses all of a CPU's shadow call stack in an interrupt.
INTERRUPT = """
#include <kernel/irqflags.h>
#include <kernel/module.h>
#include <kernel/preempt.h>
#include <kernel/time.h>
#include <kernel/timer.h>

static volatile int more = 1;

static noinline int depth(int level)
{
\treturn more ? depth(level + 1) + 1 : level;
}

static void in_interrupt_handler(struct timer_list *timer)
{
\tmore = depth(0);
}

static DEFINE_TIMER(timer, in_interrupt_handler);

/* The tick that ends the timer interrupts this function: none comes before it, and no other thread runs. */
static noinline void wait_for_interrupt(void)
{
\tlocal_irq_enable();
\twhile (more)
\t\t__asm__ __volatile__("nop");
}

static int start(void)
{
\tpreempt_disable();
\tlocal_irq_disable();
\tmod_timer(&timer, jiffies + 1);
\twait_for_interrupt();
\tpreempt_enable();
\treturn 0;
}

static void end(void)
{
}

module_init(start);
module_exit(end);
"""


@first(1, ("arch", "cc"), [("arm64", "clang-19"), ("arm64", "gcc"), ("riscv64", "clang-19")])
def test_overflow(redzone, source, tmp_path, arch, cc):
    options = ("--arch", arch, "--shadow-call-stack", "--cc", cc, "--log", "console.log")
    result = redzone("run", *options, source(DEEP), status=3)
    assert re.search(
        r"^redzone: the program crashed: shadow call stack overflow: depth\(\) at program\.c:\d+$",
        result.stderr,
        re.MULTILINE,
    ), result.stderr
    log = (tmp_path / "console.log").read_text(encoding="utf-8")
    task = rf"shadow call stack overflow: task main/\d+, {REGISTER[arch]} [0-9a-f]{{16}}$"
    assert re.search(task, log, re.MULTILINE)
    # Both ends of the trace are there, and as many calls as there are entries: 64 KiB, without word 0.
    assert len(re.findall(r" depth\+0x", log)) > 40
    assert " program_thread+0x" in log
    left_out = re.search(r"\((\d+) frames are left out\)", log)
    assert left_out, log
    assert 8191 <= int(left_out[1]) + 40 <= 8194
    panic = log.partition("Kernel panic - not syncing: shadow call stack overflow")[2]
    # The panic's own trace starts on the shadow call stack for faults, and has all calls nevertheless.
    trace = panic.partition("Call trace:")[2]
    assert " scs_fault_handler+0x" in trace
    assert " depth+0x" in trace
    assert " ret_from_fork+0x" in trace


@pytest.mark.rest
def test_overflow_in_an_interrupt(redzone, source, tmp_path):
    module = source(INTERRUPT, "deep.c")
    redzone("run", "--shadow-call-stack", "--log", "console.log", "--module", module, status=3)
    log = (tmp_path / "console.log").read_text(encoding="utf-8")
    assert re.search(r"shadow call stack overflow: soft interrupts of CPU 0, x18 [0-9a-f]{16}\n", log), log
    # The trace goes on in what was interrupted.
    trace = log.partition("Call trace:")[2]
    assert " depth+0x" in trace
    assert " el1_irq+0x" in trace
    assert " wait_for_interrupt+0x" in trace
    assert "Kernel panic - not syncing: shadow call stack overflow" in log


def test_pointer_as_it_was(redzone, source):
    redzone("run", "--shadow-call-stack", source(POINTER), "--", "0", status=0)


# Unmapped, a user address, garbage, misaligned, the kernel's code, and other memory that may be written.
@first(
    2,
    ("value", "where", "arch"),
    [
        ("ffff00deadbeef00", "callee", "arm64"),
        ("10000000", "callee", "arm64"),
        ("4141414141414140", "callee", "arm64"),
        ("4", "main", "arm64"),
        ("ffff800080000000", "callee", "arm64"),
        ("1", "main", "arm64"),
        ("10000000", "callee", "riscv64"),
        ("4141414141414140", "callee", "riscv64"),
        ("4", "main", "riscv64"),
        ("ffffffff90000000", "callee", "riscv64"),
        ("1", "main", "riscv64"),
    ],
)
def test_corrupted_pointer(redzone, source, tmp_path, value, where, arch):
    program = source(_for(arch, POINTER))
    options = ("--arch", arch, "--shadow-call-stack", "--log", "console.log", program)
    result = redzone("run", *options, "--", value, status=3)
    assert "redzone: the program crashed: corrupted shadow call stack pointer: " in result.stderr
    log = (tmp_path / "console.log").read_text(encoding="utf-8")
    task = rf"corrupted shadow call stack pointer: task main/\d+, {REGISTER[arch]} [0-9a-f]{{16}}\n"
    assert re.search(task, log)
    assert "Kernel panic - not syncing: corrupted shadow call stack pointer" in log
    # The first function of the trace that is not one in which the kernel notices.
    trace = re.findall(r"^(?:\[.*?\] )? (\w+)\+0x", log.partition("Call trace:")[2], re.MULTILINE)
    assert next(name for name in trace if not re.search("irq|interrupt|scs_check", name)) == where, log
