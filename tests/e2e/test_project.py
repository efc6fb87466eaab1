# SPDX-License-Identifier: MIT
"""Code of others: the compiler's runtime, poison by programs, projects, objects, archives, parts of many."""

import json
import re
import shutil
import subprocess

import pytest
from redzone.core import process
from redzone.core.base import Failure
from redzone.run import inputs, project
from redzone.testing.needs import first

RUNTIME = """\
#include <stdio.h>

#if defined(__linux__) || defined(__unix__) || defined(linux) || defined(unix) || defined(__gnu_linux__)
#error the program does not run on Linux
#endif
typedef unsigned __int128 wide;
int __popcountdi2(long), __popcountti2(__int128), __paritydi2(long);
int __clzdi2(long), __ctzdi2(long), __ffsdi2(long);

int main(int argc, char **argv)
{
	volatile wide a = ((wide)0x0123456789abcdefUL << 64) | 0xfedcba9876543210UL, b = 1000000007;
	volatile __int128 negative = -(__int128)a;
	volatile int shift = 3;
	wide product;
	int overflows = __builtin_mul_overflow(a, a, &product);
	wide q = a / b, r = a % b;

	printf("%d", q * b + r == a && r < b);
	printf("%d", negative / (__int128)b == -(__int128)q);
	printf("%d", negative % (__int128)b == -(__int128)r);
	printf("%d%d", overflows, a << shift >> shift == ((a << 3) >> 3));
	printf("%d", __popcountdi2(0xff0f) == 12 && __popcountti2((wide)7 << 64 | 1) == 4 && __paritydi2(7) == 1);
	printf("%d", __clzdi2(1) == 63 && __ctzdi2(8) == 3 && __ffsdi2(8) == 4);
	volatile long double x = shift, third = x / 7;

	printf("%d", third > 0.428L && third < 0.429L && (long)(third * 7000) == 3000 && (double)third < 0.43);
	__builtin___clear_cache((char *)main, (char *)main + 64);
	printf("\\n");
	return 0;
}
"""


@first(1, "cc", ["clang-19", "gcc"])
def test_compiler_runtime(redzone, source, cc):
    """Division and multiplication of 128 bits, and the rest that compilers call."""
    result = redzone("run", "--cc", cc, source(RUNTIME), status=0)
    assert "\n11111111\n" in result.stdout


POISON = """\
#include <stdio.h>
#include <stdlib.h>
#include <sanitizer/asan_interface.h>

#if defined(__SANITIZE_ADDRESS__)
#define CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECKED 1
#endif
#endif
#ifndef CHECKED
#define CHECKED 0
#endif

int main(void)
{
	volatile char *p = malloc(100);

	ASAN_POISON_MEMORY_REGION(p + 32, 32);
	printf("checked %d, poisoned %d%d%d\\n", CHECKED, __asan_address_is_poisoned(p + 31),
		__asan_address_is_poisoned(p + 32), __asan_address_is_poisoned(p + 64));
	__asan_describe_address((void *)(p + 40));
	p[31] = 1;
	p[40] = 2;
	ASAN_UNPOISON_MEMORY_REGION(p + 32, 32);
	p[40] = 3;
	ASAN_POISON_MEMORY_REGION(p, 100);
	free((void *)p);
	return 0;
}
"""


def test_poison_by_a_program(redzone, source):
    result = redzone("run", source(POISON), status=1)
    assert "checked 1, poisoned 010" in result.stdout
    assert "40 bytes inside of an allocated 100-byte region" in result.stdout
    assert result.stdout.count("BUG: KASAN: ") == 1
    assert "BUG: KASAN: use-after-poison in main" in result.stdout
    assert "\nmain() at program.c:25 " in result.stdout


def test_poison_without_kasan(redzone, source):
    result = redzone("run", "--mode", "off", source(POISON), status=0)
    assert "checked 0, poisoned 000" in result.stdout


# --- Projects ---


@pytest.fixture
def made(tmp_path):
    """A project of two targets, one of which has a file in assembly."""
    folder = tmp_path / "project"
    (folder / "include").mkdir(parents=True)
    (folder / "main.c").write_text(
        '#include <stdio.h>\n#include "conf.h"\n#include FORCED\n'
        "int twice(int);\nint value(void);\n"
        "int main(void)\n{\n\tint unused;\n\n"
        '\tprintf("%s %d %d %ld\\n", NAME, twice(N), value(), __STDC_VERSION__);\n\treturn 0;\n}\n'
    )
    (folder / "twice.c").write_text("int twice(int n)\n{\n\treturn n * FACTOR;\n}\n")
    (folder / "value.S").write_text("\t.text\n\t.global value\nvalue:\n\tmov w0, #VALUE\n\tret\n")
    (folder / "include" / "conf.h").write_text('#define NAME "configured"\n')
    (folder / "forced.h").write_text("#define N 21\n")
    (folder / "words").write_text('-Iinclude\n"-DFORCED=\\"forced.h\\""\n')

    def entry(file, target, words):
        output = f"CMakeFiles/{target}.dir/{file}.o"
        return {
            "directory": str(folder),
            "file": file,
            "command": f"/usr/bin/cc {words} -o {output} -c {file}",
            "output": output,
        }

    entries = [
        entry(
            "main.c", "app", "@words -march=native -fPIC -std=c11 -Wall -Werror -include forced.h -MD -MF x.d"
        ),
        entry("twice.c", "app", "-DFACTOR=2 -isystem /usr/include --sysroot=/nowhere -m64 -O1"),
        entry("value.S", "app", "-DVALUE=7"),
        entry("twice.c", "other", "-DFACTOR=3"),
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return folder


def test_project(redzone, made):
    result = redzone("run", "--project", made, "--target", "app", status=0)
    assert "configured 42 7 201112" in result.stdout
    assert "unused" not in result.stderr
    result = redzone(
        "run", "--project", made / "compile_commands.json", "--target", "app", "--warnings", status=0
    )
    assert "unused variable" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "by the targets app and other; name one with --target, not both; there are: app, other"),
        (("--target", "no"), "the project has no such target; there are: app, other"),
        (("--each", "main.c"), "--each and --project exclude each other"),
    ],
)
def test_project_usage(redzone, made, options, message):
    result = redzone("run", "--project", made, *options, status=2)
    assert message in result.stderr


def test_project_files_that_are_none(redzone, tmp_path):
    for text, message in (("{", "is not a compile_commands.json"), ("[]", "has no C files")):
        (tmp_path / "commands.json").write_text(text)
        result = redzone("run", "--project", tmp_path / "commands.json", status=2)
        assert message in result.stderr
    result = redzone("run", "--project", tmp_path / "nowhere.json")
    assert "cannot be read: No such file" in result.stderr


def test_options_that_apply(tmp_path):
    words = "-I inc -Iabs -DA=1 -D B -U C -std=gnu89 -O2 -g -fPIC -fwrapv -fno-strict-aliasing -flto -mavx"
    words += " -pthread -D_FORTIFY_SOURCE=2 -isystem /usr/include/x -I/usr/include -o a.o -c a.c -Wall -Wl,-z"
    words += " -Xclang -Ofast --param x=1 -MF d --target=x86_64 --sysroot=/s -include pre.h"
    kept = project.options_of(words.split(), tmp_path)
    assert kept == [
        *("-I", f"{tmp_path}/inc", "-I", f"{tmp_path}/abs", "-DA=1", "-DB", "-UC", "-std=gnu89", "-O2"),
        *("-fwrapv", "-fno-strict-aliasing", "-include", "pre.h"),
    ]
    assert "-Wall" in project.options_of(words.split(), tmp_path, warnings=True)


@pytest.mark.rest
def test_table_of_what_is_missing(redzone, tmp_path):
    """Files go on after the first that fails, and the functions are those of all files that compile."""
    (tmp_path / "a.c").write_text("#include <nowhere.h>\nint defined_in_a(void) { return 0; }\n")
    (tmp_path / "b.c").write_text("#include <sys/nowhere.h>\n#include <nowhere.h>\nint b;\n")
    (tmp_path / "c.c").write_text("int absent(int);\nint other(int n) { return absent(n); }\n")
    (tmp_path / "main.c").write_text(
        "int absent(int), other(int), defined_in_a(void);\n"
        "int main(void) { return absent(1) + other(2) + defined_in_a(); }\n"
    )
    result = redzone("run", "a.c", "b.c", "c.c", "main.c", status=2)
    table = result.stderr.partition("missing, and the files that need it:\n")[2].splitlines()
    assert [line.split(maxsplit=2) for line in table] == [
        ["header", "nowhere.h", "a.c"],
        ["header", "sys/nowhere.h", "b.c"],
        ["function", "absent", "c.c, main.c"],
    ]
    status, output = redzone.on_terminal("run", "a.c", "main.c")
    assert status == 2
    # The lines of the drawing.
    assert "┃" in output and "│ nowhere.h │ a.c" in output


# --- Inputs ---


def test_words_of_a_file_objects_archives_and_folders(redzone, tmp_path):
    """What a cross compiler made of a part of the program, in an object, an archive and from a folder."""
    compiler = shutil.which("clang-19")
    (tmp_path / "parts").mkdir()
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.c").write_text(f"int {name}(void)\n{{\n\treturn {value};\n}}\n")
        subprocess.run(
            [compiler, "--target=aarch64-none-elf", "-c", f"{name}.c", "-o", f"{name}.o"],
            cwd=tmp_path,
            check=True,
        )
    subprocess.run(["llvm-ar-19", "rcs", "libtwo.a", "two.o"], cwd=tmp_path, check=True)
    (tmp_path / "parts" / "three.c").write_text("int three(void)\n{\n\treturn THREE;\n}\n")
    (tmp_path / "parts" / "four.S").write_text("\t.text\n\t.global four\nfour:\n\tmov w0, #4\n\tret\n")
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nint one(void), two(void), three(void), four(void);\n"
        'int main(void)\n{\n\tprintf("%d%d%d%d\\n", one(), two(), three(), four());\n\treturn 0;\n}\n'
    )
    (tmp_path / "words.txt").write_text('-D "THREE=1 + 2"\nparts one.o\nlibtwo.a\n')
    result = redzone("run", "main.c", "@words.txt", status=0)
    assert "\n1234\n" in result.stdout


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("host.o", None, "is not an object file for arm64, but one for x86_64"),
        ("text.o", b"no object", "is not an object file"),
        ("text.a", b"no archive", "is not an archive"),
    ],
)
def test_objects_that_cannot_be_used(redzone, tmp_path, name, data, message):
    if data is None:
        (tmp_path / "x.c").write_text("int x;\n")
        command = ["clang-19", "--target=x86_64-linux-gnu", "-c", "x.c", "-o", name]
        subprocess.run(command, cwd=tmp_path, check=True)
    else:
        (tmp_path / name).write_bytes(data)
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    result = redzone("run", "main.c", name, status=2)
    assert message in result.stderr


# --- Many programs ---

EACH = ("run", "--each", "--library", "lib")


@pytest.fixture
def many(tmp_path):
    """Programs over one library with state of its own."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "count.c").write_text("static int state;\nint count(void)\n{\n\treturn ++state;\n}\n")
    (tmp_path / "lib" / "unused.c").write_text(
        "int nowhere(void);\nint unused(void)\n{\n\treturn nowhere();\n}\n"
    )
    for name, value in (("a", 0), ("b", 1), ("c", 0)):
        (tmp_path / f"{name}.c").write_text(
            f"int count(void);\n\nint main(void)\n{{\n\treturn count() == 1 ? {value} : 9;\n}}\n"
        )
    return tmp_path


@pytest.mark.rest
def test_library_and_parts(redzone, many):
    """Each program has the library's state for itself; the parts together are the whole."""
    files = ["a.c", "b.c", "c.c"]
    for part in ("1/2", "2/2"):
        json_file = f"{part[0]}.json"
        words = (*EACH, "--shard", part, "--json", json_file, *files)
        result = redzone(*words, status=0 if part == "1/2" else 4)
        assert f"part {part[0]} of 2 (--shard)" in result.stderr
    first = json.loads((many / "1.json").read_text())
    assert [(record["number"], record["file"]) for record in first["programs"]] == [(1, "a.c"), (3, "c.c")]
    assert first["shard"] == {"index": 1, "count": 2, "total": 3}
    result = redzone("merge", "2.json", "1.json", "--json", "all.json", status=4)
    assert result.stdout.splitlines() == [
        "KTAP version 1",
        "1..3",
        "ok 1 a.c",
        "not ok 2 b.c # the program returned 1",
        "ok 3 c.c",
    ]
    assert "3 programs in 2 parts: 2 passed, 1 failed" in result.stderr
    merged = json.loads((many / "all.json").read_text())
    assert (merged["passed"], merged["failed"], len(merged["programs"])) == (2, 1, 3)
    for arguments, message in (
        (("1.json",), "of 2 parts these are not there: 2"),
        (("1.json", "1.json"), "are both part 1"),
        (("1.json", "all.json"), "is part of another run"),
        (("nowhere.json",), "cannot be read"),
    ):
        result = redzone("merge", *arguments, status=2)
        assert message in result.stderr


def test_table_of_many_programs(redzone, many):
    (many / "b.c").write_text("#include <nowhere.h>\n")
    (many / "c.c").write_text("int absent(void);\nint main(void)\n{\n\treturn absent();\n}\n")
    result = redzone(*EACH, "a.c", "b.c", "c.c", status=2)
    assert "ok 1 a.c" in result.stdout
    table = result.stderr.partition("missing, and the files that need it:\n")[2].splitlines()
    assert [line.split() for line in table] == [["header", "nowhere.h", "b.c"], ["function", "absent", "c.c"]]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"TEST_TOTAL_SHARDS": "3", "TEST_SHARD_INDEX": "0"}, (1, 3)),
        ({"CI_NODE_TOTAL": "3", "CI_NODE_INDEX": "3"}, (3, 3)),
        ({"CIRCLE_NODE_TOTAL": "2", "CIRCLE_NODE_INDEX": "1"}, (2, 2)),
        ({"BUILDKITE_PARALLEL_JOB_COUNT": "2", "BUILDKITE_PARALLEL_JOB": "0"}, (1, 2)),
        ({"CI_NODE_TOTAL": "1", "CI_NODE_INDEX": "1"}, None),
        ({"CI_NODE_TOTAL": "3"}, None),
    ],
)
def test_parts_that_ci_systems_ask_for(variables, expected, tmp_path):
    part = inputs.shard_of(None, variables)
    assert (None if part is None else (part.index, part.count)) == expected
    assert inputs.shard_of("2/5", variables).index == 2
    if "TEST_TOTAL_SHARDS" in variables:
        inputs.shard_of(None, {**variables, "TEST_SHARD_STATUS_FILE": str(tmp_path / "status")})
        assert (tmp_path / "status").exists()


def test_every_program_is_in_one_part():
    for count in range(1, 8):
        parts = [inputs.Shard(index, count, "").mine("abcde") for index in range(1, count + 1)]
        assert sorted(item for part in parts for item in part) == list(enumerate("abcde", 1))


@pytest.mark.parametrize("index", ["4", "0", "x"])
def test_parts_that_are_none(index):
    with pytest.raises(Failure, match="CI_NODE_INDEX"):
        inputs.shard_of(None, {"CI_NODE_TOTAL": "3", "CI_NODE_INDEX": index})


def test_part_from_the_environment(redzone, many):
    result = redzone(*EACH, "a.c", "b.c", "c.c", CI_NODE_TOTAL="3", CI_NODE_INDEX="2", status=4)
    assert "part 2 of 3 (CI_NODE_INDEX): 1 of 3 programs" in result.stderr
    assert "not ok 1 b.c" in result.stdout


# A project as people write them: a library and its test program, floating point, several headers.
CMAKE = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.16)
project(shapes LANGUAGES C)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
add_compile_options(-Wall -Werror)
add_library(shapes STATIC src/circle.c src/polygon.c)
target_include_directories(shapes PUBLIC include PRIVATE src)
target_compile_definitions(shapes PRIVATE SHAPES_UNIT=2.0)
target_link_libraries(shapes PUBLIC m)
add_executable(selftest test/selftest.c)
target_link_libraries(selftest PRIVATE shapes)
add_executable(benchmark test/benchmark.c)
""",
    "include/shapes.h": """\
#pragma once
#include <stddef.h>
struct point { double x, y; };
double circle_area(double r);
double polygon_area(const struct point *points, size_t count);
char *polygon_text(const struct point *points, size_t count);
""",
    "src/unit.h": "static inline double units(double x)\n{\n\treturn x * SHAPES_UNIT;\n}\n",
    "src/circle.c": """\
#include <math.h>
#include "shapes.h"
#include "unit.h"
double circle_area(double r)
{
	return acos(-1) * pow(units(r), 2);
}
""",
    "src/polygon.c": """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "shapes.h"
#include "unit.h"
double polygon_area(const struct point *points, size_t count)
{
	double sum = 0;
	for (size_t i = 0, j = count - 1; i < count; j = i++)
		sum += units(points[j].x) * units(points[i].y) - units(points[i].x) * units(points[j].y);
	return fabs(sum) / 2;
}
char *polygon_text(const struct point *points, size_t count)
{
	char *text = malloc(count * 16 + 1), *end = text;
	for (size_t i = 0; i < count; i++)
		end += sprintf(end, "(%.3f %.3f) ", points[i].x, points[i].y);
	return text;
}
""",
    "test/selftest.c": """\
#include <assert.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <shapes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv)
{
	struct point square[] = {{0, 0}, {1.5, 0}, {1.5, 1.5}, {0, 1.5}};
	double scale = argc > 1 ? strtod(argv[1], NULL) : 1;
	char text[32];
	time_t then = 0;

	assert(setlocale(LC_ALL, "C"));
	for (size_t i = 0; i < 4; i++)
		square[i].x *= scale;
	printf("%.6f %g %s\\n", circle_area(0.5), polygon_area(square, 4) / scale, polygon_text(square, 4));
	strftime(text, sizeof(text), "%Y", gmtime(&then));
	errno = 0;
	strtod("1e999", NULL);
	return strcmp(text, "1970") || errno != ERANGE || DBL_DIG != 15;
}
""",
    "test/benchmark.c": "int main(void)\n{\n\treturn 1;\n}\n",
}


@first(1, "cc", ["clang-19", "gcc"])
def test_project_of_cmake(redzone, source, tmp_path, cc):
    """Two targets of a project that CMake has configured, unmodified, with the options of each."""
    for name, text in CMAKE.items():
        source(text, name)
    words = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    # The host may have nothing to link with: the project is not built there.
    words += ["-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    made = process.run(words, cwd=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    options = ["--cc", cc, "--project", "build/compile_commands.json"]
    options += ["--target", "shapes", "--target", "selftest"]
    result = redzone("run", *options, status=0)
    assert "\n3.141593 9 (0.000 0.000) (1.500 0.000) (1.500 1.500) (0.000 1.500) \n" in result.stdout
    result = redzone("run", *options, "--", "1e9", status=1)
    assert re.search(
        r"slab-out-of-bounds, write of \d+ bytes?, src/polygon\.c:17 in polygon_text\(\)", result.stderr
    )
