# SPDX-License-Identifier: MIT
"""The ways to use Redzone in another tree, each from a copy of the example outside this repository: CMake
package, CMake subdirectory, make, pkg-config. test_amalgamated.py tests the two files to copy."""

import shutil

from kit import (
    ROOT,
    change,
    cmake,
    cmake_template,
    expect_all_reported,
    first,
    make_template,
    need,
    pkg_config_template,
)


@first(1, ("arch", "cc", "where"), [("arm64", "clang-19", "inline"), ("riscv64", "gcc", "outline")])
def test_find_package(tree, prefix, arch, cc, where):
    elf = cmake_template(tree, arch, cc, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DTEMPLATE_WHERE={where}")
    expect_all_reported(arch, elf)


TAG_MODES = [
    ("sw_tags", "clang-19", "inline"),
    ("sw_tags", "gcc", "outline"),
    ("hw_tags", "clang-19", None),
    ("hw_tags", "gcc", None),
]


@first(1, ("mode", "cc", "where"), TAG_MODES)
def test_find_package_tags(tree, prefix, mode, cc, where):
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DTEMPLATE_MODE={mode}"]
    elf = cmake_template(tree, "arm64", cc, *options, *([f"-DTEMPLATE_WHERE={where}"] if where else []))
    expect_all_reported("arm64", elf, mode)


@first(
    1,
    ("arch", "mode", "cc", "where"),
    [
        ("arm64", "sw_tags", "clang-19", "outline"),
        ("arm64", "hw_tags", "gcc", "inline"),
        ("riscv64", "sw_tags", "clang-19", "inline"),
    ],
)
def test_add_subdirectory_tags(tree, arch, mode, cc, where):
    options = [f"-DREDZONE_DIR={ROOT}", f"-DTEMPLATE_MODE={mode}", f"-DTEMPLATE_WHERE={where}"]
    expect_all_reported(arch, cmake_template(tree, arch, cc, *options), mode)


@first(
    2,
    ("arch", "cc", "dynamic"),
    [
        ("riscv64", "clang-19", "ON"),
        ("cortex-m3", "gcc", "OFF"),
        ("riscv32", "gcc", "OFF"),
        ("cortex-m7", "clang-19", "OFF"),
    ],
)
def test_add_subdirectory(tree, arch, cc, dynamic):
    elf = cmake_template(tree, arch, cc, f"-DREDZONE_DIR={ROOT}", f"-DTEMPLATE_DYNAMIC={dynamic}")
    expect_all_reported(arch, elf)


@first(1, ("arch", "cc"), [("riscv64", "gcc"), ("arm64", "clang-19")])
def test_make_from_an_installed_redzone(tree, prefix, arch, cc):
    elf, _ = make_template(tree, arch, cc, redzone=prefix / "share" / "redzone")
    expect_all_reported(arch, elf)


@first(1, ("mode", "cc", "where"), TAG_MODES)
def test_make_from_an_installed_redzone_tags(tree, prefix, mode, cc, where):
    variables = [f"MODE={mode}", *([f"WHERE={where}"] if where else [])]
    elf, _ = make_template(tree, "arm64", cc, *variables, redzone=prefix / "share" / "redzone")
    expect_all_reported("arm64", elf, mode)


@first(
    1,
    ("mode", "arch", "cc", "where"),
    [
        ("generic", "arm64", "clang-19", "inline"),
        ("generic", "riscv64", "gcc", "inline"),
        ("generic", "arm64", "gcc", "inline"),
        *((mode, "arm64", cc, where) for mode, cc, where in TAG_MODES),
    ],
)
def test_pkg_config(tree, prefix, mode, arch, cc, where, monkeypatch):
    monkeypatch.setenv("PKG_CONFIG_PATH", str(prefix / "share" / "pkgconfig"))
    expect_all_reported(arch, pkg_config_template(tree, arch, cc, mode, where), mode)


def test_a_cmake_tree_that_asks_for_what_does_not_go_together(tree):
    """The CMake functions refuse with a reason; the compiler is never asked."""
    need("cmake", "ninja", "clang-19")
    original = (tree / "CMakeLists.txt").read_text(encoding="utf-8")
    add = "redzone_add_runtime(kasan MODE ${TEMPLATE_MODE} ${sample} ${where} ${place}"
    for old, new, words in (
        (add, "redzone_add_runtime(kasan ${where}", "one place of the shadow"),
        (add, "redzone_add_runtime(kasan FULL ${place}", "SHADOW_LOW"),
        (add, "redzone_add_runtime(kasan MODE tags", "MODE is 'tags'; accepted: generic"),
        (add, "redzone_add_runtime(kasan MODE sw_tags ${place}", "MODE sw_tags needs FULL"),
        (add, "redzone_add_runtime(kasan MODE sw_tags ARCH x86_64", "for arm64 and riscv64 only"),
        (add, "redzone_add_runtime(kasan MODE hw_tags ARCH riscv64", "for arm64 only"),
        (
            add,
            "redzone_add_runtime(kasan MODE sw_tags ARCH riscv64 FULL TAGGED_GLOBALS",
            "no code that reaches such a variable",
        ),
        (add, "redzone_add_runtime(kasan MODE sw_tags FULL DYNAMIC", "give SHADOW_OFFSET instead"),
        (add, "redzone_add_runtime(kasan MODE hw_tags ${place}", "leave out SHADOW_OFFSET"),
        (add, "redzone_add_runtime(kasan MODE hw_tags OUTLINE", "leave out OUTLINE"),
        (add, "redzone_add_runtime(kasan DYNAMIC SHADOW_OFFSET 0x1", "ignores DYNAMIC"),
        ("RUNTIME kasan)", "RUNTIME kasan EXCLUDE borad.c)", "'borad.c', which is not one of its sources"),
        ("heap.c OFF", "haep.c OFF", "'haep.c' is not a source of template.elf"),
        ("heap.c OFF", "heap.c NO", "'NO' is not accepted; accepted: ON, OFF"),
        ("(template.elf heap.c", "(tempalte.elf heap.c", "'tempalte.elf' is no target"),
        ("RUNTIME kasan", "RUNTIME nobody", "must name a target"),
    ):
        assert old in original
        (tree / "CMakeLists.txt").write_text(original.replace(old, new), encoding="utf-8")
        output = cmake(tree, f"-DREDZONE_DIR={ROOT}", build="b", ok=False)
        assert words in " ".join(output.split()), output


def test_make_compiles_the_runtime_anew_for_other_options(tree):
    """Otherwise objects of two configurations would link into one image, and check the wrong bytes."""
    make_template(tree, "arm64", "clang-19", "WHERE=inline")
    objects = sorted((tree / "build" / "kasan").rglob("*.o"))
    made = {path: path.stat().st_mtime_ns for path in objects}
    make_template(tree, "arm64", "clang-19", "WHERE=inline")
    assert all(path.stat().st_mtime_ns == made[path] for path in objects)
    make_template(tree, "arm64", "clang-19", "WHERE=inline", "DYNAMIC=1")
    assert all(path.stat().st_mtime_ns != made[path] for path in objects)


def test_make_refuses_with_a_reason(tree):
    for variables, words in (
        (("WHERE=both",), "accepted: inline, outline"),
        (("ARCH=mips",), "accepted: arm64, riscv64, riscv32, x86_64, arm, s390x, powerpc64le, loongarch64"),
        (("DYNAMIC=1", "KASAN_SHADOW_OFFSET=1"), "ignores KASAN_DYNAMIC"),
        (("MODE=tags",), "accepted: generic, sw_tags, hw_tags"),
        (("MODE=sw_tags", "ARCH=x86_64"), "the runtime has them for arm64 riscv64 only"),
        (("MODE=hw_tags", "ARCH=riscv64"), "the runtime has them for arm64 only"),
        (("MODE=sw_tags", "ARCH=riscv64", "KASAN_TAGGED_GLOBALS=1"), "no code that reaches such a variable"),
        (("MODE=sw_tags", "KASAN_LAYOUT=windowed"), "needs KASAN_LAYOUT=full"),
        (("MODE=sw_tags", "KASAN_SHADOW_HIGH="), "KASAN_LAYOUT=full needs KASAN_SHADOW_OFFSET"),
        (("MODE=hw_tags", "KASAN_WHERE=inline"), "leave out KASAN_WHERE"),
        (("MODE=hw_tags", "KASAN_SHADOW_OFFSET=1", "KASAN_DYNAMIC=1"), "KASAN_SHADOW_OFFSET KASAN_DYNAMIC"),
    ):
        _, output = make_template(tree, "arm64", "clang-19", *variables, ok=False)
        assert words in output
    _, output = make_template(tree, "arm64", "gcc", "DYNAMIC=1", ok=False)
    assert "GCC has no dynamic shadow" in output
    _, output = make_template(tree, "arm64", "gcc", "MODE=sw_tags", ok=False)
    assert "it has outline checks only" in output
    _, output = make_template(tree, "riscv64", "gcc", "MODE=sw_tags", "WHERE=outline", ok=False)
    assert "with GCC for riscv64: it would check nothing" in output


PLAIN_HEAP = """
size_t malloc_usable_size(const void *ptr);
size_t malloc_usable_size(const void *ptr) { return ((const struct block *)ptr - 1)->size; }
void *malloc(size_t size) { return raw_malloc(size); }
void *memalign(size_t align, size_t size) { return NULL; }
void *realloc(void *ptr, size_t size) { return NULL; }
void free(void *ptr) { raw_free(ptr); }
"""


@first(1, ("arch", "cc"), [("arm64", "gcc"), ("riscv64", "clang-19")])
def test_a_heap_hooked_by_the_linker(tree, arch, cc):
    """--wrap: the allocator and its callers need no change; early allocations work as well."""
    heap = tree / "heap.c"
    text = heap.read_text(encoding="utf-8")
    heap.write_text(text[: text.index("/* --- Under KASAN")] + PLAIN_HEAP, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "porting" / "wrap.c", tree)
    wraps = " ".join(f"-Wl,--wrap={name}" for name in ("malloc", "memalign", "realloc", "free"))
    change(
        tree / "Makefile",
        ("heap.o $(port) ", "heap.o wrap.o $(port) "),
        ("KASAN_SANITIZE_heap.o := n", "KASAN_SANITIZE_heap.o := n\nKASAN_SANITIZE_wrap.o := n"),
        ("-nostdlib", f"{wraps} -nostdlib"),
    )
    elf, _ = make_template(tree, arch, cc)
    expect_all_reported(arch, elf)
