# SPDX-License-Identifier: MIT
"""--project BUILD --tests: the tests of CMake and Meson projects, in one boot."""

import os
import shutil

import pytest
from redzone.core import process

LIST = {
    "list.h": "int push(int *p, int n);\n",
    "list.c": '#include "list.h"\n\nint push(int *p, int n)\n{\n\tp[n] = n;\n\treturn n;\n}\n',
    # No C library here has it: a test that needs it cannot run, and the others can.
    "graphics.c": "#include <window_system.h>\nint draw(void) { return 0; }\n",
    "test_push.c": """\
#include <stdlib.h>
#include <string.h>
#include "list.h"

static int calls;

int main(int argc, char **argv)
{
	int *p = malloc(4 * sizeof(*p));

	/* Each test has variables of its own. */
	if (calls++)
		return 9;
	if (argc > 1 && !strcmp(argv[1], "two words"))
		return strcmp(getenv("SIZE"), "3") != 0;
	if (argc > 1)
		return atoi(argv[1]);
	return push(p, 3) != 3;
}
""",
    "test_pop.c": """\
#include <stdlib.h>
#include "list.h"

int main(void)
{
	return push(malloc(4 * sizeof(int)), 4) != 4;
}
""",
}
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(demo C)
enable_testing()
add_library(list STATIC list.c)
target_include_directories(list PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
if(NOT EXISTS /etc/no_such_folder)
  add_library(graphics OBJECT EXCLUDE_FROM_ALL graphics.c)
endif()
foreach(name IN ITEMS push pop)
  add_executable(test_${name} test_${name}.c)
  target_link_libraries(test_${name} list)
endforeach()
add_test(NAME push COMMAND test_push)
add_test(NAME many COMMAND test_push "two words")
add_test(NAME pop COMMAND test_pop)
add_test(NAME fails COMMAND test_push 5)
add_test(NAME skips COMMAND test_push 77)
add_test(NAME script COMMAND sh -c true)
set_tests_properties(many PROPERTIES ENVIRONMENT "SIZE=3")
set_tests_properties(fails PROPERTIES WILL_FAIL TRUE)
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
"""
MESON = """\
project('demo', 'c')
list = static_library('list', 'list.c')
push = executable('test_push', 'test_push.c', link_with: list)
pop = executable('test_pop', 'test_pop.c', link_with: list)
test('push', push)
test('many', push, args: ['two words'], env: {'SIZE': '3'})
test('pop', pop)
test('skips', push, args: ['77'])
"""
BUG = "not ok 3 pop # KASAN: slab-out-of-bounds, write of 4 bytes, list.c:5 in push()"


@pytest.fixture
def project(source):
    for name, text in LIST.items():
        source(text, name)
    return source


def test_cmake(redzone, project):
    project(CMAKE, "CMakeLists.txt")
    # A machine may have no cc.
    options = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_C_COMPILER=clang-19"]
    configure = ["cmake", "-B", "build", "-G", "Ninja", *options, "."]
    assert process.run(configure, cwd=redzone.folder).returncode == 0
    assert process.run(["ninja", "-C", "build"], cwd=redzone.folder).returncode == 0
    result = redzone("run", "--project", "build", "--tests", status=1)
    assert result.stdout.splitlines() == [
        "KTAP version 1",
        "1..5",
        "ok 1 push",
        "ok 2 many",
        BUG,
        "ok 4 fails",
        "ok 5 skips # SKIP",
    ]
    assert "5 programs in 1 boot: 4 passed, 1 failed" in result.stderr
    assert "do not start a C program of the project: script" in result.stderr
    assert "left out, because they do not compile here: graphics.c" in result.stderr
    result = redzone("run", "--project", "build", "--tests", "--filter", "^pop|^push", "-q", status=1)
    assert result.stdout == BUG.removeprefix("not ok 3 ").replace(" # ", ": ") + "\n"
    result = redzone("run", "--project", "build", "--tests", "bad.c", status=2)
    assert "--tests takes all programs from --project" in result.stderr


@pytest.mark.skipif(shutil.which("meson") is None, reason="meson is missing")
def test_meson(redzone, project):
    project(MESON, "meson.build")
    environment = os.environ | {"CC": "clang-19"}
    assert process.run(["meson", "setup", "build"], cwd=redzone.folder, env=environment).returncode == 0
    result = redzone("run", "--project", "build", "--tests", status=1)
    assert result.stdout.splitlines()[2:] == ["ok 1 push", "ok 2 many", BUG, "ok 4 skips # SKIP"]
