# SPDX-License-Identifier: MIT
"""Reads branches, memory accesses and addresses from machine code, as the audit does. The audit's findings
must not depend on the addresses of code and data."""

import pytest
from kit import call, compiler, need
from redzone.elf.file import File
from redzone.kit import audit_code

pytestmark = pytest.mark.quick

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
    "moved base": ("adrp x0, #0x1000; ldr x1, [x0], #8; add x0, x0, #0x18", [0]),
    # The rest contains no address, or uses a register that no longer holds the page.
    "page alone": ("adrp x0, #0x1000; mov x1, x0", []),
    "overwritten": ("adrp x0, #0x1000; mov x0, x5; add x1, x0, #0x18", []),
    "added once": ("adrp x0, #0x1000; add x0, x0, #0x18; add x0, x0, #8", [0x18]),
    "loaded": ("adrp x0, #0x1000; ldr x0, [x5]; add x0, x0, #0x18", []),
    "loaded, two": ("adrp x0, #0x1000; ldp x5, x0, [x6]; add x0, x0, #0x18", []),
    "exclusive": ("adrp x0, #0x1000; ldxr x0, [x5]; add x0, x0, #0x18", []),
    "gone after a call": ("adrp x0, #0x1000; bl .; add x0, x0, #0x18", []),
    "gone after blr": ("adrp x9, #0x1000; blr x8; add x0, x9, #0x18", []),
    "system register": ("adrp x0, #0x1000; mrs x0, tpidr_el1; add x0, x0, #0x18", []),
    "another function": ("adrp x0, #0x1000; ret; .balign 64; add x0, x0, #0x18", []),
}
# No offset fits into a compressed instruction: code adds such offsets only to complete addresses.
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
# Loads of 64 bits apart, which it does not have.
RISCV32 = {
    **{name: code for name, code in RISCV64.items() if " ld " not in code[0] and "sd " not in code[0]},
    "load": ("auipc a0, 1; lw a1, 0x158(a0)", [0x158]),
    "high": ("lui a0, 0xc0081; addi a0, a0, 0x158", [0x80000158]),
}
del RISCV32["compressed load"]


X86_64 = {
    "lea": ("leaq 0xff9(%rip), %rax", [0]),
    "access": ("movq 0xff9(%rip), %rax", [0]),
    "absolute": ("movl $0x40081000, %eax", [0]),
    "sign-extended": ("movq $-0x7ffff000, %rax", [0xFFFFFFFF80001000 - BASE - 0x1000]),
    "compared": ("cmpq $0x40081000, %rax", [0]),
    "table": ("movq 0x40081000(,%rax,8), %rax", [0]),
    "branch": ("call .+0x1000", []),
}
THUMB = {
    "pair": ("movw r0, #0x1018; movt r0, #0x4008", [0x18]),
    "kept over another": (
        "movw r0, #0x1018; movw r1, #3; movt r0, #0x4008; movt r1, #0x4008",
        [0x18, -0xFFD],
    ),
    "overwritten": ("movw r0, #0x1018; ldr r0, [r1]; movt r0, #0x4008", []),
    "another register": ("movw r0, #0x1018; movt r1, #0x4008", []),
    "another function": ("movw r0, #0x1018; .balign 64; movt r0, #0x4008", []),
}
ADDRESSES = {
    "arm64": ARM64,
    "riscv64": RISCV64,
    "riscv32": RISCV32,
    "x86_64": X86_64,
    "thumb": THUMB,
    "arm": THUMB,
}
# Code: (targets of its branches, from BASE; accesses that count, one letter for each instruction).
STEPS = {
    "arm64": (
        "bl .+0x40; b .+0x40; cbz x0, .+8; blr x1; brk #0x910; brk #0x800",
        [0x40, 0x44, 0x10],
        "----T-",
    ),
    "arm64, memory": (
        "ldr x0, [x1]; stp x0, x1, [sp]; ldr x0, [x29, #8]; ldr x0, .+8; stxr w0, x1, [x2]; add x0, x1, #8",
        [],
        "M---M-",
    ),
    "riscv64": ("jal ra, .+0x40; j .+0x40; c.j .+0x10; c.jalr a0; ret", [0x40, 0x44, 0x18], "-----"),
    "riscv64, memory": (
        "ld a0, 8(a1); sd a0, 8(sp); c.lw a0, 4(a1); c.sdsp a0, 8(sp); lw a0, 4(s0); amoadd.d a0, a1, (a2)",
        [],
        "M-M--M",
    ),
    "riscv64, far": ("auipc t1, 1; jalr ra, 0x40(t1)", [0x1040], "--"),
    # c.jal is riscv32's alone: the same bits are c.addiw on riscv64.
    "riscv32": ("jal ra, .+0x40; c.jal .+0x10; c.j .+0x10; c.jalr a0; ret", [0x40, 0x14, 0x16], "-----"),
    "riscv32, memory": (
        "lw a0, 8(a1); sw a0, 8(sp); c.lw a0, 4(a1); c.swsp a0, 8(sp); lw a0, 4(s0); amoadd.w a0, a1, (a2)",
        [],
        "M-M--M",
    ),
    "x86_64": ("call .+0x40; jmp .+0x40; call *%rax; endbr64", [0x40, 0x45], "----"),
    "x86_64, memory": (
        "movl (%rdi), %eax; movl %eax, -8(%rbp); movl 8(%rsp), %eax; leaq (%rdi), %rax; movl 8(%rip), %eax",
        [],
        "M---M",
    ),
    "thumb": ("bl .+0x40; b.w .+0x40; blx r3; bx lr", [0x40, 0x44], "----"),
    "thumb, memory": (
        "ldr r0, [r1]; str r0, [sp, #4]; ldr r0, [r7, #4]; push {r4, lr}; ldm r0!, {r1, r2}; adds r0, r1, #4",
        [],
        "M---M-",
    ),
    # Capstone does not know this extension: the code that follows must still be read.
    "riscv64, unknown": (".4byte 0x0ef0070b; jal ra, .+0x40", [0x44], "-"),
    "arm": (
        "bl .+0x40; blx .+0x40; ldr r0, [r1]; ldr r0, [pc, #4]; ldr r0, [r11, #-4]",
        [0x40, 0x44],
        "--M--",
    ),
}


def assemble(tmp_path, arch, text):
    """Return the machine code of @text, whose branches are resolved."""
    need("ld.lld-19")
    start = ".syntax unified\n.thumb\n" if arch == "thumb" else ""
    if arch.startswith("riscv"):
        start = ".option rvc\n.option norelax\n"
    source = tmp_path / "code.S"
    # Room for the targets of branches.
    source.write_text(f".text\n{start}{text}\n.balign 4\n.space 256\n", encoding="utf-8")
    command = compiler("clang-19", "arm" if arch == "thumb" else arch)
    call([*command, "-c", source, "-o", "code.o"], tmp_path)
    call(["ld.lld-19", "-e0", f"-Ttext={BASE:#x}", "code.o", "-o", "code.elf"], tmp_path)
    elf = File.open(tmp_path / "code.elf")
    return elf.content(elf.section(".text"))


@pytest.mark.parametrize(
    ("arch", "text", "offsets"),
    [
        pytest.param(arch, *rest, id=f"{arch}, {name}")
        for arch, codes in ADDRESSES.items()
        for name, rest in codes.items()
    ],
)
def test_addresses(tmp_path, arch, text, offsets):
    data = assemble(tmp_path, arch, text)[:-256]
    # Where there are two functions, the second one begins at 64.
    parts = [(BASE + at, data[at : at + 64]) for at in range(0, len(data), 64)]
    found = [
        address for at, code in parts for step in audit_code.steps(arch, code, at) for address in step.named
    ]
    assert [address - BASE - 0x1000 for address in found] == offsets


@pytest.mark.parametrize(
    ("name", "text", "targets", "letters"), [(name, *rest) for name, rest in STEPS.items()]
)
def test_branches_and_accesses(tmp_path, name, text, targets, letters):
    arch = name.split(",")[0]
    data = assemble(tmp_path, arch, text)
    steps = list(audit_code.steps(arch, data, BASE))[: len(letters)]
    assert [step.target - BASE for step in steps if step.target is not None] == targets
    assert "".join("M" if step.touches else "T" if step.traps else "-" for step in steps) == letters


def test_constants(tmp_path):
    """GNU ld turns addresses into offsets from gp, and gp never changes."""
    data = assemble(tmp_path, "riscv64", "addi a0, gp, -0x7f8; jal ra, .+8; ld a1, 0x10(gp)")
    steps = list(audit_code.steps("riscv64", data, BASE, {audit_code.RISCV_GP: BASE + 0x1000}))
    assert [list(step.named) for step in steps[:3]] == [[BASE + 0x808], [], [BASE + 0x1010]]
