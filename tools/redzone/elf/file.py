# SPDX-License-Identifier: MIT
"""What an ELF file consists of: its header, sections, segments, relocations, build ID.

It reads files of both word sizes and both byte orders. Standard library only: scripts of the build import it
under the system's Python. A part that nobody asks for is not looked at, so firmware whose linker script makes
malformed sections can be read.
"""

import mmap
import struct
from functools import cached_property
from typing import NamedTuple

SHT_PROGBITS, SHT_SYMTAB, SHT_RELA, SHT_NOTE, SHT_NOBITS, SHT_REL, SHT_DYNSYM = 1, 2, 4, 7, 8, 9, 11
SHT_RELR = 19
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4
ET_REL, ET_DYN = 1, 3
PT_LOAD, PF_X = 1, 1
_NT_GNU_BUILD_ID = 3
# A number of sections, or of the section with their names, that is too large for the header.
_SHN_XINDEX = 0xFFFF
_MACHINES = {
    **{2: "EM_SPARC", 3: "EM_386", 8: "EM_MIPS", 20: "EM_PPC", 21: "EM_PPC64", 22: "EM_S390", 40: "EM_ARM"},
    **{42: "EM_SH", 43: "EM_SPARCV9", 62: "EM_X86_64", 92: "EM_OPENRISC", 94: "EM_XTENSA", 183: "EM_AARCH64"},
    **{195: "EM_ARC_COMPACT2", 243: "EM_RISCV", 247: "EM_BPF", 252: "EM_CSKY", 258: "EM_LOONGARCH"},
}


class ElfError(ValueError):
    """The file is none, or is damaged. The text says what is wrong with it, but not its name."""


class Section:
    """A section: the fields of its header in their order, and its name."""

    # No dataclass: importing that module takes longer than reading a kernel's symbols.
    _FIELDS = ("name_at", "type", "flags", "address", "offset", "size", "link", "info", "align", "entry")
    __slots__ = (*_FIELDS, "name")

    def __init__(self, *fields):
        for name, value in zip(self._FIELDS, fields, strict=True):
            setattr(self, name, value)
        self.name = ""

    def fields(self):
        return [getattr(self, name) for name in self._FIELDS]


class Segment(NamedTuple):
    """A segment. size: in memory; @stored: in the file."""

    type: int
    flags: int
    offset: int
    address: int
    load_address: int
    stored: int
    size: int


class Relocation(NamedTuple):
    """addend: 0 if the section that is relocated has it. symbol: its number."""

    offset: int
    type: int
    symbol: int
    addend: int


class File:
    """An ELF file with the content @data. Raises ElfError.

    bits: 32 or 64. order: struct's sign for its byte order. type: such as ET_REL. machine: such as
    "EM_AARCH64".
    """

    def __init__(self, data):
        self.data = data
        if bytes(data[:4]) != b"\x7fELF" or len(data) < 20:
            raise ElfError("it is not an ELF file")
        self.bits = {1: 32, 2: 64}.get(data[4])
        self.order = {1: "<", 2: ">"}.get(data[5])
        if not self.bits or not self.order:
            raise ElfError("its word size or byte order is none that ELF has")
        wide = self.bits == 64
        self.header_shape = struct.Struct(self.order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"))
        self.section_shape = struct.Struct(self.order + ("IIQQQQIIQQ" if wide else "10I"))
        self.header = list(self._unpack(self.header_shape, 16, "header"))
        self.type = self.header[0]
        self.machine = _MACHINES.get(self.header[1], f"machine {self.header[1]}")

    @classmethod
    def open(cls, path):
        """Return the File at @path. Only what is asked for is read. Raises OSError as well."""
        with open(path, "rb") as file:
            file.seek(0, 2)
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b"")

    def _unpack(self, shape, offset, what):
        try:
            return shape.unpack_from(self.data, offset)
        except (struct.error, OverflowError):
            raise ElfError(f"its {what} lies beyond the end of the file") from None

    # --- Sections -------------------------------------------------------------------------------------------

    @cached_property
    def sections(self):
        """The list of Section; the place in it is a section's number."""
        at, count, names = self.header[5], self.header[11], self.header[12]
        if not at:
            return []
        first = self._section(at)
        count = count or first.size
        if at + count * self.section_shape.size > len(self.data):
            raise ElfError("its table of sections lies beyond the end of the file")
        found = [self._section(at + number * self.section_shape.size) for number in range(count)]
        self.names_index = first.link if names == _SHN_XINDEX else names
        texts = self.content(found[self.names_index]) if self.names_index < count else b""
        for section in found:
            end = texts.find(b"\0", section.name_at)
            section.name = texts[section.name_at : max(end, 0)].decode("utf-8", "surrogateescape")
        return found

    def _section(self, offset):
        return Section(*self._unpack(self.section_shape, offset, "table of sections"))

    def section(self, name):
        """Return the first Section called @name, or None."""
        return next((section for section in self.sections if section.name == name), None)

    def linked(self, number):
        """Return the Section with that @number, which another one names."""
        if number >= len(self.sections):
            raise ElfError(f"a section refers to section {number}, which it does not have")
        return self.sections[number]

    def content(self, section):
        """Return the bytes of a Section or Segment that are in the file."""
        stored = section.stored if isinstance(section, Segment) else section.size
        if isinstance(section, Section) and section.type == SHT_NOBITS:
            return b""
        return bytes(self.data[section.offset : section.offset + stored])

    def entries(self, shape, section, first=0):
        """Yield the entries of a table, the Section @section, from number @first on. @shape: struct's letters
        for one."""
        shape = struct.Struct(self.order + shape)
        data = self.content(section)
        if len(data) < section.size:
            raise ElfError(f"its section {section.name} lies beyond the end of the file")
        return shape.iter_unpack(data[first * shape.size : len(data) // shape.size * shape.size])

    def relocations(self, section):
        """Yield each Relocation of @section, of type SHT_REL or SHT_RELA; nothing for other types."""
        if section.type not in (SHT_REL, SHT_RELA):
            return
        wide = self.bits == 64
        shape = ("QQ" if wide else "II") + (("q" if wide else "i") if section.type == SHT_RELA else "")
        shift = 32 if wide else 8
        for offset, info, *addend in self.entries(shape, section):
            yield Relocation(offset, info & (1 << shift) - 1, info >> shift, addend[0] if addend else 0)

    def relocated(self):
        """Return the set of the addresses of words that change when the linked image is moved, by a loader or
        by the image itself."""
        found, size = set(), self.bits // 8
        for section in self.sections:
            found.update(one.offset for one in self.relocations(section))
            if section.type != SHT_RELR:
                continue
            # An even entry is an address; an odd one has a bit for each of the words after the last.
            at = 0
            for (entry,) in self.entries("Q" if size == 8 else "I", section):
                if not entry & 1:
                    found.add(entry)
                    at = entry + size
                    continue
                found.update(at + bit * size for bit in range(self.bits - 1) if entry >> bit + 1 & 1)
                at += (self.bits - 1) * size
        return found

    @property
    def build_id(self):
        """The GNU build ID in hexadecimal, "" if it has none."""
        shape = struct.Struct(self.order + "III")
        for section in self.sections:
            data = self.content(section) if section.type == SHT_NOTE else b""
            at = 0
            while at + shape.size <= len(data):
                name, size, kind = shape.unpack_from(data, at)
                start = at + shape.size
                at = start + -(-name // 4) * 4
                if kind == _NT_GNU_BUILD_ID and data[start : start + name] == b"GNU\0":
                    return data[at : at + size].hex()
                at += -(-size // 4) * 4
        return ""

    # --- Segments -------------------------------------------------------------------------------------------

    @cached_property
    def loads(self):
        """The list of Segment that are loaded."""
        at, count = self.header[4], self.header[9]
        wide = self.bits == 64
        shape = struct.Struct(self.order + ("IIQQQQQQ" if wide else "8I"))
        found = []
        for number in range(count if at else 0):
            fields = self._unpack(shape, at + number * shape.size, "table of segments")
            # Files of 32 bits have the flags after the sizes.
            found.append(Segment(*(fields[:7] if wide else (fields[0], fields[6], *fields[1:6]))))
        return [segment for segment in found if segment.type == PT_LOAD]

    def code(self):
        """Return [(address, bytes)] of what is loaded to be executed."""
        return [(load.address, self.content(load)) for load in self.loads if load.flags & PF_X]
