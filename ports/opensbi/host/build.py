# SPDX-License-Identifier: MIT
"""Builds OpenSBI under KASAN in a copy of its source below build/opensbi: its own Makefile, with one more
folder in platform/generic, and the payload that runs after it."""

import os
from dataclasses import dataclass
from pathlib import Path

from redzone.core import base
from redzone.core.base import ROOT
from redzone.core.process import execute

from . import source
from .source import HOME, PORT

COMPILERS = ("clang-19", "gcc")
TOOLS = ("make", "qemu-riscv64", "symbolizer", "dpkg-deb", "clang-19", "lld")
COMPILER_TOOLS = {"clang-19": (), "gcc": ("gcc-riscv64",)}
MAKE = {"clang-19": ("LLVM=-19",), "gcc": ("CROSS_COMPILE=riscv64-linux-gnu-",)}
RAM = 0x80000000
# Where what comes next lies, from the start of firmware on, and its word with the choice: kasan/layout.h.
NEXT = 0x800000
CHOICE = 0x100000
# Drivers of QEMU's board alone: a third of the files. OpenSBI's own unit tests run at its start.
BOARD = """\
CONFIG_FDT_IPI=y
CONFIG_FDT_IPI_MSWI=y
CONFIG_FDT_IRQCHIP=y
CONFIG_FDT_IRQCHIP_PLIC=y
CONFIG_FDT_REGMAP=y
CONFIG_FDT_REGMAP_SYSCON=y
CONFIG_FDT_RESET=y
CONFIG_FDT_RESET_SYSCON=y
CONFIG_FDT_SERIAL=y
CONFIG_FDT_SERIAL_UART8250=y
CONFIG_FDT_TIMER=y
CONFIG_FDT_TIMER_MTIMER=y
CONFIG_SBIUNIT=y
"""


@dataclass(frozen=True)
class Image:
    """A built OpenSBI. elf: with symbols; binary: for the machine; payload: what runs after it. linked: the
    address that it was linked for. fixed: it runs only there. folder: of its source."""

    elf: Path
    binary: Path
    payload: Path
    linked: int
    fixed: bool
    kasan: bool
    folder: Path


def tools(cc):
    """Return the keys of the outside tools that building with @cc needs."""
    return [*TOOLS, *COMPILER_TOOLS[cc]]


def _refresh(target, content):
    """Write @target unless it has @content already, so that make compiles only what has changed."""
    if not target.is_file() or target.read_bytes() != content:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _copy(tree, kasan):
    """Return a copy of the source @tree, @kasan: with the port's folder."""
    copy = HOME / ("tree" if kasan else "tree-plain")
    for part in ("Makefile", "Kconfig", "firmware", "include", "lib", "platform/generic", "scripts"):
        top = tree / part
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file():
                _refresh(copy / path.relative_to(tree), path.read_bytes())
                if os.access(path, os.X_OK):
                    (copy / path.relative_to(tree)).chmod(0o755)
    _refresh(copy / "platform/generic/configs/board_defconfig", BOARD.encode())
    for path in sorted((PORT / "kasan").iterdir()) if kasan else ():
        _refresh(copy / "platform/generic/kasan" / path.name, path.read_bytes())
    return copy


def build_payload(log):
    """Build what runs after OpenSBI: supervisor mode, without KASAN. Return its file."""
    elf, binary = HOME / "payload.elf", HOME / "payload.bin"
    inputs = sorted((PORT / "payload").iterdir())
    with base.locked(HOME / "locks" / "payload"):
        newest = max(path.stat().st_mtime for path in inputs)
        if not binary.is_file() or binary.stat().st_mtime < newest:
            command = ["clang-19", "--target=riscv64-unknown-elf", "-march=rv64imac_zicsr", "-mabi=lp64"]
            command += ["-mcmodel=medany", "-fno-pic", "-mno-relax", "-ffreestanding", "-fno-builtin", "-O2"]
            command += ["-Wall", "-Wextra", "-Werror", "-nostdlib", "-static", "--ld-path=ld.lld-19"]
            command += [f"-Wl,-T,{PORT / 'payload' / 'payload.lds'}"]
            command += [path for path in inputs if path.suffix in (".c", ".S")]
            execute([*command, "-o", elf], log)
            execute(["llvm-objcopy-19", "-O", "binary", elf, binary], log)
    return binary


def build(given=None, cc="clang-19", fixed=False, kasan=True, drivers="board", jobs=2):
    """Build OpenSBI from the source @given (None: the fetched one). Return an Image.

    fixed: for the start of RAM alone; otherwise it runs wherever it is loaded. kasan: with KASAN and the
    demonstration's bugs; without, as OpenSBI is. drivers: "board", those of QEMU's board; "all".
    """
    name = f"{cc}-{'fixed' if fixed else 'pie'}" + ("" if kasan else "-plain")
    name += "" if drivers == "board" else f"-{drivers}"
    folder, log = HOME / name, HOME / f"build-{name}.log"
    with base.locked(HOME / "locks" / "tree"):
        tree = _copy(source.find(given), kasan)
    environment = {
        word: value for word, value in os.environ.items() if word not in ("MAKEFLAGS", "CFLAGS", "CC")
    }
    with base.locked(HOME / "locks" / name):
        log.unlink(missing_ok=True)
        command = ["make", "-C", tree, f"-j{jobs}", f"O={folder}", "PLATFORM=generic", *MAKE[cc]]
        # fw_jump is booted; all that OpenSBI makes is built only with all drivers.
        command += [f"REDZONE={ROOT}", *(["FW_DYNAMIC=n"] if drivers == "board" else [])]
        command += ["PLATFORM_DEFCONFIG=board_defconfig"] if drivers == "board" else []
        command += [f"FW_TEXT_START={RAM:#x}"] if fixed else []
        command += ["BUGS=1"] if kasan else [f"FW_JUMP_OFFSET={NEXT:#x}", "FW_PAYLOAD=n"]
        execute(command, log, env=environment)
        payload = build_payload(log)
    firmware = folder / "platform" / "generic" / "firmware"
    linked = RAM if fixed else 0
    return Image(firmware / "fw_jump.elf", firmware / "fw_jump.bin", payload, linked, fixed, kasan, tree)


def written_lines(folder=PORT / "kasan"):
    """Return how many lines a user writes: of port.c, layout.h and objects.mk, without empty ones and
    comments."""
    count, inside = 0, False
    for name in ("port.c", "layout.h", "objects.mk"):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            text = line.strip()
            if inside or text.startswith("/*"):
                inside = "*/" not in text
                continue
            count += bool(text) and not (text.startswith("# ") or text == "#")
    return count
