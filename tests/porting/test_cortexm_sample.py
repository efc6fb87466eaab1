# SPDX-License-Identifier: MIT
"""Sampled heap objects on Cortex-M, whose MPU opens and closes their pages."""

import itertools
import re

from kit import CORTEX_M, ROOT, TEMPLATE, boot, change, cmake_template, few, make_template
from redzone.testing.needs import first

V8 = "cortex-m33"
# What the MPU finds while the bug happens; the others are found by a free.
BY_MPU = (
    "write_past_the_end",
    "read_past_the_end",
    "read_before",
    "write_before",
    "read_after_free",
    "write_after_free",
    "read_with_interrupts_off",
    "read_two_pages",
    "copy_past_the_end",
    "freed_while_others_live",
)
# Bugs with more than one report: their types.
MORE = {
    "read_two_pages": ["slab-use-after-free", "slab-out-of-bounds"],
    "freed_while_others_live": ["slab-use-after-free"] * 3,
}


def planted():
    """Return {name: type or None} of what main_sample.c does."""
    text = (TEMPLATE / "main_sample.c").read_text(encoding="utf-8")
    return {
        name: kind or None for name, kind in re.findall(r'^\t\{"(\w+)", (?:"([\w-]+)"|NULL), ', text, re.M)
    }


def expect_all_reported(cpu, elf):
    """The types are those of the reference kernel, each report has its stacks, and nothing else is
    reported."""
    status, console = boot(cpu, elf)
    assert status == 0 and "template: done, all as expected" in console, console
    bugs = planted()
    assert len(bugs) == 15 and set(BY_MPU) < set(bugs)
    for name in bugs:
        assert f"template: ok {name}\n" in console
    kinds = [one for name, kind in bugs.items() if kind for one in MORE.get(name, [kind])]
    reports = console.split("BUG: KASAN: ")[1:]
    assert [report.split()[0] for report in reports] == kinds
    for report in reports:
        assert (
            "Allocated by task 1:\n 0x" in report and "which belongs to the cache heap of size 64" in report
        )
        assert "The object was sampled: it lies at the " in report
        # The object beside a guard may have been freed.
        freed = report.startswith(("slab-use-after-free", "double-free"))
        assert not freed or "Freed by task 1:\n 0x" in report
    return console


@few(
    ("cpu", "mode", "cc"),
    itertools.product(CORTEX_M, ("none", "generic"), ("clang-19", "gcc")),
    pairs=False,
    most=1,
)
def test_finds_each_bug(tree, cpu, mode, cc):
    elf, _ = make_template(tree, cpu, cc, f"MODE={mode}", "SAMPLE=1")
    expect_all_reported(cpu, elf)


@first(1, "cpu", ("cortex-m33", "cortex-m3"))
def test_the_mpu_finds_them(tree, cpu):
    """With the MPU off, what a free finds is left."""
    change(tree / "cortexm_sample.c", ("MPU_CTRL |= CTRL_ON", "MPU_CTRL &= ~CTRL_ON"))
    elf, _ = make_template(tree, cpu, "gcc", "MODE=none", "SAMPLE=1")
    status, console = boot(cpu, elf)
    assert status == 1
    assert set(re.findall(r"NOT OK (\w+)", console)) == set(BY_MPU)


def test_too_few_regions(tree):
    """Regions that belong to somebody else are not used; with fewer than four the start is refused."""
    change(tree / "tasks.h", ("TASKS_REGIONS 0U", "TASKS_REGIONS 30U"))
    elf, _ = make_template(tree, V8, "gcc", "MODE=none", "SAMPLE=1")
    status, console = boot(V8, elf)
    assert status == 4 and "the MPU has too few regions" in console


def test_with_cmake(tree):
    options = ("-DTEMPLATE_MODE=none", "-DTEMPLATE_SAMPLE=ON", f"-DREDZONE_DIR={ROOT}")
    expect_all_reported(V8, cmake_template(tree, V8, "clang-19", *options))
