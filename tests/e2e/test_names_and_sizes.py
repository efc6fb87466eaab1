# SPDX-License-Identifier: MIT
"""Names of files with characters that shells, make, CMake, Ninja and QEMU each take for their own; files that
are too large for the machine."""

import json
import os

import pytest
from redzone.build import builder
from redzone.core import base
from redzone.core.base import Failure
from redzone.kit import ports
from redzone.run import job

# Each is a part of the names below; `$` is refused where the build would have to take it.
ODD = "o,d'd %1 (&) #{2}"
PROGRAM = f"""
#include <stdio.h>
#include "z.h"
int main(void)
{{
	char text[100];
	FILE *file = fopen("in {ODD.replace("%", "%%")}", "r");

	if (!fgets(text, sizeof(text), stdin) || printf("%s", text) < 0)
		return 2;
	return ZERO;
}}
"""
MODULE = """
#include <kernel/module.h>
static int odd_init(void)
{
	return 0;
}
static void odd_exit(void)
{
}
module_init(odd_init);
module_exit(odd_exit);
"""


def test_names_of_everything_that_run_takes(redzone, source, tmp_path):
    """The file, its headers, a module, data, standard input, the log and the page."""
    (tmp_path / f"headers {ODD}").mkdir()
    source("#define ZERO 0\n", f"headers {ODD}/z.h")
    source(PROGRAM, f"{ODD}.c")
    source(MODULE, f"module {ODD}.c")
    # These do not go through the build, so the shell's own signs are no trouble.
    bad = f"{ODD} $(touch made) `touch made`;"
    source("a line\n", bad)
    result = redzone(
        *("run", f"{ODD}.c", "-I", f"headers {ODD}", "--module", f"module {ODD}.c"),
        *("--file", f"in {ODD}={bad}", "--stdin", bad, "--log", f"log {bad}", "--html", f"page {bad}"),
    )
    assert result.returncode == 0 and "\na line\n" in result.stdout, result.stdout + result.stderr
    assert "a line" in (tmp_path / f"log {bad}").read_text()
    assert (tmp_path / f"page {bad}").exists() and not (tmp_path / "made").exists()


def test_names_with_each(redzone, source, tmp_path):
    source("int zero(void)\n{\n\treturn 0;\n}\n", f"library {ODD}/{ODD}.c")
    source("int zero(void);\nint main(void)\n{\n\treturn zero();\n}\n", f"{ODD}.c")
    result = redzone("run", "--each", "--library", f"library {ODD}", f"{ODD}.c")
    assert result.returncode == 0 and "1 passed, 0 failed" in result.stderr, result.stdout + result.stderr


@pytest.mark.parametrize("arguments", [("run",), ("run", "--each"), ("run", "--module"), ("fuzz",)])
def test_dollar_is_refused_before_the_build(redzone, source, tmp_path, arguments):
    source("int main(void)\n{\n\treturn 0;\n}\n", "a$(touch made).c")
    result = redzone(*arguments, "a$(touch made).c")
    assert result.returncode == 2 and not (tmp_path / "made").exists()
    assert result.stderr == (
        "redzone: error: 'a$(touch made).c': the build cannot take a path with '$'\n"
    )  # fmt: skip


def test_bytes_that_are_not_utf_8(redzone, source, tmp_path):
    """An argument may have them, a path may not."""
    source("int main(int argc, char **argv)\n{\n\treturn (unsigned char)argv[1][1] != 0xff;\n}\n", "a.c")
    argument = os.fsdecode(b"a\xff\xfe")
    redzone("run", "--json", "out.json", "a.c", "--", argument, status=0)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["run"]["end"] == "ok"
    os.rename(tmp_path / "a.c", tmp_path / f"{argument}.c")
    result = redzone("run", f"{argument}.c", status=2)
    assert "the build cannot take a path with '\\udcfe' '\\udcff'" in result.stderr


@pytest.mark.parametrize(("name", "bad"), [("$(touch made)", "$"), ("a#b", "#"), ("a%b", "%")])
def test_build_folder_that_the_build_cannot_take(redzone, tmp_path, name, bad):
    (tmp_path / name).mkdir()
    (tmp_path / name / "venv").symlink_to(base.VENV)
    result = redzone("build", "runtime-arm64-clang-full", REDZONE_BUILD=tmp_path / name)
    assert result.returncode == 2 and f"cannot take a path with '{bad}'" in result.stderr, result.stderr
    assert not (tmp_path / "made").exists() and len(result.stderr.splitlines()) == 1


def test_make_and_qemu():
    with pytest.raises(Failure, match=r"make cannot take a path with ' ' '\$'"):
        builder.check_make("/home/me/redzone", "/home/me/my $projects")
    builder.check_make("/home/jürgen/red-zone_1.2+3/a,b=c@d")
    assert ports.option_value("/a,b/c") == "/a,,b/c"


def test_port_in_a_folder_that_make_cannot_take(redzone, tmp_path):
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "venv").symlink_to(base.VENV)
    result = redzone("port", "freertos", "--source", tmp_path, REDZONE_BUILD=tmp_path / "a b")
    assert result.returncode == 2 and "'a b': make cannot take a path with ' '" in result.stderr


@pytest.mark.parametrize(
    ("mem", "size", "better"), [("512M", 600, "1024M"), ("64M", 31, "128M"), ("2G", 1950, "4096M")]
)
def test_files_that_have_no_room(monkeypatch, tmp_path, mem, size, better):
    monkeypatch.setattr(job.cpio, "read", lambda path, what: range(size << 20))
    with pytest.raises(Failure, match=rf"{size}\.0 MiB .* too many for --mem {mem}.*; give --mem {better}$"):
        job._check_room([("a", tmp_path)], mem)
    job._check_room([("a", tmp_path)], better)


def test_largest_files_boot(redzone, source, tmp_path):
    """What the check lets through is there in the program."""
    source('#include <stdio.h>\nint main(void)\n{\n\treturn !fopen("big", "r");\n}\n')
    with open(tmp_path / "big", "wb") as file:
        file.truncate((28 << 20) - 1024)
    redzone("run", "--mem", "64M", "--file", "big=big", "program.c", status=0)
    with open(tmp_path / "big", "wb") as file:
        file.truncate(40 << 20)
    result = redzone("run", "--mem", "64M", "--file", "big=big", "program.c")
    assert result.returncode == 2 and result.stderr.endswith("give --mem 128M\n")


WANTS = {
    "enough": "malloc(9 << 20)",
    "nonsense": "malloc(-100L)",
    "malloc": "malloc(900UL << 20)",
    "calloc": "calloc(900, 1 << 20)",
    "realloc": "realloc(malloc(100), 900UL << 20)",
    "mmap": "mmap(0, 900UL << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 0 : here",
    "many": "({ void *last; do { last = malloc(64 << 20); } while (last); last; })",
    "file": "fill()",
}
MEMORY = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static char here[1 << 20];
static void *fill(void)
{{
	FILE *file = fopen("out", "w");

	for (int i = 0; i < 900; i++)
		if (fwrite(here, sizeof(here), 1, file) != 1)
			return NULL;
	return here;
}}
int main(void)
{{
	for (int i = 0; i < 2; i++) {{
		void *got = {want};

		printf("%s\\n", got ? "got it" : "got nothing");
		(void)here;
		(void)fill;
	}}
	return 0;
}}
"""


def test_too_little_memory_is_said_with_the_option(redzone, source, tmp_path):
    """Once for each program; not if the program asks for more than any machine has."""
    for name, want in WANTS.items():
        source(MEMORY.format(want=want), f"{name}.c")
    words = ("run", "--each", "--timeout", "100", "--log", tmp_path / "log")
    redzone(*words, *(f"{name}.c" for name in WANTS), status=0)
    console = (tmp_path / "log").read_text(errors="replace").splitlines()
    said = [line.partition("] ")[2] for line in console if "no memory for" in line]
    assert len(said) == len(WANTS) - 2, console
    assert all(line.endswith(" MiB, ./redzone run --mem gives it more") for line in said)
    assert said[0].startswith("program: no memory for 943718400 bytes; it has 4")
    assert console.count("got it") == 2 and console.count("got nothing") == 2 * len(WANTS) - 2
