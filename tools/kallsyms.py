#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the kernel's own symbol table, from the ELF file of the first link pass.

It runs inside the build (cmake/Kernel.cmake), twice for each change of a program. So it needs only Python,
and it reads the symbols itself, which takes half the time of llvm-nm and of reading its text. It knows ELF64
files of little-endian targets.

    kallsyms.py generate pass1.elf table.s    write the table as assembly source
    kallsyms.py check final.elf table.s       fail if the second pass moved a function

The table is section .kallsyms: kallsyms_num (u32), kallsyms_offsets (u32 each, ascending, from _text),
kallsyms_name_offsets (u32 each, into the names), kallsyms_names (NUL-terminated strings).

It is followed by the symbols that modules may link to, all those with external linkage: ksymtab_num (u32),
ksymtab_addresses (u64 each; the linker fills them in, because data moves between the passes),
ksymtab_name_offsets (u32 each), ksymtab_names, ascending.

At the end come the global variables that have a tag, also those with local linkage: kvars_num, kvars_offsets
(u32 each, ascending; from _text for constants, else from __data_start with bit 31 set), kvars_name_offsets,
kvars_names.
"""

import struct
import sys

# The top byte of an address without a tag.
UNTAGGED = 0xFF
UNTAG_MASK = (1 << 56) - 1

# The tables themselves.
OWN = {
    f"{table}_{part}"
    for table in ("kallsyms", "ksymtab", "kvars")
    for part in ("num", "offsets", "addresses", "name_offsets", "names")
}

# Names that mark places rather than code.
MARKERS = (
    "_text",
    "_stext",
    "_etext",
    "redzone_program_main",
    "redzone_ctors_program",
    "redzone_dtors_program",
)
# Second names of programs' main() functions (tools/each.py).
MARKER_PREFIX = "redzone_each_"


_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SHT_SYMTAB = 2
_SHF_EXECINSTR = 4
_LOCAL = 0
_OBJECT, _FUNC, _SECTION_SYMBOL, _FILE = 1, 2, 3, 4
# Section numbers from here on stand for no section: absolute symbols, for instance.
_RESERVED = 0xFF00


def rank(symbol):
    """Order of preference among names of one address: real functions, then global ones, then fewest
    underscores."""
    name, bind, sort = symbol
    return (sort != _FUNC, bind == _LOCAL, len(name) - len(name.lstrip("_")), len(name), name)


def _text(data, at):
    return data[at : data.index(b"\0", at)].decode("utf-8", "surrogateescape")


def _defined(elf):
    """Yield (name, value, bind, type, does its section hold code) of the symbols of the file @elf that have a
    section."""
    with open(elf, "rb") as file:
        data = file.read()
    header = _HEADER.unpack_from(data)
    count = header[12]
    sections = [_SECTION.unpack_from(data, header[6] + index * _SECTION.size) for index in range(count)]
    code = [bool(section[2] & _SHF_EXECINSTR) for section in sections]
    table = next(section for section in sections if section[1] == _SHT_SYMTAB)
    texts = sections[table[6]][4]
    entries = memoryview(data)[table[4] : table[4] + table[5]]
    for name, info, _, section, value, _ in _SYMBOL.iter_unpack(entries):
        if name and 0 < section < _RESERVED and info & 15 not in (_SECTION_SYMBOL, _FILE):
            yield _text(data, texts + name), value, info >> 4, info & 15, code[section]


def symbols(elf):
    """Return ([(offset from _text, name)] of code, ascending; [name of external linkage]; [(offset, name)] of
    tagged variables, ascending) of @elf."""
    base = None
    data = None
    by_address = {}
    exported = set()
    tagged = {}
    for name, value, bind, sort, is_code in _defined(elf):
        if name == "_text":
            base = value
        if name == "__data_start":
            data = value
        # Every address of the image has the same top byte, but for tagged variables.
        if sort == _OBJECT and value >> 56 != UNTAGGED:
            tagged.setdefault(value & UNTAG_MASK | UNTAGGED << 56, []).append((name, bind, sort))
        if bind != _LOCAL and name not in OWN and name not in MARKERS:
            exported.add(name)
        if not is_code or name in MARKERS or name[0] in "$." or name.startswith(MARKER_PREFIX):
            continue
        by_address.setdefault(value, []).append((name, bind, sort))
    if base is None:
        sys.exit(f"kallsyms: {elf} has no symbol _text")
    code = [(address - base, min(names, key=rank)[0]) for address, names in sorted(by_address.items())]
    variables = [
        (address - base if address < data else address - data | 1 << 31, min(names, key=rank)[0])
        for address, names in sorted(tagged.items())
    ]
    return code, sorted(exported, key=lambda name: name.encode("utf-8", "surrogateescape")), sorted(variables)


def strings(prefix, names):
    """Return the lines of @prefix_name_offsets and @prefix_names."""
    lines = [f"{prefix}_name_offsets:"]
    position = 0
    for name in names:
        lines.append(f"\t.long {position}")
        position += len(name) + 1
    lines.append(f"{prefix}_names:")
    return lines + [f'\t.asciz "{name}"' for name in names]


def source(table, exported, variables):
    """Return the assembly source for the tables."""
    lines = [
        "/* Generated by tools/kallsyms.py. */",
        '\t.section .kallsyms, "a", %progbits',
        "\t.globl kallsyms_num, kallsyms_offsets, kallsyms_name_offsets, kallsyms_names",
        "\t.balign 8",
        "kallsyms_num:",
        f"\t.long {len(table)}",
        "kallsyms_offsets:",
    ]
    lines += [f"\t.long {offset:#x}" for offset, _ in table]
    lines += strings("kallsyms", [name for _, name in table])
    lines += [
        "\t.globl ksymtab_num, ksymtab_addresses, ksymtab_name_offsets, ksymtab_names",
        "\t.balign 8",
        "ksymtab_addresses:",
        *(f'\t.quad "{name}"' for name in exported),
        "ksymtab_num:",
        f"\t.long {len(exported)}",
        *strings("ksymtab", exported),
        "\t.globl kvars_num, kvars_offsets, kvars_name_offsets, kvars_names",
        "\t.balign 4",
        "kvars_num:",
        f"\t.long {len(variables)}",
        "kvars_offsets:",
        *(f"\t.long {offset:#x}" for offset, _ in variables),
        *strings("kvars", [name for _, name in variables]),
    ]
    lines.append('\t.section .note.GNU-stack, "", %progbits')
    return "\n".join(lines) + "\n"


def main(argv):
    if len(argv) != 4 or argv[1] not in ("generate", "check"):
        sys.exit(__doc__)
    text = source(*symbols(argv[2]))
    if argv[1] == "generate":
        with open(argv[3], "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        return
    with open(argv[3], encoding="utf-8", errors="surrogateescape") as file:
        if file.read() != text:
            sys.exit(
                f"kallsyms: functions of {argv[2]} moved between the link passes: section .kallsyms "
                "must lie behind all code in the linker script"
            )


if __name__ == "__main__":
    main(sys.argv)
