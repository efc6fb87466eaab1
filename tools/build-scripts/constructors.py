# SPDX-License-Identifier: MIT
"""Makes a program's linked object ready for the kernel: its constructors, its symbols, its pages of code.

The kernel calls .init_array before it has memory. That is right for the compiler's registration of globals,
and wrong for functions of the program. Those move from .init_array and .fini_array to two sections of the
object, .redzone_ctors and .redzone_dtors: pointers in the order of the calls, then NULL.
kernel/program/program.c calls them. pages.py arranges the functions.

It runs inside the build, so it needs only Python and llvm-objcopy. It reads relocatable ELF64 files of
little-endian targets with RELA relocations.
"""

import re
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pages
from redzone.elf.file import ET_REL, SHF_ALLOC, SHF_WRITE, SHT_PROGBITS, SHT_RELA, ElfError, File, Section
from redzone.elf.symbols import FUNC, linkage, symbols, table

SECTIONS = {".init_array": ".redzone_ctors", ".fini_array": ".redzone_dtors"}

ON_ERROR = "__asan_on_error"
_ARRAY = re.compile(r"(\.init_array|\.fini_array)(?:\.(\d+))?$")
# Functions that only compiler-generated constructors call.
_REGISTRATION = re.compile(r"__(asan_(un)?register_\w*globals|asan_init|hwasan_init)$")
# For an array without a number.
_LAST = 65535

_RELA = struct.Struct("<QQq")
_POINTER = 8


class Object(File):
    """A relocatable file in memory: data, and its section headers, which save() puts at the end."""

    def __init__(self, data):
        super().__init__(bytearray(data))
        if (self.bits, self.order, self.type) != (64, "<", ET_REL):
            raise ElfError("it is not a relocatable ELF64 file, or not a little-endian one")
        self.symbols = list(symbols(self))

    def relocations_of(self, index):
        """Return [(RELA Section, [Relocation])] of the section with that @index."""
        return [
            (section, list(self.relocations(section)))
            for section in self.sections
            if section.type == SHT_RELA and section.info == index
        ]

    def append(self, data, align=_POINTER):
        """Put @data at the end of the file. Return its offset."""
        self.data += bytes(-len(self.data) % align)
        offset = len(self.data)
        self.data += data
        return offset

    def add_names(self, names):
        """Return where the new @names of sections are, for Section.name_at."""
        section = self.sections[self.names_index]
        data = bytearray(self.content(section))
        places = []
        for name in names:
            places.append(len(data))
            data += name.encode() + b"\0"
        section.offset, section.size = self.append(data), len(data)
        return places

    def add_section(self, name, data, **fields):
        """Add a section with that @name, content and other @fields. Return its index."""
        section = Section(*[0] * 10)
        (section.name_at,) = self.add_names([name])
        section.offset, section.size, section.align = self.append(data), len(data), _POINTER
        for field, value in fields.items():
            setattr(section, field, value)
        self.sections.append(section)
        return len(self.sections) - 1

    def save(self):
        """Return the file's new content."""
        headers = [self.section_shape.pack(*section.fields()) for section in self.sections]
        self.header[5], self.header[11] = self.append(b"".join(headers)), len(headers)
        self.header_shape.pack_into(self.data, 16, *self.header)
        return bytes(self.data)


def _registers(elf, relocation):
    """Is the function that @relocation is for the compiler's own, which registers a file's globals?"""
    target = elf.symbols[relocation.symbol]
    place = target.value + relocation.addend
    for _, start, size, kind, _, section in elf.symbols:
        if kind == FUNC and section == target.section and start <= place < start + size:
            break
    else:
        return False
    return any(
        start <= entry.offset < start + size and _REGISTRATION.match(elf.symbols[entry.symbol].name)
        for _, entries in elf.relocations_of(target.section)
        for entry in entries
    )


def _pack(relocations):
    """Return the bytes of the @relocations of pointers, one after the other."""
    return b"".join(
        _RELA.pack(place * _POINTER, entry.symbol << 32 | entry.type, entry.addend)
        for place, entry in enumerate(relocations)
    )


def _take(elf, index):
    """Take the program's own functions out of the array with that section index. Return their
    relocations."""
    section = elf.sections[index]
    (rela, entries), *more = elf.relocations_of(index) or [(None, [])]
    if more or len(entries) * _POINTER != section.size:
        raise ElfError(f"{section.name}: {section.size} bytes, {len(entries)} pointers")
    taken, kept = [], []
    for entry in sorted(entries):
        (kept if _registers(elf, entry) else taken).append(entry)
    if taken:
        section.size = len(kept) * _POINTER
        data = _pack(kept)
        rela.size = len(data)
        elf.data[rela.offset : rela.offset + rela.size] = data
    return taken


def prepare(data):
    """Return (the object @data as it should be, [names of the added sections])."""
    elf = Object(data)
    found = {kind: [] for kind in SECTIONS}
    for index, section in enumerate(elf.sections):
        match = _ARRAY.match(section.name)
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
        name = SECTIONS[kind]
        data = bytes((len(taken) + 1) * _POINTER)
        target = elf.add_section(name, data, type=SHT_PROGBITS, flags=SHF_ALLOC | SHF_WRITE)
        elf.add_section(
            ".rela" + name,
            _pack(taken),
            type=SHT_RELA,
            link=elf.sections.index(table(elf)),
            info=target,
            entry=_RELA.size,
        )
        made.append(name)
    pages.pack(elf)
    return elf.save(), made


def finish(path, objcopy, main, suffix):
    """Make a program's linked object, the file @path, ready for the kernel.

    Its own constructors leave .init_array, and its functions are arranged in pages. The only global symbols
    that stay are @main and, if the program has constructors or destructors, redzone_ctors_SUFFIX and
    redzone_dtors_SUFFIX; and __asan_on_error() as redzone_on_error_SUFFIX, if it has one. Return what is
    wrong, or None.
    """
    try:
        data, made = prepare(path.read_bytes())
        defined, _ = linkage(File(data))
    except (ValueError, struct.error, IndexError) as error:
        return f"error: {path.name}: {error}"
    path.write_bytes(data)
    options = [f"--keep-global-symbol={main}"]
    for section in made:
        name = f"{section[1:]}_{suffix}"
        options += [f"--add-symbol={name}={section}:0,object,global", f"--keep-global-symbol={name}"]
    if ON_ERROR in defined:
        name = f"redzone_on_error_{suffix}"
        # Kept by the name that it has before.
        options += [f"--redefine-sym={ON_ERROR}={name}", f"--keep-global-symbol={ON_ERROR}"]
    result = subprocess.run([objcopy, *options, str(path)], check=False, stderr=subprocess.PIPE, text=True)
    return (result.stderr or f"objcopy failed: {result.returncode}") if result.returncode else None
