# SPDX-License-Identifier: MIT
"""The addresses that machine code names. What an audit concludes must not depend on where things lie."""

import pytest
from elftools.elf.elffile import ELFFile
from kit import call, compiler
from redzone import elfcode

BASE = 0x40080000
# Name: (code, the addresses that it names, from BASE + 0x1000).
ARM64 = {
    "pair": ("adrp x0, #0x1000; add x0, x0, #0x18", [0x18]),
    "load": ("adrp x0, #0x1000; ldr x1, [x0, #0x18]", [0x18]),
    "one page, two places": ("adrp x0, #0x1000; add x1, x0, #0x18; add x2, x0, #0x20", [0x18, 0x20]),
    "shifted": ("adrp x0, #0x1000; add x0, x0, #1, lsl #12", [0x1000]),
    "near": ("adr x0, .+0x1000", [0]),
    "in between": ("adrp x0, #0x1000; mov x1, #3; cmp x1, x0; str x1, [x0]; add x0, x0, #0x18", [0, 0x18]),
    "flags are no register": ("adrp x2, #0x1000; ccmp x5, x6, #2, eq; add x2, x2, #0x18", [0x18]),
    "kept over a call": ("adrp x19, #0x1000; bl .; add x0, x19, #0x18", [0x18]),
    # The rest is no address, or of no register that still has it.
    "page alone": ("adrp x0, #0x1000; mov x1, x0", []),
    "overwritten": ("adrp x0, #0x1000; mov x0, x5; add x1, x0, #0x18", []),
    "added once": ("adrp x0, #0x1000; add x0, x0, #0x18; add x0, x0, #8", [0x18]),
    "loaded": ("adrp x0, #0x1000; ldr x0, [x5]; add x0, x0, #0x18", []),
    "loaded, two": ("adrp x0, #0x1000; ldp x5, x0, [x6]; add x0, x0, #0x18", []),
    "moved base": ("adrp x0, #0x1000; ldr x1, [x0], #8; add x0, x0, #0x18", []),
    "exclusive": ("adrp x0, #0x1000; ldxr x0, [x5]; add x0, x0, #0x18", []),
    "gone after a call": ("adrp x0, #0x1000; bl .; add x0, x0, #0x18", []),
    "gone after blr": ("adrp x9, #0x1000; blr x8; add x0, x9, #0x18", []),
    "system register": ("adrp x0, #0x1000; mrs x0, tpidr_el1; add x0, x0, #0x18", []),
    "another function": ("adrp x0, #0x1000; ret; .balign 64; add x0, x0, #0x18", []),
}
# None that would fit into a compressed instruction: those are added to what is an address already.
RISCV64 = {
    "pair": ("auipc a0, 1; addi a0, a0, 0x158", [0x158]),
    "load": ("auipc a0, 1; ld a1, 0x158(a0)", [0x158]),
    "absolute": ("lui a0, 0x40081; addi a0, a0, 0x158", [0x158]),
    "compressed": ("c.lui a0, 1; addi a0, a0, 0x158", [0x158 - BASE]),
    "in between": ("auipc a0, 1; c.li a1, 3; sd a1, 0(a0); beq a1, a2, .; addi a0, a0, 0x158", [0x158]),
    "kept over a call": ("auipc s1, 1; jal ra, .; addi a0, s1, 0x158", [0x158]),
    "overwritten": ("auipc a0, 1; mv a0, a5; addi a0, a0, 0x158", []),
    "added once": ("auipc a0, 1; addi a0, a0, 0x158; addi a0, a0, 0x40", [0x158]),
    "compressed write": ("auipc a0, 1; c.li a0, 3; addi a0, a0, 0x158", []),
    "compressed load": ("auipc a0, 1; c.ld a0, 0(a1); addi a0, a0, 0x158", []),
    "compressed arithmetic": ("auipc a0, 1; c.sub a0, a1; addi a0, a0, 0x158", []),
    "gone after a call": ("auipc a0, 1; jal ra, .; addi a0, a0, 0x158", []),
    "gone after c.jalr": ("auipc a0, 1; c.jalr s1; addi a0, a0, 0x158", []),
    "another function": ("auipc a0, 1; ret; .balign 64; addi a0, a0, 0x158", []),
}


def assemble(tmp_path, arch, text):
    source, result = tmp_path / "code.S", tmp_path / "code.o"
    source.write_text(f".text\n.option rvc\n{text}\n" if arch == "riscv64" else f"{text}\n", encoding="utf-8")
    call([*compiler("clang-19", arch), "-c", source, "-o", result], tmp_path)
    with result.open("rb") as file:
        return ELFFile(file).get_section_by_name(".text").data()


@pytest.mark.parametrize(
    ("arch", "text", "offsets"),
    [pytest.param("arm64", *rest, id=f"arm64, {name}") for name, rest in ARM64.items()]
    + [pytest.param("riscv64", *rest, id=f"riscv64, {name}") for name, rest in RISCV64.items()],
)
def test_addresses(tmp_path, arch, text, offsets):
    data = assemble(tmp_path, arch, text)
    found = elfcode.addresses(arch, data, BASE, {BASE, BASE + 64})
    assert [address - BASE - 0x1000 for address in found] == offsets
