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

from redzone.core.arch import ARCHES
from redzone.core.base import Failure
from redzone.elf import dwarf
from redzone.elf import file as elf
from redzone.elf.file import SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_REL, SHT_RELA, ElfError, File
from redzone.elf.members import is_archive, members
from redzone.elf.symbols import ABSOLUTE, FILE, FUNC, LOCAL, SECTION, UNDEFINED, symbols, table
from redzone.kit import audit_code

_NAMES = {(ARCHES[name].machine, ARCHES[name].bits): name for name in audit_code.ARCHITECTURES}
RISCV_WORDS = {1: 4, 2: 8}  # R_RISCV_32 and R_RISCV_64, and their sizes
DW_LANG_ASSEMBLER = 0x8001
ARRAYS = (14, 15, 16)  # SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PREINIT_ARRAY
# Constructors that compilers make for a file. Debug information leaves them out.
_MADE = re.compile(r"(asan\.module_[cd]tor|_sub_[ID]_\d+_\d+)(\.\d+)?$")
ARRAY_NAME = re.compile(r"\.((preinit|init|fini)_array|ctors|dtors)\b")


@dataclass
class Function:
    """A function. calls: names of the interesting functions it calls or jumps to. traps: it has inline
    checks of tags. touches: it reads or writes memory outside its own frame. thumb: pointers to it have bit 0
    set. maybe: names of checks that it may not mean, because ordinary names have the same address: memset().
    vectors, red_zone: as in audit_code.Step."""

    name: str
    address: int
    size: int
    section: int
    unit: object = None
    calls: set = field(default_factory=set)
    traps: bool = False
    touches: bool = False
    thumb: bool = False
    maybe: set = field(default_factory=set)
    vectors: bool = False
    red_zone: bool = False

    @property
    def pointer(self):
        return self.address | self.thumb


@dataclass
class Unit:
    """A file that was compiled, as DWARF or the symbol table names it. shown: its name in the output, which
    @note tells from the same name of another file."""

    name: str
    folder: str = ""
    producer: str = ""
    assembly: bool = False
    functions: list = field(default_factory=list)
    shown: str = ""
    note: str = ""

    @property
    def label(self):
        return self.shown + self.note

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
    type: int

    @property
    def is_code(self):
        return bool(self.flags & SHF_EXECINSTR)

    @property
    def is_array(self):
        """Does it hold constructors or destructors, regardless of the type that the linker script gave it?"""
        return self.type in ARRAYS or bool(ARRAY_NAME.match(self.name))


# --- One file ----------------------------------------------------------------------------------------------


def _relocated(data):
    """Return @data with the addresses in a RISC-V object's debug information filled in. The library does that
    for other architectures, but rejects RISC-V's relocations."""
    file = File(data)
    if file.machine != "EM_RISCV" or file.type != elf.ET_REL:
        return data
    result, values = bytearray(data), [symbol.value for symbol in symbols(file)]
    for section in file.sections:
        if not section.name.startswith(".rela.debug_"):
            continue
        target = file.linked(section.info)
        for relocation in file.relocations(section):
            size = RISCV_WORDS.get(relocation.type)
            if size:
                value = values[relocation.symbol] + relocation.addend
                at = target.offset + relocation.offset
                result[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(result)


class Image:
    """An ELF file or a member of an archive. @label: its name in the output."""

    def __init__(self, data, label):
        self.label = label
        try:
            self._data = _relocated(data)
            self.file = File(self._data)
            self._read(label)
        except (ElfError, IndexError) as error:
            raise Failure(f"{label} cannot be read as ELF: {error}") from None

    def _read(self, label):
        self.arch = _NAMES.get((self.file.machine, self.file.bits))
        if self.arch is None:
            raise Failure(
                f"{label}: machine {self.file.machine}; accepted: {', '.join(audit_code.ARCHITECTURES)}"
            )
        self.relocatable = self.file.type == elf.ET_REL
        self.word = self.file.bits // 8
        self.sections = [self._section(section) for section in self.file.sections]
        self.loads = [(load.address, load.size, load.load_address) for load in self.file.loads if load.stored]
        self._read_symbols()
        self._read_units()

    def _section(self, section):
        data = self.file.content(section) if section.flags & SHF_ALLOC else b""
        return Section(section.name, section.address, section.size, section.flags, data, section.type)

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
            return copies and section.type != elf.SHT_NOBITS and inside

        return [
            section
            for section in self.allocated()
            if section.flags & SHF_WRITE and section.address and not section.is_array and not in_rom(section)
        ]

    def _read_symbols(self):
        """Fill table: the name of the symbol table, "" if there is none; symbols {name: address} of the
        defined ones; undefined; functions, with the number of the local ones' file; names_by_address;
        marks {section: {address: kind of the code that starts there}}."""
        self.symbols, self.undefined, self.functions = {}, set(), []
        self.names_by_address, self.marks, self.files = {}, {}, []
        self.table = getattr(table(self.file, dynamic=True), "name", "")
        file = None
        for name, address, size, kind, bind, section in symbols(self.file, dynamic=True):
            if kind == FILE:
                # Files of one name in different folders are different files, and only their order says so.
                file = len(self.files)
                self.files.append(name)
                continue
            if section == UNDEFINED:
                if name:
                    self.undefined.add(name)
                continue
            thumb = self.arch == "arm" and kind == FUNC and bool(address & 1)
            start = address - thumb
            mark = name[1:2] if name.startswith("$") else ("at"[thumb] if kind == FUNC else "")
            if mark:
                marks = self.marks.setdefault(section, {})
                if name.startswith("$") or start not in marks:
                    marks[start] = mark
            if not name or kind == SECTION or name.startswith(("$", ".L")):
                continue
            self.symbols[name] = start
            if section == ABSOLUTE:
                continue
            if not self.relocatable:
                self.names_by_address.setdefault(start, []).append(name)
            if kind == FUNC:
                function = Function(name, start, size, section, thumb=thumb)
                function.unit = file if bind == LOCAL else None
                self.functions.append(function)

    def _read_units(self):
        """Fill units, and the unit of every function: by DWARF, else by the symbol table's file names."""
        self.units = []
        try:
            ranges = self._dwarf_units()
            self.has_dwarf = ranges is not None
        except dwarf.errors():
            self.has_dwarf, self.units, ranges = False, [], None
        ranges = ranges or []
        ranges.sort(key=lambda entry: entry[0])
        starts = [entry[0] for entry in ranges]
        by_file = {}
        whole = 0 if self.relocatable and len(self.files) == 1 and not self.units else None
        for function in self.functions:
            # All of an object comes from one file, including its global functions.
            function.unit = function.unit if whole is None else whole
            unit = None
            if self.relocatable and len(self.units) == 1:
                unit = self.units[0]
            elif ranges and not self.relocatable:
                at = bisect.bisect_right(starts, function.address) - 1
                if at >= 0 and function.address < ranges[at][1]:
                    unit = ranges[at][2]
            if unit is None and function.unit is not None:
                made = self.has_dwarf and _MADE.match(function.name)
                unit = by_file.get(function.unit) or self._unit_of_file(function.unit, known_only=made)
                if unit:
                    by_file[function.unit] = unit
            function.unit = unit
            if unit is not None:
                unit.functions.append(function)

    def _unit_of_file(self, number, known_only):
        """Return the Unit of the symbol table's file @number. Debug information has the same order. If it
        does not tell files of one name apart, return a Unit without folder, or None if @known_only."""
        name = self.files[number]
        same = [at for at, other in enumerate(self.files) if other == name]
        known = [unit for unit in self.units if unit.folder and unit.name.rpartition("/")[2] == name]
        if len(known) == len(same):
            return known[same.index(number)]
        if known_only:
            return None
        self.units.append(Unit(name))
        return self.units[-1]

    def _dwarf_units(self):
        """Fill units. Return [(start, end, Unit)], None if there is no debug information."""
        found = dwarf.information(io.BytesIO(self._data), not self.arch.startswith("riscv"))
        if found is None:
            return None
        lists = found.range_lists()
        ranges = []
        for compilation in found.iter_CUs():
            top = compilation.get_top_DIE()
            if top.tag != "DW_TAG_compile_unit":
                continue
            values = {name: entry.value for name, entry in top.attributes.items()}
            texts = (dwarf.text(top, f"DW_AT_{name}") for name in ("name", "comp_dir", "producer"))
            unit = Unit(*texts, assembly=values.get("DW_AT_language") == DW_LANG_ASSEMBLER)
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
        self._read_only = [
            (section.address, section.size)
            for section in self.allocated()
            if not self.relocatable and not section.flags & SHF_WRITE
        ]
        targets = {address: name for name, address in self.symbols.items() if wanted(name)}
        # The runtime's memset() is __asan_memset(), so a call of it is no evidence of checks.
        shared = {
            address
            for address in targets
            if not all(wanted(name) for name in self.names_by_address.get(address, ()))
        }
        pointer = self.symbols.get("__global_pointer$")
        constants = {} if pointer is None else {audit_code.RISCV_GP: pointer}
        relocated = {}
        if self.relocatable:
            targets.clear()
            names = [symbol.name for symbol in symbols(self.file)]
            relocated = {one.info: one for one in self.file.sections if one.type in (SHT_REL, SHT_RELA)}
        holders = self._by_section()
        for number, section in enumerate(self.sections):
            if not section.is_code:
                continue
            functions = holders.get(number, [])
            starts = [function.address for function in functions]
            for kind, start, end in self._pieces(number):
                code = section.data[start - section.address : end - section.address]
                arch = "thumb" if kind == "t" else self.arch
                for step in audit_code.steps(arch, code, start, constants):
                    self.named.update(step.named)
                    name = targets.get(step.target)
                    special = step.vectors or step.red_zone
                    if not (name or step.touches or step.traps or special):
                        continue
                    function = self._holder(functions, starts, step.address)
                    if function is None:
                        continue
                    function.traps |= step.traps
                    function.touches |= step.touches and not self._is_constant(step)
                    function.vectors |= step.vectors
                    function.red_zone |= step.red_zone
                    if name:
                        (function.maybe if step.target in shared else function.calls).add(name)
            for relocation in self.file.relocations(relocated[number]) if number in relocated else ():
                name = names[relocation.symbol]
                if wanted(name):
                    function = self._holder(functions, starts, relocation.offset)
                    if function is not None:
                        function.calls.add(name)
        for unit in self.units:
            # In a file with other checks they are what the compiler made of memset().
            if any(function.calls or function.traps for function in unit.functions):
                for function in unit.functions:
                    function.calls |= function.maybe

    def _is_constant(self, step):
        """Is the operand in read-only memory, at an address that the instruction gives? Compilers put
        constants and the tables of a switch there, and check no access that they know to be right."""
        return step.constant is not None and any(
            start <= step.constant < start + size for start, size in self._read_only
        )

    def words_with(self, values):
        """Return {address of a word: value} for the data words that hold one of @values or get one from a
        loader."""
        found = {}
        for section in self.allocated():
            # Relocations and ELF's symbol tables name addresses as well, but are not data.
            if section.type not in (elf.SHT_PROGBITS, *ARRAYS):
                continue
            first = -section.address % self.word
            body = section.data[first : first + (len(section.data) - first) // self.word * self.word]
            for index, (value,) in enumerate(struct.iter_unpack("<Q" if self.word == 8 else "<I", body)):
                if value in values:
                    found[section.address + first + index * self.word] = value
        if not self.relocatable:
            for section in (one for one in self.file.sections if one.type == SHT_RELA):
                for relocation in self.file.relocations(section):
                    if relocation.type == ARCHES[self.arch].relative and relocation.addend in values:
                        found[relocation.offset] = relocation.addend
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
    if not is_archive(data):
        raise Failure(f"'{path}' is neither an ELF file nor an archive of them")
    images = []
    try:
        for name, content in members(data):
            if content is None:
                images += load(path.parent / name)
            elif content[:4] == b"\x7fELF":
                images.append(Image(content, f"{path.name}({name})"))
    except ElfError as error:
        raise Failure(f"'{path}' {error}") from None
    if not images:
        raise Failure(f"'{path}' has no ELF members")
    return images
