# SPDX-License-Identifier: MIT
"""A reset handler in C that calls memcpy() and memset() before .data and .bss hold their values: with the
last run's state in RAM, redzones included, nothing is reported, and the second run finds every bug again."""

import re

import pytest
from kit import boot, bugs, change, make_template

RESET = """
#include <kasan/port.h>
#include "board.h"
extern char __data_start[], __data_end[], __bss_start[], __bss_end[];
void _start(void);
void reset_copy(void);
bool restart(void);

/* Outside of the window: RAM that no run clears. QEMU starts with zeroes. */
#define KEPT (__kasan_window_start + (32UL << 20))
static volatile unsigned int *runs(void) { return (volatile unsigned int *)KEPT; }

void reset_copy(void)
{
	const size_t size = __data_end - __data_start;

	if (!*runs())
		__memcpy(KEPT + 64, __data_start, size);
	else
		memcpy(__data_start, KEPT + 64, size);
	*runs() += 1;
	memset(__bss_start, 0, __bss_end - __bss_start);
}

bool restart(void)
{
	if (*runs() < 2)
		_start();
	return false;
}
"""


@pytest.mark.parametrize(("arch", "cc"), [("arm64", "clang-19"), ("riscv64", "gcc")])
def test_a_warm_reset(tree, arch, cc):
    (tree / "reset.c").write_text(RESET, encoding="utf-8")
    change(
        tree / "template.lds",
        ("\t\t*(.data .data.*)\n", "\t\t__data_start = .;\n\t\t*(.data .data.*)\n"),
        ("\t\t*(.sdata .sdata.*)\n", "\t\t*(.sdata .sdata.*)\n\t\t__data_end = .;\n"),
    )
    change(
        tree / "Makefile",
        (" $(port) $(tags)", " $(port) reset.o $(tags)"),
        ("KASAN_SANITIZE_heap.o := n", "KASAN_SANITIZE_heap.o := n\nKASAN_SANITIZE_reset.o := n"),
    )
    if arch == "arm64":
        change(tree / "start.S", ("\tmov\tsp, x0\n", "\tmov\tsp, x0\n\tbl\treset_copy\n"))
    else:
        change(tree / "start.S", ("\tla\tsp, __stack_end\n", "\tla\tsp, __stack_end\n\tcall\treset_copy\n"))
    change(
        tree / "main.c",
        ("int main(void)\n", "bool restart(void);\nint main(void)\n"),
        ("\treturn failed ? 1 : 0;", "\tif (restart())\n\t\treturn 5;\n\treturn failed ? 1 : 0;"),
    )
    elf, _ = make_template(tree, arch, cc)
    status, console = boot(arch, elf)
    assert status == 0, console
    assert console.count("template: start\n") == 2
    assert console.count("template: done, all as expected") == 2
    kinds = re.findall(r"^BUG: KASAN: ([\w-]+) in ", console, re.MULTILINE)
    assert kinds == 2 * [kind for kind in bugs().values() if kind], console
