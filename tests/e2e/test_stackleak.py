# SPDX-License-Identifier: MIT
"""Stack erasing, as the machine code has it: docs/internals/stackleak.md says what these tests hold it to."""

import re

import capstone
import pytest
from capstone import CS_OP_IMM, CS_OP_MEM, CS_OP_REG
from capstone import arm64_const as arm64
from machine_code import functions
from redzone.elf.file import File
from redzone.elf.symbols import linkage

# A kernel each.
pytestmark = pytest.mark.rest
PRESETS = ("arm64-generic-inline-clang+scs+erase", "arm64-generic-inline-clang-22+erase")
# Entry points, and the shared part.
ERASING = (
    "stackleak_erase",
    "stackleak_erase_on_task_stack",
    "stackleak_erase_off_task_stack",
    "erase_below",
)
# Bytes of the stack that a function may take without a write to them, apart from its frame record:
# <asm/stackleak.h> relies on it.
SMALL_FRAME = 512
# Assembly that makes a register frame, all of which it writes, or changes to another stack or frame.
ASSEMBLY = (
    "overflow_entry",
    "arch_call_on_stack",
    "cpu_switch_to",
    "enter_user_mode",
    "kasan_on_own_stack",
    "longjmp",
    "primary_switched",
    "secondary_switched",
    "stackleak_leave",
)


@pytest.fixture(scope="module", params=PRESETS)
def folder(request, built):
    """A build folder with stack erasing."""
    return built(request.param)


def code_of(path):
    """Return {name: [instruction]} of the functions in the file @path."""
    return {name: code for name, code, _ in functions(path)}


def _stores(insn):
    return insn.mnemonic.startswith("st") and any(operand.type == CS_OP_MEM for operand in insn.operands)


def test_erasing_calls_nothing(folder):
    """The object file with the entry points refers to nothing outside of itself, and uses no stack."""
    path = folder / "CMakeFiles/kernel.dir/kernel/ext/stackleak/arch/arm64/stackleak.S.obj"
    assert linkage(File.open(path))[1] == set()
    found = code_of(path)
    assert set(ERASING) <= set(found)
    code = [insn for name in ERASING for insn in found[name]]
    addresses = {insn.address for insn in code}
    for insn in code:
        # Branches stay inside, nothing is called, and nothing is saved on the stack or the shadow call stack.
        assert insn.mnemonic not in ("bl", "blr", "br"), insn
        if insn.group(capstone.CS_GRP_BRANCH_RELATIVE):
            assert insn.operands[-1].imm in addresses, insn
        written = insn.regs_access()[1]
        assert arm64.ARM64_REG_SP not in written and arm64.ARM64_REG_X18 not in written, insn
        for operand in insn.operands:
            if operand.type == CS_OP_MEM:
                assert operand.mem.base not in (arm64.ARM64_REG_SP, arm64.ARM64_REG_X18), insn


def test_nothing_is_stored_behind_erasing(folder):
    """Between the switch of stack erasing and the return to user mode no instruction stores anything."""
    found = code_of(folder / "redzone.elf")
    entries = {found[name][0].address for name in ERASING}
    code = found["return_to_user"]
    calls = [at for at, insn in enumerate(code) if insn.mnemonic == "bl"]
    # The first call is that of the C function.
    rest = code[calls[0] + 1 :]
    assert any(insn.mnemonic == "eret" for insn in rest)
    assert not [insn for insn in rest if _stores(insn)]
    called = [insn.operands[0].imm % 2**64 for insn in rest if insn.mnemonic == "bl"]
    assert len(called) == 2 and set(called) <= entries


def _lowered(insn):
    """Return the bytes by which @insn lowers the stack pointer, None if they are not a constant, 0 if it does
    not."""
    if arm64.ARM64_REG_SP not in insn.regs_access()[1]:
        return 0
    if insn.mnemonic == "sub" and insn.operands[1].reg == arm64.ARM64_REG_SP:
        amount = insn.operands[2]
        return amount.imm << amount.shift.value if amount.type == CS_OP_IMM else None
    if insn.mnemonic == "mov" and insn.operands[1].type == CS_OP_REG:
        # From the frame pointer it is a return. Others may lower it.
        return 0 if insn.operands[1].reg == arm64.ARM64_REG_FP else None
    return 0


def test_no_gap_is_longer_than_the_search(folder):
    """No function of the kernel takes more of the stack without a write than the search allows for."""
    checked = variable = 0
    for name, code, _ in functions(folder / "redzone.elf"):
        if name in ASSEMBLY:
            continue
        probes = any(
            insn.mnemonic in ("str", "stp")
            and insn.operands[0].reg == arm64.ARM64_REG_XZR
            and insn.operands[-1].mem.base == arm64.ARM64_REG_SP
            for insn in code
            if insn.operands and insn.operands[-1].type == CS_OP_MEM
        )
        gap = 0
        for at, insn in enumerate(code):
            lowered = _lowered(insn)
            if lowered is None:
                # An array of variable size, or the end of its scope: its function has a loop that writes.
                variable += 1
                assert probes, name
                gap = 0
            elif lowered:
                gap += lowered
                checked += 1
                assert gap <= SMALL_FRAME, f"{name}: {insn}"
            # A frame that is aligned: the amount is subtracted in another register.
            if insn.mnemonic == "and" and insn.operands[0].reg == arm64.ARM64_REG_SP:
                before = code[at - 1]
                if before.mnemonic == "sub" and before.operands[2].type == CS_OP_IMM:
                    assert before.operands[2].imm << before.operands[2].shift.value <= SMALL_FRAME, (
                        f"{name}: {insn}"
                    )
            if _stores(insn):
                memory = insn.operands[-1] if insn.operands[-1].type == CS_OP_MEM else insn.operands[-2]
                if memory.mem.base == arm64.ARM64_REG_SP:
                    gap = 0 if insn.writeback else min(gap, max(memory.mem.disp, 0))
            elif insn.group(capstone.CS_GRP_RET):
                gap = 0
    assert checked > 500 and variable > 10


def test_wrong_value_of_the_switch(redzone, source):
    """`stack_erasing=` refuses other values, and says which there are."""
    program = source("int main(void) { return 0; }\n")
    # The kernel that the other tests here have.
    features = ("--shadow-call-stack", "--kstack-erase")
    result = redzone("run", program, *features, "--append", "stack_erasing=maybe")
    text = result.stdout + result.stderr
    assert (
        'Malformed kernel parameter stack_erasing="maybe": expected on|off|generic; keeping the default'
        in text
    )
    document = (redzone.root / "docs" / "use" / "boot-parameters.md").read_text(encoding="utf-8")
    assert re.search(r"(?m)^\| `stack_erasing=` \| `on`, `off`, `generic` \|", document)
