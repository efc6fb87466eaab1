# SPDX-License-Identifier: MIT
"""Inputs that are no program, or not one: the message says what they are, not how the build works."""

import json
import subprocess

import pytest
from redzone.testing.needs import need

EMPTY = "int twice(int number)\n{\n\treturn 2 * number;\n}\n"
MAIN = "int twice(int number);\nvoid usage(void)\n{\n}\nint main(void)\n{\n\treturn twice(0);\n}\n"
HARNESS = """
int LLVMFuzzerTestOneInput(const unsigned char *data, __SIZE_TYPE__ size)
{
	return size && *data == 7;
}
"""
# What nobody who runs a program wants to read.
INTERNALS = ("CMake Error", "Traceback", "ninja", "Kernel.cmake")


def compiled(tmp_path, name, text, target="aarch64-none-elf", *options):
    source = tmp_path / f"{name}.c"
    source.write_text(text)
    subprocess.run(
        ["clang-19", f"--target={target}", *options, "-c", source, "-o", tmp_path / f"{name}.o"], check=True
    )
    return tmp_path / f"{name}.o"


def archive(tmp_path, name, *objects):
    subprocess.run(["llvm-ar-19", "rcs", name, *objects], check=True, cwd=tmp_path)
    return tmp_path / name


def refused(result):
    assert result.returncode == 2
    assert not any(word in result.stderr for word in INTERNALS), result.stderr
    return result.stderr


def test_objects_for_another_machine(redzone, tmp_path):
    arm = compiled(tmp_path, "arm", MAIN, "armv7a-none-eabi")
    assert refused(redzone("run", "arm.o")) == (
        "redzone: error: 'arm.o' is not an object file for arm64, but one for arm\n"
    )
    good = compiled(tmp_path, "a_member_with_a_long_name", EMPTY)
    archive(tmp_path, "both.a", good, arm)
    assert "'both.a': its member arm.o is not an object file for arm64, but one for arm" in refused(
        redzone("run", "both.a")
    )
    bitcode = compiled(tmp_path, "bitcode", MAIN, "aarch64-none-elf", "-flto")
    archive(tmp_path, "lto.a", bitcode)
    assert "'bitcode.o' is not an object file" in refused(redzone("run", "bitcode.o"))
    assert "'lto.a': its member bitcode.o is not an object file" in refused(redzone("run", "lto.a"))
    text = archive(tmp_path, "cut.a", good).read_bytes()
    (tmp_path / "cut.a").write_bytes(text[:8] + b"x" * 60)
    assert "'cut.a' is not a whole archive" in refused(redzone("run", "cut.a"))


def test_program_of_objects_only(redzone, tmp_path):
    """An archive with a main() is a program; one without is none."""
    main = compiled(tmp_path, "program", MAIN)
    other = compiled(tmp_path, "a_member_with_a_long_name", EMPTY)
    archive(tmp_path, "lib.a", other)
    archive(tmp_path, "all.a", main, other)
    result = redzone("run", "all.a")
    assert result.returncode == 0 and "no KASAN report" in result.stderr, result.stderr
    said = refused(redzone("run", "lib.a"))
    assert "hint: no file has a main()" in said and said.count("\n") < 8


@pytest.mark.parametrize("option", ["-flto", "-flto=thin", "-E", "-emit-llvm", "-fsyntax-only", "-m32"])
def test_option_that_makes_no_object(redzone, source, option):
    source(MAIN)
    said = refused(redzone("run", "program.c", "--cflag", option))
    assert said.startswith(
        f"redzone: error: --cflag {option}: the compiler would not make an ordinary object"
    )


def test_other_languages(redzone, source):
    for name in ("foo.cpp", "foo.cc", "foo.C"):
        source(MAIN, name)
        said = refused(redzone("run", name))
        assert (
            said == f"redzone: error: '{name}' is C++: programs are in C, and there is no C++ library here\n"
        )
    source(MAIN, "foo.h")
    assert refused(redzone("run", "foo.h")).endswith("; headers are found with -I\n")
    source(MAIN, "foo.txt")
    assert refused(redzone("run", "foo.txt")).endswith("; data goes in with --file\n")


def test_project_of_several_programs(redzone, tmp_path):
    rows = []
    for name, target, text in (
        ("lib", "base", EMPTY),
        *((f"tool{n}", f"tool{n}", MAIN) for n in range(3)),
        ("alone", "", MAIN),
    ):
        (tmp_path / f"{name}.c").write_text(text)
        output = f"CMakeFiles/{target}.dir/{name}.c.o" if target else f"{name}.o"
        command = f"cc -O1 -c {name}.c -o {output}"
        rows.append({"directory": str(tmp_path), "file": f"{name}.c", "command": command})
    (tmp_path / "compile_commands.json").write_text(json.dumps(rows))
    said = refused(redzone("run", "--project", "."))
    assert said.splitlines()[-5:] == [
        "redzone: error: --project: 4 files have a main(), so it is several programs. Choose one with "
        "--target NAME, and further ones with what it needs; the targets without one, which it may need, "
        "are base",
        "  ?      alone.c",
        "  tool0  tool0.c",
        "  tool1  tool1.c",
        "  tool2  tool2.c",
    ]
    redzone("run", "--project", ".", "--target", "tool1", "--target", "base", status=0)


def test_fuzz_without_a_harness(redzone, source):
    need("libfuzzer")
    source(EMPTY, "none.c")
    source(MAIN.replace("int twice(int number);", EMPTY), "ordinary.c")
    source(HARNESS, "one.c")
    source(HARNESS, "two.c")
    for files, hint in (
        (
            ("none.c",),
            "no file has a harness, which gets each input: int LLVMFuzzerTestOneInput(const uint8_t",
        ),
        (("ordinary.c",), "leave your main() out"),
        (("one.c", "ordinary.c"), "leave your main() out"),
        (("one.c", "two.c"), "two files have a harness"),
    ):
        said = refused(redzone("fuzz", *files, "--time", "1"))
        hints = [line for line in said.splitlines() if "hint:" in line]
        assert len(hints) == 1 and hint in hints[0], said
