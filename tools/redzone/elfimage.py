# SPDX-License-Identifier: MIT
"""Reads ELF files for `./redzone audit`: functions, the files they come from, the calls they make.

elfcode knows what instructions do; this module knows which function an instruction belongs to, and its name.
"""

import bisect
import io
import itertools
import re
import struct
from dataclasses import dataclass, field

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section as PlainSection
from elftools.elf.sections import SymbolTableSection

from redzone import elfcode
from redzone.base import Failure

ARCHES = {
    ("EM_AARCH64", 64): "arm64",
    ("EM_RISCV", 64): "riscv64",
    ("EM_RISCV", 32): "riscv32",
    ("EM_X86_64", 64): "x86_64",
    ("EM_ARM", 32): "arm",
}
# Relocations that put a load-time address, which is the addend, into a word.
RELATIVE = {"arm64": 1027, "riscv64": 3, "riscv32": 3, "x86_64": 8, "arm": 23}
RISCV_WORDS = {1: 4, 2: 8}  # R_RISCV_32 and R_RISCV_64, and their sizes
DW_LANG_ASSEMBLER = 0x8001
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4
ARRAY_NAME = re.compile(r"\.((preinit|init|fini)_array|ctors|dtors)\b")


@dataclass
class Function:
    """A function. calls: names of the interesting functions it calls or jumps to. traps: it has inline
    checks of tags. touches: it reads or writes memory outside its own frame. thumb: pointers to it have bit 0
    set."""

    name: str
    address: int
    size: int
    section: int
    unit: object = None
    calls: set = field(default_factory=set)
    traps: bool = False
    touches: bool = False
    thumb: bool = False

    @property
    def pointer(self):
        return self.address | self.thumb


@dataclass
class Unit:
    """A file that was compiled, as DWARF or the symbol table names it. shown: its name in the output."""

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

    @property
    def is_code(self):
        return bool(self.flags & SHF_EXECINSTR)

    @property
    def is_array(self):
        """Does it hold constructors or destructors, regardless of the type that the linker script gave it?"""
        return self.kind.endswith("_ARRAY") or bool(ARRAY_NAME.match(self.name))


# --- One file ----------------------------------------------------------------------------------------------


def _relocated(data):
    """Return @data with the addresses in a RISC-V object's debug information filled in. The library does that
    for other architectures, but rejects RISC-V's relocations."""
    elf = _Elf(io.BytesIO(data))
    if elf["e_machine"] != "EM_RISCV" or elf["e_type"] != "ET_REL":
        return data
    result = bytearray(data)
    for relocations in elf.iter_sections():
        if not isinstance(relocations, RelocationSection) or not relocations.name.startswith(".rela.debug_"):
            continue
        target, symbols = (elf.get_section(relocations[key]) for key in ("sh_info", "sh_link"))
        for relocation in relocations.iter_relocations():
            size = RISCV_WORDS.get(relocation["r_info_type"])
            if size:
                value = symbols.get_symbol(relocation["r_info_sym"])["st_value"] + relocation["r_addend"]
                at = target["sh_offset"] + relocation["r_offset"]
                result[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(result)


class _Elf(ELFFile):
    """An ELF file as firmware's linker scripts produce it: a malformed section is read as plain bytes."""

    def _make_section(self, section_header):
        try:
            return super()._make_section(section_header)
        except ELFError:
            return PlainSection(section_header, self._get_section_name(section_header), self)


class Image:
    """An ELF file or a member of an archive. @label: its name in the output."""

    def __init__(self, data, label):
        self.label = label
        try:
            self.elf = _Elf(io.BytesIO(_relocated(data)))
            self._read(label)
        except (ELFError, ValueError, KeyError, IndexError, AttributeError, TypeError, struct.error) as error:
            raise Failure(f"{label} cannot be read as ELF: {error}") from None

    def _read(self, label):
        self.arch = ARCHES.get((self.elf["e_machine"], self.elf.elfclass))
        if self.arch is None:
            raise Failure(f"{label}: machine {self.elf['e_machine']}; accepted: {', '.join(ARCHES.values())}")
        self.relocatable = self.elf["e_type"] == "ET_REL"
        self.word = 8 if self.elf.elfclass == 64 else 4
        self.sections = [self._section(section) for section in self.elf.iter_sections()]
        loads = [segment for segment in self.elf.iter_segments("PT_LOAD") if segment["p_filesz"]]
        self.loads = [(load["p_vaddr"], load["p_memsz"], load["p_paddr"]) for load in loads]
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

    def variables(self):
        """Return the sections that a running system writes. Constructor arrays do not count, though linkers
        mark them as writable, nor do sections that stay in ROM. In an image that copies its data to RAM, the
        copied sections have separate load addresses, and all others are in ROM."""
        stays = [(start, size) for start, size, load in self.loads if load == start]
        copies = len(stays) < len(self.loads)

        def in_rom(section):
            inside = any(start <= section.address < start + size for start, size in stays)
            return copies and section.kind != "SHT_NOBITS" and inside

        return [
            section
            for section in self.allocated()
            if section.flags & SHF_WRITE and section.address and not section.is_array and not in_rom(section)
        ]

    def _read_symbols(self):
        """Fill symbols {name: address} of the defined ones; undefined; functions, with the file of the local
        ones; names_by_address; marks {section: {address: kind of the code that starts there}}."""
        self.symbols, self.undefined, self.functions = {}, set(), []
        self.names_by_address, self.marks, self.files = {}, {}, []
        table = next((s for s in self.elf.iter_sections() if isinstance(s, SymbolTableSection)), None)
        file = None
        for symbol in table.iter_symbols() if table else ():
            kind, name = symbol["st_info"]["type"], symbol.name
            if kind == "STT_FILE":
                file = name
                self.files.append(name)
                continue
            if symbol["st_shndx"] == "SHN_UNDEF":
                if name:
                    self.undefined.add(name)
                continue
            address = symbol["st_value"]
            thumb = self.arch == "arm" and kind == "STT_FUNC" and bool(address & 1)
            address -= thumb
            mark = name[1:2] if name.startswith("$") else ("at"[thumb] if kind == "STT_FUNC" else "")
            if mark:
                marks = self.marks.setdefault(symbol["st_shndx"], {})
                if name.startswith("$") or address not in marks:
                    marks[address] = mark
            if not name or kind == "STT_SECTION" or name.startswith(("$", ".L")):
                continue
            local = symbol["st_info"]["bind"] == "STB_LOCAL"
            self.symbols[name] = address
            if symbol["st_shndx"] == "SHN_ABS":
                continue
            if not self.relocatable:
                self.names_by_address.setdefault(address, []).append(name)
            if kind == "STT_FUNC":
                function = Function(name, address, symbol["st_size"], symbol["st_shndx"], thumb=thumb)
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
        # All of an object comes from one file, including its global functions.
        whole = self.files[0] if self.relocatable and len(self.files) == 1 and not self.units else None
        for function in self.functions:
            function.unit = whole or function.unit
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
        dwarf = self.elf.get_dwarf_info(
            relocate_dwarf_sections=self.relocatable and not self.arch.startswith("riscv")
        )
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
                for entry in lists.get_range_list_at_offset(values["DW_AT_ranges"], cu=compilation):
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

    def _pieces(self, number):
        """Yield (kind, start, end) of the functions in a section, without literals, which assemblers mark
        with d. Kind t is Thumb code."""
        section = self.sections[number]
        low, high = section.address, section.address + section.size
        # Assembly may start with code that no symbol marks as a function.
        marks = {low: "", **self.marks.get(number, {}), high: ""}
        for (start, kind), (end, _) in itertools.pairwise(sorted(marks.items())):
            if kind != "d" and low <= start and end <= high:
                yield kind, start, end

    def read_code(self, wanted):
        """Fill calls, traps and touches of every function, and named: the addresses that code puts together.
        @wanted(name): is a call of it interesting?"""
        self.named = set()
        targets = {address: name for name, address in self.symbols.items() if wanted(name)}
        table = self.elf.get_section_by_name(".symtab")
        pointer = self.symbols.get("__global_pointer$")
        constants = {} if pointer is None else {elfcode.RISCV_GP: pointer}
        relocated = {}
        if self.relocatable:
            targets.clear()
            sections = [s for s in self.elf.iter_sections() if isinstance(s, RelocationSection)]
            relocated = {section["sh_info"]: section for section in sections}
        holders = self._by_section()
        for number, section in enumerate(self.sections):
            if not section.is_code:
                continue
            functions = holders.get(number, [])
            starts = [function.address for function in functions]
            for kind, start, end in self._pieces(number):
                code = section.data[start - section.address : end - section.address]
                arch = "thumb" if kind == "t" else self.arch
                for step in elfcode.steps(arch, code, start, constants):
                    self.named.update(step.named)
                    name = targets.get(step.target)
                    if not (name or step.touches or step.traps):
                        continue
                    function = self._holder(functions, starts, step.address)
                    if function is None:
                        continue
                    function.traps |= step.traps
                    function.touches |= step.touches
                    if name:
                        function.calls.add(name)
            for relocation in relocated[number].iter_relocations() if number in relocated else ():
                name = table.get_symbol(relocation["r_info_sym"]).name
                if wanted(name):
                    function = self._holder(functions, starts, relocation["r_offset"])
                    if function is not None:
                        function.calls.add(name)

    def words_with(self, values):
        """Return {address of a word: value} for the data words that hold one of @values or get one from a
        loader."""
        found = {}
        for section in self.allocated():
            # Relocations and ELF's symbol tables name addresses as well, but are not data.
            if not section.kind.endswith(("PROGBITS", "_ARRAY")):
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
        if address in self.named:
            return True
        for section in self.allocated():
            if not section.is_code:
                continue
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
        raise Failure(f"'{path}' is neither an ELF file nor an archive of them")
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
