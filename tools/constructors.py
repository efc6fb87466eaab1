#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a program's linked object ready for the kernel: its constructors, its symbols, its pages of code.

The kernel calls .init_array before it has memory. That is right for the compiler's registration of globals,
and wrong for functions of the program. Those move from .init_array and .fini_array to two sections of the
object, .redzone_ctors and .redzone_dtors: pointers in the order of the calls, then NULL.
kernel/ulib/program.c calls them. pages.py arranges the functions.

usage: constructors.py FILE.o OBJCOPY MAIN SUFFIX

It runs inside the build, so it needs only Python and llvm-objcopy. It reads relocatable ELF64 files of
little-endian targets with RELA relocations.
"""

import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pages

SECTIONS = {".init_array": ".redzone_ctors", ".fini_array": ".redzone_dtors"}

_ARRAY = re.compile(r"(\.init_array|\.fini_array)(?:\.(\d+))?$")
# Functions that only compiler-generated constructors call.
_REGISTRATION = re.compile(r"__(asan_(un)?register_\w*globals|asan_init|hwasan_init)$")
# For an array without a number.
_LAST = 65535

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_SHT_SYMTAB, _SHT_RELA, _SHT_PROGBITS = 2, 4, 1
_SHF_WRITE, _SHF_ALLOC = 1, 2
_STT_FUNC = 2
_POINTER = 8


@dataclass
class _Section:
    """A section header, field by field."""

    name_at: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int

    def pack(self):
        return _SECTION.pack(*vars(self).values())


class Object:
    """A relocatable file in memory: @data, and its section headers, which save() puts at the end."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.header = list(_HEADER.unpack_from(self.data))
        if self.header[0][:6] != b"\x7fELF\x02\x01" or self.header[1] != 1:
            raise ValueError("no relocatable ELF64 file, or not a little-endian one")
        at, count, self.names_index = self.header[6], self.header[12], self.header[13]
        self.sections = [
            _Section(*_SECTION.unpack_from(self.data, at + index * _SECTION.size)) for index in range(count)
        ]
        self.symtab = next(
            (index for index, section in enumerate(self.sections) if section.type == _SHT_SYMTAB), None
        )

    def _string(self, table, at):
        start = self.sections[table].offset + at
        return self.data[start : self.data.index(b"\0", start)].decode("utf-8", "surrogateescape")

    def name(self, section):
        return self._string(self.names_index, section.name_at)

    def symbol(self, index):
        """Return (name, type, section, value, size) of a symbol."""
        table = self.sections[self.symtab]
        at = table.offset + index * _SYMBOL.size
        name, info, _, section, value, size = _SYMBOL.unpack_from(self.data, at)
        return self._string(table.link, name), info & 15, section, value, size

    def relocations(self, section):
        """Return [(index of the RELA section, [(offset, info, addend)])] of the section with that index."""
        return [
            (index, list(_RELA.iter_unpack(self.data[rela.offset : rela.offset + rela.size])))
            for index, rela in enumerate(self.sections)
            if rela.type == _SHT_RELA and rela.info == section
        ]

    def append(self, data, align=_POINTER):
        """Put @data at the end of the file. Return its offset."""
        self.data += bytes(-len(self.data) % align)
        offset = len(self.data)
        self.data += data
        return offset

    def add_names(self, names):
        """Return where the new @names of sections are, for _Section.name_at."""
        table = self.sections[self.names_index]
        data = self.data[table.offset : table.offset + table.size]
        places = []
        for name in names:
            places.append(len(data))
            data += name.encode() + b"\0"
        table.offset, table.size = self.append(data), len(data)
        return places

    def add_section(self, name, template, data):
        """Add a section like @template, but with that name and content. Return its index."""
        section = _Section(**vars(template))
        (section.name_at,) = self.add_names([name])
        section.offset, section.size = self.append(data), len(data)
        self.sections.append(section)
        return len(self.sections) - 1

    def save(self):
        """Return the file's new content."""
        self.header[6] = self.append(b"".join(section.pack() for section in self.sections))
        self.header[12] = len(self.sections)
        _HEADER.pack_into(self.data, 0, *self.header)
        return bytes(self.data)


def _registers(elf, symbol, addend):
    """Is the function at @symbol plus @addend the compiler's own, which registers a file's globals?"""
    _, _, section, value, _ = elf.symbol(symbol)
    place = value + addend
    table = elf.sections[elf.symtab]
    for index in range(table.size // _SYMBOL.size):
        _, kind, where, start, size = elf.symbol(index)
        if kind == _STT_FUNC and where == section and start <= place < start + size:
            break
    else:
        return False
    return any(
        start <= offset < start + size and _REGISTRATION.match(elf.symbol(info >> 32)[0])
        for _, entries in elf.relocations(section)
        for offset, info, _ in entries
    )


def _take(elf, index):
    """Take the program's own functions out of the array with that section index. Return [(info, addend)]."""
    taken, place, kept = [], 0, []
    section = elf.sections[index]
    (rela_index, entries), *more = elf.relocations(index) or [(None, [])]
    if more or len(entries) * _POINTER != section.size:
        raise ValueError(f"{elf.name(section)}: {section.size} bytes, {len(entries)} pointers")
    for _, info, addend in sorted(entries):
        if _registers(elf, info >> 32, addend):
            kept.append(_RELA.pack(place, info, addend))
            place += _POINTER
        else:
            taken.append((info, addend))
    if taken:
        section.size = place
        rela = elf.sections[rela_index]
        rela.size = len(kept) * _RELA.size
        elf.data[rela.offset : rela.offset + rela.size] = b"".join(kept)
    return taken


def prepare(data):
    """Return (the object @data as it should be, [names of the added sections])."""
    elf = Object(data)
    found = {kind: [] for kind in SECTIONS}
    for index, section in enumerate(elf.sections):
        match = _ARRAY.match(elf.name(section))
        if match and section.size:
            rank = int(match[2] or _LAST)
            found[match[1]] += [(rank, order, index) for order in [len(found[match[1]])]]
    made = []
    for kind, arrays in found.items():
        taken = [entry for _, _, index in sorted(arrays) for entry in _take(elf, index)]
        if not taken:
            continue
        if kind == ".fini_array":
            taken.reverse()
        template = _Section(0, _SHT_PROGBITS, _SHF_ALLOC | _SHF_WRITE, 0, 0, 0, 0, 0, _POINTER, 0)
        target = elf.add_section(SECTIONS[kind], template, bytes((len(taken) + 1) * _POINTER))
        template = _Section(0, _SHT_RELA, 0, 0, 0, 0, elf.symtab, target, _POINTER, _RELA.size)
        elf.add_section(
            ".rela" + SECTIONS[kind],
            template,
            b"".join(_RELA.pack(place * _POINTER, *entry) for place, entry in enumerate(taken)),
        )
        made.append(SECTIONS[kind])
    pages.pack(elf)
    return elf.save(), made


def finish(path, objcopy, main, suffix):
    """Make a program's linked object, the file @path, ready for the kernel.

    Its own constructors leave .init_array, and its functions are arranged in pages. The only global symbols
    that stay are @main and, if the program has constructors or destructors, redzone_ctors_SUFFIX and
    redzone_dtors_SUFFIX. Return what is wrong, or None.
    """
    try:
        data, made = prepare(path.read_bytes())
    except (ValueError, struct.error, IndexError) as error:
        return f"error: {path.name}: {error}"
    path.write_bytes(data)
    options = [f"--keep-global-symbol={main}"]
    for section in made:
        name = f"{section[1:]}_{suffix}"
        options += [f"--add-symbol={name}={section}:0,object,global", f"--keep-global-symbol={name}"]
    result = subprocess.run([objcopy, *options, str(path)], check=False, stderr=subprocess.PIPE, text=True)
    return (result.stderr or f"objcopy failed: {result.returncode}") if result.returncode else None


if __name__ == "__main__":
    sys.exit(finish(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]))
