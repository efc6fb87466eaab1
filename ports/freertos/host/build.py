# SPDX-License-Identifier: MIT
"""Builds the demonstration for one board, with FreeRTOS's source as it is."""

from dataclasses import dataclass
from pathlib import Path

from redzone import base
from redzone.base import ROOT
from redzone.process import execute

from .source import HOME, PORT

BOARDS = ("mps2-an385", "mps2-an505", "riscv-virt")
HEAPS = (1, 2, 3, 4, 5)
_CORTEX = ("gcc-cortexm", "newlib-arm", "qemu-arm")
_RISCV = ("gcc-riscv64-elf", "picolibc-riscv64", "qemu-riscv64")


@dataclass(frozen=True)
class Image:
    """A demonstration that was built. seconds: of ordinary traffic; bugs: are there any behind it?"""

    board: str
    heap: int
    seconds: int
    bugs: bool
    elf: Path
    source: Path


def tools(board):
    """Return the keys of the programs that build and boot for @board."""
    return ("make", "symbolizer", *(_RISCV if board.startswith("riscv") else _CORTEX))


def build(board, source, heap=4, seconds=2, bugs=True, jobs=2):
    """Build the demonstration; return the Image."""
    name = f"{board}-heap{heap}" + ("" if bugs else f"-traffic{seconds}")
    folder = HOME / name
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    with base.locked(folder):
        execute(
            [
                *("make", "-C", PORT / "demo", f"-j{jobs}", f"REDZONE={ROOT}", f"FREERTOS={source}"),
                *(
                    f"BOARD={board}",
                    f"HEAP={heap}",
                    f"OUT={folder}",
                    f"SECONDS={seconds}",
                    f"BUGS={int(bugs)}",
                ),
            ],
            log,
        )
    return Image(board, heap, seconds, bugs, folder / "demo.elf", Path(source))
