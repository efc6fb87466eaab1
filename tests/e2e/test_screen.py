# SPDX-License-Identifier: MIT
"""The screen of `./redzone run`: repeated reports, crashes and their places, paths."""

import html
import json
import re

import pytest
from redzone.core import mteqemu
from redzone.testing.needs import first

LOOP = """\
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	volatile char *p = malloc(8);
	int rounds = argc > 1 ? atoi(argv[1]) : 19;

	for (int i = 0; i < rounds; i++) {
		p[8 + i % 2] = 1;
		printf("round %d\\n", i);
	}
	p[-1] = 2;
	return 0;
}
"""

RECURSION = """\
static volatile int deep = 1;

__attribute__((noinline)) static int depth(int n)
{
	volatile char big[300];

	big[n % 300] = 1;
	return deep ? depth(n + 1) + big[0] : 0;
}

int main(void)
{
	return depth(0);
}
"""


def headlines(text):
    return re.findall(r"BUG: KASAN: (\S+) in (\w+)", text)


def repeats(text):
    """Return the numbers in the kernel's lines about places that it has reported before."""
    line = (
        r"^\[ *\S+\] KASAN: slab-out-of-bounds in main\+\S+/\S+ again \((\d+) times\): "
        r"write of size 1 at addr [0-9a-f]{16} by task \S+/\d+, called by \S+ < \S+$"
    )
    return [int(number) for number in re.findall(line, text, re.MULTILINE)]


def test_repeated_reports(redzone, source, tmp_path):
    result = redzone("run", "--log", "console.log", source(LOOP), status=1)
    assert len(headlines(result.stdout)) == 2
    again = re.findall(r"^redzone: again: (.*)$", result.stdout, re.MULTILINE)
    # The kernel prints a line for the 2nd, 4th, 8th and 16th report.
    assert len(again) == 4
    assert again[0] == "slab-out-of-bounds, write of 1 byte, program.c:10 in main() (report 2)"
    assert again[-1].endswith("(report 16)")
    # The program's own output stays where it was.
    lines = result.stdout.splitlines()
    assert lines.index("round 3") == lines.index("redzone: again: " + again[1]) + 1
    said = result.stderr.splitlines()
    at = said.index("redzone: 17 KASAN reports or more from 2 places:")
    assert said[at + 1 : at + 4] == [
        "redzone:   1. slab-out-of-bounds, write of 1 byte, program.c:10 in main(), 16 times or more",
        "redzone:   2. slab-out-of-bounds, write of 1 byte, program.c:13 in main()",
        "redzone: later reports may be consequences of the first: fix that one first",
    ]
    # The kernel itself prints each place whole only once.
    log = (tmp_path / "console.log").read_text()
    assert len(headlines(log)) == 2
    assert repeats(log) == [2, 4, 8, 16]


def test_repeated_reports_in_full(redzone, source, tmp_path):
    full = ("--append", "kasan.repeat=full", "--log", "console.log")
    result = redzone("run", *full, source(LOOP), status=1)
    # The screen is the same: it does not show a known place again.
    assert len(headlines(result.stdout)) == 2
    assert len(re.findall(r"^redzone: again: ", result.stdout, re.MULTILINE)) == 18
    assert "redzone: 20 KASAN reports from 2 places:" in result.stderr.splitlines()
    log = (tmp_path / "console.log").read_text()
    assert len(headlines(log)) == 20
    assert not repeats(log)


def explanations(text):
    """Return the blocks between the end of a report and the next output, each as a list of lines."""
    return [block.strip("\n").splitlines() for block in re.findall(r"={66}\n\n(.*?)\n\n", text, re.S)]


def test_explanation_is_that_of_the_page(redzone, tmp_path):
    result = redzone("run", "--html", tmp_path / "page.html", cwd=redzone.root, status=1)
    first, second = explanations(result.stdout)
    assert first[0].startswith("message_terminate() at examples/heap_bugs.c:48 wrote 1 byte at 0x")
    assert "just past the end of a 13-byte object allocated in message_create() at examples/" in first[0]
    assert "a 16-byte struct message allocated in message_create() at examples/heap_bugs.c:23." in second[0]
    assert second[1].startswith("The free was made by task ")
    assert [line for line in second if line.startswith(">")] == [
        ">    54 |     return message->length; /* a read of freed memory */",
        ">    23 |     struct message *message = malloc(sizeof(*message));",
        ">    41 |     free(message);",
    ]
    page = html.unescape((tmp_path / "page.html").read_text())
    for block in (first, second):
        sentences = block[: next(at for at, line in enumerate(block) if line.startswith("Access at "))]
        assert sentences and all(sentence in page for sentence in sentences)


def test_how_a_thread_begins_is_left_out(redzone, source, tmp_path):
    result = redzone("run", "--log", tmp_path / "log", source(LOOP), "--", "1", status=1)
    trace = result.stdout.partition("Call trace:\n")[2].partition("Allocated by task")[0]
    frames = (
        r"^\[ *\S+\]  main\+\S+ +program\.c:10\n(.*\n)*\[ *\S+\]  \.\.\. \d frames of the thread's start\n"
    )
    assert re.match(frames, trace), trace
    assert " kthread+" not in result.stdout and " kthread+" in (tmp_path / "log").read_text()


def test_no_symbolize_shows_what_the_kernel_prints(redzone, source):
    result = redzone("run", "--no-symbolize", source(LOOP), "--", "3", status=1)
    assert len(headlines(result.stdout)) == 2
    assert repeats(result.stdout) == [2]
    assert "redzone: 3 KASAN reports or more" in result.stderr.splitlines()
    result = redzone("run", "--no-symbolize", "--append", "kasan.repeat=full", source(LOOP), "--", "3")
    assert len(headlines(result.stdout)) == 4
    assert not repeats(result.stdout)
    assert "redzone: 4 KASAN reports" in result.stderr.splitlines()


def test_stack_overflow_names_its_place(redzone, source, tmp_path):
    result = redzone("run", "--log", "console.log", source(RECURSION), status=3)
    place = re.search(
        r"^redzone: the program overflowed its stack \([18] MiB\): depth\(\) at program\.c:(\d+)$",
        result.stderr,
        re.MULTILINE,
    )
    assert place, result.stderr
    assert 3 <= int(place[1]) <= 8
    assert f">     {place[1]} | " in result.stderr
    trace = result.stdout.partition("Call trace:")[2].partition("Call trace:")[0]
    assert len(re.findall(r" depth\+0x", trace)) <= 3
    assert re.search(r"\.\.\. \d\d more of the same$", trace, re.MULTILINE)
    log = (tmp_path / "console.log").read_text()
    assert "more of the same" not in log
    assert len(re.findall(r" depth\+0x", log)) > 40


@pytest.mark.parametrize(("size", "shown"), [("128K", "128 KiB"), ("2M", "2 MiB")])
def test_stack_size_is_chosen(redzone, source, size, shown):
    result = redzone("run", "--stack", size, source(RECURSION), status=3)
    assert f"redzone: the program overflowed its stack ({shown}): depth() at program.c:" in result.stderr


def test_stack_holds_large_arrays(redzone, source):
    text = "#include <string.h>\nint main(void)\n{\n\tchar big[6 << 20];\n\n\tmemset(big, 1, sizeof(big));\n"
    text += "\treturn ((volatile char *)big)[12345] - 1;\n}\n"
    redzone("run", "--stack", "8m", source(text), status=0)


def test_crash_without_source_lines(redzone, source):
    result = redzone("run", "--no-symbolize", source(RECURSION), status=3)
    assert re.search(r"redzone: the program overflowed its stack \([18] MiB\): depth\+0x", result.stderr)
    assert "more of the same" not in result.stdout


def test_crash_after_a_report(redzone, source):
    text = "int main(void)\n{\n\t*(volatile int *)0xffff8000deadbee0UL = 3;\n\treturn 0;\n}\n"
    result = redzone("run", source(text), status=1)
    # The trace starts at the faulting instruction itself: the one before it belongs to another line.
    assert "wild-memory-access, write of 4 bytes, program.c:3 in main()" in result.stderr
    assert "redzone: after that, the program crashed: paging request" in result.stderr


def test_paths_as_they_were_typed(redzone, source, tmp_path):
    source("static inline void put(volatile char *p) { p[3] = 1; }\n", "include/put.h")
    source(
        "#include <stdlib.h>\n#include <put.h>\nint main(void) { int unused; put(malloc(3)); return 0; }\n",
        "src/main.c",
    )
    (tmp_path / "work").mkdir()
    result = redzone("run", "--warnings", "../src/main.c", "-I../include", cwd=tmp_path / "work", status=1)
    assert re.search(r" main\+0x\S+ +\.\./src/main\.c:3$", result.stdout, re.MULTILINE)
    assert re.search(r" put \(inlined\) +\.\./include/put\.h:1$", result.stdout, re.MULTILINE)
    assert "../src/main.c:3:22: warning:" in result.stderr
    assert str(tmp_path) not in result.stdout + result.stderr


GLOBALS = """\
static char first[10];
char second[20];

int main(int argc, char **argv)
{
	static int third[5];
	volatile char *p = argc == 2 ? first : argc == 3 ? second : (char *)third;

	p[20 - 10 * (argc == 2)] = 1;
	return 0;
}
"""


@first(1, "cc", ["clang-19", "gcc"])
@pytest.mark.parametrize(
    ("arguments", "line", "name"), [(("x",), 1, "first"), (("x", "y"), 2, "second"), ((), 6, "third")]
)
def test_global_and_its_line(redzone, source, cc, arguments, line, name):
    result = redzone("run", "--cc", cc, source(GLOBALS), "--", *arguments, status=1)
    assert re.search(rf" (main\.)?{name}(\.\d+)?\+0x", result.stdout)
    assert re.search(
        rf"^Declared at program\.c:{line}$\n^> +{line} \| .*{name}",
        result.stdout,
        re.MULTILINE,
    ), result.stdout


def test_eighty_columns(redzone, source):
    """A terminal has no room for timestamps: no line of a report is wrapped."""
    text = "#include <stdlib.h>\nint main(void)\n{\n\tvolatile char *p = malloc(8);\n\n\treturn p[8];\n}\n"
    status, output = redzone.on_terminal("run", source(text), COLUMNS="80")
    assert status == 1, output
    lines = (
        re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output).replace("\r\n", "\n").replace("\r", "\n").splitlines()
    )
    assert "=" * 66 in lines
    assert any(line.startswith("Redzone reference kernel ") for line in lines)
    at = next(number for number, line in enumerate(lines) if line.startswith(">ffff"))
    assert re.fullmatch(r" ffff[0-9a-f]{12}:( [0-9a-f]{2}){16}", lines[at - 1])
    column = lines[at + 1].index("^")
    assert lines[at][column - 1 : column + 2].startswith(" ")
    shown = lines[next(number for number, line in enumerate(lines) if line.startswith("Redzone ")) :]
    assert [line for line in shown if len(line) > 80] == []


AFTER_CALL = """\
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define UNCHECKED __attribute__((no_sanitize("kernel-address")))

static int *volatile null;

NOINLINE static void nothing(void)
{
	__asm__ volatile("" ::: "memory");
}

NOINLINE static int *get(void)
{
	return null;
}

NOINLINE static int read_it(volatile char *p)
{
	nothing();
	return p[20];
}

NOINLINE UNCHECKED static void write_it(void)
{
	int *p =
		get();
	*p = 0;
}

int main(void)
{
	volatile char *p = malloc(16);

	read_it(p);
	write_it();
	return 0;
}
"""


@pytest.mark.parametrize("mode", ["hw_tags", "sw_tags", "generic"])
def test_access_that_follows_a_call(redzone, source, tmp_path, mode):
    """The address of a fault is the access itself, and the instruction before it a call of another line."""
    if mode == "hw_tags" and (reason := mteqemu.reason()):
        pytest.skip(reason)
    names = {text: number for number, text in enumerate(AFTER_CALL.splitlines(), 1)}
    lines = names["\treturn p[20];"], names["\t*p = 0;"]
    path = source(AFTER_CALL)
    options = ("--mode", mode, "-O1")
    result = redzone("run", *options, "--sarif", "found.sarif", path, status=1)
    for function, line, bug in (
        ("read_it", lines[0], "slab-out-of-bounds"),
        ("write_it", lines[1], "null-ptr-deref"),
    ):
        assert re.search(rf"Call trace:\n\S* *\S*  ?{function}\+\S+ +program\.c:{line}$", result.stdout, re.M)
        assert re.search(rf"^{function}\(\) at program\.c:{line} (read|wrote) ", result.stdout, re.M)
        assert re.search(rf"\. {bug}, .*, program\.c:{line} in {function}\(\)$", result.stderr, re.M)
    if mode == "hw_tags":
        # Report, pc, lr, and the trace of the crash, which begins with the pc.
        found = re.findall(r" write_it\+\S+ +program\.c:(\d+)$", result.stdout, re.M)
        assert found == [str(line) for line in (lines[1], lines[1], lines[1] - 1, lines[1])], result.stdout
        assert f" write_it() at program.c:{lines[1]}" in result.stderr
    found = json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]
    places = [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in found]
    assert places[:2] == list(lines)
    result = redzone("run", *options, "--each", "--json", "all.json", path)
    record = json.loads((tmp_path / "all.json").read_text())["programs"][0]
    assert f"program.c:{lines[0]} in read_it()" in result.stdout
    assert record["source"]["line"] == lines[0], record


def test_call_that_checks_for_its_caller(redzone, source):
    """memcpy() reports the address to which it returns, where another access may be."""
    if reason := mteqemu.reason():
        pytest.skip(reason)
    text = (
        "#include <stdlib.h>\n#include <string.h>\n"
        "__attribute__((noinline)) static void copy(char *to, char *from)\n"
        "{\n\tmemcpy(to, from, 24);\n\t*from = 1;\n}\n"
        "int main(void)\n{\n\tchar *p = malloc(16), from[40] = {0};\n\n"
        "\tcopy(p, from);\n\treturn p[0];\n}\n"
    )
    result = redzone("run", "--mode", "hw_tags", "-O1", "-D_FORTIFY_SOURCE=0", source(text))
    assert "slab-out-of-bounds, write of 24 bytes, program.c:5 in copy()" in result.stderr, result.stderr
