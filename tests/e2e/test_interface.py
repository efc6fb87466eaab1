# SPDX-License-Identifier: MIT
"""<sanitizer/asan_interface.h> in programs: a program is told of its reports, and asks about them."""

import pytest
from redzone.testing.needs import first

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sanitizer/asan_interface.h>

static double sum = 0.5;

void __asan_on_error(void)
{
	char name[8];
	void *start;
	size_t size;

	/* Other registers than the kernel's. */
	sum += (double)__asan_get_report_access_size() / 3;
	const char *kind = __asan_locate_address(__asan_get_report_address(), name, sizeof(name), &start, &size);
	const char *access = __asan_get_report_access_type() ? "write" : "read";
	const char *type = __asan_get_report_description();

	printf("on_error: %s at %s, a %s, %zu bytes, %.2f\\n", type, kind, access, size, sum);
}

static void on_text(const char *text)
{
	printf("on_text: %d\\n", strstr(text, "BUG: KASAN: ") && strstr(text, "Freed by task"));
	fflush(stdout);
}

static void on_death(void)
{
	printf("on_death\\n");
	fflush(stdout);
}

int main(void)
{
	volatile double a = 1.25, b = 2.5;
	void *trace[8];
	char *volatile p = malloc(100);
	volatile char *q;

	__asan_set_error_report_callback(on_text);
	__sanitizer_set_death_callback(on_death);
	printf("%d stacks before\\n", __asan_get_free_stack(p, trace, 8, NULL) != 0);
	free(p);
	q = p;
	double c = a * b + q[3];
	printf("%d stacks after, %.3f\\n", __asan_get_free_stack(p, trace, 8, NULL) != 0, c - q[3]);
	return 0;
}
"""


KERNELS = [
    *((mode, "clang-19") for mode in ("generic", "hw_tags", "sw_tags")),
    ("generic", "gcc"),
    ("hw_tags", "gcc"),
]


@first(2, ("mode", "cc"), KERNELS)
def test_a_program_is_told(redzone, source, mode, cc):
    """Callbacks may print and compute, from a check, a trap and a fault."""
    result = redzone("run", "--mode", mode, "--cc", cc, source(PROGRAM), status=1)
    assert "0 stacks before" in result.stdout
    assert "on_error: slab-use-after-free at heap, a read, 100 bytes, 0.83" in result.stdout
    assert "on_text: 1" in result.stdout
    assert "1 stacks after, 3.125" in result.stdout
    assert "on_death" not in result.stdout


def test_each_has_its_own(redzone, source, tmp_path):
    """Of many programs each has its own callbacks, and its first report ends it."""
    other = "int main(void)\n{\n\tvolatile char *p = __builtin_malloc(8);\n\n\treturn p[8];\n}\n"
    files = [source(PROGRAM, "first.c"), source(other, "second.c")]
    redzone("run", "--each", "--log", tmp_path / "log", *files, status=1)
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert log.count("on_error: slab-use-after-free at heap") == 1
    assert log.count("on_text: 1") == 1
    assert log.count("on_death") == 1
    assert "stacks after" not in log


@pytest.mark.rest
def test_without_a_mode(redzone, source):
    result = redzone("run", "--mode", "off", source(PROGRAM), status=0)
    assert "0 stacks before" in result.stdout
