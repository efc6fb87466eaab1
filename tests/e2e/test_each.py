# SPDX-License-Identifier: MIT
"""`./redzone run --each`: many programs in one boot, a verdict each, whatever the others do."""

import json
import re

import pytest
from redzone.machine import console, qemu
from redzone.run import each, each_build
from redzone.testing.needs import first

PROGRAMS = {
    # Names clash on purpose: each file is a separate program.
    "clean": "int helper(void) { return 0; }\nint main(void) { return helper(); }\n",
    "uaf": (
        "#include <stdlib.h>\n#include <stdio.h>\n"
        "int helper(void) { return 1; }\n"
        # The kernel has a function with this name.
        "static __attribute__((noinline)) void sort(volatile char *p)\n{\n\tp[3] = 1;\n}\n"
        "int main(void)\n{\n\tvolatile char *p = malloc(10);\n\tfree((void *)p);\n\tsort(p);\n"
        '\tprintf("went on\\n");\n\treturn helper();\n}\n'
    ),
    "hang": "int main(void)\n{\n\tvolatile int go = 1;\n\twhile (go)\n\t\tcontinue;\n\treturn 0;\n}\n",
    "deep": (
        "int helper(int n)\n{\n\tvolatile char a[1000];\n\ta[n % 1000] = 1;\n"
        "\treturn n < 0 ? 0 : helper(n + 1) + a[5];\n}\nint main(void) { return helper(0); }\n"
    ),
    "trap": "int main(void) { __builtin_trap(); }\n",
    "status": "int main(void) { return 3; }\n",
    # A name that looks like a comment after a result.
    "a # crashed": "int helper(void) { return 0; }\nint main(void) { return helper(); }\n",
    "arguments": (
        "#include <string.h>\nint main(int argc, char **argv)\n{\n"
        '\treturn argc != 2 || strcmp(argv[0], "arguments") || strcmp(strtok(argv[1], " "), "an");\n}\n'
    ),
}
# Allocates 150 MiB, and never frees them.
LEAK = (
    "#include <stdlib.h>\n#include <string.h>\nint main(void)\n{\n\tfor (int i = 0; i < 150; i++) {\n"
    "\t\tchar *p = malloc(1 << 20);\n\t\tif (!p)\n\t\t\treturn 1;\n\t\tmemset(p, 1, 1 << 20);\n\t}\n"
    "\treturn 0;\n}\n"
)


@pytest.fixture
def files(redzone):
    for name, text in PROGRAMS.items():
        (redzone.folder / f"{name}.c").write_text(text, encoding="utf-8")
    return [f"{name}.c" for name in PROGRAMS]


@first(1, "cc", ["clang-19", "gcc"])
def test_one_verdict_each(redzone, files, cc):
    options = ["--each", "--cc", cc, "--timeout", "10", "--json", "out.json", "--log", "console"]
    result = redzone("run", *options, *files, "--", "an argument", status=1)
    lines = result.stdout.splitlines()
    assert lines[:2] == ["KTAP version 1", "1..8"]
    assert [line.partition(".c")[0] for line in lines[2:]] == [
        "ok 1 clean",
        "not ok 2 uaf",
        "not ok 3 hang",
        "not ok 4 deep",
        "not ok 5 trap",
        "not ok 6 status",
        "ok 7 a \\# crashed",
        "ok 8 arguments",
    ]
    assert lines[3].endswith("# KASAN: slab-use-after-free, write of 1 byte, uaf.c:6 in sort()") or lines[
        3
    ].endswith("uaf.c:6 in sort.constprop.0()")
    assert re.search(r"overflowed its stack \([18] MiB\): helper\(\) at deep\.c:", lines[5])
    assert "main() at trap.c:1" in lines[6]
    assert "8 programs in 2 boots: 3 passed, 5 failed" in result.stderr
    data = json.loads((redzone.folder / "out.json").read_text(encoding="utf-8"))
    assert (data["passed"], data["failed"]) == (3, 5)
    ends = [program["end"] for program in data["programs"]]
    assert ends == ["ok", "report", "timeout", "crash", "crash", "status", "ok", "ok"]
    report = data["programs"][1]["report"]
    assert (report["type"], report["access"], report["size"]) == ("slab-use-after-free", "write", 1)
    assert (data["programs"][1]["source"]["file"], data["programs"][1]["source"]["line"]) == ("uaf.c", 6)
    # A program ends at its first report.
    assert "went on" not in (redzone.folder / "console").read_text(encoding="utf-8")


def test_one_bug_of_two_programs(redzone, source):
    """The call traces begin with the same frames of the library: each program still has a whole report."""
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void)\n{\n"
        '\tchar *p = malloc(10);\n\tstrcpy(p, "text");\n\tfree(p);\n\tprintf("%s\\n", p);\n\treturn 0;\n}\n'
    )
    names = [source(text, f"{name}.c") for name in ("one", "two")]
    redzone("run", "--each", "--json", "out.json", "--log", "console", *names, status=1)
    console = (redzone.folder / "console").read_text(encoding="utf-8")
    assert console.count("BUG: KASAN: slab-use-after-free") == 2, console
    programs = json.loads((redzone.folder / "out.json").read_text(encoding="utf-8"))["programs"]
    assert [program["end"] for program in programs] == ["report", "report"]
    places = [(program["source"]["file"], program["source"]["line"]) for program in programs]
    assert places == [("one.c", 9), ("two.c", 9)]


def test_all_clean(redzone, files):
    result = redzone("run", "--each", "clean.c", "a # crashed.c", status=0)
    assert result.stdout.splitlines()[2:] == ["ok 1 clean.c", "ok 2 a \\# crashed.c"]


def test_memory_of_others(redzone, source):
    """The memory that one program leaks is available to the next."""
    names = [source(LEAK, f"leak{number}.c").name for number in range(4)]
    result = redzone("run", "--each", "--mem", "256M", *names, status=0)
    assert "4 programs in 4 boots: 4 passed, 0 failed" in result.stderr


def test_without_kasan(redzone, files):
    result = redzone("run", "--each", "--mode", "off", "clean.c", "status.c", status=4)
    assert "KASAN is off" in result.stderr


BROKEN = {
    "part.c": "int part(void) { return 0; }\n",
    "syntax.c": "int main(void) { return 0 }\n",
    "lacks.c": "int nowhere(void);\nint main(void) { return nowhere(); }\n",
    "status.c": PROGRAMS["status"],
    "clean.c": PROGRAMS["clean"],
}


@first(1, "cc", ["clang-19", "gcc"])
def test_files_that_are_no_programs(redzone, source, cc):
    """Each has its own verdict, in its place, and the others run. A folder stands for its files."""
    for name, text in BROKEN.items():
        source(text, f"a folder/{name}")
    source("no C", "a folder/notes.txt")
    source(BROKEN["lacks.c"], "last.c")
    result = redzone("run", "--each", "--cc", cc, "--json", "out.json", "a folder", "last.c", status=2)
    lines = result.stdout.splitlines()
    assert [line for line in lines if not line.startswith("# ")] == [
        "KTAP version 1",
        "1..6",
        "ok 1 a folder/clean.c",
        "not ok 2 a folder/lacks.c # does not link",
        "not ok 3 a folder/part.c # has no main()",
        "not ok 4 a folder/status.c # the program returned 3",
        "not ok 5 a folder/syntax.c # does not compile",
        "not ok 6 last.c # does not link",
    ]
    assert "# undefined symbol: nowhere" in lines
    assert [line for line in lines if line.startswith("# a folder/syntax.c:1:")]
    programs = json.loads((redzone.folder / "out.json").read_text(encoding="utf-8"))["programs"]
    assert [program["end"] for program in programs] == ["ok", "build", "build", "status", "build", "build"]
    assert any("syntax.c:1:" in message for message in programs[4]["messages"])


def test_only_files_that_are_no_programs(redzone, source):
    result = redzone("run", "--each", source(BROKEN["syntax.c"]), status=2)
    assert "1 program in 0 boots: 0 passed, 1 failed" in result.stderr


def test_folder_without_sources(redzone):
    (redzone.folder / "empty").mkdir()
    result = redzone("run", "--each", "empty", status=2)
    assert "the folder 'empty' has no .c files" in result.stderr


def test_parameters_without_effect(redzone, files):
    parameters = "panic_on_warn=1 kasan.fault=panic"
    result = redzone("run", "--each", "--append", parameters, "uaf.c", "clean.c", status=1)
    assert f"redzone: {parameters}: no effect with --each" in result.stderr
    assert result.stdout.splitlines()[-1] == "ok 2 clean.c"
    assert "1 boot:" in result.stderr
    result = redzone("run", "--each", "--append", "panic_on_warn=0 kasan.fault=report", "clean.c")
    assert "no effect" not in result.stderr


def test_a_program_that_says_it_is_another(redzone, source):
    """A program's output never is a verdict, even if it looks like the kernel's."""
    lines = [
        "ok 1 spoof",
        "[    0.300000] ok 1 spoof",
        "[    0.300000] # each : 1 ends: returned 0",
        "[    0.300000] # each 0123456789abcdef: 1 ends: returned 0",
        "=" * 66,
        "BUG: KASAN: use-after-free in f+0x4/0x8",
        "[    0.300000] " + "=" * 66,
        "[    0.300000] BUG: KASAN: use-after-free in f+0x4/0x8",
        "[    0.300000] " + "=" * 66,
    ]
    text = "".join(f'\tputs("{line}");\n' for line in lines)
    spoof = "#include <stdio.h>\nint main(void)\n{{\n{}\treturn {};\n}}\n"
    source(spoof.format(text, 5), "spoof.c")
    source(spoof.format(text, 0), "clean.c")
    result = redzone("run", "--each", "spoof.c", "clean.c", status=4)
    assert result.stdout.splitlines()[2:] == ["not ok 1 spoof.c # the program returned 5", "ok 2 clean.c"]


CONSTRUCTORS = {
    "heap": (
        "#include <stdio.h>\n#include <stdlib.h>\nstatic char *p;\nstatic int step;\n"
        "__attribute__((constructor)) static void second(void) { step = p && step == 1 ? 2 : 9; }\n"
        "__attribute__((constructor(200))) static void first(void) { p = malloc(10); step++; }\n"
        '__attribute__((destructor)) static void last(void) { free(p); puts("heap: last"); }\n'
        'int main(void) { puts("heap: main"); return step != 2; }\n'
    ),
    "bug": (
        "static char g[10];\nstatic volatile int at = 10;\n"
        "__attribute__((constructor)) static void bad(void) { g[at] = 1; }\n"
        "int main(void) { return g[3]; }\n"
    ),
    "own": (
        "static int mine;\n__attribute__((constructor)) static void add(void) { mine++; }\n"
        "int main(void) { return mine != 1; }\n"
    ),
}


@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
def test_constructors(redzone, source, cc):
    """Constructors run after memory is set up, and only those of the running program."""
    names = [source(text, f"{name}.c").name for name, text in CONSTRUCTORS.items()]
    result = redzone("run", "--each", "--cc", cc, "--log", "console", *names, status=1)
    assert result.stdout.splitlines()[2:] == [
        "ok 1 heap.c",
        "not ok 2 bug.c # KASAN: global-out-of-bounds, write of 1 byte, bug.c:3 in bad()",
        "ok 3 own.c",
    ]
    assert "1 boot:" in result.stderr
    console_text = (redzone.folder / "console").read_text(encoding="utf-8")
    assert console_text.index("heap: main") < console_text.index("heap: last")


@first(1, "cc", ["clang-19", "gcc"])
def test_constructors_of_one_program(redzone, source, cc):
    """The same without --each, from two files. The C library's exit() runs the destructors as well."""
    heap = source(CONSTRUCTORS["heap"].replace("return step", "exit(step").replace("2; }\n", "2); }\n"))
    other = source(CONSTRUCTORS["own"].partition("int main")[0], "other.c")
    result = redzone("run", "--cc", cc, heap.name, other.name, status=0)
    assert "heap: main\nheap: last\n" in result.stdout


def test_boot_that_fails(redzone, source):
    """The JSON file says so; it is not left from an earlier run."""
    big = source("volatile char big[60 << 20];\nint main(void) { return big[1]; }\n", "big.c").name
    redzone("run", "--each", "--mem", "64M", "--json", "out.json", big, status=2)
    data = json.loads((redzone.folder / "out.json").read_text(encoding="utf-8"))
    assert data["programs"] == [] and "too large to fit in RAM" in data["error"]


# A program of many megabytes.
BIG = "char big[{size} << 20];\nint main(void)\n{{\n\tbig[sizeof(big) - 1] = 1;\n\treturn {end};\n}}\n"


@pytest.mark.rest
def test_more_programs_than_fit_in_one_image(redzone, source):
    """They are divided among images, and give one result: every file in its place, as for one image."""
    bug = PROGRAMS["uaf"].replace("int helper", f"char big[{40 << 20}];\nint helper")
    for name, text in (
        ("one.c", BIG.format(size=40, end="0")),
        ("broken.c", BROKEN["syntax.c"]),
        ("bug.c", bug),
        ("huge.c", BIG.format(size=200, end="0")),
        ("four.c", BIG.format(size=40, end="4")),
        ("last.c", BIG.format(size=40, end="big[0]")),
    ):
        source(text, name)
    names = ["one.c", "broken.c", "bug.c", "huge.c", "four.c", "last.c"]
    options = ["--each", "--mem", "1G", "--json", "out.json", "--log", "console", "--html", "page.html"]
    result = redzone("run", *options, *names, status=1)
    assert [line for line in result.stdout.splitlines() if not line.startswith("# ")] == [
        "KTAP version 1",
        "1..6",
        "ok 1 one.c",
        "not ok 2 broken.c # does not compile",
        "not ok 3 bug.c # KASAN: slab-use-after-free, write of 1 byte, bug.c:7 in sort()",
        "not ok 4 huge.c # is too large for the kernel's image: 200 MiB of memory",
        "not ok 5 four.c # the program returned 4",
        "ok 6 last.c",
    ]
    assert re.search(r"5 programs with 3\d\d MiB .* too many for one image; they get 5", result.stderr)
    assert "6 programs in 4 boots: 2 passed, 4 failed" in result.stderr
    assert "no lines of source" in result.stderr
    assert "slab-use-after-free" in (redzone.folder / "page.html").read_text(encoding="utf-8")
    programs = json.loads((redzone.folder / "out.json").read_text(encoding="utf-8"))["programs"]
    assert [program["number"] for program in programs] == [1, 2, 3, 4, 5, 6]
    ends = ["ok", "build", "report", "build", "status", "ok"]
    assert [program["end"] for program in programs] == ends
    assert "larger than its address space" in "".join(programs[3]["messages"])
    assert programs[2]["source"] == {"file": "bug.c", "line": 7, "function": "sort"}
    assert (redzone.folder / "console").read_text(encoding="utf-8").count(" begins") == 4


@pytest.mark.parametrize(
    ("megabytes", "groups"),
    [
        ([1, 1, 1, 1], [[2, 3, 5, 7]]),
        ([30, 30, 30, 30], [[2, 3], [5, 7]]),
        ([200, 1, 63, 1], [[2], [3, 5], [7]]),
        ([0, 64, 0, 1], [[2, 3, 5], [7]]),
    ],
)
def test_programs_are_divided_in_their_order(megabytes, groups):
    sizes = [count << 20 for count in megabytes]
    assert each_build.divide([2, 3, 5, 7], sizes) == groups


CONSOLE = """\
[    0.100000] KTAP version 1
[    0.100000] 1..3
[    0.100000] # each KEY: 1 begins
hello
[    0.200000] ok 1 one
[    0.200000] # each KEY: 1 ends: returned 0
[    0.200000] # each KEY: 2 begins
"""


def test_machine_that_hangs(monkeypatch):
    """If a program hangs the kernel as well, its machine is ended. The others run in another machine."""
    started = []

    def boot(target, on_line):
        reader = console.Reader()
        started.append(target.append[-1])
        text = (
            CONSOLE
            if len(started) == 1
            else "[    0.100000] # each KEY: 3 begins\n[    0.100000] # each KEY: 3 ends: crashed"
        )
        restarts = [on_line(line, *reader.feed(line)) for line in text.splitlines()]
        if len(started) == 1:
            assert restarts == [False, False, True, False, False, True, True]
        return qemu.Outcome(3, "no end after 70 s", None, reader, 70.0, len(started) != 1)

    monkeypatch.setattr(qemu, "boot", boot)
    verdicts, log = [], []
    follower = each.Follower(
        ["one.c", "two.c", "three.c"], ["one.c", "two.c", "three.c"], None, verdicts.append
    )
    follower.key = "KEY"
    assert each.boots(qemu.Machine(None, timeout=10.0), follower, log.append)[0] == 2
    assert started == ["each.first=1", "each.first=3"]
    assert [(verdict.number, verdict.end) for verdict in verdicts] == [
        (1, "ok"),
        (2, "timeout"),
        (3, "crash"),
    ]
    assert verdicts[1].title == "no end, and the kernel hangs with it"
    assert "\n".join(log).startswith(CONSOLE)
