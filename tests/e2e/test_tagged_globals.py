# SPDX-License-Identifier: MIT
"""`--tagged-globals`: software tags for global variables, as a user sees them.

The KUnit suite kasan_globals has the cases.
"""

import re

import pytest
from redzone.testing.needs import first

# A kernel of its own.
pytestmark = pytest.mark.rest

PROGRAM = """
#include <stdio.h>
#include <string.h>

static volatile char names[3][7] = {"one", "two", "three"};
int table[7];

static int sum(const volatile int *p, int n)
{
	int total = 0;

	for (int i = 0; i < n; i++)
		total += p[i];
	return total;
}

int main(int argc, char **argv)
{
	volatile int n = argv[1][0] - '0';
	static volatile long counters[3];

	memset(table, 1, sizeof(table));
	counters[n % 3]++;
	if (n == 8)
		return sum(table, n) & 0;
	if (n == 9)
		return names[2][n - 2] & 0;
	if (n == 6)
		return (int)counters[n / 2] & 0;
	printf("%s %d\\n", (char *)names[2], sum(table, n));
	return 0;
}
"""

MODULE = """
#include <kernel/module.h>

static char of_module[20] = "constant";

static int start(void)
{
	volatile size_t i = sizeof(of_module);

	return READ_ONCE(of_module[i]) & 0;
}

static void stop(void)
{
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("MIT");
"""

TAGGED = ("run", "--mode", "sw_tags", "--tagged-globals")


@first(
    1,
    ("number", "text", "variable"),
    [
        (8, "table+0x1c/0x1c", "table"),
        (9, "names+0x15/0x15", "names"),
        (6, "main.counters+0x18/0x18", "counters"),
    ],
)
def test_the_variable_is_named(redzone, tmp_path, number, text, variable):
    (tmp_path / "globals.c").write_text(PROGRAM)
    result = redzone(*TAGGED, "globals.c", "--", str(number), status=1)
    assert "BUG: KASAN: global-out-of-bounds in " in result.stdout
    assert f" {text}" in result.stdout
    assert re.search(rf"^Declared at globals\.c:\d+\n> .*\b{variable}\[", result.stdout, re.MULTILINE), (
        result.stdout
    )


@first(2, "options", [(), ("--smp", "4"), ("--append", "kasan=off")])
def test_correct_code_is_silent(redzone, tmp_path, options):
    (tmp_path / "globals.c").write_text(PROGRAM)
    result = redzone(*TAGGED, *options, "globals.c", "--", "7", status=0)
    assert "BUG" not in result.stdout and "three 117901063" in result.stdout


def test_modules(redzone, tmp_path):
    (tmp_path / "globals_module.c").write_text(MODULE)
    result = redzone(*TAGGED, "--module", "globals_module.c", status=1)
    assert "BUG: KASAN: global-out-of-bounds in start+0x" in result.stdout
    assert " of_module+0x14/0x14" in result.stdout
