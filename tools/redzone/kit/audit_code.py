# SPDX-License-Identifier: MIT
"""Machine code, as far as an audit needs it: branches, memory accesses, and the addresses that code names.

Capstone decodes the instructions. This module knows which of them matter on each architecture.
"""

import functools
from dataclasses import dataclass

import capstone
from capstone import CS_OP_IMM, CS_OP_MEM, CS_OP_REG, arm64_const, arm_const, riscv_const, x86_const


@dataclass(slots=True)
class Step:
    """What one instruction does. target: where it branches to, or None. traps: it is the trap of Clang's
    inline check of tags. touches: it reads or writes memory outside its own frame. named: the addresses that
    it completes. constant: the address of its operand in memory, if the instruction alone gives it. vectors:
    it uses a register of the floating-point unit. red_zone: it accesses memory below the stack pointer. The
    last three are told of x86_64 only."""

    address: int
    target: int | None = None
    traps: bool = False
    touches: bool = False
    named: tuple = ()
    vectors: bool = False
    red_zone: bool = False
    constant: int | None = None


def _last_immediate(operands):
    return operands[-1].imm if operands and operands[-1].type == CS_OP_IMM else None


# --- What an instruction does, per architecture ------------------------------------------------------------
#
# Each function fills a Step, and updates @known: {register: value} of the registers that hold half of an
# address. An upper half counts only until its register is written.


def _forget(known, insn, number):
    """Drop from @known the registers that @insn writes. @number(register): its key in @known."""
    if known:
        for register in insn.regs_access()[1]:
            known.pop(number(register), None)


def _x(register):
    """Return the 64-bit register that contains an arm64 register."""
    if arm64_const.ARM64_REG_W0 <= register <= arm64_const.ARM64_REG_W28:
        return arm64_const.ARM64_REG_X0 + register - arm64_const.ARM64_REG_W0
    return register


_ARM64_FRAME = (arm64_const.ARM64_REG_SP, arm64_const.ARM64_REG_FP)
_ARM64_CALLS = (arm64_const.ARM64_INS_BL, arm64_const.ARM64_INS_BLR)
# Registers that a callee need not preserve: x0 to x18.
_ARM64_TEMPORARY = range(arm64_const.ARM64_REG_X0, arm64_const.ARM64_REG_X18 + 1)


def _arm64(step, insn, operands, known):
    if insn.group(capstone.CS_GRP_BRANCH_RELATIVE):
        step.target = _last_immediate(operands)
    elif insn.id == arm64_const.ARM64_INS_BRK and 0x900 <= operands[0].imm <= 0x93F:
        step.traps = True
    for operand in operands:
        if operand.type == CS_OP_MEM:
            step.touches = operand.mem.base not in _ARM64_FRAME
            if operand.mem.base in known and not operand.mem.index:
                step.named = (known[operand.mem.base] + operand.mem.disp,)
    page = None
    if insn.id == arm64_const.ARM64_INS_ADR:
        step.named = (operands[1].imm,)
    elif insn.id == arm64_const.ARM64_INS_ADRP:
        # Code reaches everything in a page this way, so the page alone is not an address yet.
        page = operands[1].imm
    elif insn.id == arm64_const.ARM64_INS_ADD and operands[1].reg in known and operands[2].type == CS_OP_IMM:
        step.named = (known[operands[1].reg] + (operands[2].imm << operands[2].shift.value),)
    _forget(known, insn, _x)
    if insn.id in _ARM64_CALLS:
        for register in _ARM64_TEMPORARY:
            known.pop(register, None)
    if page is not None:
        known[operands[0].reg] = page


RISCV_GP = riscv_const.RISCV_REG_X3
_RISCV_FRAME = (riscv_const.RISCV_REG_X2, riscv_const.RISCV_REG_X8)
_RISCV_BRANCHES = (riscv_const.RISCV_INS_JAL, riscv_const.RISCV_INS_C_J, riscv_const.RISCV_INS_C_JAL)
_RISCV_UPPER = (riscv_const.RISCV_INS_LUI, riscv_const.RISCV_INS_C_LUI, riscv_const.RISCV_INS_AUIPC)
# ra, t0 to t2, a0 to a7, t3 to t6.
_RISCV_TEMPORARY = [
    riscv_const.RISCV_REG_X0 + number for number in (1, 5, 6, 7, *range(10, 18), *range(28, 32))
]


def _riscv(step, insn, operands, known):
    first = operands[0].reg if operands and operands[0].type == CS_OP_REG else None
    kinds = [operand.type for operand in operands]
    links = insn.group(capstone.CS_GRP_CALL) and first != riscv_const.RISCV_REG_X0
    upper = None
    if insn.id in _RISCV_BRANCHES:
        step.target = insn.address + operands[-1].imm
        links &= len(operands) == 1 or first == riscv_const.RISCV_REG_X1
    elif insn.id == riscv_const.RISCV_INS_JALR and len(operands) == 3 and operands[1].reg in known:
        step.target = known[operands[1].reg] + operands[2].imm
    elif insn.id in _RISCV_UPPER:
        upper = (operands[1].imm & 0xFFFFF) << 12
        upper -= (upper & 1 << 31) << 1
        upper += insn.address if insn.id == riscv_const.RISCV_INS_AUIPC else 0
    elif insn.id == riscv_const.RISCV_INS_ADDIW and first == riscv_const.RISCV_REG_X0:
        # It does nothing, and comes after the ebreak of Clang's checks: addiw zero, a1, 0x40 and what it was.
        step.traps = operands[1].reg == riscv_const.RISCV_REG_X11 and 0x40 <= operands[2].imm <= 0x7F
    elif insn.id == riscv_const.RISCV_INS_ADDI and len(operands) == 3 and operands[1].reg in known:
        step.named = (known[operands[1].reg] + operands[2].imm,)
    elif kinds[1:] == [CS_OP_MEM]:
        base = operands[1].mem.base
        step.touches = base not in _RISCV_FRAME
        if base in known:
            step.named = (known[base] + operands[1].mem.disp,)
    elif kinds == [CS_OP_REG, CS_OP_IMM, CS_OP_REG] or insn.group(riscv_const.RISCV_GRP_HASSTDEXTA):
        # Compressed accesses and atomics: Capstone lists the base as the last register.
        step.touches = operands[-1].reg not in _RISCV_FRAME
    # Capstone does not say which register a RISC-V instruction writes. It is the first operand, or there is
    # none, and compilers never use half an address as the first operand of a store or a branch.
    if first != RISCV_GP:
        known.pop(first, None)
    if links:
        for register in _RISCV_TEMPORARY:
            known.pop(register, None)
    if upper is not None:
        known[first] = upper


_X86_FRAME = (x86_const.X86_REG_RSP, x86_const.X86_REG_RBP)
_X86_DEPTH = "depth"
_X86_NO_ACCESS = (x86_const.X86_INS_LEA, x86_const.X86_INS_NOP)
# ST, MMX, XMM, YMM and ZMM: Capstone numbers each kind in one row.
_X86_VECTORS = frozenset(
    number
    for first, last in (
        ("ST0", "ST7"),
        ("MM0", "MM7"),
        ("XMM0", "XMM31"),
        ("YMM0", "YMM31"),
        ("ZMM0", "ZMM31"),
    )
    for number in range(getattr(x86_const, f"X86_REG_{first}"), getattr(x86_const, f"X86_REG_{last}") + 1)
)


def _x86_frame(insn, operands, known):
    """Keep in @known[_X86_DEPTH] how far below rbp the frame goes, in bytes: the most so far, because what
    comes after a return may belong to the middle."""
    target = operands[0].reg if operands and operands[0].type == CS_OP_REG else None
    if insn.id == x86_const.X86_INS_MOV and target == x86_const.X86_REG_RBP:
        same = operands[1].type == CS_OP_REG and operands[1].reg == x86_const.X86_REG_RSP
        known.pop(_X86_DEPTH, None)
        if same:
            known[_X86_DEPTH] = 0
    elif insn.id == x86_const.X86_INS_PUSH and _X86_DEPTH in known:
        known[_X86_DEPTH] += 8
    elif target == x86_const.X86_REG_RSP and insn.id != x86_const.X86_INS_POP:
        sign = {x86_const.X86_INS_SUB: 1, x86_const.X86_INS_ADD: -1}.get(insn.id)
        if sign is None or operands[1].type != CS_OP_IMM:
            # Not a fixed amount: anything may lie there.
            known.pop(_X86_DEPTH, None)
        elif _X86_DEPTH in known:
            # Compilers add -128, because that number takes one byte.
            known[_X86_DEPTH] += max(sign * operands[1].imm, 0)


def _x86_64(step, insn, operands, known):
    _x86_frame(insn, operands, known)
    if insn.group(capstone.CS_GRP_BRANCH_RELATIVE):
        step.target = _last_immediate(operands)
        return
    named = []
    for operand in operands:
        if operand.type == CS_OP_IMM:
            named.append(operand.imm)
        elif operand.type == CS_OP_REG:
            step.vectors |= operand.reg in _X86_VECTORS
        elif operand.type == CS_OP_MEM:
            below = operand.mem.base == x86_const.X86_REG_RSP and operand.mem.disp < 0
            below |= operand.mem.base == x86_const.X86_REG_RBP and -operand.mem.disp > known.get(
                _X86_DEPTH, 1 << 32
            )
            # With an index, the number alone does not say where it is.
            step.red_zone |= below and not operand.mem.index and insn.id not in _X86_NO_ACCESS
            step.touches = insn.id not in _X86_NO_ACCESS and operand.mem.base not in _X86_FRAME
            if operand.mem.base == x86_const.X86_REG_RIP:
                named.append(operand.mem.disp + insn.address + insn.size)
                step.constant = named[-1]
            elif operand.mem.disp:
                named.append(operand.mem.disp)
                # A jump through a table of a switch has an index. Its entries are not checked either.
                indexed = operand.mem.index and not insn.group(capstone.CS_GRP_JUMP)
                if not (operand.mem.base or indexed or operand.mem.segment):
                    step.constant = operand.mem.disp & (1 << 64) - 1
    step.named = named


# r7 and r11 are the frame pointers of Thumb and of ARM code; data at pc is a literal.
_ARM_FRAME = tuple(getattr(arm_const, f"ARM_REG_{name}") for name in ("SP", "R7", "R11", "PC"))
_ARM_MOVES = (arm_const.ARM_INS_MOV, arm_const.ARM_INS_MOVW)  # Capstone calls some movw a mov
_ARM_MULTIPLE = tuple(getattr(arm_const, f"ARM_INS_{name}") for name in ("LDM", "LDMDB", "STM", "STMDB"))


def _arm(step, insn, operands, known):
    if insn.group(capstone.CS_GRP_BRANCH_RELATIVE):
        step.target = _last_immediate(operands)
    elif insn.id in _ARM_MULTIPLE:
        step.touches = operands[0].reg not in _ARM_FRAME
    for operand in operands:
        if operand.type == CS_OP_MEM:
            step.touches = operand.mem.base not in _ARM_FRAME
    low = None
    if insn.id in _ARM_MOVES and operands[1].type == CS_OP_IMM:
        low = operands[1].imm
    elif insn.id == arm_const.ARM_INS_MOVT and operands[0].reg in known:
        step.named = (operands[1].imm << 16 | known[operands[0].reg] & 0xFFFF,)
    _forget(known, insn, int)
    if low is not None:
        known[operands[0].reg] = low


_DECODERS = {
    "arm64": _arm64,
    "riscv64": _riscv,
    "riscv32": _riscv,
    "x86_64": _x86_64,
    "arm": _arm,
    "thumb": _arm,
}
# Those whose instructions this module knows, by their names in arch.ARCHES.
ARCHITECTURES = tuple(name for name in _DECODERS if name != "thumb")
_MODES = {
    "arm64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    "riscv64": (capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV64 | capstone.CS_MODE_RISCVC),
    "riscv32": (capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC),
    "x86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
    "arm": (capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM | capstone.CS_MODE_V8),
    "thumb": (
        capstone.CS_ARCH_ARM,
        capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS | capstone.CS_MODE_V8,
    ),
}


def _length(arch, code, offset):
    """Return the length of an instruction that Capstone does not know."""
    if arch.startswith("riscv"):
        return 4 if code[offset][0] & 3 == 3 else 2
    if arch == "thumb":
        return 4 if code[offset + 1][0] >> 3 >= 29 else 2
    return 1 if arch == "x86_64" else 4


@functools.cache
def _decoder(arch):
    decoder = capstone.Cs(*_MODES[arch])
    decoder.detail = True
    decoder.skipdata_setup = (".byte", lambda code, _size, offset, _: _length(arch, code, offset), None)
    decoder.skipdata = True
    return decoder


def steps(arch, data, base, constants=None):
    """Yield a Step for each instruction of a function. @data: its code, at the address @base. @arch: as in
    arch.ARCHES, or thumb. @constants: {register: value} of fixed registers, such as RISC-V's gp."""
    known = dict(constants or {})
    fill = _DECODERS[arch]
    mask = 0xFFFFFFFF if arch in ("arm", "thumb", "riscv32") else 0xFFFFFFFFFFFFFFFF
    for insn in _decoder(arch).disasm(data, base):
        if insn.id:
            step = Step(insn.address)
            fill(step, insn, insn.operands, known)
            # Capstone's numbers are signed.
            if step.target is not None:
                step.target &= mask
            if step.named:
                step.named = [address & mask for address in step.named]
            yield step
