# SPDX-License-Identifier: MIT
"""Sampled heap objects on Cortex-M33, whose MPU opens and closes their pages."""

import itertools
import re

from kit import ROOT, TEMPLATE, boot, change, cmake_template, few, make_template
from redzone.testing.needs import first

CPU = "cortex-m33"
# What the MPU finds while the bug happens; the others are found by a free.
BY_MPU = (
    "write_past_the_end",
    "read_past_the_end",
    "read_before",
    "write_before",
    "read_after_free",
    "write_after_free",
    "read_with_interrupts_off",
    "copy_past_the_end",
    "freed_while_others_live",
)
# The last bug makes three reports.
THRICE = "freed_while_others_live"


def planted():
    """Return {name: type or None} of what main_sample.c does."""
    text = (TEMPLATE / "main_sample.c").read_text(encoding="utf-8")
    return {
        name: kind or None for name, kind in re.findall(r'^\t\{"(\w+)", (?:"([\w-]+)"|NULL), ', text, re.M)
    }


def expect_all_reported(elf):
    """The types are those of the reference kernel, each report has its stacks, and nothing else is
    reported."""
    status, console = boot(CPU, elf)
    assert status == 0 and "template: done, all as expected" in console, console
    bugs = planted()
    assert len(bugs) == 14 and set(BY_MPU) < set(bugs)
    for name in bugs:
        assert f"template: ok {name}\n" in console
    kinds = [kind for name, kind in bugs.items() if kind for _ in range(3 if name == THRICE else 1)]
    reports = console.split("BUG: KASAN: ")[1:]
    assert [report.split()[0] for report in reports] == kinds
    for report in reports:
        assert (
            "Allocated by task 1:\n 0x" in report and "which belongs to the cache heap of size 64" in report
        )
        assert "The object was sampled: it lies at the " in report
        freed = report.startswith(("slab-use-after-free", "double-free"))
        assert ("Freed by task 1:\n 0x" in report) == freed
    return console


@few(("mode", "cc"), itertools.product(("none", "generic"), ("clang-19", "gcc")), most=2)
def test_finds_each_bug(tree, mode, cc):
    elf, _ = make_template(tree, CPU, cc, f"MODE={mode}", "SAMPLE=1")
    expect_all_reported(elf)


@first(1, "cc", ("gcc", "clang-19"))
def test_the_mpu_finds_them(tree, cc):
    """With the MPU off, what a free finds is left."""
    change(tree / "cortexm_sample.c", ("MPU_CTRL |= CTRL_ON", "MPU_CTRL &= ~CTRL_ON"))
    elf, _ = make_template(tree, CPU, cc, "MODE=none", "SAMPLE=1")
    status, console = boot(CPU, elf)
    assert status == 1
    assert set(re.findall(r"NOT OK (\w+)", console)) == set(BY_MPU)


def test_too_few_regions(tree):
    """Regions that belong to somebody else are not used; with fewer than four the start is refused."""
    change(tree / "board.c", ("kasan_cortexm_sample_start(pool, 0)", "kasan_cortexm_sample_start(pool, 30)"))
    elf, _ = make_template(tree, CPU, "gcc", "MODE=none", "SAMPLE=1")
    status, console = boot(CPU, elf)
    assert status == 4 and "the MPU has too few regions" in console


def test_with_cmake(tree):
    options = ("-DTEMPLATE_MODE=none", "-DTEMPLATE_SAMPLE=ON", f"-DREDZONE_DIR={ROOT}")
    expect_all_reported(cmake_template(tree, CPU, "clang-19", *options))
