# SPDX-License-Identifier: MIT
"""Leaving files out of the checks, in a separate tree: kasan_sanitize() of CMake,
KASAN_SANITIZE of make. The tests look at which objects call the sanitizer."""

import pytest
from kit import CLANG_TARGET, GCC, ROOT, call, compiler, need
from redzone.testing.needs import first

OFFSET = "0x38700000"
SOURCES = ("main.c", "uart.c", "drivers/uart.c", "drivers/disk.c")
CODE = "int f_{name}(int *p, int i);\nint f_{name}(int *p, int i) {{ return p[i]++; }}\n"
ALL = set(SOURCES)


@pytest.fixture
def sources(tmp_path):
    """A tree with two files of one name in different folders."""
    (tmp_path / "drivers").mkdir()
    for name in SOURCES:
        (tmp_path / name).write_text(CODE.format(name=name.replace("/", "_").replace(".c", "")))
    return tmp_path


def checked_files(folder):
    """Return how many objects are below @folder, and the sources of those that call the sanitizer."""
    need("llvm-nm-19")
    found = set()
    objects = [path for path in folder.rglob("*.o*") if path.suffix in (".o", ".obj")]
    for path in objects:
        if "__asan_" in call(["llvm-nm-19", "-u", path], folder):
            text = path.as_posix()
            found.add(
                max(
                    (
                        name
                        for name in SOURCES
                        if text.rsplit(".", 1)[0].removesuffix(".c").endswith("/" + name.removesuffix(".c"))
                    ),
                    key=len,
                )
            )
    return len(objects), found


# --- make ----------------------------------------------------------------------------------------------

MAKEFILE = """
{before}
KASAN_ARCH := arm64
KASAN_WHERE := outline
KASAN_SHADOW_OFFSET := {offset}
include {redzone}/redzone.mk
{after}
all: $(addprefix out/,{objects})
out/%.o: %.c
\t@mkdir -p $(@D)
\t$(CC) -O2 -ffreestanding $(KASAN_CPPFLAGS) $(KASAN_CODE_FLAGS) $(KASAN_CFLAGS) -c $< -o $@
"""


def make(sources, redzone, cc, before="", after="", ok=True):
    need("make")
    (sources / "Makefile").write_text(
        MAKEFILE.format(
            before=before,
            after=after,
            offset=OFFSET,
            redzone=redzone,
            objects=" ".join(name.replace(".c", ".o") for name in SOURCES),
        )
    )
    output = call(["make", f"REDZONE={redzone}", f"CC={' '.join(compiler(cc, 'arm64'))}", "all"], sources, ok)
    if not ok:
        return output
    count, found = checked_files(sources / "out")
    assert count == len(SOURCES)
    call(["rm", "-r", "out"], sources)
    return found


@first(1, "cc", ["gcc", "clang-19"])
def test_make(sources, prefix, cc):
    for redzone in (ROOT, prefix / "share" / "redzone"):
        assert make(sources, redzone, cc) == ALL
    for lines, off in (
        ("KASAN_SANITIZE_disk.o := n", {"drivers/disk.c"}),
        # A file name alone stands for that file in every folder. A path is one file, as target or as source.
        ("KASAN_SANITIZE_uart.o := n", {"uart.c", "drivers/uart.c"}),
        ("KASAN_SANITIZE_drivers/uart.o := n", {"drivers/uart.c"}),
        ("KASAN_SANITIZE_out/drivers/uart.o := n", {"drivers/uart.c"}),
        ("KASAN_SANITIZE_uart.o := n\nKASAN_SANITIZE_drivers/uart.o := y", {"uart.c"}),
        ("KASAN_SANITIZE := n", ALL),
        ("KASAN_SANITIZE := n\nKASAN_SANITIZE_main.o := y", ALL - {"main.c"}),
        ("KASAN_SANITIZE := y\nKASAN_SANITIZE_main.o := n", {"main.c"}),
    ):
        assert make(sources, ROOT, cc, before=lines) == ALL - off, lines
        assert make(sources, ROOT, cc, after=lines) == ALL - off, lines


def test_make_with_a_list(sources):
    lines = "KASAN_EXCLUDE := uart.o main.o"
    assert make(sources, ROOT, "clang-19", before=lines) == {"drivers/disk.c"}
    lines += "\nKASAN_SANITIZE_main.o := y"
    assert make(sources, ROOT, "clang-19", after=lines) == {"main.c", "drivers/disk.c"}
    for path in ("drivers/uart.o", "out/drivers/uart.o"):
        assert make(sources, ROOT, "clang-19", before=f"KASAN_EXCLUDE := {path}") == ALL - {"drivers/uart.c"}


def test_make_warns_of_options_that_know_no_file(sources):
    """In a variable that is assigned with := the options are those of no file, so none is left out."""
    for wanted, before in (
        (True, "KASAN_EXCLUDE := uart.o"),
        (True, "KASAN_SANITIZE_main.o := n"),
        (False, ""),
    ):
        make(sources, ROOT, "clang-19", before=before)
        text = (sources / "Makefile").read_text() + "\nFLAGS := -g\nFLAGS += $(KASAN_CFLAGS)\n"
        (sources / "Makefile").write_text(text)
        output = call(
            ["make", "-n", f"REDZONE={ROOT}", f"CC={' '.join(compiler('clang-19', 'arm64'))}"], sources
        )
        assert ("no file is left out: assign CFLAGS with =" in output) == wanted


@pytest.mark.parametrize(("triple", "wanted"), [("x86_64-elf", "1"), ("x86_64-linux-gnu", "0")])
def test_make_knows_targets_that_the_driver_refuses(tmp_path, triple, wanted):
    need("make", "clang-19")
    text = f"KASAN_ARCH := x86_64\nKASAN_STACK := 0\ninclude {ROOT}/redzone.mk\n"
    text += "$(info bypass $(KASAN_BYPASS))\n"
    (tmp_path / "Makefile").write_text(text + "all: x.o\nx.o: x.c\n\t$(CC) $(KASAN_CFLAGS) -c $< -o $@\n")
    (tmp_path / "x.c").write_text("int read(int *at) { return *at; }\n")
    output = call(["make", f"CC=clang-19 --target={triple}", "all"], tmp_path)
    assert f"bypass {wanted}\n" in output


def test_make_names_a_wrong_value(sources):
    output = make(sources, ROOT, "clang-19", before="KASAN_SANITIZE_main.o := off", ok=False)
    assert "'out/main.o' is 'off'; accepted: y, n" in output


# --- CMake ---------------------------------------------------------------------------------------------

CMAKELISTS = """
cmake_minimum_required(VERSION 3.25)
project(tree LANGUAGES C)
if(REDZONE_DIR)
  add_subdirectory(${{REDZONE_DIR}} redzone)
else()
  find_package(Redzone REQUIRED)
endif()
redzone_add_runtime(kasan OUTLINE SHADOW_OFFSET {offset} ARCH arm64)
add_library(first OBJECT main.c uart.c drivers/uart.c drivers/disk.c)
add_library(second OBJECT drivers/uart.c)
{before}
redzone_instrument(first RUNTIME kasan {exclude})
redzone_instrument(second RUNTIME kasan)
{after}
"""


def cmake(sources, where, cc, before="", after="", exclude=""):
    need("cmake", "ninja")
    compiler(cc, "arm64")
    (sources / "CMakeLists.txt").write_text(
        CMAKELISTS.format(before=before, after=after, exclude=exclude, offset=OFFSET)
    )
    options = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    if cc == "gcc":
        options.append(f"-DCMAKE_C_COMPILER={GCC['arm64']}")
    else:
        options += [f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_C_COMPILER_TARGET={CLANG_TARGET['arm64']}"]
    call(["cmake", "-G", "Ninja", "-B", "b", "--fresh", *options, where], sources)
    call(["ninja", "-j2", "-C", "b", "first", "second"], sources)
    count, found = checked_files(sources / "b/CMakeFiles/first.dir")
    assert count == len(SOURCES)
    return found, checked_files(sources / "b/CMakeFiles/second.dir") == (1, {"drivers/uart.c"})


@first(1, "cc", ["clang-19", "gcc"])
def test_cmake(sources, prefix, cc):
    subdirectory = f"-DREDZONE_DIR={ROOT}"
    package = f"-DCMAKE_PREFIX_PATH={prefix}"
    one = "kasan_sanitize(first drivers/uart.c OFF)"
    for where in (package, subdirectory):
        assert cmake(sources, where, cc) == (ALL, True)
        # For one target only, before or after redzone_instrument().
        assert cmake(sources, where, cc, before=one) == (ALL - {"drivers/uart.c"}, True)
        assert cmake(sources, where, cc, after=one) == (ALL - {"drivers/uart.c"}, True)
    full = "kasan_sanitize(first ${CMAKE_CURRENT_SOURCE_DIR}/uart.c OFF)"
    assert cmake(sources, package, cc, after=full) == (ALL - {"uart.c"}, True)
    two = full + "\n" + one
    assert cmake(sources, package, cc, after=two) == ({"main.c", "drivers/disk.c"}, True)
    back = "kasan_sanitize(first main.c ON)\nkasan_sanitize(first uart.c OFF)"
    assert cmake(sources, package, cc, after=back, exclude="EXCLUDE main.c") == (ALL - {"uart.c"}, True)
    other = "kasan_sanitize(second drivers/uart.c OFF)"
    assert cmake(sources, package, cc, after=other) == (ALL, False)
