# SPDX-License-Identifier: MIT
"""Reads the symbols of ELF files: the one place that does.

Standard library only, as file.py. A kernel may have 300,000 symbols, and each run of a program reads some
thousand, so symbols() makes one tuple for each and nothing else.
"""

import bisect
from functools import cached_property
from typing import NamedTuple

from redzone.elf.file import SHT_DYNSYM, SHT_SYMTAB, ElfError

NOTYPE, OBJECT, FUNC, SECTION, FILE, IFUNC = 0, 1, 2, 3, 4, 10
LOCAL, GLOBAL, WEAK = 0, 1, 2
UNDEFINED, ABSOLUTE = 0, 0xFFF1
# Section numbers from here on stand for no section.
RESERVED = 0xFF00
_CODE = frozenset((NOTYPE, FUNC, IFUNC))
_NOWHERE = frozenset((UNDEFINED, ABSOLUTE))


class Symbol(NamedTuple):
    """section: the number of its section, or one from RESERVED on."""

    name: str
    value: int
    size: int
    kind: int
    bind: int
    section: int


def table(file, dynamic=False):
    """Return the Section with the symbols of the File @file, None if it has none. @dynamic: those for the
    dynamic linker will do."""
    kinds = (SHT_SYMTAB, SHT_DYNSYM) if dynamic else (SHT_SYMTAB,)
    return next((one for kind in kinds for one in file.sections if one.type == kind), None)


def symbols(file, dynamic=False, first=0, errors="surrogateescape"):
    """Yield each Symbol of the File @file in their order; nothing if it has none. @dynamic: as for table().
    @first: the number of the first one. @errors: for names that are not UTF-8."""
    section = table(file, dynamic)
    if section is None:
        return
    names = file.content(file.linked(section.link))
    text, plain, make = names.decode("latin-1"), names.isascii(), tuple.__new__
    wide = file.bits == 64
    try:
        for entry in file.entries("IBBHQQ" if wide else "IIIBBH", section, first):
            if wide:
                at, info, _, where, value, size = entry
            else:
                at, value, size, info, _, where = entry
            name = text[at : text.index("\0", at)]
            if not plain:
                name = name.encode("latin-1").decode("utf-8", errors)
            yield make(Symbol, (name, value, size, info & 15, info >> 4, where))
    except ValueError:
        raise ElfError("the name of a symbol lies beyond the names that it has") from None


def linkage(file):
    """Return (defined, undefined): the names of the global symbols of the object @file.

    A weak one that is not defined is in neither set: nothing has to be found for it.
    """
    defined, undefined = set(), set()
    # Local ones come first.
    first = getattr(table(file), "info", 0)
    for name, _, _, _, bind, section in symbols(file, first=first):
        if name and bind != LOCAL:
            if section != UNDEFINED:
                defined.add(name)
            elif bind != WEAK:
                undefined.add(name)
    return defined, undefined


class Function(NamedTuple):
    """size: up to the next one; own: as the symbol table has it, 0 if it does not."""

    address: int
    size: int
    own: int = 0


class Functions:
    """The functions of the File @file, by name and by address. One extends to the next, as kernels have it.

    @kinds: of the symbols that count.
    """

    def __init__(self, file, kinds=_CODE):
        thumb = file.machine == "EM_ARM"
        # Lists of numbers and texts: tuples would keep the garbage collector busy for longer than all else.
        starts, names, sizes = [], [], []
        for name, value, size, kind, _, section in symbols(file, dynamic=True, errors="replace"):
            if kind not in kinds or section in _NOWHERE or not name or name[0] == "$" or name[:2] == ".L":
                continue
            # A function of Thumb code has bit 0 set.
            starts.append(value & ~1 if thumb and kind == FUNC else value)
            names.append(name)
            sizes.append(size)
        order = sorted(range(len(starts)), key=starts.__getitem__)
        self._starts, self._names, self._sizes = (
            list(map(column.__getitem__, order)) for column in (starts, names, sizes)
        )

    def __bool__(self):
        return bool(self._starts)

    @cached_property
    def _places(self):
        found = {}
        for place, name in enumerate(self._names):
            found[name] = (*found[name], place) if name in found else (place,)
        return found

    def _function(self, place):
        start, own = self._starts[place], self._sizes[place]
        following = bisect.bisect_right(self._starts, start)
        size = self._starts[following] - start if following < len(self._starts) else own
        return Function(start, size, own)

    def find(self, name):
        """Return [Function] of those called @name, by address."""
        return list(dict.fromkeys(map(self._function, self._places.get(name, ()))))

    def at(self, address):
        """Return (name, offset, size) of the function around @address, None if there is none."""
        place = bisect.bisect_right(self._starts, address) - 1
        if place < 0:
            return None
        start, size, _ = self._function(place)
        return (self._names[place], address - start, size) if address < start + max(size, 1) else None

    def name(self, address):
        """Return the name of the function around @address; if there is none, the address as text."""
        found = self.at(address)
        return found[0] if found else hex(address)
