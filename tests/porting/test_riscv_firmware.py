# SPDX-License-Identifier: MIT
"""The example in RISC-V's machine mode on several harts: traps, guards, one console, any address."""

import re
import subprocess

from kit import change, first, make_template, need, qemu
from redzone.core import process
from redzone.kit import ports

RAM = 0x80000000
OTHER = 0x82345000
BUGS = {
    "heap_overflow": "slab-out-of-bounds",
    "use_after_free": "slab-use-after-free",
    "double_free": "double-free",
    "global_overflow": "global-out-of-bounds",
    "stack_overread": "stack-out-of-bounds",
    "null_read": "null-ptr-deref",
    "null_call": "invalid-call",
    "wild_write": "wild-memory-access",
    "recursion": "stack-overflow",
}
QUIET = ("in_user_mode", "device_tree", "work")


def make(tree, arch, cc, harts, *variables):
    return make_template(tree, arch, cc, f"HARTS={harts}", *variables)[0]


def report_all(tree):
    """Let each report of a place be whole, so that those of all harts can be counted."""
    start = "kasan_start(start, (uintptr_t)__kasan_window_end - start, (uintptr_t)__kasan_shadow_start);"
    change(tree / "riscv_port.c", (start, f'{start}\n\tkasan_option("kasan.repeat", "full");'))


def run(tree, arch, elf, harts):
    """Boot an image that is linked for the start of RAM."""
    command = [*qemu(arch, "generic"), "-m", "128M", "-smp", harts, "-nographic", "-nic", "none"]
    result = process.run([*command, "-kernel", elf], cwd=tree, stderr=subprocess.STDOUT, timeout=60)
    return result.returncode, result.stdout.replace("\r", "")


def run_at(tree, arch, elf, harts, load):
    """Boot an image for any address at @load. The machine starts at the start of RAM, where a jump is put."""
    need("llvm-objcopy-19")
    binary, start = tree / "template.bin", tree / "start.bin"
    process.run(["llvm-objcopy-19", "-O", "binary", elf, binary], check=True)
    start.write_bytes(ports.load("opensbi", "host.boots").jump(load - RAM))
    command = [*qemu(arch, "generic"), "-m", "128M", "-smp", harts, "-nographic", "-nic", "none"]
    for path, address in ((start, RAM), (binary, load)) if load != RAM else ((binary, load),):
        command += ["-device", f"loader,file={path},addr={address:#x},force-raw=on"]
    result = process.run(command, cwd=tree, stderr=subprocess.STDOUT, timeout=60)
    return result.returncode, result.stdout.replace("\r", "")


def expect_all(status, console, harts, stack=True):
    assert status == 0 and "template: done, all as expected" in console, console
    bugs = {name: kind for name, kind in BUGS.items() if stack or name != "stack_overread"}
    for name in (*bugs, *QUIET):
        assert console.count(f"template: ok {name}\n") == 2, name
    assert "template: ok at_once\n" in console
    # Each hart reports each bug.
    reported = re.findall(r"^BUG: KASAN: ([\w-]+) in ", console, re.MULTILINE)
    counts = {kind: reported.count(kind) for kind in bugs.values()}
    expected = {kind: sum(one == kind for one in bugs.values()) * harts for kind in bugs.values()}
    expected["slab-use-after-free"] += 4 * harts
    assert counts == expected, console
    for hart in range(harts):
        assert f"by task hart/{hart}" in console
    # No output of a hart in a report, or in another line.
    lines = [line for line in console.splitlines() if "a whole line of a hart" in line]
    assert lines == ["a whole line of a hart"] * 4 * harts
    rule, inside = "=" * 66, False
    for line in console.splitlines():
        inside = not inside if line == rule else inside
        assert not (inside and line.startswith(("a whole line", "template:"))), console
    assert not inside


@first(
    1,
    ("arch", "cc", "harts"),
    [("riscv64", "clang-19", 4), ("riscv32", "clang-19", 3), ("riscv64", "gcc", 4)],
)
def test_several_harts(tree, arch, cc, harts):
    report_all(tree)
    elf = make(tree, arch, cc, harts)
    expect_all(*run(tree, arch, elf, harts), harts)


@first(
    1,
    ("arch", "cc", "harts", "load"),
    [
        ("riscv64", "clang-19", 4, OTHER),
        ("riscv64", "gcc", 4, OTHER),
        ("riscv64", "clang-19", 1, RAM),
        ("riscv32", "clang-19", 2, OTHER),
    ],
)
def test_loaded_anywhere(tree, arch, cc, harts, load):
    """GCC's code has no shadow that moves: stack variables are not checked."""
    dynamic = ["DYNAMIC=1"] if cc != "gcc" else ["KASAN_SHADOW_OFFSET=", "KASAN_STACK=0"]
    report_all(tree)
    elf = make(tree, arch, cc, harts, "PIE=1", *dynamic)
    status, console = run_at(tree, arch, elf, harts, load)
    expect_all(status, console, harts, stack=cc != "gcc")
    assert f"Kernel Offset: {load:#x}\n" in console


def test_what_the_helpers_are_for(tree):
    """Without them the machine's arguments are lost, a program's bug is reported as firmware's, and user mode
    reads the shadow. This shows that the other tests can fail."""
    change(
        tree / "riscv_port.c",
        (
            "KASAN_EARLY_CALL(early_start, start_kasan);",
            '__asm__(".globl early_start\\nearly_start: tail start_kasan\\n");',
        ),
        (
            "KASAN_WRAP_MACHINE_TRAP(hart_trap);",
            "uintptr_t __real_hart_trap(uintptr_t context);\nvoid kasan_trap(uintptr_t fp);\n"
            "void kasan_trap(uintptr_t fp)\n{\n\tuintptr_t cause, pc, addr;\n\n"
            '\t__asm__ volatile("csrr %0, mcause\\n\\tcsrr %1, mepc\\n\\tcsrr %2, mtval"\n'
            '\t\t\t : "=r"(cause), "=r"(pc), "=r"(addr));\n'
            "\tkasan_report_fault(addr, 0, cause == 7, pc, fp);\n}\n"
            '__asm__(".globl __wrap_hart_trap\\n__wrap_hart_trap: addi sp, sp, -16\\n'
            "sd ra, 0(sp)\\nsd a0, 8(sp)\\nmv a0, s0\\ncall kasan_trap\\nld a0, 8(sp)\\n"
            'ld ra, 0(sp)\\naddi sp, sp, 16\\ntail hart_trap\\n");',
        ),
        ("KASAN_PMP_SET_RANGE(1,", "if (!hart)\n\t\tKASAN_PMP_SET_RANGE(1,"),
    )
    # The linker must not send the last jump to the wrapper again.
    change(
        tree / "riscv_port.c",
        (
            "uintptr_t __real_hart_trap(uintptr_t context)\n{",
            "uintptr_t hart_trap2(uintptr_t context);\nuintptr_t hart_trap2(uintptr_t context)\n{",
        ),
    )
    change(tree / "riscv_port.c", ("tail hart_trap\\n", "tail hart_trap2\\n"))
    elf = make(tree, "riscv64", "clang-19", 2)
    status, console = run(tree, "riscv64", elf, 2)
    assert status == 1, console
    assert "template: NOT OK in_user_mode\n" in console
    assert "template: user mode may read the shadow\n" in console
    # The value left in a1 may be an address or not.
    lost = ("template: the device tree's address is lost\n", "template: NOT OK device_tree\n")
    assert any(line in console for line in lost)
