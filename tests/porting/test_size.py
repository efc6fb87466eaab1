# SPDX-License-Identifier: MIT
"""A small runtime: every kit compiles it with -Os if asked to, in sections that --gc-sections can drop."""

import shutil

from kit import (
    ROOT,
    call,
    change,
    cmake_template,
    compiler,
    expect_all_reported,
    first,
    need,
    pkg_config_template,
    place,
    two_files_template,
)
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, symbols
from redzone.kit import flags


def text_size(path, prefix=""):
    """Return the bytes of code in the ELF file @path, in functions whose names begin with @prefix."""
    return sum(
        symbol.size
        for symbol in symbols(File.open(path))
        if symbol.kind == FUNC and symbol.name.startswith(prefix)
    )


def with_cmake(tree, optimize, arch, cc, prefix, **_):
    change(tree / "CMakeLists.txt", ("redzone_add_runtime(kasan", f"redzone_add_runtime(kasan {optimize}"))
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", "-DTEMPLATE_WHERE=outline"]
    return cmake_template(tree, arch, cc, *options)


def with_make(tree, optimize, arch, cc, **_):
    change(tree / "Makefile", ("KASAN_MODE :=", f"{optimize}\nKASAN_MODE :="))
    # Not by the helper, which takes the objects of trees with other makefiles.
    need("make", "ld.lld-19")
    command = ["make", "-j2", f"REDZONE={ROOT}", f"ARCH={arch}", f"CC={' '.join(compiler(cc, arch))}"]
    call([*command, "WHERE=outline"], tree)
    return tree / "build" / "template.elf"


def with_pkg_config(tree, optimize, arch, cc, prefix, monkeypatch, **_):
    monkeypatch.setenv("PKG_CONFIG_PATH", str(prefix / "share" / "pkgconfig"))
    return pkg_config_template(tree, arch, cc, "generic", "outline", f"OPTIMIZE={optimize}")


def with_two_files(tree, optimize, arch, cc, amalgamated, **_):
    _, _, offset = place(arch, "generic")
    choice = flags.Choice(cc=cc, arch=arch, inline=False, offset=int(offset, 0), optimize=optimize or "2")
    own = " ".join(flags.compute(choice).runtime)
    return two_files_template(tree, amalgamated, choice, f"OWN={own}")


KITS = [
    (with_cmake, "OPTIMIZE 2", "OPTIMIZE s", "arm64", "clang-19"),
    (with_make, "KASAN_OPTIMIZE := 2", "KASAN_OPTIMIZE := s", "riscv64", "gcc"),
    (with_pkg_config, "", "s", "arm64", "gcc"),
    (with_two_files, "", "s", "riscv64", "clang-19"),
]


@first(0, ("build", "fast", "small", "arch", "cc"), KITS)
def test_optimize_for_size(tree, tmp_path, prefix, amalgamated, monkeypatch, build, fast, small, arch, cc):
    """-Os makes the runtime smaller by a tenth at least, and it still finds every bug."""
    sizes = []
    for name, optimize in (("fast", fast), ("small", small)):
        copy = tmp_path / name
        shutil.copytree(tree, copy)
        given = {"prefix": prefix, "amalgamated": amalgamated, "monkeypatch": monkeypatch}
        elf = build(copy, optimize, arch, cc, **given)
        sizes.append(text_size(elf, "kasan"))
    assert sizes[1] < 0.9 * sizes[0], sizes
    expect_all_reported(arch, elf)


# All kits pass the same options on; which they are the test above shows.
@first(1, ("build", "ignored", "optimize", "arch", "cc"), KITS)
def test_what_is_not_used_is_dropped(
    tree, prefix, amalgamated, monkeypatch, build, ignored, optimize, arch, cc
):
    """With --gc-sections the image loses the hooks that it does not call, and still finds every bug."""
    for name in ("CMakeLists.txt", "Makefile"):
        change(tree / name, ("-Wl,--build-id=none", "-Wl,--build-id=none -Wl,--gc-sections"))
    given = {"prefix": prefix, "amalgamated": amalgamated, "monkeypatch": monkeypatch}
    if build in (with_pkg_config, with_two_files):
        monkeypatch.setenv("LINK", "-Wl,--gc-sections")
    elf = build(tree, optimize, arch, cc, **given)
    names = call(["llvm-nm-19", "--format=just-symbols", elf], tree).split()
    assert "kasan_heap_malloc" in names and "kasan_init" in names
    assert "kasan_alloc_pages" not in names and "kasan_slab_alloc" not in names
    expect_all_reported(arch, elf)
