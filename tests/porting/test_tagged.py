# SPDX-License-Identifier: MIT
"""Stack variables with hardware tags and global variables with software tags, in trees of their own: every
kit takes the option, and the example then finds the bug that it leaves out in the mode."""

import shutil

import pytest
from kit import HIGH, HIGH_END, ROOT, TAG_FILES, boot, call, compiler, machine, make_template, need
from test_integration import cmake_template

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


@pytest.mark.parametrize("case", list(CASES))
def test_make(all_bugs, case):
    mode, variable, *_ = CASES[case]
    elf, _ = make_template(all_bugs, "arm64", "clang-19", f"MODE={mode}", variable)
    expect_reported(elf, case)


@pytest.mark.parametrize("case", list(CASES))
def test_cmake(all_bugs, case):
    mode, _, argument, *_ = CASES[case]
    path = all_bugs / "CMakeLists.txt"
    text = path.read_text(encoding="utf-8")
    assert "redzone_add_runtime(kasan MODE" in text
    changed = text.replace("redzone_add_runtime(kasan MODE", f"redzone_add_runtime(kasan {argument} MODE")
    path.write_text(changed, encoding="utf-8")
    options = [f"-DREDZONE_DIR={ROOT}", f"-DTEMPLATE_MODE={mode}"]
    expect_reported(cmake_template(all_bugs, "arm64", "clang-19", *options), case)


@pytest.mark.parametrize("case", list(CASES))
def test_pkg_config(all_bugs, prefix, case, monkeypatch):
    need("make", "pkg-config", "ld.lld-19")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(prefix / "share" / "pkgconfig"))
    mode = CASES[case][0]
    ram, image, offset = HIGH
    layout = {
        "hw_tags": "-DCONFIG_KASAN_STACK=1",
        "sw_tags": f"-DCONFIG_KASAN_SHADOW_FULL=1 -DCONFIG_KASAN_SHADOW_OFFSET={offset}UL "
        f"-DCONFIG_KASAN_SHADOW_LOW={ram}UL -DCONFIG_KASAN_SHADOW_HIGH={HIGH_END}UL",
    }
    checks, code = {
        "mte_stack": ("clang_mte_stack", "clang_code_hw_tags"),
        "tagged_globals": ("clang_tagged_globals_outline", "clang_code_tagged_globals"),
    }[case]
    user = (int(offset, 0) + (0xFF << 52)) % (1 << 64)
    variables = [
        f"MODE={mode.upper()}",
        f"LAYOUT={layout[mode]}",
        f"CHECKS={checks} --define-variable=user_offset={user:#x}",
        f"CODE={code}",
        f"MORE={TAG_FILES}",
        f"CC={' '.join(compiler('clang-19', 'arm64'))}",
        f"MACHINE={machine('arm64', mode)}",
        f"RAM={ram}",
        f"IMAGE={image}",
        f"OFFSET={offset}",
        "OUT=build",
        "LLD=ld.lld-19",
    ]
    call(["make", "-j2", "-f", ROOT / "tests/porting/pkgconfig.mk", *variables], all_bugs)
    expect_reported(all_bugs / "build" / "template.elf", case)


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
        path = copy / "CMakeLists.txt"
        text = path.read_text(encoding="utf-8")
        changed = text.replace("redzone_add_runtime(kasan MODE", f"redzone_add_runtime(kasan {argument} MODE")
        path.write_text(changed, encoding="utf-8")
        options = [f"-DREDZONE_DIR={ROOT}", f"-DTEMPLATE_MODE={other}", f"-DTEMPLATE_CC={cc}"]
        options += ["-DTEMPLATE_WHERE=outline", "-DTEMPLATE_ARCH=arm64"]
        command = ["cmake", "-G", "Ninja", "-B", copy / "b", "--toolchain", copy / "toolchain.cmake"]
        output = call([*command, *options], copy, ok=False)
        assert words.replace(name, argument) in " ".join(output.split())
