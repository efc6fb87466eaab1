# SPDX-License-Identifier: MIT
"""Reads ELF files for `./redzone audit`: functions, the files they come from, the calls they make.

Branches are decoded here, for the four architectures that the runtime knows: calls of named functions are all
that is asked, so no disassembler is needed.
"""

import bisect
import io
import re
import struct
from dataclasses import dataclass, field

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section as PlainSection
from elftools.elf.sections import SymbolTableSection

from redzone.base import Failure

ARCHES = {"EM_AARCH64": "arm64", "EM_RISCV": "riscv64", "EM_X86_64": "x86_64", "EM_ARM": "arm"}
# Relocations that put a load-time address into a word; the address is the addend.
RELATIVE = {"arm64": 1027, "riscv64": 3, "x86_64": 8, "arm": 23}
DW_LANG_ASSEMBLER = 0x8001
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4


@dataclass
class Function:
    """A function. calls: names of the interesting functions it calls or jumps to. traps: it has
    inline checks of tags. touches: it reads or
    writes memory other than its own frame, None if that is not known."""

    name: str
    address: int
    size: int
    section: int
    unit: object = None
    calls: set = field(default_factory=set)
    traps: bool = False
    touches: bool | None = None


@dataclass
class Unit:
    """A file that was compiled, as DWARF or the symbol table names it. shown: its name for people."""

    name: str
    folder: str = ""
    producer: str = ""
    assembly: bool = False
    functions: list = field(default_factory=list)
    shown: str = ""

    @property
    def path(self):
        return self.name if self.name.startswith("/") or not self.folder else f"{self.folder}/{self.name}"


@dataclass
class Section:
    name: str
    address: int
    size: int
    flags: int
    data: bytes
    kind: str = ""


# --- Branches and memory accesses, per architecture -------------------------------------------------------


def _signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


# The "target" of the trap of Clang's inline check of tags.
_TRAP = -1


def _arm64(data, base):
    """Yield (address, target, touches memory) for each instruction. Target: an address, _TRAP or None."""
    for at, (word,) in zip(
        range(0, len(data), 4), struct.iter_unpack("<I", data[: len(data) & ~3]), strict=False
    ):
        target = None
        if word & 0x7C000000 == 0x14000000:
            target = base + at + 4 * _signed(word & 0x3FFFFFF, 26)
        elif word & 0xFFFFF81F == 0xD4212000:
            # brk #0x900 to #0x93f
            target = _TRAP
        # Loads and stores, but for literals, the stack pointer and the frame pointer.
        touches = (
            word & 0x0A000000 == 0x08000000
            and word & 0x3B000000 != 0x18000000
            and word >> 5 & 31 not in (29, 31)
        )
        yield base + at, target, touches


def _riscv64(data, base):
    at = 0
    high = {}  # what auipc put into which register
    while at + 2 <= len(data):
        half = data[at] | data[at + 1] << 8
        if half & 3 != 3:
            funct, quadrant = half >> 13, half & 3
            target = None
            if quadrant == 1 and funct == 5:
                bits = (
                    (12, 11),
                    (11, 4),
                    (10, 9),
                    (9, 8),
                    (8, 10),
                    (7, 6),
                    (6, 7),
                    (5, 3),
                    (4, 2),
                    (3, 1),
                    (2, 5),
                )
                offset = sum((half >> source & 1) << to for source, to in bits)
                target = base + at + _signed(offset, 12)
            # Register 8 is the frame pointer.
            touches = quadrant == 0 and funct in (1, 2, 3, 5, 6, 7) and half >> 7 & 7 != 0
            yield base + at, target, touches
            at += 2
            continue
        if at + 4 > len(data):
            return
        word = half | data[at + 2] << 16 | data[at + 3] << 24
        opcode, target = word & 0x7F, None
        if opcode == 0x6F:
            offset = (
                (word >> 31) << 20
                | (word >> 12 & 0xFF) << 12
                | (word >> 20 & 1) << 11
                | (word >> 21 & 0x3FF) << 1
            )
            target = base + at + _signed(offset, 21)
        elif opcode == 0x17:
            high[word >> 7 & 31] = base + at + _signed(word & 0xFFFFF000, 32)
        elif opcode == 0x67 and word >> 15 & 31 in high:
            target = high[word >> 15 & 31] + _signed(word >> 20, 12)
        touches = opcode in (0x03, 0x07, 0x23, 0x27, 0x2F) and word >> 15 & 31 not in (2, 8)
        yield base + at, target, touches
        at += 4


def _x86_64(data, base):
    # Instructions have no fixed place: every byte that could start a near call or jump is tried. That the
    # four bytes behind it lead to exactly a sanitizer's function is no accident.
    for found in re.finditer(rb"(?=[\xe8\xe9](....))", data, re.DOTALL):
        at = found.start()
        yield base + at, base + at + 5 + struct.unpack("<i", found[1])[0], None


def _arm(data, base):
    for at in range(0, len(data) - 3, 2):
        first, second = struct.unpack_from("<HH", data, at)
        word = first | second << 16
        if at % 4 == 0 and word & 0x0E000000 == 0x0A000000:
            offset = _signed(word & 0xFFFFFF, 24) * 4
            yield base + at, base + at + 8 + offset, None
            if word >> 28 == 15:  # BLX, to Thumb
                yield base + at, base + at + 8 + offset + (word >> 23 & 2), None
        if first & 0xF800 == 0xF000 and second & 0x9000 in (0x9000,):
            s = first >> 10 & 1
            i1, i2 = 1 - (second >> 13 & 1 ^ s), 1 - (second >> 11 & 1 ^ s)
            offset = _signed(
                s << 24 | i1 << 23 | i2 << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1, 25
            )
            yield base + at, base + at + 4 + offset, None


_DECODERS = {"arm64": _arm64, "riscv64": _riscv64, "x86_64": _x86_64, "arm": _arm}


def _materialized(arch, data, base):
    """Yield the addresses that code puts together from its own: adrp+add, auipc+addi, lui+addi, lea."""
    if arch == "arm64":
        pages = {}
        for at, (word,) in zip(
            range(0, len(data), 4), struct.iter_unpack("<I", data[: len(data) & ~3]), strict=False
        ):
            if word & 0x9F000000 in (0x90000000, 0x10000000):
                offset = _signed((word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3, 21)
                page = word >> 31
                address = ((base + at) & ~4095) + offset * 4096 if page else base + at + offset
                pages[word & 31] = address
                yield address
            elif word & 0xFF800000 == 0x91000000 and word >> 5 & 31 in pages:
                shift = 12 if word >> 22 & 1 else 0
                yield pages[word >> 5 & 31] + ((word >> 10 & 0xFFF) << shift)
            elif word & 0x3B000000 == 0x39000000 and word >> 5 & 31 in pages:
                yield pages[word >> 5 & 31] + ((word >> 10 & 0xFFF) << (word >> 30))
    elif arch == "riscv64":
        high = {}
        at = 0
        while at + 4 <= len(data):
            word = int.from_bytes(data[at : at + 4], "little")
            if word & 3 != 3:
                if word & 0xE003 == 0x6001:  # c.lui
                    high[word >> 7 & 31] = _signed((word >> 12 & 1) << 17 | (word >> 2 & 31) << 12, 18)
                at += 2
                continue
            opcode = word & 0x7F
            if opcode in (0x17, 0x37):
                high[word >> 7 & 31] = _signed(word & 0xFFFFF000, 32) + (base + at if opcode == 0x17 else 0)
            elif opcode in (0x13, 0x03) and word >> 15 & 31 in high:
                yield high[word >> 15 & 31] + _signed(word >> 20, 12)
            at += 4
    elif arch == "x86_64":
        for found in re.finditer(
            rb"(?=[\x48\x4c]\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d](....))", data, re.DOTALL
        ):
            yield base + found.start() + 7 + struct.unpack("<i", found[1])[0]
        for found in re.finditer(
            rb"(?=(?:\x48\xc7[\xc0-\xc7]|[\xb8-\xbf]|\x48\x81[\xf8-\xff])(....))", data, re.DOTALL
        ):
            yield struct.unpack("<i", found[1])[0] & (1 << 64) - 1
    else:
        low = {}
        for at in range(0, len(data) - 3, 4):
            (word,) = struct.unpack_from("<I", data, at)
            value = word >> 4 & 0xF000 | word & 0xFFF
            if word & 0x0FF00000 == 0x03000000:
                low[word >> 12 & 15] = value
            elif word & 0x0FF00000 == 0x03400000 and word >> 12 & 15 in low:
                yield value << 16 | low[word >> 12 & 15]


# --- One file ----------------------------------------------------------------------------------------------


class _Elf(ELFFile):
    """An ELF file as firmware's linker scripts leave it: a section that makes no sense is read as bytes."""

    def _make_section(self, section_header):
        try:
            return super()._make_section(section_header)
        except ELFError:
            return PlainSection(section_header, self._get_section_name(section_header), self)


class Image:
    """An ELF file or a member of an archive. @label: its name for people."""

    def __init__(self, data, label):
        self.label = label
        try:
            self.elf = _Elf(io.BytesIO(data))
            self._read(label)
        except (ELFError, ValueError, KeyError, IndexError, AttributeError, struct.error) as error:
            raise Failure(f"{label} cannot be read as ELF: {error}") from None

    def _read(self, label):
        self.arch = ARCHES.get(self.elf["e_machine"])
        if self.arch is None:
            raise Failure(f"{label}: machine {self.elf['e_machine']}; accepted: {', '.join(ARCHES.values())}")
        self.relocatable = self.elf["e_type"] == "ET_REL"
        self.word = 8 if self.elf.elfclass == 64 else 4
        self.sections = [self._section(section) for section in self.elf.iter_sections()]
        self._read_symbols()
        self._read_units()

    @staticmethod
    def _section(section):
        data = (
            section.data() if section["sh_type"] != "SHT_NOBITS" and section["sh_flags"] & SHF_ALLOC else b""
        )
        return Section(
            section.name,
            section["sh_addr"],
            section["sh_size"],
            section["sh_flags"],
            data,
            section["sh_type"],
        )

    def allocated(self):
        return [section for section in self.sections if section.flags & SHF_ALLOC and section.size]

    def _read_symbols(self):
        """Fill symbols {name: address} of what is defined, undefined, functions with the file of locals."""
        self.symbols, self.undefined, self.functions = {}, set(), []
        self.names_by_address = {}
        table = next((s for s in self.elf.iter_sections() if isinstance(s, SymbolTableSection)), None)
        file = None
        for symbol in table.iter_symbols() if table else ():
            kind, name = symbol["st_info"]["type"], symbol.name
            if kind == "STT_FILE":
                file = name
                continue
            if symbol["st_shndx"] == "SHN_UNDEF":
                if name:
                    self.undefined.add(name)
                continue
            if not name or kind == "STT_SECTION" or name.startswith(("$", ".L")):
                continue
            address = (
                symbol["st_value"] & ~1 if self.arch == "arm" and kind == "STT_FUNC" else symbol["st_value"]
            )
            local = symbol["st_info"]["bind"] == "STB_LOCAL"
            self.symbols[name] = address
            if symbol["st_shndx"] == "SHN_ABS":
                continue
            if not self.relocatable:
                self.names_by_address.setdefault(address, []).append(name)
            if kind == "STT_FUNC":
                function = Function(name, address, symbol["st_size"], symbol["st_shndx"])
                function.unit = file if local else None
                self.functions.append(function)

    def _read_units(self):
        """Fill units, and the unit of every function: by DWARF, else by the symbol table's file names."""
        self.units = []
        self.has_dwarf = self.elf.has_dwarf_info()
        ranges = []
        if self.has_dwarf:
            try:
                ranges = self._dwarf_units()
            except (DWARFError, ELFError, KeyError, ValueError, AttributeError, struct.error):
                self.has_dwarf, self.units, ranges = False, [], []
        ranges.sort(key=lambda entry: entry[0])
        starts = [entry[0] for entry in ranges]
        by_file = {}
        for function in self.functions:
            unit = None
            if self.relocatable and len(self.units) == 1:
                unit = self.units[0]
            elif ranges and not self.relocatable:
                at = bisect.bisect_right(starts, function.address) - 1
                if at >= 0 and function.address < ranges[at][1]:
                    unit = ranges[at][2]
            if unit is None and isinstance(function.unit, str):
                name = function.unit
                unit = next((u for u in self.units if u.name.endswith(name)), None) or by_file.get(name)
                if unit is None:
                    unit = by_file[name] = Unit(name)
                    self.units.append(unit)
            function.unit = unit
            if unit is not None:
                unit.functions.append(function)

    def _dwarf_units(self):
        dwarf = self.elf.get_dwarf_info(relocate_dwarf_sections=self.relocatable)
        lists = dwarf.range_lists()
        ranges = []
        for compilation in dwarf.iter_CUs():
            top = compilation.get_top_DIE()
            if top.tag != "DW_TAG_compile_unit":
                continue
            values = {name: entry.value for name, entry in top.attributes.items()}
            text = {
                key: values.get(name, b"").decode("utf-8", "replace")
                for key, name in (
                    ("name", "DW_AT_name"),
                    ("folder", "DW_AT_comp_dir"),
                    ("producer", "DW_AT_producer"),
                )
            }
            unit = Unit(**text, assembly=values.get("DW_AT_language") == DW_LANG_ASSEMBLER)
            self.units.append(unit)
            low, high = values.get("DW_AT_low_pc"), values.get("DW_AT_high_pc")
            if low is not None and high is not None:
                if not top.attributes["DW_AT_high_pc"].form.startswith("DW_FORM_addr"):
                    high += low
                ranges.append((low, high, unit))
            elif "DW_AT_ranges" in values and lists is not None:
                base = low or 0
                where = values["DW_AT_ranges"]
                if compilation["version"] >= 5:
                    entries = lists.get_range_list_at_offset(where, cu=compilation)
                else:
                    entries = lists.get_range_list_at_offset(where)
                for entry in entries:
                    if hasattr(entry, "base_address"):
                        base = entry.base_address
                        continue
                    absolute = getattr(entry, "is_absolute", False)
                    shift = 0 if absolute else base
                    if entry.end_offset > entry.begin_offset:
                        ranges.append((shift + entry.begin_offset, shift + entry.end_offset, unit))
        return ranges

    # --- Code --------------------------------------------------------------------------------------------

    def _by_section(self):
        result = {}
        for function in self.functions:
            result.setdefault(function.section, []).append(function)
        for functions in result.values():
            functions.sort(key=lambda function: function.address)
        return result

    @staticmethod
    def _holder(functions, starts, address):
        at = bisect.bisect_right(starts, address) - 1
        # Functions written in assembly may have no size; they end where the next one starts.
        if at < 0 or (functions[at].size and address >= functions[at].address + functions[at].size):
            return None
        return functions[at]

    def find_calls(self, wanted):
        """Fill calls and touches of every function. @wanted(name): is a call of it interesting?"""
        targets = {address: name for name, address in self.symbols.items() if wanted(name)}
        relocated = {}
        if self.relocatable:
            for section in self.elf.iter_sections():
                if isinstance(section, RelocationSection):
                    relocated[section["sh_info"]] = section
        table = self.elf.get_section_by_name(".symtab")
        for number, functions in self._by_section().items():
            section = self.sections[number]
            if not section.flags & SHF_EXECINSTR:
                continue
            starts = [function.address for function in functions]
            for address, target, touches in _DECODERS[self.arch](section.data, section.address):
                interesting = target == _TRAP or (not self.relocatable and target in targets)
                if not interesting and not touches:
                    continue
                function = self._holder(functions, starts, address)
                if function is None:
                    continue
                if target == _TRAP:
                    function.traps = True
                elif interesting:
                    function.calls.add(targets[target])
                if touches:
                    function.touches = True
            for function in functions:
                if function.touches is None and self.arch in ("arm64", "riscv64"):
                    function.touches = False
            for relocation in relocated[number].iter_relocations() if number in relocated else ():
                name = table.get_symbol(relocation["r_info_sym"]).name
                if wanted(name):
                    function = self._holder(functions, starts, relocation["r_offset"])
                    if function is not None:
                        function.calls.add(name)

    def words_with(self, values):
        """Return {address of a word: value} for the words of data that hold one of @values, also if the
        loader has to put it there."""
        found = {}
        for section in self.allocated():
            # Not relocations and symbol tables, which name addresses, too.
            if section.flags & SHF_EXECINSTR or not section.kind.endswith(("PROGBITS", "_ARRAY")):
                continue
            first = -section.address % self.word
            body = section.data[first : first + (len(section.data) - first) // self.word * self.word]
            for index, (value,) in enumerate(struct.iter_unpack("<Q" if self.word == 8 else "<I", body)):
                if value in values:
                    found[section.address + first + index * self.word] = value
        if not self.relocatable:
            for section in self.elf.iter_sections():
                if not isinstance(section, RelocationSection) or not section.is_RELA():
                    continue
                for relocation in section.iter_relocations():
                    if relocation["r_info_type"] == RELATIVE[self.arch] and relocation["r_addend"] in values:
                        found[relocation["r_offset"]] = relocation["r_addend"]
        return found

    def refers_to(self, address):
        """Does code, or a literal or table that code reads, name @address?"""
        for section in self.allocated():
            if not section.flags & SHF_EXECINSTR:
                continue
            if address in _materialized(self.arch, section.data, section.address):
                return True
            needle = address.to_bytes(self.word, "little")
            at = section.data.find(needle)
            while at >= 0:
                if at % 4 == 0:
                    return True
                at = section.data.find(needle, at + 1)
        return bool(self.words_with({address}))

    def read_word(self, name):
        """Return the initial value of the pointer-sized variable @name, None if there is none."""
        address = self.symbols.get(name)
        if address is None or self.relocatable:
            return None
        for section in self.allocated():
            at = address - section.address
            if 0 <= at <= section.size - self.word:
                return int.from_bytes(section.data[at : at + self.word], "little") if section.data else 0
        return None


# --- Archives ----------------------------------------------------------------------------------------------


def load(path):
    """Return the Images in the file @path: one, or the ELF members of an archive. Raises Failure."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Failure(f"cannot read '{path}': {error.strerror}") from None
    if data[:4] == b"\x7fELF":
        return [Image(data, str(path))]
    if data[:8] not in (b"!<arch>\n", b"!<thin>\n"):
        raise Failure(f"'{path}' is no ELF file and no archive of them")
    thin = data[:8] == b"!<thin>\n"
    images, names, at = [], b"", 8
    while at + 60 <= len(data):
        name, size = data[at : at + 16].rstrip(), int(data[at + 48 : at + 58])
        at += 60
        body = data[at : at + size]
        special = name in (b"/", b"//", b"/SYM64/")
        if special or not thin:
            at += size + size % 2
        if name == b"//":
            names = body
        if special:
            continue
        if name[:1] == b"/" and name[1:].isdigit():
            name = names[int(name[1:]) :].split(b"\n", 1)[0]
        member = name.decode("utf-8", "replace").rstrip("/")
        if thin:
            images += load(path.parent / member)
        elif body[:4] == b"\x7fELF":
            images.append(Image(body, f"{path.name}({member})"))
    if not images:
        raise Failure(f"'{path}' has no ELF members")
    return images
