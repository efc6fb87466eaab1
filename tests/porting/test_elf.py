# SPDX-License-Identifier: MIT
"""redzone.elf: files of both word sizes and byte orders are read as pyelftools reads them; files without a
symbol table; damaged files."""

import random

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from kit import call, need
from redzone.elf.file import ElfError, File
from redzone.elf.symbols import FUNC, OBJECT, Functions, linkage, symbols, table

TARGETS = (
    *("aarch64-none-elf", "x86_64-unknown-linux-gnu", "armv7a-none-eabi", "riscv32-unknown-elf"),
    *("armeb-none-eabi", "mips-linux-gnu", "powerpc-none-elf", "s390x-linux-gnu", "powerpc64-linux-gnu"),
)
SOURCE = """
extern int elsewhere(int), perhaps(int) __attribute__((weak));
int counter = 3, *where = &counter;
static __attribute__((noinline)) int helper(int a) { return elsewhere(a) + counter; }
int first(int a) { return helper(a) * perhaps(a); }
int \u00fcber(int a) { return first(a) + 1; }
"""
KINDS = {"STT_NOTYPE": 0, "STT_OBJECT": OBJECT, "STT_FUNC": FUNC, "STT_SECTION": 3, "STT_FILE": 4}
NOWHERE = {"SHN_UNDEF": 0, "SHN_ABS": 0xFFF1, "SHN_COMMON": 0xFFF2}


def compiled(target, folder, *options):
    need("clang-19")
    (folder / "code.c").write_text(SOURCE, encoding="utf-8")
    call(["clang-19", f"--target={target}", "-O1", "-g", "-c", *options, "code.c", "-o", "code.o"], folder)
    return folder / "code.o"


@pytest.mark.parametrize("target", TARGETS)
def test_as_another_reader(target, tmp_path):
    path = compiled(target, tmp_path)
    ours = File.open(path)
    with open(path, "rb") as file:
        other = ELFFile(file)
        sections = list(other.iter_sections())
        assert (ours.machine, ours.bits) == (other["e_machine"], other.elfclass)
        assert (ours.order == "<") == other.little_endian
        assert [(one.name, one.flags, one.size, one.align) for one in ours.sections] == [
            (one.name, one["sh_flags"], one["sh_size"], one["sh_addralign"]) for one in sections
        ]
        for mine, theirs in zip(ours.sections, sections, strict=True):
            if isinstance(theirs, RelocationSection):
                assert [(one.offset, one.type, one.symbol, one.addend) for one in ours.relocations(mine)] == [
                    (one["r_offset"], one["r_info_type"], one["r_info_sym"], one.entry.get("r_addend", 0))
                    for one in theirs.iter_relocations()
                ]
        for mine, theirs in zip(
            symbols(ours), other.get_section_by_name(".symtab").iter_symbols(), strict=True
        ):
            where = theirs["st_shndx"]
            assert (mine.name, mine.value, mine.size, mine.section) == (
                # The library gives symbols of sections the section's name.
                "" if theirs["st_info"]["type"] == "STT_SECTION" else theirs.name,
                theirs["st_value"],
                theirs["st_size"],
                NOWHERE.get(where, where),
            )
            assert mine.kind == KINDS[theirs["st_info"]["type"]]
    defined, undefined = linkage(ours)
    assert defined == {"counter", "where", "first", "\u00fcber"}
    assert undefined - {"__gnu_local_gp", "_gp_disp", ".TOC."} == {"elsewhere"}


def test_functions(tmp_path):
    functions = Functions(File.open(compiled("thumbv7m-none-eabi", tmp_path)))
    (first,) = functions.find("first")
    assert first.address % 2 == 0 and 0 < first.own <= first.size
    assert functions.at(first.address + 2) == ("first", 2, first.size)
    assert functions.at(1 << 20) is None and functions.find("elsewhere") == []
    only = Functions(File.open(tmp_path / "code.o"), (OBJECT,))
    assert only.find("counter") and not only.find("first")


def test_no_symbol_table(tmp_path):
    path = compiled("aarch64-none-elf", tmp_path)
    need("llvm-objcopy-19")
    call(["llvm-objcopy-19", "--strip-all", path], tmp_path)
    file = File.open(path)
    assert table(file) is None and list(symbols(file)) == [] and not Functions(file)
    assert linkage(file) == (set(), set())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "not an ELF file"),
        (lambda data: b"!<arch>\n" + data, "not an ELF file"),
        (lambda data: data[:4] + b"\x07" + data[5:], "word size or byte order"),
        (lambda data: data[:40], "header lies beyond"),
        (lambda data: data[:-1], "table of sections lies beyond"),
    ],
)
def test_damaged(change, message, tmp_path):
    data = compiled("aarch64-none-elf", tmp_path).read_bytes()
    (tmp_path / "bad").write_bytes(change(data))
    with pytest.raises(ElfError, match=message):
        list(symbols(File.open(tmp_path / "bad")))


def test_a_name_beyond_the_names(tmp_path):
    file = File.open(compiled("mips-linux-gnu", tmp_path))
    data = bytearray(file.data)
    data[table(file).offset + 16 : table(file).offset + 20] = b"\x7f\xff\xff\xff"
    with pytest.raises(ElfError, match="name of a symbol"):
        list(symbols(File(bytes(data))))


@pytest.mark.parametrize("target", ["aarch64-none-elf", "armeb-none-eabi"])
def test_random_damage(target, tmp_path):
    """Whatever the bytes are, the file is read, or refused by ElfError."""
    whole, rng = compiled(target, tmp_path).read_bytes(), random.Random(7)
    headers = [*range(64), *range(len(whole) - 1000, len(whole))]
    refused = 0
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.choice(headers)] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
        try:
            file = File(bytes(data))
            Functions(file).at(16)
            assert isinstance(file.build_id, str)
            for section in file.sections:
                list(file.relocations(section))
            file.code()
        except ElfError:
            refused += 1
    assert 200 < refused < 2000
