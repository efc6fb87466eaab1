# SPDX-License-Identifier: MIT
"""The ways into another tree, each from a copy of the example outside of this repository: CMake package,
CMake subdirectory, make, pkg-config, and the two files to copy."""

import re
import shutil

import pytest
from kit import CLANG_TARGET, ROOT, call, compiler, expect_all_reported, make_template, need

MACHINE = {
    "arm64": "-mgeneral-regs-only -mstrict-align",
    "riscv64": "-march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany",
}
PLACE = {
    "arm64": ("0x40000000", "0x40080000", "0x38700000"),
    "riscv64": ("0x80000000", "0x80000000", "0x70700000"),
}


def cmake_template(tree, arch, cc, *options):
    need("cmake", "ninja", "ld.lld-19")
    compiler(cc, arch)
    build = tree / "build"
    call(
        [
            "cmake",
            "-G",
            "Ninja",
            "-B",
            build,
            "--toolchain",
            tree / "toolchain.cmake",
            f"-DTEMPLATE_ARCH={arch}",
            f"-DTEMPLATE_CC={cc}",
            *options,
        ],
        tree,
    )
    output = call(["ninja", "-j2", "-C", build], tree)
    assert "warning" not in output.lower(), output
    return build / "template.elf"


@pytest.mark.parametrize(
    ("arch", "cc", "where"), [("arm64", "clang-19", "inline"), ("riscv64", "gcc", "outline")]
)
def test_find_package(tree, prefix, arch, cc, where):
    elf = cmake_template(tree, arch, cc, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DTEMPLATE_WHERE={where}")
    expect_all_reported(arch, elf)


@pytest.mark.parametrize(("arch", "cc", "dynamic"), [("riscv64", "clang-19", "ON"), ("arm64", "gcc", "OFF")])
def test_add_subdirectory(tree, arch, cc, dynamic):
    elf = cmake_template(tree, arch, cc, f"-DREDZONE_DIR={ROOT}", f"-DTEMPLATE_DYNAMIC={dynamic}")
    expect_all_reported(arch, elf)


@pytest.mark.parametrize(("arch", "cc"), [("arm64", "clang-19"), ("riscv64", "gcc")])
def test_make_from_an_installed_redzone(tree, prefix, arch, cc):
    elf, _ = make_template(tree, arch, cc, redzone=prefix / "share" / "redzone")
    expect_all_reported(arch, elf)


@pytest.mark.parametrize(("arch", "cc"), [("arm64", "clang-19"), ("riscv64", "gcc"), ("arm64", "gcc")])
def test_pkg_config(tree, prefix, arch, cc, monkeypatch):
    need("make", "pkg-config", "ld.lld-19")
    ram, image, offset = PLACE[arch]
    monkeypatch.setenv("PKG_CONFIG_PATH", str(prefix / "share" / "pkgconfig"))
    family = "gcc" if cc == "gcc" else "clang"
    output = call(
        [
            "make",
            "-j2",
            "-f",
            ROOT / "tests/porting/pkgconfig.mk",
            f"ARCH={arch}",
            f"FAMILY={family}",
            f"CC={' '.join(compiler(cc, arch))}",
            f"MACHINE={MACHINE[arch]}",
            f"RAM={ram}",
            f"IMAGE={image}",
            f"OFFSET={offset}",
            "OUT=build",
            f"LLD={'' if cc == 'gcc' else 'ld.lld-19'}",
        ],
        tree,
    )
    assert "warning" not in output, output
    expect_all_reported(arch, tree / "build" / "template.elf")


@pytest.mark.parametrize(("arch", "cc", "inline"), [("arm64", "gcc", True), ("riscv64", "clang-19", False)])
def test_two_copied_files(tree, amalgamated, arch, cc, inline):
    from redzone import flags

    need("make", "ld.lld-19")
    for name in ("kasan.c", "kasan.h"):
        shutil.copy(amalgamated / name, tree)
    for path in tree.glob("*.c"):
        text = path.read_text(encoding="utf-8")
        if path.name != "kasan.c":
            path.write_text(
                re.sub(r"#include <kasan/(kasan|port)\.h>", '#include "kasan.h"', text), encoding="utf-8"
            )
    ram, image, offset = PLACE[arch]
    printed = flags.compute(flags.Choice(cc=cc, arch=arch, inline=inline, offset=int(offset, 0)))
    defines = " ".join(f"-D{define}" for define in printed.defines)
    call(
        [
            "make",
            "-j2",
            "-f",
            ROOT / "tests/porting/amalgamated.mk",
            f"CC={' '.join(compiler(cc, arch))}",
            f"MACHINE={MACHINE[arch]}",
            f"RAM={ram}",
            f"IMAGE={image}",
            "OUT=build",
            f"LLD={'' if cc == 'gcc' else 'ld.lld-19'}",
            f"FLAGS={' '.join(printed.instrument)}",
            f"DEFINES={defines}",
            f"CODE={' '.join(printed.code)}",
        ],
        tree,
    )
    expect_all_reported(arch, tree / "build" / "template.elf")


WARNINGS = [
    "-std=gnu17",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-parameter",
    "-Wmissing-prototypes",
    "-Wstrict-prototypes",
    "-Wshadow",
    "-Wvla",
    "-ffreestanding",
    "-fno-stack-protector",
]
WORD = {"arm": ("0x20000000UL", "0x0UL", "0xffffffffUL")}
WORDS_64 = ("0xdfff800000000000UL", "0xffff000000000000UL", "0xffffffffffffffffUL")


@pytest.mark.parametrize("arch", list(CLANG_TARGET))
@pytest.mark.parametrize("cc", ["clang-19", "clang-22", "gcc"])
def test_the_pair_compiles_without_a_warning(amalgamated, tmp_path, arch, cc):
    offset, low, high = WORD.get(arch, WORDS_64)
    full = [
        "-DCONFIG_KASAN_SHADOW_FULL=1",
        f"-DCONFIG_KASAN_SHADOW_OFFSET={offset}",
        f"-DCONFIG_KASAN_SHADOW_LOW={low}",
        f"-DCONFIG_KASAN_SHADOW_HIGH={high}",
    ]
    generic = "-DCONFIG_KASAN_GENERIC=1"
    for layout in ([generic, *full], [generic, "-DCONFIG_KASAN_SHADOW_WINDOWED=1"], []):
        out = tmp_path / "kasan.o"
        output = call(
            [*compiler(cc, arch), *WARNINGS, *layout, "-c", amalgamated / "kasan.c", "-o", out], tmp_path
        )
        assert not output.strip()
        user = tmp_path / "user.c"
        user.write_text('#include "kasan.h"\nint use(void);\nint use(void) { return kasan_enabled(); }\n')
        output = call(
            [
                *compiler(cc, arch),
                *WARNINGS,
                *layout,
                "-I",
                amalgamated,
                "-c",
                user,
                "-o",
                tmp_path / "user.o",
            ],
            tmp_path,
        )
        assert not output.strip()


def test_the_pair_defines_what_the_runtime_does(amalgamated, tmp_path):
    """No function is lost, none becomes public: the same global symbols as the separate objects."""
    need("llvm-nm-19")
    from redzone import amalgamate

    options = [
        "-std=gnu17",
        "-O2",
        "-ffreestanding",
        "-DCONFIG_KASAN_GENERIC=1",
        "-DCONFIG_KASAN_SHADOW_WINDOWED=1",
    ]
    objects = []
    for source in amalgamate.sources():
        objects.append(tmp_path / (source.parent.name + source.stem + ".o"))
        call(
            [
                *compiler("clang-19", "arm64"),
                *options,
                "-I",
                ROOT / "include",
                "-c",
                source,
                "-o",
                objects[-1],
            ],
            tmp_path,
        )
    call([*compiler("clang-19", "arm64"), *options, "-c", amalgamated / "kasan.c", "-o", "kasan.o"], tmp_path)

    def names(*files):
        text = call(
            ["llvm-nm-19", "--defined-only", "--extern-only", "--format=just-symbols", *files], tmp_path
        )
        return {line for line in text.splitlines() if line and not line.endswith(":")}

    assert names("kasan.o") == names(*objects)


def test_a_cmake_tree_that_asks_for_what_does_not_go_together(tree):
    """The CMake functions refuse with a reason, not with a compiler's message."""
    need("cmake", "ninja", "clang-19")
    original = (tree / "CMakeLists.txt").read_text(encoding="utf-8")
    add = "redzone_add_runtime(kasan ${where} ${place}"
    for old, new, words in (
        (add, "redzone_add_runtime(kasan ${where}", "one place of the shadow"),
        (add, "redzone_add_runtime(kasan FULL ${place}", "SHADOW_LOW"),
        (add, "redzone_add_runtime(kasan DYNAMIC SHADOW_OFFSET 0x1", "ignores DYNAMIC"),
        ("EXCLUDE board.c heap.c", "EXCLUDE borad.c", "'borad.c'"),
        ("RUNTIME kasan", "RUNTIME nobody", "must name a target"),
    ):
        assert old in original
        (tree / "CMakeLists.txt").write_text(original.replace(old, new), encoding="utf-8")
        output = call(
            [
                "cmake",
                "-G",
                "Ninja",
                "-B",
                tree / "b",
                "--fresh",
                "--toolchain",
                tree / "toolchain.cmake",
                f"-DREDZONE_DIR={ROOT}",
            ],
            tree,
            ok=False,
        )
        assert words in " ".join(output.split()), output


def test_make_refuses_with_a_reason(tree):
    for variables, words in (
        (("WHERE=both",), "accepted: inline, outline"),
        (("ARCH=mips",), "accepted: arm64, riscv64, x86_64, arm"),
        (("DYNAMIC=1", "KASAN_SHADOW_OFFSET=1"), "ignores KASAN_DYNAMIC"),
    ):
        _, output = make_template(tree, "arm64", "clang-19", *variables, ok=False)
        assert words in output
    _, output = make_template(tree, "arm64", "gcc", "DYNAMIC=1", ok=False)
    assert "GCC has no dynamic shadow" in output


PLAIN_HEAP = """
size_t malloc_usable_size(const void *ptr);
size_t malloc_usable_size(const void *ptr) { return ((const struct block *)ptr - 1)->size; }
void *malloc(size_t size) { return raw_malloc(size); }
void *memalign(size_t align, size_t size) { return NULL; }
void *realloc(void *ptr, size_t size) { return NULL; }
void free(void *ptr) { raw_free(ptr); }
"""


@pytest.mark.parametrize(("arch", "cc"), [("arm64", "gcc"), ("riscv64", "clang-19")])
def test_a_heap_hooked_by_the_linker(tree, arch, cc):
    """--wrap: the allocator and its callers stay as they are, early allocations included."""
    heap = tree / "heap.c"
    text = heap.read_text(encoding="utf-8")
    heap.write_text(text[: text.index("/* --- Under KASAN")] + PLAIN_HEAP, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "porting" / "wrap.c", tree)
    makefile = tree / "Makefile"
    text = makefile.read_text(encoding="utf-8")
    wraps = " ".join(f"-Wl,--wrap={name}" for name in ("malloc", "memalign", "realloc", "free"))
    text = text.replace("$(OUT)/heap.o", "$(OUT)/heap.o $(OUT)/wrap.o").replace(
        "-nostdlib", f"{wraps} -nostdlib"
    )
    makefile.write_text(text, encoding="utf-8")
    elf, _ = make_template(tree, arch, cc)
    expect_all_reported(arch, elf)
