# SPDX-License-Identifier: MIT
"""`run --ubsan`: what a user sees of undefined behaviour. The suite ubsan has each kind of it."""

import json
import re

import pytest
from redzone.core.base import ROOT
from redzone.decode import explain

BUGS = """\
#include <stdio.h>
static __attribute__((noinline)) int shifted(int value, int by)
{
	return value << by;
}
static __attribute__((noinline)) int known(int value)
{
	return value + 2147483647;
}
int main(int argc, char **argv)
{
	puts("UBSAN: shift-out-of-bounds in fake.c:1:2");
	for (int i = 0; i < argc * 3; i++)
		printf("%d\\n", shifted(1, 40));
	printf("%d\\n", known(argc));
	return 0;
}
"""
CLEAN = "int main(void) { return 0; }\n"


@pytest.fixture
def bugs(source):
    return source(BUGS, "bugs.c")


def test_reports_and_summary(redzone, bugs):
    """The report, its explanation, one line for what comes again, and a summary of places."""
    result = redzone("run", "--ubsan", bugs, status=1)
    assert result.stdout.count("UBSAN: shift-out-of-bounds in ") == 2, result.stdout
    report = result.stdout.partition(f"UBSAN: shift-out-of-bounds in {bugs}:4:15\n")[2]
    assert re.match(r"\[ *\d+\.\d{6}\] shift by 40, but type 'int' has 32 bits\n", report), report
    assert re.search(r" shifted\+0x\w+/0x\w+ +bugs\.c:4\n", report), report
    assert explain.UNDEFINED["shift-out-of-bounds"][1] in report
    assert "redzone: 3 UBSan reports or more from 2 places:" in result.stderr, result.stderr
    assert "1. shift-out-of-bounds, bugs.c:4 in shifted(), 2 times or more" in result.stderr
    assert "2. signed-integer-overflow, bugs.c:8 in known()" in result.stderr


def test_ignored_functions(redzone, bugs):
    result = redzone("run", "--ubsan", "--append", "kasan.ignore=shifted,known", bugs, status=0)
    assert "reports that have known in their trace are ignored (kasan.ignore)" in result.stdout
    assert "redzone: no KASAN report, no UBSan report" in result.stderr


def test_panic(redzone, bugs):
    result = redzone("run", "--ubsan", "--append", "kasan.fault=panic", bugs, status=1)
    assert "kasan.fault=panic: bad access or free, or undefined behaviour" in result.stdout
    assert "redzone: 1 UBSan report:" in result.stderr


def test_trap(redzone, bugs):
    """The instruction says which check it was, and the program does not go on."""
    result = redzone("run", "--ubsan", "--cflag", "-fsanitize-trap=all", bugs, status=1)
    assert re.search(r"UBSAN: shift-out-of-bounds in shifted\+0x\w+/0x\w+\n", result.stdout), result.stdout
    assert "redzone: 1 UBSan report:" in result.stderr


def test_each(redzone, tmp_path, source, bugs):
    verdicts = tmp_path / "verdicts.json"
    result = redzone("run", "--ubsan", "--each", "--json", verdicts, bugs, source(CLEAN, "clean.c"), status=1)
    assert f"not ok 1 {bugs} # UBSAN: shift-out-of-bounds, bugs.c:4 in shifted()" in result.stdout
    assert f"ok 2 {tmp_path / 'clean.c'}" in result.stdout
    first, second = json.loads(verdicts.read_text(encoding="utf-8"))["programs"]
    assert second["ok"] and first["report"]["type"] == "shift-out-of-bounds" and first["source"]["line"] == 4


def test_every_type_is_explained():
    """The types that the runtime has, by its source."""
    text = "".join((ROOT / "runtime" / "ubsan" / f"{name}.c").read_text() for name in ("handlers", "trap"))
    types = set(re.findall(r'"((?:[a-z]+-)+[a-z]+)"', text)) - {"undefined-behaviour"}
    assert {"shift-out-of-bounds", "missing-return"} <= types
    assert types <= set(explain.UNDEFINED), sorted(types - set(explain.UNDEFINED))
