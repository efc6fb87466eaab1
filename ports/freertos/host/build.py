# SPDX-License-Identifier: MIT
"""Builds the demonstration for one board, with FreeRTOS's source as it is."""

from dataclasses import dataclass
from pathlib import Path

from redzone.build import builder
from redzone.core import base
from redzone.core.base import ROOT
from redzone.core.process import execute

from .source import HOME, PORT

BOARDS = ("mps2-an385", "mps2-an505", "riscv-virt", "riscv32-virt")
HEAPS = (1, 2, 3, 4, 5)
COMPILERS = ("gcc", "clang-19")
# Memory without shadow that a demonstration gives to FreeRTOS, and the port refuses.
REFUSE = ("REGION", "STACK")
_CORTEX = ("gcc-cortexm", "newlib-arm", "qemu-arm")
_RISCV = ("gcc-riscv64-elf", "picolibc-riscv64")


@dataclass(frozen=True)
class Image:
    """A demonstration that was built. seconds: of ordinary traffic; bugs: are there any behind it? cc: the
    compiler."""

    board: str
    heap: int
    seconds: int
    bugs: bool
    elf: Path
    source: Path
    cc: str = "gcc"


def tools(board, cc="gcc", cmake=False):
    """Return the keys of the programs that build for @board with @cc and boot it."""
    needed = ("make", "symbolizer", *_CORTEX)
    if board.startswith("riscv"):
        bits = 32 if board.startswith("riscv32") else 64
        needed = ("make", "symbolizer", *_RISCV, f"qemu-riscv{bits}")
    return needed + (("clang-19", "lld") if cc != "gcc" else ()) + (("cmake", "ninja") if cmake else ())


def build(board, source, heap=4, seconds=2, bugs=True, jobs=2, cc="gcc", refuse=None):
    """Build the demonstration with make; return the Image."""
    name = f"{board}-heap{heap}" + ("" if bugs else f"-traffic{seconds}")
    name += ("" if cc == "gcc" else "-clang") + (f"-refuse-{refuse.lower()}" if refuse else "")
    folder = HOME / name
    builder.check_make(source)
    words = {
        "REDZONE": ROOT,
        "FREERTOS": source,
        "BOARD": board,
        "COMPILER": cc,
        "HEAP": heap,
        "OUT": folder,
        "SECONDS": seconds,
        "BUGS": int(bugs),
        "REFUSE": refuse or "NOTHING",
    }
    command = ["make", "-C", PORT / "demo", f"-j{jobs}", *(f"{key}={value}" for key, value in words.items())]
    _execute(folder, command)
    return Image(board, heap, seconds, bugs, folder / "demo.elf", Path(source), cc)


def build_by_cmake(source, jobs=2):
    """Build the demonstration for the first board with CMake; return the Image."""
    folder = HOME / "cmake"
    _execute(
        folder,
        [
            *("cmake", "-S", PORT / "demo", "-B", folder, "-G", "Ninja"),
            *("--toolchain", PORT / "demo" / "toolchain.cmake"),
            *(f"-DFREERTOS={source}", f"-DREDZONE_DIR={ROOT}"),
        ],
        ["cmake", "--build", folder, f"-j{jobs}"],
    )
    return Image(BOARDS[0], 4, 2, True, folder / "demo.elf", Path(source))


def _execute(folder, *commands):
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "build.log"
    with base.locked(folder):
        log.unlink(missing_ok=True)
        for command in commands:
            execute(command, log)
