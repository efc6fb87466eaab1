# SPDX-License-Identifier: MIT
"""`./redzone run --module`: loadable modules from source to symbolized report, and every exit status."""

import re

import pytest
from redzone.testing import needs

MODULE = """\
#include <kernel/module.h>
#include <kernel/slab.h>
#include <kernel/string.h>

static char table[10];

int shared_value(int i);
int shared_value(int i)
{
	return i * 3;
}

static int first_init(void)
{
	volatile char *p = table;

	pr_info("first: init\\n");
#ifdef GLOBAL
	p[10] = 1;
#endif
#ifdef NULLPTR
	*(volatile int *)(p - table + NULLPTR) = 1;
#endif
#ifdef UNKNOWN
	extern int nobody_has_this(void);
	nobody_has_this();
#endif
#ifdef RESULT
	return RESULT;
#endif
	return p[0];
}

static void first_exit(void)
{
	pr_info("first: exit\\n");
}

module_init(first_init);
module_exit(first_exit);
MODULE_LICENSE("MIT");
"""

SECOND = """\
#include <kernel/module.h>

int shared_value(int i);

static int second_init(void)
{
	pr_info("second: %d\\n", shared_value(14));
	return 0;
}

static void second_exit(void)
{
	pr_info("second: exit\\n");
}

module_init(second_init);
module_exit(second_exit);
MODULE_LICENSE("MIT");
"""


@pytest.fixture
def first(source):
    return source(MODULE, "first.c")


@needs.first(2, "options", [(), ("--cc", "gcc"), ("--cc", "gcc", "--outline"), ("--outline",)])
def test_example_has_two_symbolized_reports(redzone, options):
    result = redzone("run", *options, "--module", "examples/module_oob.c", cwd=redzone.root, status=1)
    reports = re.findall(r"BUG: KASAN: (\S+) in ([\w.]+)\+0x\w+/0x\w+ \[module_oob\]", result.stdout)
    assert [kind for kind, _ in reports] == ["global-out-of-bounds", "slab-out-of-bounds"]
    assert "slots+0x28/0x28" in result.stdout
    assert re.search(r"module_oob_init\+\S+ \[module_oob\]\s+examples/module_oob\.c:\d+", result.stdout)
    assert "examples/module_oob.c:21 in fill_slots" in result.stderr
    assert "examples/module_oob.c:27 in fill_name" in result.stderr
    assert "module module_oob: unloaded" in result.stdout


def test_clean_module(redzone, first):
    result = redzone("run", "--module", first, status=0)
    assert result.stdout.index("first: init") < result.stdout.index("first: exit")
    assert "no KASAN report" in result.stderr


def test_without_kasan(redzone, first):
    redzone("run", "--mode", "off", "-DGLOBAL", "--module", first, status=0)


def test_init_that_fails_is_status_4(redzone, first):
    result = redzone("run", "-DRESULT=-19", "--module", first, status=4)
    assert "module first: its init function returned -19" in result.stdout
    assert "a module could not be loaded" in result.stderr


def test_unknown_symbol_is_named(redzone, first):
    result = redzone("run", "-DUNKNOWN", "--module", first, status=4)
    assert "module first: unknown symbol nobody_has_this" in result.stdout


def test_null_pointer_in_init(redzone, first):
    result = redzone("run", "-DNULLPTR=8", "--module", first, status=1)
    assert re.search(r"BUG: KASAN: null-ptr-deref in first_init\+\S+ \[first\]", result.stdout)
    crashed = redzone("run", "--mode", "off", "-DNULLPTR=8", "--module", first, status=3)
    assert "Modules linked in: first" in crashed.stdout
    assert re.search(r"pc : first_init\+\S+ \[first\]\s+first\.c:\d+", crashed.stdout)


def test_modules_that_use_each_other_and_a_program(redzone, first, source):
    second = source(SECOND, "second.c")
    program = source('#include <stdio.h>\nint main(void) { puts("program"); return 0; }')
    result = redzone("run", "--module", first, "--module", second, program, status=0)
    order = ["first: init", "second: 42", "\nprogram\n", "second: exit", "first: exit"]
    places = [result.stdout.index(text) for text in order]
    assert places == sorted(places)
    # The other way round, no loaded module has the symbol that the second one needs.
    result = redzone("run", "--module", second, "--module", first, status=4)
    assert "module second: unknown symbol shared_value" in result.stdout


def test_file_that_is_no_module(redzone, tmp_path):
    (tmp_path / "bad.ko").write_bytes(b"\x7fELF" + bytes(200))
    result = redzone("run", "--file", "bad.ko=bad.ko", "--append", "module.load=bad,absent", cwd=tmp_path)
    assert "module bad: not a 64-bit little-endian ELF file" in result.stdout
    assert "module absent: no such file in the initrd" in result.stdout


@needs.first(1, "cc", ["clang-19", "gcc"])
def test_floating_point_does_not_compile(redzone, source, cc):
    """A module is compiled as every file of the kernel is."""
    text = "double half(double x);\ndouble half(double x)\n{\n\treturn x / 2;\n}\n"
    result = redzone("run", "--cc", cc, "--module", source(text, "half.c"), status=2)
    assert "half.c:" in result.stderr and "error:" in result.stderr
    assert "hint: the kernel's own code and modules have no floating point" in result.stderr


def test_usage_errors(redzone, source, tmp_path):
    a, b = source(MODULE, "a/m-x.c"), source(MODULE, "b/m_x.c")
    result = redzone("run", "--module", a, "--module", b, status=2)
    assert "would both be module m_x" in result.stderr
    result = redzone("run", "--module", source("int x = ;", "broken.c"), status=2)
    assert "broken.c:1" in result.stderr
