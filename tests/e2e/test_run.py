# SPDX-License-Identifier: MIT
"""`./redzone run`: what programs can do, what the screen shows, and the five exit statuses."""

import json
import re

import pytest
from redzone.core import mteqemu, process
from redzone.testing import processes
from redzone.testing.needs import first, need

pytestmark = pytest.mark.quick

HEAP = """\
#include <stdlib.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	volatile char *p = malloc(13);

	if (!p)
		return 2;
	p[AT] = 'x';
	free((void *)p);
	printf("done\\n");
	return 0;
}
"""


def reports(text):
    return re.findall(r"BUG: KASAN: (\S+) in (\w+)", text)


def test_example_shows_two_symbolized_reports(redzone):
    result = redzone("run", cwd=redzone.root, status=1)
    kinds = [kind for kind, _ in reports(result.stdout)]
    assert kinds == ["slab-out-of-bounds", "slab-use-after-free"]
    assert result.stdout.count("in main()") + result.stdout.count("examples/heap_bugs.c:") >= 4
    assert "2 KASAN reports" in result.stderr
    assert "\033" not in result.stdout + result.stderr


def test_clean_example(redzone):
    result = redzone("run", "examples/clean.c", cwd=redzone.root, status=0)
    assert "BUG:" not in result.stdout
    assert "no KASAN report" in result.stderr


# The compiler gives line 0 to code that it has made of several lines; the directive does so for sure.
NO_LINE = """\
#include <stdlib.h>
static __attribute__((noinline)) void clear(volatile char *p)
{
#line 0
	p[10] = 0;
}
#line 20
int main(void)
{
	volatile char *p = malloc(10);

	clear(p);
	free((void *)p);
	return 0;
}
"""


def test_bug_at_an_address_without_a_line(redzone, source):
    """The report is named after the function that has the bug, not after its caller, which has a line."""
    name = source(NO_LINE, "no_line.c").name
    result = redzone("run", name, status=1)
    assert "slab-out-of-bounds, write of 1 byte, no_line.c in clear()" in result.stderr
    assert "\nclear() at no_line.c wrote 1 byte at 0x" in result.stdout
    assert re.search(r" clear\+0x\w+/0x\w+ +no_line\.c$", result.stdout, re.MULTILINE)
    assert re.search(r" main\+0x\w+/0x\w+ +no_line\.c:24$", result.stdout, re.MULTILINE)
    result = redzone("run", "--each", "--json", "out.json", name)
    assert result.stdout.endswith("# KASAN: slab-out-of-bounds, write of 1 byte, no_line.c in clear()\n")
    (program,) = json.loads((redzone.folder / "out.json").read_text(encoding="utf-8"))["programs"]
    assert program["source"] == {"file": "no_line.c", "line": None, "function": "clear"}


NULL_WRITE = """\
int main(void)
{
	int *p = 0;

	*p = 1;
	return 0;
}
"""


OVERRUN = """\
int main(void)
{
	int a[5] = {1, 2, 3, 4, 5}, i, s = 0;

	for (i = 0; i <= 5; i++)
		s += a[i];
	return s == 0;
}
"""


SCOPE = """\
int main(void)
{
	int *volatile p;

	{
		int inner = 1;

		p = &inner;
	}
	return *p == 0;
}
"""


# Clang 22 needs a kernel of its own.
@first(2, "cc", ["clang-19", "gcc", "clang-22"])
@pytest.mark.parametrize(
    ("text", "options", "kind", "said"),
    [
        (NULL_WRITE, (), "null-ptr-deref", "program.c:5 wrote 4 bytes at 0x0"),
        (OVERRUN, ("-O0",), "stack-out-of-bounds", "program.c:6 read 4 bytes at 0x"),
        (SCOPE, ("-O0",), "use-after-scope", "program.c:10 read 4 bytes at 0x"),
    ],
    ids=["null", "overrun", "scope"],
)
def test_bugs_are_not_optimised_away(redzone, source, cc, text, options, kind, said):
    if cc == "clang-22":
        need(cc)
    result = redzone("run", *options, "--cc", cc, source(text), status=1)
    assert [found for found, _ in reports(result.stdout)] == [kind]
    assert f"\nmain() at {said}" in result.stdout


def test_options_of_the_compiler(redzone, source):
    text = "int main(void) { int unused_variable; return THREE + FOUR != 7; }"
    one = source("#define THREE 3\n", "my headers/one.h")
    two = source("#define FOUR 4\n", "two.h")
    file = source(text)
    options = ["--cflag", "-include", "--cflag", one, "--cflag", "-include", "--cflag", two]
    result = redzone(
        "run", "-O", "s", *options, "--warnings", "--cflag", "-Wno-unused-variable", file, status=0
    )
    assert "unused_variable" not in result.stderr
    result = redzone("run", *options, "--cflag", "-Wall", "--cflag", "-Werror", file, status=2)
    assert "program.c:1:22: error:" in result.stderr


def test_off_by_one(redzone, source):
    result = redzone("run", "-DAT=13", source(HEAP), status=1)
    assert [kind for kind, _ in reports(result.stdout)] == ["slab-out-of-bounds"]
    assert "Write of size 1 at addr" in result.stdout
    assert "\nmain() at program.c:10 wrote 1 byte at 0x" in result.stdout
    assert "done" in result.stdout


def test_mode_off_reports_nothing(redzone, source):
    result = redzone("run", "--mode", "off", "-DAT=13", source(HEAP), status=0)
    assert result.stderr.splitlines()[-1] == "redzone: KASAN is off: nothing was checked"
    assert "no KASAN report" not in result.stderr


@first(1, "options", [(), ("--each",)])
def test_kasan_off_is_no_verdict(redzone, source, options):
    """Without checks there is no line "no KASAN report". A program's own lines about KASAN do not count."""
    off = "redzone: KASAN is off: nothing was checked; the kernel said: kasan=off"
    result = redzone("run", *options, "--append", "kasan=off", "-DAT=13", source(HEAP), status=0)
    assert result.stderr.splitlines()[-1] == off
    assert "no KASAN report" not in result.stderr
    text = 'int main(void) { return puts("kasan: kasan=off: KASAN is off, nothing is checked") < 0; }'
    result = redzone(
        "run", *options, "--append", "kasan=off kasan=on", source("#include <stdio.h>\n" + text), status=0
    )
    assert "nothing was checked" not in result.stderr


@pytest.mark.rest
def test_a_quiet_kernel_is_no_crash(redzone, source):
    """loglevel= hides no line that the verdict depends on, and no line about the parameters themselves."""
    clean = source("int main(int argc, char **argv) { return argc - 1; }\n")
    quiet = ("run", "--append", "loglevel=0 kasan.fault=x kasan.fualt=panic")
    result = redzone(*quiet, clean, status=0)
    assert 'Malformed kernel parameter kasan.fault="x": expected report|' in result.stdout
    assert 'Unknown kernel command line parameter "kasan.fualt=panic"' in result.stdout
    assert "CPU" not in result.stdout.partition("Malformed")[2]
    result = redzone(*quiet, clean, "--", "one", "two")
    assert (result.returncode, result.stderr.splitlines()[-1]) == (4, "redzone: the program returned 2")
    result = redzone(*quiet, source("int main(void) { __builtin_trap(); }\n"), status=3)
    assert "program.c:1" in result.stderr
    result = redzone(*quiet, "--append", "kasan.fault=panic", source(HEAP), "-DAT=13", status=1)
    assert "Kernel panic - not syncing: " in result.stdout


@pytest.mark.skipif(mteqemu.reason() is not None, reason=str(mteqemu.reason()))
def test_hardware_tags_without_mte(redzone, source):
    result = redzone("run", "--mode", "hw_tags", "--cpu", "cortex-a72", "-DAT=16", source(HEAP), status=0)
    said = "redzone: KASAN is off: nothing was checked; the kernel said: this CPU has no memory tags (MTE)"
    assert result.stderr.splitlines()[-1] == said


@pytest.mark.skipif(mteqemu.reason() is not None, reason=str(mteqemu.reason()))
def test_an_asynchronous_report_has_no_exact_place(redzone, source):
    late = "(asynchronous: the access was earlier; kasan.mode=sync shows where)"
    options = ("--mode", "hw_tags", "-DAT=16")
    result = redzone("run", *options, "--append", "kasan.mode=async", source(HEAP), status=1)
    listed = [line for line in result.stderr.splitlines() if line.startswith("redzone:   1. ")]
    assert len(listed) == 1 and listed[0].endswith(late) and "program.c" not in listed[0]
    assert "\nBoot with kasan.mode=sync to see the access itself.\n" in result.stdout
    assert "Access at " not in result.stdout
    result = redzone("run", *options, source(HEAP))
    assert "program.c:10 in main()" in result.stderr and late not in result.stderr
    assert "Access at program.c:10\n" in result.stdout and "kasan.mode=sync" not in result.stdout


CRASH = "int main(void) { *(volatile int *)0 = 1; return 0; }"
# (options, program, exit status, what is said): the last byte is fine, the end of main() returns 0.
ENDS = (
    (("-DAT=12",), HEAP, 0, "redzone: no KASAN report"),
    (("--inline", "--cc", "gcc", "--smp", "4", "-DAT=13"), HEAP, 1, "program.c:10"),
    (("--no-symbolize", "-DAT=13"), HEAP, 1, "slab-out-of-bounds in main+0x"),
    (("--append", "kasan.fault=panic", "-DAT=13"), HEAP, 1, "Kernel panic - not syncing"),
    (("--mode", "off", "--append", "panic_on_oops=1"), CRASH, 3, "Kernel panic - not syncing"),
    ((), "int main(void) { }", 0, "redzone: no KASAN report"),
    ((), "int main(void) { return 5; }", 4, "redzone: the program returned 5\n"),
    ((), "#include <stdlib.h>\nint main(void) { abort(); }", 4, "redzone: the program aborted"),
)


@pytest.mark.parametrize(("options", "text", "status", "said"), ENDS)
def test_ends(redzone, source, options, text, status, said):
    result = redzone("run", *options, source(text), status=status)
    assert said in result.stdout + result.stderr
    # Lines of source are not for those who do without, and nothing runs after a panic.
    assert "--no-symbolize" not in options or "program.c" not in result.stdout
    assert "Kernel panic" not in said or "done" not in result.stdout.splitlines()


@pytest.mark.rest
def test_hang_ends_at_the_timeout(redzone, source):
    text = '#include <stdio.h>\nint main(void) { puts("now I hang"); for (;;) ; }'
    result = redzone("run", "--timeout", "5", source(text), status=3)
    assert "no end after 5 s" in result.stderr
    assert "the program was in main() at program.c:2" in result.stderr


def test_crash_without_report(redzone, source):
    result = redzone("run", "--mode", "off", source(CRASH), status=3)
    assert "Unable to handle kernel" in result.stdout
    assert "redzone: the program crashed: NULL pointer dereference" in result.stderr
    assert "main() at program.c:1\n" in result.stderr
    assert ">     1 | int main(void)" in result.stderr


def test_arguments_includes_defines_and_several_files(redzone, source):
    source("#define GREETING WORD\nint twice(int n);\n", "include/twice.h")
    main = source(
        "#include <stdio.h>\n#include <twice.h>\n"
        "int main(int argc, char **argv)\n{\n"
        '\tprintf("%s %d\\n", GREETING, twice(21));\n'
        '\tfor (int i = 1; i < argc; i++)\n\t\tprintf("[%s]\\n", argv[i]);\n'
        "\treturn argc == 6 && argv[6] == NULL ? 0 : 1;\n}\n",
        "main.c",
    )
    other = source('#include "twice.h"\nint twice(int n) { return 2 * n; }\n', "twice.c")
    arguments = ("-v", "two words", "--yes", 'q"\\', "")
    result = redzone("run", main, other, "-I", "include", '-DWORD="hello"', "--", *arguments, status=0)
    lines = result.stdout.splitlines()
    for line in ("hello 42", "[-v]", "[two words]", "[--yes]", '[q"\\]', "[]"):
        assert line in lines


def test_odd_names_and_macros(redzone, source):
    text = "#include <stdio.h>\nint main(void) { puts(TEXT); return PLUS(1) != 2; }\n"
    file = source(text, "my dir/odd (1) name's x.c")
    result = redzone("run", file, "-DTEXT=\"a; b # $x ${y} 'c'\"", "-DPLUS(x)=((x) + 1)", status=0)
    assert "a; b # $x ${y} 'c'" in result.stdout


def test_host_files_can_be_read(redzone, source, tmp_path):
    data = bytes(range(256)) * 40
    (tmp_path / "data.bin").write_bytes(data)
    text = (
        "#include <stdio.h>\n"
        "int main(void)\n{\n"
        '\tFILE *f = fopen("input", "r");\n'
        "\tunsigned char b[100];\n\tsize_t n, total = 0;\n\tunsigned sum = 0;\n"
        "\tif (!f)\n\t\treturn 1;\n"
        "\twhile ((n = fread(b, 1, sizeof(b), f)) > 0)\n"
        "\t\tfor (size_t i = 0; i < n; i++, total++)\n\t\t\tsum = sum * 31 + b[i];\n"
        "\tfclose(f);\n"
        '\tprintf("%zu %u\\n", total, sum);\n'
        '\treturn fopen("absent", "r") != NULL;\n}\n'
    )
    result = redzone("run", "--file", "input=data.bin", source(text))
    expected = 0
    for byte in data:
        expected = (expected * 31 + byte) & 0xFFFFFFFF
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(data)} {expected}" in result.stdout


def test_max_reports_stops_the_machine(redzone, source):
    text = (
        "#include <stdlib.h>\n"
        "int main(void)\n{\n\tvolatile char *p = malloc(8);\n\n"
        "\tfor (;;)\n\t\tp[8] = 1;\n}\n"
    )
    result = redzone("run", "--max-reports", "3", source(text), status=1)
    assert len(reports(result.stdout)) == 1
    again = [line for line in result.stdout.splitlines() if line.startswith("redzone: again: ")]
    text = "redzone: again: slab-out-of-bounds, write of 1 byte, program.c:7 in main() (report {})"
    assert again == [text.format(2), text.format(4)]
    assert "4 KASAN reports or more from 1 place:" in result.stderr
    assert "1. slab-out-of-bounds, write of 1 byte, program.c:7 in main(), 4 times or more" in result.stderr
    assert "consequences" not in result.stderr
    assert "stopped after 4 reports (--max-reports 3)" in result.stderr


def test_log_keeps_the_lines_of_the_kernel(redzone, source, tmp_path):
    result = redzone("run", "--log", "console.log", "-DAT=13", source(HEAP))
    log = (tmp_path / "console.log").read_text()
    frames = re.findall(r"^(?:\[[^]]*\] )? \S+\+0x[0-9a-f]+/0x[0-9a-f]+$", log, re.MULTILINE)
    assert frames
    assert "program.c:10" not in log
    assert result.returncode == 1


def test_icount_runs_are_identical(redzone, source):
    file = source(HEAP)
    first, second = (redzone("run", "--icount", "-DAT=13", file) for _ in range(2))
    assert first.returncode == second.returncode == 1
    assert first.stdout == second.stdout


def test_colour_and_progress_on_a_terminal_only(redzone, source):
    status, output = redzone.on_terminal("run", "-DAT=13", source(HEAP))
    assert status == 1
    assert "\033[" in output
    assert "BUG: KASAN: slab-out-of-bounds" in re.sub(r"\033\[[0-9;]*m", "", output)


def test_two_runs_at_once(redzone, source):
    processes = []
    for name, at in (("one.c", 13), ("two.c", 12)):
        processes.append(redzone.start("run", f"-DAT={at}", source(HEAP, name)))
    ends = [(one.communicate(timeout=300), one.returncode) for one in processes]
    assert [status for _, status in ends] == [1, 0], ends


def test_older_file_under_the_same_name(redzone, source, tmp_path):
    """A changed source is compiled even if its time says that it is older than the last build."""
    import os

    file = source("int main(void) { return 0; }")
    redzone("run", file, status=0)
    source("int main(void) { return 7; }")
    os.utime(file, (1, 1))
    redzone("run", file, status=4)


def test_no_machine_stays_behind(redzone, source):
    """A command that is ended by a signal ends its QEMU as well."""
    running = redzone.start("run", source('#include <stdio.h>\nint main(void) { puts("up"); for (;;) ; }'))
    while running.stdout.readline().strip() != "up":
        assert running.poll() is None
    machines = processes.machines(running.pid)
    assert len(machines) == 1
    running.terminate()
    running.communicate(timeout=20)
    assert running.returncode == 130
    assert not processes.state(machines[0])


def test_closed_pipe(redzone):
    """`./redzone run | head -1` ends quietly."""
    command = f"{redzone.root}/redzone run {redzone.root}/examples/heap_bugs.c 2>err.txt | head -1"
    result = process.run(command, shell=True, cwd=redzone.folder, env=redzone.environment(), timeout=300)
    assert len(result.stdout.splitlines()) == 1
    assert "Traceback" not in (redzone.folder / "err.txt").read_text()


CLASH = """\
#include <stdlib.h>

static volatile int panic;
void sort(int *a, int n);
int schedule(void);

void sort(int *a, int n)
{
	for (int i = 1; i <= n; i++)
		if (a[i - 1] > a[i])
			a[i] = a[i - 1];
}

int schedule(void)
{
	return panic;
}

int main(void)
{
	int *a = calloc(4, sizeof(int));

	sort(a, 4 + schedule());
	free(a);
	return 0;
}
"""


def test_program_may_use_the_kernels_names(redzone, source):
    result = redzone("run", source(CLASH), status=1)
    assert reports(result.stdout)[0][0] == "slab-out-of-bounds"
    assert "\nsort() at program.c:10 read 4 bytes" in result.stdout
