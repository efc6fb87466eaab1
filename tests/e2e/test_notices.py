# SPDX-License-Identifier: MIT
"""program.notices=: calls of malloc() and its relatives that cannot succeed get a line each."""

import re

import pytest

PROGRAM = """
#include <stdlib.h>
#include <malloc.h>

int main(void)
{
	volatile size_t half = (size_t)1 << 63, odd = 24;
	void *p = NULL;

	if (calloc(half, 2) || reallocarray(NULL, half, 4) || malloc(half) || calloc(1, half + 7))
		return 1;
	if (aligned_alloc(odd, 48) || memalign(odd, 48) || posix_memalign(&p, 4, 8) != 22)
		return 2;
	free(calloc(3, 8));
	free(aligned_alloc(64, 100));
	return 0;
}
"""
CALLS = [
    "calloc(9223372036854775808, 2) can never succeed",
    "reallocarray(9223372036854775808, 4) can never succeed",
    "an object of 9223372036854775808 bytes can never be had",
    "an object of 9223372036854775815 bytes can never be had",
    "aligned_alloc(24, 48) can never succeed",
    "aligned_alloc(24, 48) can never succeed",
    "posix_memalign(4, 8) can never succeed",
]


@pytest.mark.parametrize("value", ["on", "off"])
def test_notices(redzone, source, value):
    words = ["--append", "program.notices=on"] if value == "on" else []
    result = redzone("run", *words, source(PROGRAM), status=0)
    found = re.findall(r"program: (.*); (?:called|asked for) by (\w+)", result.stdout)
    assert [call for call, _ in found] == (CALLS if value == "on" else [])
    assert {caller for _, caller in found} <= {"main", "memalign"}
