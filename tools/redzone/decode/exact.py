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
        if not follows or access is None or self._machine != "EM_AARCH64":
            return follows is False
        # The access may follow a call. Then the call before it has nothing to do with it.
        return self._does(self._word(address), *access) and not self._is_check(address - 4)

    def _is_check(self, address):
        """Does the call at @address go to a function that checks memory for its caller?"""
        word = self._word(address)
        if word >> 26 != 0x25:
            return False
        distance = (word & 0x3FFFFFF) - ((word & 0x2000000) << 1)
        found = self._functions.at(address + 4 * distance)
        return found is not None and bool(_CHECKS.match(found[0]))

    @staticmethod
    def _does(word, kind, size):
        """Is the arm64 instruction @word an access of this @kind and @size, as far as it tells?"""
        if word is None or word >> 25 & 0b0101 != 0b0100 or kind not in ("read", "write", "access"):
            return False
        general = not word >> 26 & 1
        own, load = None, None
        if word & 0x3A000000 == 0x38000000:
            # One register; with bit 21 and these bits clear it is an atomic operation, which does both.
            atomic = word & 0x01200C00 == 0x00200000
            own = 1 << (word >> 30) if general else None
            load = None if atomic or not general else bool(word >> 22 & 3)
        elif word & 0x3A000000 == 0x28000000:
            own = (16 if word >> 31 else 8) if general else None
            load = bool(word >> 22 & 1)
        elif word & 0x3F000000 == 0x08000000:
            # Exclusive and ordered: the load of an atomic operation is reported as its write.
            own = 1 << (word >> 30)
        if own is not None and size is not None and own != size:
            return False
        return load is None or kind == "access" or load == (kind == "read")
