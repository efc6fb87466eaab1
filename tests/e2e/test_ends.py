# SPDX-License-Identifier: MIT
"""How `./redzone run` says that a program ended: hangs, signals, calls that are not there, interrupts."""

import json
import re
import signal
import time

import pytest
from redzone.build import builder
from redzone.testing.needs import first

LOOP = """\
__attribute__((noinline)) static int work(int n)
{
	volatile int i = 0;

	for (;;)
		i += n;
	return i;
}

int main(int argc, char **argv)
{
	return work(argc);
}
"""
MODULE = """\
#include <kernel/module.h>

static int work(void)
{{
	volatile int i = 0;

	for (;;)
		i++;
	return i;
}}

static int nothing(void)
{{
	return 0;
}}

static int start(void)
{{
	return {start}();
}}

static void end(void)
{{
	{end}();
}}

module_init(start);
module_exit(end);
"""
DEADLOCK = """\
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;

static void take_again(void)
{
	pthread_mutex_lock(&first);
}

int main(void)
{
	pthread_mutex_lock(&first);
	take_again();
	return 0;
}
"""
CALLS = """\
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct pollfd fd = {0};

	if (argc > 1)
		return 0;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || fork() >= 0 || poll(&fd, 1, 0) >= 0)
		return 1;
	system("true");
	syscall(999);
	access("/tmp", R_OK);
	return 0;
}
"""
MISSING = "poll, socket, fork, system call 999"
REPORT_AND_LOOP = """\
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	volatile char *p = malloc(8);

	p[8] = 1;
	puts("now it loops");
	for (;;)
		;
}
"""


@first(
    1,
    ("text", "place"),
    [(DEADLOCK, r"take_again\(\) at program\.c:7"), (LOOP, r"work\(\) at program\.c:[56]")],
)
def test_hang_says_where_it_was(redzone, source, text, place):
    result = redzone("run", "--timeout", "5", source(text), status=3)
    assert re.search(
        rf"^redzone: no end after 5 s \(--timeout\); the program was in {place}$", result.stderr, re.M
    )
    assert re.search(r"^> +\d+ \| ", result.stderr, re.M)


@pytest.mark.rest
def test_hang_where_instructions_are_the_time(redzone, source):
    result = redzone("run", "--icount", "--timeout", "0.2", source(LOOP))
    assert result.returncode == 3, result.stdout + result.stderr
    assert "; the program was in work() at program.c:" in result.stderr


@first(1, ("start", "end"), [("work", "nothing"), ("nothing", "work")])
def test_hang_of_a_module(redzone, source, start, end):
    """The other module is unloaded nevertheless."""
    good = source(MODULE.format(start="nothing", end="nothing"), "good.c")
    result = redzone(
        *("run", "--timeout", "2", "--module", good),
        *("--module", source(MODULE.format(start=start, end=end), "bad.c")),
    )
    assert result.returncode == 3, result.stdout + result.stderr
    assert re.search(
        r"^redzone: no end after 2 s \(--timeout\); the module bad was in work\(\) at bad\.c:[89]$",
        result.stderr,
        re.M,
    ), result.stderr
    assert "module good: unloaded" in result.stdout


@pytest.mark.rest
def test_module_that_waits_for_ever(redzone, source):
    text = MODULE.format(start="wait", end="nothing").replace(
        "static int start",
        "static DECLARE_COMPLETION(never);\n\nstatic int wait(void)\n{\n"
        "\twait_for_completion(&never);\n\treturn work();\n}\n\nstatic int start",
    )
    text = "#include <kernel/completion.h>\n" + text
    result = redzone("run", "--timeout", "1", "--module", source(text, "bad.c"))
    assert result.returncode == 3, result.stdout + result.stderr
    assert "redzone: no end after 1 s (--timeout)" in result.stderr.splitlines()


def test_hang_among_many(redzone, source, tmp_path):
    source(LOOP, "loop.c")
    result = redzone("run", "--each", "--json", "all.json", "--timeout", "3", "loop.c", status=3)
    assert re.search(
        r"^not ok 1 loop\.c # no end after 3000 ms; the program was in work\(\) at loop\.c:[56]$",
        result.stdout,
        re.M,
    ), result.stdout
    record = json.loads((tmp_path / "all.json").read_text())["programs"][0]
    assert (record["end"], record["source"]["function"]) == ("timeout", "work")


def test_hang_after_a_report(redzone, source):
    result = redzone("run", "--timeout", "4", source(REPORT_AND_LOOP), status=1)
    assert re.search(
        r"^redzone: no end after 4 s .*the program was in main\(\) at program\.c:1\d$", result.stderr, re.M
    )


@first(1, ("number", "name"), [(11, "SIGSEGV"), (15, "SIGTERM"), (9, "SIGKILL")])
def test_signal_is_named(redzone, source, number, name):
    text = f"#include <signal.h>\nint main(void) {{ raise({number}); return 0; }}\n"
    path = source(text)
    result = redzone("run", path, status=4)
    said = f"the program was ended by {name}, which it sent itself (status {128 + number})"
    assert f"redzone: {said}" in result.stderr.splitlines()
    result = redzone("run", "--each", path.name)
    assert f"not ok 1 program.c # {said}" in result.stdout.splitlines()


def test_status_of_a_signal_that_was_none(redzone, source):
    result = redzone("run", source("int main(void) { return 139; }\n"))
    assert "redzone: the program returned 139" in result.stderr.splitlines()


def test_calls_that_are_not_there(redzone, source, tmp_path):
    path = source(CALLS)
    result = redzone("run", path, status=0)
    assert re.search(rf"^\[ *\S+\] program: calls that are not there: {MISSING}$", result.stdout, re.M)
    said = result.stderr.splitlines()
    assert f"redzone: calls that are not there, and so have failed: {MISSING} (see docs/use/libc.md)" in said
    assert said[-1] == "redzone: no KASAN report"
    result = redzone("run", "--each", "--json", "all.json", path.name)
    assert f"ok 1 program.c\n# calls that are not there: {MISSING}\n" in result.stdout
    record = json.loads((tmp_path / "all.json").read_text())["programs"][0]
    assert record["missing"] == MISSING.split(", ")
    # A program cannot say so by itself, and one that makes no such call is not accused of it.
    result = redzone("run", path, "--", "none")
    assert "calls that are not there" not in result.stdout + result.stderr


@first(1, "function", ["memset(p, 0, n)", "memcpy(p, p + 8, n)"])
def test_negative_size(redzone, source, tmp_path, function):
    text = (
        "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv)\n{\n"
        f"\tchar *p = malloc(16);\n\tsize_t n = argc - 3;\n\n\t{function};\n\treturn p[0];\n}}\n"
    )
    path = source(text)
    result = redzone("run", path, status=1)
    # The kernel's lines are those of Linux.
    assert "BUG: KASAN: out-of-bounds in main+" in result.stdout
    access = re.search(r"^\S* *\S* (Read|Write) of size 18446744073709551614 at addr", result.stdout, re.M)[1]
    verb = {"Read": "read", "Write": "wrote"}[access]
    assert f"\nmain() at program.c:8 {verb} -2 bytes at 0x" in result.stdout, result.stdout
    assert "\nThe size is negative as a signed number: look at the subtraction" in result.stdout
    assert f"negative-size-param, {access.lower()} of size -2, program.c:8 in main()" in result.stderr
    result = redzone("run", "--each", "--json", "all.json", path.name)
    assert f"negative-size-param, {access.lower()} of size -2" in result.stdout
    record = json.loads((tmp_path / "all.json").read_text())["programs"][0]
    assert record["report"]["size"] == -2


def test_names_as_in_the_source(redzone, source, tmp_path):
    """GCC makes a copy of get() for the constant and calls it get.constprop.0."""
    text = (
        "#include <stdlib.h>\n__attribute__((noinline)) static char get(volatile char *p, int n)\n"
        "{\n\treturn p[n];\n}\nint main(void)\n{\n\tvolatile char *p = malloc(16);\n\n"
        "\treturn get(p, 16) + get(p + 1, 16);\n}\n"
    )
    result = redzone("run", "--cc", "gcc", "-O2", "--sarif", "found.sarif", source(text))
    assert "get.constprop.0+0x" in result.stdout
    assert "\nget() at program.c:4 read 1 byte at 0x" in result.stdout
    assert ", program.c:4 in get()" in result.stderr
    assert "constprop" not in result.stderr
    found = json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"][0]
    assert "constprop" not in found["message"]["text"]


# --- Interrupts --------------------------------------------------------------------------------------------


def interrupt_at(process, text):
    """Interrupt when @text is in the output of @process. Return (stdout, stderr)."""
    output = ""
    while text not in output:
        line = process.stdout.readline()
        assert line, output + process.stderr.read()
        output += line
    time.sleep(0.5)
    # As Ctrl-C, whose signal is ignored where the tests run in the background.
    process.send_signal(signal.SIGTERM)
    rest, errors = process.communicate(timeout=60)
    return output + rest, errors


def test_interrupt_after_a_report(redzone, source, tmp_path):
    process = redzone.start("run", "--sarif", "found.sarif", "--html", "page.html", source(REPORT_AND_LOOP))
    _, errors = interrupt_at(process, "now it loops")
    assert process.returncode == 130, errors
    said = errors.splitlines()
    assert "redzone:   1. slab-out-of-bounds, write of 1 byte, program.c:8 in main()" in said
    assert "redzone: interrupted" in said
    assert "no KASAN report" not in errors
    found = json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]
    assert len(found) == 1
    assert "program.c" in (tmp_path / "page.html").read_text()


def test_interrupt_of_many(redzone, source, tmp_path):
    source("int main(void) { return 3; }\n", "a.c")
    source('#include <stdio.h>\nint main(void) { puts("now it loops"); for (;;) ; }\n', "b.c")
    process = redzone.start("run", "--each", "--json", "all.json", "--log", "log", "a.c", "b.c")
    _, errors = interrupt_at(process, "not ok 1 a.c")
    assert process.returncode == 130, errors
    data = json.loads((tmp_path / "all.json").read_text())
    assert data["error"] == "interrupted"
    assert [record["end"] for record in data["programs"]] == ["status"]
    assert "redzone: 1 program in " in errors


def test_build_that_did_not_end_is_not_built(capsys):
    for complete in (False, True):
        progress = builder.Progress("a kernel")
        progress.step(1, 100, "first.c")
        progress.end(complete)
        assert ("built a kernel" in capsys.readouterr().err) == complete


# --- Options -----------------------------------------------------------------------------------------------


@first(1, "cc", ["clang-19", "gcc"])
def test_warnings_of_formats(redzone, source, cc):
    text = (
        "#define _GNU_SOURCE\n#include <stdio.h>\nint main(void)\n{\n\tint n = 1;\n\n"
        '\tfprintf(stderr, "%s", n);\n\treturn printf("%ld\\n", n) < 0;\n}\n'
    )
    result = redzone("run", "--cc", cc, "--warnings", source(text))
    assert "program.c:7:" in result.stderr and "program.c:8:" in result.stderr, result.stderr
    assert result.stderr.count("[-Wformat") >= 2
    # The header behind it does not come before what the program defines.
    text = "#define _GNU_SOURCE\n#include <stdio.h>\n"
    text += 'int main(void) { char *p; return asprintf(&p, "x") != 1; }\n'
    result = redzone("run", "--cc", cc, "--warnings", source(text), status=0)
    assert "warning" not in result.stderr


BUSY = """\
#include <pthread.h>
#include <stdlib.h>

static void *run(void *barrier)
{
	pthread_barrier_wait(barrier);
	for (volatile unsigned long i = 0;; i++)
		;
	return NULL;
}

int main(void)
{
	static pthread_barrier_t barrier;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 13);
	for (int i = 0; i < 12; i++)
		pthread_create(&thread, NULL, run, &barrier);
	pthread_barrier_wait(&barrier);
	exit(0);
}
"""


def test_exit_beside_busy_threads(redzone, source):
    """The threads that the program's end ends do not count as crashed."""
    result = redzone("run", "--smp", "8", source(BUSY), status=0)
    assert "no KASAN report" in result.stderr
