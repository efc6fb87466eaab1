# SPDX-License-Identifier: MIT
"""The architectures: one table of what differs between them, outside of C and CMake."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kernel:
    """What the reference kernel of an architecture needs.

    machine: QEMU's -machine. ram: where its memory begins. musl: the C library's name of the architecture.
    cpu: QEMU's model for "max", which old versions do not have for each architecture; tags_cpu: with
    software tags, None if every CPU has them. modes: of KASAN, which it has. compilers: that can make a
    mode or a feature, if not all can. lacks: features of builder.FEATURES that it does not have.
    unmeasured: operations of `./redzone bench`, as patterns, that say nothing there. hosts: what hosts
    whose CPU can run it call the architecture, in platform.machine(). registers: of a call's first
    arguments, then that of the address to which it returns, as debuggers name them; the first one also has
    the result. saved: those at the begin of struct pt_regs, as GDB names them.
    """

    machine: str
    ram: int
    musl: str
    cpu: str = "max"
    tags_cpu: str | None = None
    modes: tuple = ("generic", "off")
    compilers: dict = field(default_factory=dict)
    lacks: tuple = ()
    unmeasured: tuple = ()
    hosts: tuple = ()
    registers: tuple = ()
    saved: tuple = ()


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
    the runtime. tag_compilers: families that make checks of software tags. tagged_globals: Clang makes code
    that reaches a variable whose address has a tag. joins_by_or: a shadow offset that is a power of two, in
    Clang's checks. kernel: None if the reference kernel does not run on it.
    shadows: {mode: [Shadow]}, the default first; none where addresses have no half for the kernel."""

    machine: str
    bits: int
    target: str
    gcc: str | None
    relative: int
    modes: tuple = ("generic",)
    tag_compilers: tuple = ("clang", "gcc")
    tagged_globals: bool = True
    joins_by_or: bool = False
    kernel: Kernel | None = None
    shadows: dict = field(default_factory=dict)


ARCHES = {
    "arm64": Arch(
        *("EM_AARCH64", 64, "aarch64-none-elf", "gcc-arm64", 1027),
        modes=("generic", "sw_tags", "hw_tags"),
        kernel=Kernel(
            *("virt", 0x40000000, "aarch64"),
            modes=("generic", "sw_tags", "hw_tags", "off"),
            hosts=("aarch64", "arm64"),
            registers=("x0", "x1", "x2", "x3", "lr"),
            saved=(*(f"x{number}" for number in range(31)), "sp", "pc"),
        ),
        # Each shadow ends where the quarter begins in which the image and modules lie.
        shadows={
            "generic": [Shadow("48-bit addresses", 0xDFFF800000000000, 0xFFFF000000000000)],
            "sw_tags": [Shadow("48-bit addresses", 0xEFFF800000000000, 0xFFFF000000000000)],
        },
    ),
    "riscv64": Arch(
        *("EM_RISCV", 64, "riscv64-unknown-elf", "gcc-riscv64", 3),
        modes=("generic", "sw_tags"),
        # GCC warns that it has no kernel-hwaddress for this target, and checks nothing.
        tag_compilers=("clang",),
        tagged_globals=False,
        kernel=Kernel(
            *("virt", 0x80000000, "riscv64", "rv64", "rv64,smnpm=true"),
            modes=("generic", "sw_tags", "off"),
            compilers={"sw_tags": ("clang-19",), "scs": ("clang-19",)},
            lacks=("taggedglobals",),
            # Where QEMU counts instructions, it runs the CPUs in turn. Here a CPU that waits for another one
            # cannot give up its turn (arm64's YIELD does): the wait would be nearly all that is counted.
            unmeasured=("smp.*",),
            registers=("a0", "a1", "a2", "a3", "ra"),
            saved=(
                *("pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1"),
                *(f"a{number}" for number in range(8)),
                *(f"s{number}" for number in range(2, 12)),
                *(f"t{number}" for number in range(3, 7)),
            ),
        ),
        # One offset for all page tables: the shadow ends 4 GiB below the end, where the image lies.
        shadows={
            "generic": [
                Shadow("Sv39", 0xDFFFFFFF00000000, 0xFFFFFFC000000000),
                Shadow("Sv48", 0xDFFFFFFF00000000, 0xFFFF800000000000),
            ],
            "sw_tags": [
                Shadow("Sv39", 0xEFFFFFFF00000000, 0xFFFFFFC000000000),
                Shadow("Sv48", 0xEFFFFFFF00000000, 0xFFFF800000000000),
            ],
        },
    ),
    "riscv32": Arch("EM_RISCV", 32, "riscv32-unknown-elf", "gcc-riscv64", 3, joins_by_or=True),
    "x86_64": Arch(
        *("EM_X86_64", 64, "x86_64-unknown-linux-gnu", "gcc", 8),
        joins_by_or=True,
        # Whole entries of the top table, so that they can be shared by all address spaces.
        shadows={"generic": [Shadow("4-level tables", 0xDFFFFC0000000000, 0xFFFF800000000000)]},
    ),
    "arm": Arch("EM_ARM", 32, "armv7a-none-eabi", "gcc-arm", 23, joins_by_or=True),
    "s390x": Arch("EM_S390", 64, "s390x-linux-gnu", "gcc-s390x", 12),
    "powerpc64le": Arch("EM_PPC64", 64, "powerpc64le-linux-gnu", "gcc-powerpc64le", 22),
    "loongarch64": Arch("EM_LOONGARCH", 64, "loongarch64-linux-gnusf", None, 3),
}
KERNELS = {name: arch.kernel for name, arch in ARCHES.items() if arch.kernel}
# What a command means that names none.
DEFAULT = "arm64"
# The preset that most commands build.
PRESET = f"{DEFAULT}-generic-inline-clang"
