# SPDX-License-Identifier: MIT
"""Decides whether an address of a trace is an instruction itself or what follows a call.

A call's line is found at the address before the one to which it returns; a fault's line is found at its own
address, and the one before may belong to another line or function. `run` and `decode` ask here.
"""

import re
import struct

# The kernel's code that an exception enters: the frame after it is the interrupted instruction.
ENTRIES = re.compile(
    r"^(?:el1h?_|el1t_|el0_|asm_exc_|asm_sysvec|exc_|handle_exception|__(?:dabt|pabt|und|irq)_svc"
    r"|ret_from_exception|page_fault$|general_protection$|double_fault$|do_trap|kasan_fault|el1_sync)"
)
# Functions that check memory for the code that calls them, so a report names the address after the call.
_CHECKS = re.compile(
    r"^_*(?:k?asan_|hwasan_|mem(?:c?cpy|move|r?chr|cmp|set|pcpy|scan)$|w?mem(?:cpy|move|set)$|b(?:cmp|copy|zero)$"
    r"|str(?:[ln]?cpy|scpy|[ln]?cat|n?cmp|n?casecmp|n?len|r?chr|n?str|c?spn|pbrk|n?dup)$|copy_(?:to|from)_"
    r"|k?v?(?:size|realloc)$)"
)


def after_entry(name, before):
    """Is the frame of the function @name an interrupted instruction? @before: the function of the frame
    before it in the trace."""
    return bool(ENTRIES.match(before)) and not ENTRIES.match(name)


class Code:
    """The machine code of an image: of the elf.file.File @file, with the elf.symbols.Functions @functions."""

    def __init__(self, file, functions):
        self._machine, self._segments, self._functions = file.machine, file.code(), functions

    def _bytes(self, address, count):
        for start, data in self._segments:
            at = address - start
            if 0 <= at <= len(data) - count:
                return data[at : at + count]
        return b""

    def _word(self, address):
        """Return the instruction word at @address, None if it is not known."""
        code = self._bytes(address, 4)
        return int.from_bytes(code, "little") if code else None

    def follows_call(self, address):
        """Does @address follow a call? None if the code is not known."""
        if self._machine in ("EM_X86_64", "EM_386"):
            code = self._bytes(address - 7, 7)
            if not code:
                return None
            return code[2] == 0xE8 or any(
                code[7 - length] == 0xFF and code[8 - length] >> 3 & 7 == 2 for length in (2, 3, 6, 7)
            )
        word = self._word(address - 4)
        if word is None:
            return None
        if self._machine == "EM_AARCH64":
            return word >> 26 == 0x25 or word & 0xFFFFFC1F == 0xD63F0000
        if self._machine == "EM_RISCV":
            half = word >> 16
            return (
                word & 0xFFF == 0x0EF
                or (word & 0x707F == 0x67 and word >> 7 & 31 in (1, 5))
                or (half & 0xF07F == 0x9002 and half >> 7 & 31 != 0)
            )
        if self._machine == "EM_ARM":
            first, second = struct.unpack("<HH", word.to_bytes(4, "little"))
            thumb = (first & 0xF800 == 0xF000 and second & 0xC000 == 0xC000) or second & 0xFF87 == 0x4780
            word = second << 16 | first
            return thumb or word & 0x0F000000 == 0x0B000000 or word & 0x0FFFFFF0 == 0x012FFF30
        return None

    def is_exact(self, address, known, offset, access):
        """Is @address the instruction itself?

        @known: the trace says so. @offset: in its function, None if unknown. @access: (kind, size or None) of
        the report that has this frame as its place, None for any other frame.
        """
        if known or offset == 0:
            return True
        follows = self.follows_call(address)
        if not follows or access is None or self._machine not in _ACCESSES:
            return follows is False
        # The access may follow a call. Then the call before it has nothing to do with it.
        word = int.from_bytes(self._bytes(address, 4) or self._bytes(address, 2), "little")
        return _does(_ACCESSES[self._machine](word), *access) and not self._is_check(address)

    def _is_check(self, address):
        """Does the call before @address go to a function that checks memory for its caller?"""
        target = self._called(address)
        found = self._functions.at(target) if target is not None else None
        return found is not None and bool(_CHECKS.match(found[0]))

    def _called(self, address):
        """Return where the call before @address goes, None if it goes through a pointer."""
        word = self._word(address - 4)
        if self._machine == "EM_AARCH64":
            return address - 4 + 4 * _signed(word, 26) if word >> 26 == 0x25 else None
        if word & 0xFFF == 0x0EF:
            upper = word & 0xFF000 | word >> 9 & 0x800 | word >> 20 & 0x7FE
            return address - 4 + (upper | _signed(word >> 31, 1) << 20)
        before = self._word(address - 8)
        if word & 0x707F != 0x67 or before is None or before & 0x7F != 0x17:
            return None
        # AUIPC and JALR through the same register.
        same = before >> 7 & 31 == word >> 15 & 31
        return address - 8 + (_signed(before >> 12, 20) << 12) + _signed(word >> 20, 12) if same else None


def _signed(value, bits):
    """Return the number that the lowest @bits of @value are."""
    return (value & (1 << bits) - 1) - ((value & 1 << bits - 1) << 1)


def _does(found, kind, size):
    """Is the access @found, from _ACCESSES, one of this @kind and @size, as far as it tells?"""
    if found is None or kind not in ("read", "write", "access"):
        return False
    own, load = found
    if own is not None and size is not None and own != size:
        return False
    return load is None or kind == "access" or load == (kind == "read")


def _access_arm64(word):
    if word >> 25 & 0b0101 != 0b0100:
        return None
    general = not word >> 26 & 1
    if word & 0x3A000000 == 0x38000000:
        # One register; with bit 21 and these bits clear it is an atomic operation, which does both.
        atomic = word & 0x01200C00 == 0x00200000
        load = None if atomic or not general else bool(word >> 22 & 3)
        return 1 << (word >> 30) if general else None, load
    if word & 0x3A000000 == 0x28000000:
        return (16 if word >> 31 else 8, bool(word >> 22 & 1)) if general else (None, None)
    if word & 0x3F000000 == 0x08000000:
        # Exclusive and ordered: the load of an atomic operation is reported as its write.
        return 1 << (word >> 30), None
    return None, None


def _access_riscv(word):
    if word & 3 != 3:
        # C.LW and the like, by their quadrant; C.LDSP and its relatives are in the third one.
        kind = word >> 13 & 7
        return (4 if kind in (2, 6) else 8, kind < 4) if word & 3 in (0, 2) and kind not in (0, 4) else None
    size, kind = 1 << (word >> 12 & 3), word & 0x7F
    if kind in (0x03, 0x07, 0x23, 0x27):
        return size, kind < 0x20
    # As on arm64.
    return (size, None) if kind == 0x2F else None


# {machine: a function that returns (size, whether it is a load) of an instruction that accesses memory, with
# None for what is not known, and None for another instruction}.
_ACCESSES = {"EM_AARCH64": _access_arm64, "EM_RISCV": _access_riscv}
