# SPDX-License-Identifier: MIT
"""The architectures: one table of what differs between them, outside of C and CMake."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kernel:
    """What the reference kernel of an architecture needs.

    machine: QEMU's -machine. ram: where its memory begins. musl: the C library's name of the architecture.
    cpu: QEMU's model for "max", which old versions do not have for each architecture; tags_cpu: with
    software tags, None if every CPU has them. modes: of KASAN, which it has. compilers: that can make a mode
    or a feature, if not all can. lacks: features of builder.FEATURES that it does not have.
    """

    machine: str
    ram: int
    musl: str
    cpu: str = "max"
    tags_cpu: str | None = None
    modes: tuple = ("generic", "off")
    compilers: dict = field(default_factory=dict)
    lacks: tuple = ()


@dataclass(frozen=True)
class Shadow:
    """The full layout of a kernel in the upper half of the address space: the addresses @low to @high have
    shadow, that of address a at (a >> 3) + @offset, with software tags (a >> 4) + @offset. when: for which
    page tables."""

    when: str
    offset: int
    low: int
    high: int = (1 << 64) - 1

    def range(self, mode):
        """Return (first address of the shadow, first one after it)."""
        shift = 4 if mode == "sw_tags" else 3
        first, last = ((at >> shift) + self.offset & (1 << 64) - 1 for at in (self.low, self.high))
        return first, last + 1


@dataclass(frozen=True)
class Arch:
    """machine: as an ELF file's header has it; bits: of an address. target: Clang's for freestanding code,
    one whose driver accepts kernel-address. gcc: the key of the GCC for it among the outside programs, None
    if Debian has none.
    relative: the number of the relocation that puts a load-time address, its addend, into a word. modes: of
    the runtime. kernel: None if the reference kernel does not run on it. shadows: {mode: [Shadow]}, the
    default first; none where addresses have no half for the kernel."""

    machine: str
    bits: int
    target: str
    gcc: str | None
    relative: int
    modes: tuple = ("generic",)
    kernel: Kernel | None = None
    shadows: dict = field(default_factory=dict)


ARCHES = {
    "arm64": Arch(
        *("EM_AARCH64", 64, "aarch64-none-elf", "gcc-arm64", 1027),
        modes=("generic", "sw_tags", "hw_tags"),
        kernel=Kernel("virt", 0x40000000, "aarch64", modes=("generic", "sw_tags", "hw_tags", "off")),
        # Each shadow ends where the quarter begins in which the image and modules lie.
        shadows={
            "generic": [Shadow("48-bit addresses", 0xDFFF800000000000, 0xFFFF000000000000)],
            "sw_tags": [Shadow("48-bit addresses", 0xEFFF800000000000, 0xFFFF000000000000)],
        },
    ),
    "riscv64": Arch(
        *("EM_RISCV", 64, "riscv64-unknown-elf", "gcc-riscv64", 3),
        kernel=Kernel(
            *("virt", 0x80000000, "riscv64", "rv64", "rv64,smnpm=true"),
            modes=("generic", "sw_tags", "off"),
            compilers={"sw_tags": ("clang-19",), "scs": ("clang-19",)},
            lacks=("taggedglobals",),
        ),
        # One offset for all page tables: the shadow ends 4 GiB below the end, where the image lies.
        shadows={
            "generic": [
                Shadow("Sv39", 0xDFFFFFFF00000000, 0xFFFFFFC000000000),
                Shadow("Sv48", 0xDFFFFFFF00000000, 0xFFFF800000000000),
            ]
        },
    ),
    "riscv32": Arch("EM_RISCV", 32, "riscv32-unknown-elf", "gcc-riscv64", 3),
    "x86_64": Arch(
        *("EM_X86_64", 64, "x86_64-unknown-linux-gnu", "gcc", 8),
        # Whole entries of the top table, so that they can be shared by all address spaces.
        shadows={"generic": [Shadow("4-level tables", 0xDFFFFC0000000000, 0xFFFF800000000000)]},
    ),
    "arm": Arch("EM_ARM", 32, "armv7a-none-eabi", "gcc-arm", 23),
    "s390x": Arch("EM_S390", 64, "s390x-linux-gnu", "gcc-s390x", 12),
    "powerpc64le": Arch("EM_PPC64", 64, "powerpc64le-linux-gnu", "gcc-powerpc64le", 22),
    "loongarch64": Arch("EM_LOONGARCH", 64, "loongarch64-linux-gnusf", None, 3),
}
KERNELS = {name: arch.kernel for name, arch in ARCHES.items() if arch.kernel}
# What a command means that names none.
DEFAULT = "arm64"
