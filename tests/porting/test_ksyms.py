# SPDX-License-Identifier: MIT
"""./redzone ksyms: the example, linked with the table of its own functions, reports with their names."""

import re

import pytest
from kit import ROOT, boot, call, change, compiler, make_template, need
from redzone.core import process
from redzone.core.base import Failure
from redzone.elf import ksyms


def table_of(elf, output):
    output.write_text(ksyms.render(ksyms.functions(elf), output.suffix), encoding="utf-8")


@pytest.mark.parametrize(
    ("arch", "cc", "suffix"),
    [
        ("arm64", "clang-19", ".c"),
        ("arm64", "gcc", ".S"),
        ("riscv64", "clang-19", ".S"),
        ("riscv64", "gcc", ".c"),
    ],
)
def test_reports_name_functions(tree, arch, cc, suffix):
    need("make", "llvm-nm-19")
    change(tree / "Makefile", ("$(filter %.o,$^)", "$(filter %.o,$^) $(KSYMS)"))
    elf, _ = make_template(tree, arch, cc)
    table = tree / f"ksyms{suffix}"
    table_of(elf, table)
    options = ["-ffreestanding", "-fno-pic", "-I", ROOT / "include", "-Wall", "-Wextra", "-Werror"]
    options += ["-mcmodel=medany"] if arch == "riscv64" else []
    options += ["-march=rv64imac_zicsr", "-mabi=lp64"] if arch == "riscv64" else []
    defines = ["-DCONFIG_KASAN_GENERIC=1", "-DCONFIG_KASAN_SHADOW_WINDOWED=1"]
    call([*compiler(cc, arch), *options, *defines, "-c", table, "-o", "ksyms.o"], tree)
    first = elf.read_bytes()
    elf.unlink()
    elf, _ = make_template(tree, arch, cc, "KSYMS=ksyms.o")
    assert elf.read_bytes() != first
    # No function moved.
    assert ksyms.render(ksyms.functions(elf), suffix) == table.read_text(encoding="utf-8")
    status, console = boot(arch, elf)
    assert status == 0, console
    titles = re.findall(r"^BUG: KASAN: [\w-]+ in (\w+)\+0x[0-9a-f]+/0x[0-9a-f]+$", console, re.MULTILINE)
    names = {"heap_overflow", "heap_underflow", "use_after_free", "double_free", "global_overflow"}
    assert names <= set(titles), titles
    # Every frame of every trace has a name, with the size that the linker's own table gives it.
    frames = re.findall(r"^ (\w+)\+0x[0-9a-f]+/0x([0-9a-f]+)$", console, re.MULTILINE)
    assert len(frames) > 50 and not re.search(r"^ 0x[0-9a-f]+$", console, re.MULTILINE), console
    listed = call(["llvm-nm-19", "--print-size", elf], tree)
    size = next(int(line.split()[1], 16) for line in listed.splitlines() if line.endswith(" T main"))
    assert {int(found, 16) - size < 64 for name, found in frames if name == "main"} == {True}


def test_check_and_refusals(tree, tmp_path):
    elf, _ = make_template(tree, "arm64", "clang-19")
    command = [ROOT / "redzone", "ksyms"]
    call([*command, elf, "-o", tmp_path / "k.c"], tmp_path)
    call([*command, elf, "-o", tmp_path / "k.c", "--check"], tmp_path)
    text = (tmp_path / "k.c").read_text(encoding="utf-8")
    (tmp_path / "k.c").write_text(text.replace("0x0,", "0x4,", 1), encoding="utf-8")
    moved = process.run([*command, elf, "-o", tmp_path / "k.c", "--check"])
    assert moved.returncode == 1 and "moved" in moved.stderr
    call(["llvm-strip-19", elf, "-o", tmp_path / "stripped.elf"], tmp_path)
    (tmp_path / "text").write_text("no ELF file", encoding="utf-8")
    for path, words in (
        (tree / "build" / "main.o", "is an object file"),
        (tmp_path / "stripped.elf", "has no symbol table"),
        (tmp_path / "text", "not an ELF file"),
        (tmp_path / "nothing", "cannot read"),
    ):
        with pytest.raises(Failure, match=words):
            ksyms.functions(path)
