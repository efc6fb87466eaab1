# SPDX-License-Identifier: MIT
"""What machine code does, as far as an audit asks: branches, accesses to memory, the addresses that it names.

No disassembler: of each instruction set the few forms that compilers use for these three things.
"""

import re
import struct

# --- Branches and memory accesses, per architecture -------------------------------------------------------


def _signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


# The "target" of the trap of Clang's inline check of tags.
TRAP = -1


def _arm64(data, base):
    """Yield (address, target, touches memory) for each instruction. Target: an address, TRAP or None."""
    for at, (word,) in zip(
        range(0, len(data), 4), struct.iter_unpack("<I", data[: len(data) & ~3]), strict=False
    ):
        target = None
        if word & 0x7C000000 == 0x14000000:
            target = base + at + 4 * _signed(word & 0x3FFFFFF, 26)
        elif word & 0xFFFFF81F == 0xD4212000:
            # brk #0x900 to #0x93f
            target = TRAP
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


# By architecture: a function that yields (address, target, touches memory) of instructions. Target: where a
# branch leads, TRAP, or None.
DECODERS = {"arm64": _arm64, "riscv64": _riscv64, "x86_64": _x86_64, "arm": _arm}


# --- Addresses that code puts together ---------------------------------------------------------------------


def _loads(word):
    """Does this arm64 load or store write general registers? Yield those that it writes."""
    pair, simd = word & 0x38000000 == 0x28000000, word >> 26 & 1
    if word & 0x38000000 == 0x18000000:  # literal
        loads = True
    elif word & 0x38000000 == 0x38000000:
        loads = word >> 22 & 3 != 0
    else:
        loads = word >> 22 & 1
    if loads and not simd:
        yield word & 31
        if pair or word & 0x3F200000 == 0x08200000:
            yield word >> 10 & 31
    # The base, where the access moves it.
    if (pair and word >> 23 & 1) or (word & 0x3B200400 == 0x38000400):
        yield word >> 5 & 31


def _arm64_writes(word):
    """Return the general registers that an instruction changes, as far as it matters to addresses."""
    group = word >> 25 & 15
    if group in (8, 9):
        return (word & 31,)
    if group in (10, 11):
        # Calls: all that the callee need not preserve.
        if word >> 26 == 0x25 or word & 0xFFFFFC1F == 0xD63F0000:
            return (*range(19), 30)
        return (word & 31,) if word & 0xFFE00000 == 0xD5200000 else ()
    if group & 5 == 4:
        return tuple(_loads(word))
    # Conditional comparisons have flags there.
    if group & 7 == 5 and word & 0x1FE00000 != 0x1A400000:
        return (word & 31,)
    return ()


def _arm64_addresses(data, base, starts):
    known = {}
    for at, (word,) in zip(
        range(0, len(data), 4), struct.iter_unpack("<I", data[: len(data) & ~3]), strict=False
    ):
        if base + at in starts:
            known.clear()
        source = known.get(word >> 5 & 31)
        result = None
        if word & 0x1F000000 == 0x10000000:
            offset = _signed((word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3, 21)
            if word >> 31:
                # A page: all that lies in it is named this way, so it is no address yet.
                result = ((base + at) & ~4095) + offset * 4096
            else:
                yield base + at + offset
        elif source is not None and word & 0xFF800000 == 0x91000000:
            yield source + ((word >> 10 & 0xFFF) << (12 if word >> 22 & 1 else 0))
        elif source is not None and word & 0x3B000000 == 0x39000000:
            yield source + ((word >> 10 & 0xFFF) << (word >> 30))
        for register in _arm64_writes(word):
            known.pop(register, None)
        if result is not None:
            known[word & 31] = result


# What a call leaves in no defined state: ra, t0-t2, a0-a7, t3-t6.
_RISCV_TEMPORARY = (1, 5, 6, 7, *range(10, 18), *range(28, 32))


def _riscv_short_writes(word):
    """_arm64_writes() of a compressed RISC-V instruction."""
    quadrant, funct = word & 3, word >> 13 & 7
    if quadrant == 0:
        return (8 + (word >> 2 & 7),) if funct in (0, 2, 3) else ()
    if quadrant == 1:
        if funct == 4:
            return (8 + (word >> 7 & 7),)
        return (word >> 7 & 31,) if funct < 4 else ()
    if funct == 4 and word >> 2 & 31 == 0:
        # c.jr, and c.jalr, which calls.
        return _RISCV_TEMPORARY if word >> 12 & 1 else ()
    return (word >> 7 & 31,) if funct in (0, 2, 3, 4) else ()


def _riscv64_addresses(data, base, starts):
    known = {}
    at = 0
    while at + 2 <= len(data):
        if base + at in starts:
            known.clear()
        word = int.from_bytes(data[at : at + 4], "little")
        result, target = None, word >> 7 & 31
        if word & 3 != 3:
            writes = _riscv_short_writes(word & 0xFFFF)
            if word & 0xE003 == 0x6001:  # c.lui
                result = _signed((word >> 12 & 1) << 17 | (word >> 2 & 31) << 12, 18)
            at += 2
        else:
            opcode = word & 0x7F
            # Branches and stores write none; what links is a call.
            writes = () if opcode in (0x63, 0x23, 0x27, 0x07) else (target,)
            if opcode in (0x6F, 0x67) and target == 1:
                writes = _RISCV_TEMPORARY
            if opcode in (0x17, 0x37):
                result = _signed(word & 0xFFFFF000, 32) + (base + at if opcode == 0x17 else 0)
            elif opcode in (0x13, 0x03) and word >> 15 & 31 in known:
                yield known[word >> 15 & 31] + _signed(word >> 20, 12)
            at += 4
        for register in writes:
            known.pop(register, None)
        if result is not None:
            known[target] = result


def _x86_64_addresses(data, base, _starts):
    for found in re.finditer(rb"(?=[\x48\x4c]\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d](....))", data, re.DOTALL):
        yield base + found.start() + 7 + struct.unpack("<i", found[1])[0]
    for found in re.finditer(
        rb"(?=(?:\x48\xc7[\xc0-\xc7]|[\xb8-\xbf]|\x48\x81[\xf8-\xff])(....))", data, re.DOTALL
    ):
        yield struct.unpack("<i", found[1])[0] & (1 << 64) - 1


def _arm_addresses(data, _base, _starts):
    low = {}
    for at in range(0, len(data) - 3, 4):
        (word,) = struct.unpack_from("<I", data, at)
        value = word >> 4 & 0xF000 | word & 0xFFF
        if word & 0x0FF00000 == 0x03000000:
            low[word >> 12 & 15] = value
        elif word & 0x0FF00000 == 0x03400000 and word >> 12 & 15 in low:
            yield value << 16 | low[word >> 12 & 15]


_ADDRESSES = {
    "arm64": _arm64_addresses,
    "riscv64": _riscv64_addresses,
    "x86_64": _x86_64_addresses,
    "arm": _arm_addresses,
}


def addresses(arch, data, base, starts):
    """Yield the addresses that code puts together: adrp+add, auipc+addi, lui+addi, lea.

    starts: where functions begin. An upper half counts only while its register holds it: until that is
    written, until a call for those that a callee need not preserve, and never beyond the function.
    """
    return _ADDRESSES[arch](data, base, starts)
