# SPDX-License-Identifier: MIT
"""Stack variables with hardware tags and global variables with software tags, in trees of their own: every
kit takes the option, and the example then finds the bug that it leaves out in the mode."""

import shutil

import pytest
from kit import (
    ROOT,
    boot,
    change,
    cmake,
    cmake_template,
    first,
    make_template,
    need,
    pkg_config_template,
    place,
)

# (mode, make's variable, CMake's argument, the bug that the mode leaves out without it, its type)
CASES = {
    "mte_stack": ("hw_tags", "KASAN_MTE_STACK=1", "MTE_STACK", "stack_overread", "stack-out-of-bounds"),
    "tagged_globals": (
        "sw_tags",
        "KASAN_TAGGED_GLOBALS=1",
        "TAGGED_GLOBALS",
        "global_overflow",
        "global-out-of-bounds",
    ),
}


@pytest.fixture
def all_bugs(tree, case):
    """The example with the bug that it leaves out. An overflow of a global goes to the next granule: less
    needs kasan_prepare_globals()."""
    path = tree / "main.c"
    text = path.read_text(encoding="utf-8")
    head, rest = text.split("static const char *seen;", 1)
    left_out = {
        "mte_stack": "#ifndef CONFIG_KASAN_HW_TAGS\n",
        "tagged_globals": "#ifdef CONFIG_KASAN_GENERIC\n",
    }
    assert rest.count(left_out[case]) == 2
    rest = rest.replace(left_out[case], "#if 1\n")
    assert "entry[sizeof(table)]" in rest
    rest = rest.replace("entry[sizeof(table)]", "entry[16]")
    path.write_text(head + "static const char *seen;" + rest, encoding="utf-8")
    return tree


def expect_reported(elf, case):
    mode, _, _, name, kind = CASES[case]
    _, console = boot("arm64", elf, mode)
    assert f"template: ok {name}\n" in console, console
    assert f"BUG: KASAN: {kind} in " in console
    assert "template: ok device_register" in console and "template: ok correct_use" in console


def with_argument(tree, argument):
    add = "redzone_add_runtime(kasan"
    change(tree / "CMakeLists.txt", (f"{add} MODE", f"{add} {argument} MODE"))


@first(1, "case", list(CASES))
def test_make(all_bugs, case):
    mode, variable, *_ = CASES[case]
    elf, _ = make_template(all_bugs, "arm64", "clang-19", f"MODE={mode}", variable)
    expect_reported(elf, case)


@first(1, "case", list(CASES))
def test_cmake(all_bugs, case):
    mode, _, argument, *_ = CASES[case]
    with_argument(all_bugs, argument)
    options = [f"-DREDZONE_DIR={ROOT}", f"-DTEMPLATE_MODE={mode}"]
    expect_reported(cmake_template(all_bugs, "arm64", "clang-19", *options), case)


@first(1, "case", reversed(CASES))
def test_pkg_config(all_bugs, prefix, case, monkeypatch):
    monkeypatch.setenv("PKG_CONFIG_PATH", str(prefix / "share" / "pkgconfig"))
    mode = CASES[case][0]
    user = (int(place("arm64", mode)[2], 0) + (0xFF << 52)) % (1 << 64)
    checks, *more = {
        "mte_stack": ("clang_mte_stack", "LAYOUT=-DCONFIG_KASAN_STACK=1"),
        "tagged_globals": ("clang_tagged_globals_outline", "CODE=clang_code_tagged_globals"),
    }[case]
    # The last one of two values is make's.
    more.append(f"CHECKS={checks} --define-variable=user_offset={user:#x}")
    expect_reported(pkg_config_template(all_bugs, "arm64", "clang-19", mode, None, *more), case)


@pytest.mark.parametrize("case", list(CASES))
def test_refusals(tree, case):
    """The options belong to one mode each, and to Clang."""
    need("cmake", "ninja")
    mode, variable, argument, *_ = CASES[case]
    name = variable.split("=")[0]
    for cc, other, words in (("clang-19", "generic", "belongs to"), ("gcc", mode, f"{name} with GCC")):
        where = "WHERE=outline" if other != "hw_tags" else "WHERE="
        _, output = make_template(tree, "arm64", cc, f"MODE={other}", variable, where, ok=False)
        assert words in output
        copy = tree.parent / f"{case}-{cc}"
        shutil.copytree(tree, copy)
        with_argument(copy, argument)
        options = [f"-DREDZONE_DIR={ROOT}", f"-DTEMPLATE_MODE={other}", f"-DTEMPLATE_CC={cc}"]
        options += ["-DTEMPLATE_WHERE=outline", "-DTEMPLATE_ARCH=arm64"]
        output = cmake(copy, *options, build="b", ok=False)
        assert words.replace(name, argument) in " ".join(output.split())
