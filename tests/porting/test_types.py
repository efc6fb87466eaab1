# SPDX-License-Identifier: MIT
"""Kernels without the compiler's headers (-nostdinc), and with types of their own: every public header and
the two files to copy compile, with every compiler and for every architecture."""

import itertools

import pytest
from kit import ROOT, call, compiler, few, need

PUBLIC = sorted((ROOT / "include" / "kasan").glob("*.h"))
OPTIONS = [
    *(
        "-std=gnu17",
        "-O2",
        "-ffreestanding",
        "-nostdinc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-function",
    ),
    *("-DCONFIG_KASAN_GENERIC=1", "-DCONFIG_KASAN_SHADOW_WINDOWED=1", "-fsyntax-only"),
]
COPIED = ("x86_64_trap.c", "x86_64_decode.c", "cortexm_fault.c", "cortexm_sample.c")
ARCHES = ("arm64", "riscv64", "x86_64", "arm", "riscv32", "cortex-m0plus")
# Typedefs as kernels have them: of the same types as the compiler's, and of others.
SAME = "".join(
    f"typedef {kind} {name};\n"
    for name, kind in {
        "uint8_t": "unsigned char",
        "uint16_t": "unsigned short",
        "uint64_t": "unsigned long",
        "int64_t": "signed long",
        "uintptr_t": "unsigned long",
        "size_t": "unsigned long",
        "bool": "_Bool",
    }.items()
)
OTHER = """
typedef signed int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long intptr_t, ptrdiff_t;
typedef unsigned long uintptr_t;
typedef __SIZE_TYPE__ size_t;
typedef unsigned char bool;
enum { false, true };
"""


def headers():
    """Return #include lines of all public headers that compile for any machine."""
    # Those for one architecture, and those that only the tag modes may include.
    special = ("mte.h", "inline_riscv.h", "tags_inline.h", "slab_inline.h")
    return "".join(f"#include <kasan/{path.name}>\n" for path in PUBLIC if path.name not in special)


def command(cc, arch):
    cpu = ["-mcpu=cortex-m0plus", "-mthumb"] if arch == "cortex-m0plus" else []
    return [*compiler(cc, arch), *cpu, *OPTIONS]


@few(("arch", "cc"), itertools.product(ARCHES, ("clang-19", "clang-22", "gcc")), pairs=False)
def test_headers_and_the_pair_compile_without_the_compilers_headers(amalgamated, tmp_path, arch, cc):
    user = tmp_path / "user.c"
    user.write_text(headers())
    call([*command(cc, arch), "-I", ROOT / "include", user], tmp_path)
    user.write_text('#include "kasan.h"\n' + SAME * (arch in ("arm64", "riscv64", "x86_64")))
    for source in (amalgamated / "kasan.c", user):
        call([*command(cc, arch), "-I", amalgamated, source], tmp_path)


@pytest.mark.parametrize(
    ("arch", "kit"), [("x86_64", "x86_64_*.c"), ("arm", "cortexm_*.c")], ids=["x86_64", "cortexm"]
)
def test_the_kits_that_are_copied_need_no_header_either(tmp_path, arch, kit):
    """Their documents say to copy them into a kernel, which may be compiled with -nostdinc."""
    copied = [path for path in (ROOT / "ports" / "template").glob(kit) if path.name in COPIED]
    assert copied
    options = [*command("clang-19", arch), "-DCONFIG_KASAN_SAMPLE=1", "-DCONFIG_KASAN_SAMPLE_OBJECTS=15"]
    for source in copied:
        call([*options, "-I", ROOT / "include", source], tmp_path)


@pytest.mark.parametrize("mode", ["SW_TAGS", "HW_TAGS"])
def test_the_tag_modes_need_no_header_either(amalgamated, tmp_path, mode):
    words = ("OFFSET=0xdfff800000000000UL", "LOW=0xffff000000000000UL", "HIGH=0xffffffffffffffffUL", "FULL=1")
    options = [word for word in command("clang-19", "arm64") if not word.startswith("-DCONFIG")]
    options.append(f"-DCONFIG_KASAN_{mode}=1")
    if mode == "SW_TAGS":
        options += [f"-DCONFIG_KASAN_SHADOW_{word}" for word in words]
    user = tmp_path / "user.c"
    user.write_text(
        "".join(f"#include <kasan/{path.name}>\n" for path in PUBLIC if path.name != "inline_riscv.h")
    )
    call([*options, "-I", ROOT / "include", user], tmp_path)
    call([*options, "-I", amalgamated, amalgamated / "kasan.c"], tmp_path)


@few(("cc", "first"), itertools.product(("clang-19", "gcc"), (True, False)), pairs=False)
def test_a_kernels_equal_typedefs_do_not_clash(tmp_path, cc, first):
    user = tmp_path / "user.c"
    user.write_text(SAME + headers() if first else headers() + SAME)
    call([*command(cc, "arm64"), "-I", ROOT / "include", user], tmp_path)


@few(("cc", "arch"), itertools.product(("clang-19", "gcc"), ("arm64", "arm")), pairs=False)
def test_a_kernels_other_typedefs_are_used(tmp_path, cc, arch):
    """They clash with the compiler's, so the option names the kernel's header. A wrong size is refused."""
    (tmp_path / "mine.h").write_text("#ifndef MINE\n#define MINE\n" + OTHER + "#endif\n")
    user = tmp_path / "user.c"
    user.write_text('#include "mine.h"\n' + headers())
    include = ["-I", ROOT / "include", "-I", tmp_path]
    call([*command(cc, arch), *include, user], tmp_path, ok=False)
    named = [*command(cc, arch), *include, '-DKASAN_PORT_TYPES_H="mine.h"']
    call([*named, user], tmp_path)
    (tmp_path / "mine.h").write_text(
        "#ifndef MINE\n#define MINE\n" + OTHER.replace("unsigned short", "unsigned int") + "#endif\n"
    )
    assert "uint16_t" in call([*named, user], tmp_path, ok=False)


def test_cpp_without_the_compilers_headers(tmp_path):
    need("clang-19")
    user = tmp_path / "user.cpp"
    user.write_text(headers())
    options = ["-std=c++17" if word == "-std=gnu17" else word for word in command("clang-19", "arm64")]
    call([*options, "-I", ROOT / "include", user], tmp_path)
