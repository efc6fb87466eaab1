# SPDX-License-Identifier: MIT
"""C++: every public header compiles alone, as C11 and as C++17, without a warning; the example in C++ finds
its bugs, built by make and by CMake."""

import itertools
import re

import pytest
from kit import ROOT, TEMPLATE, boot, call, cmake_template, compiler, few, first, make_template, need
from redzone.elf.file import File

HEADERS = sorted(path.name for path in (ROOT / "include" / "kasan").glob("*.h"))
FULL = [
    "-DCONFIG_KASAN_SHADOW_FULL=1",
    "-DCONFIG_KASAN_SHADOW_OFFSET=0xdfff800000000000UL",
    "-DCONFIG_KASAN_SHADOW_LOW=0xffff000000000000UL",
    "-DCONFIG_KASAN_SHADOW_HIGH=0xffffffffffffffffUL",
]
MODES = {
    "off": [],
    "windowed": ["-DCONFIG_KASAN_GENERIC=1", "-DCONFIG_KASAN_SHADOW_WINDOWED=1"],
    "full": ["-DCONFIG_KASAN_GENERIC=1", *FULL],
    "sw_tags": ["-DCONFIG_KASAN_SW_TAGS=1", *FULL],
    "hw_tags": ["-DCONFIG_KASAN_HW_TAGS=1"],
}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffreestanding", "-O2"]
# A GCC without C++ is another package.
GXX = {
    "arm64": "aarch64-linux-gnu-g++",
    "riscv64": "riscv64-linux-gnu-g++",
    "cortex-m3": "arm-none-eabi-g++",
    "cortex-m33": "arm-none-eabi-g++",
}


def languages(cc):
    """Return {standard: command line} of @cc for C and C++."""
    if cc == "gcc":
        need(GXX["arm64"])
    command = compiler(cc, "arm64")
    return {"c11": [*command, "-x", "c"], "c++17": [*command, "-x", "c++"]}


@few(("cc", "mode"), itertools.product(("clang-19", "clang-22", "gcc"), MODES), pairs=False, most=3)
def test_each_header_alone(tmp_path, amalgamated, cc, mode):
    for standard, command in languages(cc).items():
        sources = []
        for name in [*(f"<kasan/{name}>" for name in HEADERS), '"kasan.h"']:
            # ISO C wants something in the file itself.
            sources.append(tmp_path / f"{len(sources)}.c")
            sources[-1].write_text(f"#include {name}\nextern int nothing;\n", encoding="utf-8")
        words = [*command, f"-std={standard}", *WARNINGS, *MODES[mode], "-I", ROOT / "include"]
        assert not call([*words, "-I", amalgamated, "-fsyntax-only", *sources], tmp_path).strip()


@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
def test_hooks_have_c_linkage(tmp_path, cc):
    """A C++ file that calls hooks and defines a function of the port uses C's names for them."""
    need("llvm-nm-19")
    source = tmp_path / "user.cpp"
    source.write_text(
        "#include <kasan/kasan.h>\n#include <kasan/port.h>\n#include <kasan/stats.h>\n"
        "void kasan_port_print(const char *) {}\n"
        "void use(kasan_heap *heap, struct kasan_depot_stats *stats)\n"
        "{\n\tkasan_heap_add(heap);\n\tkasan_init(1);\n\tkasan_report_hook(nullptr);\n"
        "\tkasan_depot_stats(stats);\n\tkasan_unpoison(heap, 8);\n}\n",
        encoding="utf-8",
    )
    command = [*languages(cc)["c++17"], "-std=c++17", *WARNINGS, *MODES["windowed"], "-I", ROOT / "include"]
    call([*command, "-c", source, "-o", tmp_path / "user.o"], tmp_path)
    names = call(["llvm-nm-19", "--format=just-symbols", tmp_path / "user.o"], tmp_path).split()
    assert {name for name in names if "kasan" in name and not name.startswith("_Z")} == {
        "kasan_depot_stats",
        "kasan_heap_add",
        "kasan_init",
        "kasan_port_print",
        "kasan_report_hook",
        "kasan_unpoison",
    }


@pytest.mark.parametrize("cc", ["clang-19", "gcc"])
def test_where_globals_are_registered(tmp_path, cc):
    """Clang registers globals before all constructors of C++, GCC in the same piece of .init_array."""
    source = tmp_path / "user.cpp"
    text = "int table[4];\nint value();\nstruct made { int is; made() : is(value()) {} } one;\n"
    source.write_text(text, encoding="utf-8")
    words = ["-std=c++17", "-O2", "-ffreestanding", "-fno-exceptions", "-fsanitize=kernel-address"]
    words += ["--param", "asan-globals=1"] if cc == "gcc" else []
    call([*languages(cc)["c++17"], *words, "-c", source, "-o", tmp_path / "user.o"], tmp_path)
    pieces = {
        section.name: section.size // 8
        for section in File.open(tmp_path / "user.o").sections
        if section.name.startswith(".init_array")
    }
    assert pieces == ({".init_array": 2} if cc == "gcc" else {".init_array.1": 1, ".init_array": 1})


def planted(generic=True):
    """Return {name: type or None} of the bugs in the example's C++ program."""
    text = (TEMPLATE / "main_cpp.cpp").read_text(encoding="utf-8")
    table = re.search(r"^\} bugs\[\] = \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL)[1]
    if not generic:
        table = re.sub(r"#ifdef CONFIG_KASAN_GENERIC\n.*?#endif\n", "", table, flags=re.DOTALL)
    found = re.findall(r'^\t\{"(\w+)", (?:"([\w-]+)"|nullptr), \w+\},$', table, re.MULTILINE)
    return {name: kind or None for name, kind in found}


def expect_all(arch, elf, mode="generic"):
    """Boot the program: each bug must be reported with its type, and nothing else may be."""
    status, console = boot(arch, elf, mode)
    assert status == 0, console
    bugs = planted(mode == "generic")
    assert {"use_after_delete", "array_overflow", "double_delete"} <= bugs.keys()
    assert re.findall(r"^template: ok (\w+)$", console, re.MULTILINE) == list(bugs)
    kinds = re.findall(r"^BUG: KASAN: ([\w-]+) in ", console, re.MULTILINE)
    assert kinds == [kind for kind in bugs.values() if kind]
    assert "13-byte region" in console
    assert "Allocated by task 0:" in console and "Freed by task 0:" in console


@few(
    ("arch", "cc", "variables"),
    [
        ("arm64", "clang-19", ()),
        ("riscv64", "clang-19", ("WHERE=outline",)),
        ("riscv32", "clang-19", ()),
        ("cortex-m3", "clang-19", ()),
        ("cortex-m3", "gcc", ()),
        ("cortex-m33", "gcc", ()),
        ("arm64", "gcc", ("WHERE=outline",)),
        ("riscv64", "gcc", ()),
        ("arm64", "clang-19", ("MODE=sw_tags",)),
        ("arm64", "gcc", ("MODE=hw_tags",)),
    ],
    pairs=False,
)
def test_the_example_in_cpp(tree, arch, cc, variables):
    if cc == "gcc":
        need(GXX[arch])
    elf, _ = make_template(tree, arch, cc, "LANGUAGE=c++", *variables)
    mode = next((word.removeprefix("MODE=") for word in variables if word.startswith("MODE=")), "generic")
    expect_all(arch, elf, mode)


@first(0, ("arch", "cc"), [("arm64", "gcc"), ("riscv64", "clang-19"), ("cortex-m33", "clang-19")])
def test_the_example_in_cpp_by_cmake(tree, arch, cc):
    if cc == "gcc":
        need(GXX[arch])
    expect_all(arch, cmake_template(tree, arch, cc, f"-DREDZONE_DIR={ROOT}", "-DTEMPLATE_CXX=ON"))
