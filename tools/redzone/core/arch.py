# SPDX-License-Identifier: MIT
"""The architectures: one table of what differs between them, outside of C and CMake."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kernel:
    """What the reference kernel of an architecture needs.

    machine: QEMU's -machine. ram: where its memory begins. musl: the C library's name of the architecture.
    """

    machine: str
    ram: int
    musl: str


@dataclass(frozen=True)
class Arch:
    """machine: as an ELF file's header has it; bits: of an address. target: Clang's for freestanding code,
    one whose driver accepts kernel-address. gcc: the key of the GCC for it among the outside programs.
    relative: the number of the relocation that puts a load-time address, its addend, into a word. modes: of
    the runtime. kernel: None if the reference kernel does not run on it."""

    machine: str
    bits: int
    target: str
    gcc: str
    relative: int
    modes: tuple = ("generic",)
    kernel: Kernel | None = None


ARCHES = {
    "arm64": Arch(
        *("EM_AARCH64", 64, "aarch64-none-elf", "gcc-arm64", 1027),
        modes=("generic", "sw_tags", "hw_tags"),
        kernel=Kernel("virt", 0x40000000, "aarch64"),
    ),
    "riscv64": Arch("EM_RISCV", 64, "riscv64-unknown-elf", "gcc-riscv64", 3),
    "riscv32": Arch("EM_RISCV", 32, "riscv32-unknown-elf", "gcc-riscv64", 3),
    "x86_64": Arch("EM_X86_64", 64, "x86_64-unknown-linux-gnu", "gcc", 8),
    "arm": Arch("EM_ARM", 32, "armv7a-none-eabi", "gcc-arm", 23),
}
KERNELS = {name: arch.kernel for name, arch in ARCHES.items() if arch.kernel}
# What a command means that names none.
DEFAULT = "arm64"
