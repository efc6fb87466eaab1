# SPDX-License-Identifier: MIT
"""`--mte-stack`: hardware tags for stack variables, as a user sees them.

The KUnit suite kasan_mte_stack has the cases.
"""

import re

import pytest
from redzone.testing.needs import first

# A kernel of its own.
pytestmark = pytest.mark.rest

PROGRAM = """
#include <string.h>

__attribute__((noinline)) static int touch(volatile char *p, int i)
{
	return p[i] + 1;
}

__attribute__((noinline)) static int bugs(int which)
{
	char first[32], second[24];
	volatile char *stale;

	memset(first, 0, sizeof(first));
	memset(second, 0, sizeof(second));
	touch(first, 31);
	touch(second, 23);
	{
		char scoped[64];

		memset(scoped, 0, sizeof(scoped));
		touch(scoped, 63);
		stale = scoped;
		__asm__("" : "+r"(stale));
	}
	if (which == 1)
		return touch(first, 32) & 0;
	if (which == 2)
		return touch(second, -1) & 0;
	if (which == 3)
		return touch(stale, 20) & 0;
	return touch(first, 0) & 0;
}

int main(int argc, char **argv)
{
	return bugs(argv[1][0] - '0');
}
"""

TAGGED = ("run", "--mode", "hw_tags", "--mte-stack")


def run(redzone, tmp_path, which, *options):
    (tmp_path / "stack.c").write_text(PROGRAM)
    return redzone(*TAGGED, *options, "stack.c", "--", str(which))


@first(
    1,
    ("which", "type_", "variable"),
    [
        (1, "stack-out-of-bounds", "first"),
        (2, "stack-out-of-bounds", "second"),
        (3, "use-after-scope", "scoped"),
    ],
)
def test_the_variable_is_named(redzone, tmp_path, which, type_, variable):
    result = run(redzone, tmp_path, which)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"BUG: KASAN: {type_} in touch+0x" in result.stdout
    assert re.search(
        r" and is located \d+ bytes (?:below|above) the frame record of:\n.* bugs\+0x", result.stdout
    )
    names = re.findall(
        r"^The address lies .* of the \d+-byte variable '(\w+)' \(line \d+\) in the frame of bugs\(\)\.$",
        result.stdout,
        re.MULTILINE,
    )
    assert names == [variable], result.stdout
    assert re.search(rf"^Declared at stack\.c:\d+\n> .*\b{variable}\b", result.stdout, re.MULTILINE)


@first(2, "options", [(), ("--append", "kasan.mode=async"), ("--smp", "4")])
def test_correct_code_is_silent(redzone, tmp_path, options):
    result = run(redzone, tmp_path, 0, *options)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "KASAN: " not in result.stdout


def test_switched_off(redzone, tmp_path):
    result = run(redzone, tmp_path, 1, "--append", "kasan=off")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "BUG" not in result.stdout


def test_a_cpu_without_the_instructions(redzone, tmp_path):
    result = run(redzone, tmp_path, 0, "--cpu", "cortex-a57")
    assert result.returncode == 3
    assert "needs a CPU that knows MTE's instructions" in result.stdout
