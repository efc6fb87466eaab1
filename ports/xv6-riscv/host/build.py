# SPDX-License-Identifier: MIT
"""Builds xv6 under KASAN in a copy of its source below build/xv6-riscv: its own Makefile, then kasan.mk."""

import os
from dataclasses import dataclass
from pathlib import Path

from redzone.core import base
from redzone.core.base import ROOT
from redzone.core.process import execute

from . import source
from .source import HOME, PORT

COMPILERS = ("gcc", "clang-19")
# Keys of redzone.core.outside. xv6's programs are written for GCC, which always builds them.
TOOLS = ("make", "gcc", "gcc-riscv64", "perl", "qemu-riscv64", "symbolizer")
PREFIX = "riscv64-linux-gnu-"
# Clang warns of an old form of initialisers in kernel/proc.c. GNU ld 2.40 crashes on Clang's objects. -X
# drops the assembler's local labels, which look like functions.
MAKE = {
    "gcc": (),
    "clang-19": ("CC=clang-19 --target=riscv64-unknown-elf -Wno-gnu-designator", "LD=ld.lld-19 -X"),
}


@dataclass(frozen=True)
class Image:
    """A built xv6. kernel: ELF file with symbols. disk: its file system. folder: where it was built."""

    folder: Path
    kernel: Path
    disk: Path
    kasan: bool


def tools(cc):
    """Return the keys of the outside tools that building with @cc needs."""
    return [*TOOLS, *(("clang-19", "lld") if cc == "clang-19" else ())]


def _refresh(target, content):
    """Write @target unless it has @content already, so that make compiles only what has changed."""
    if not target.is_file() or target.read_bytes() != content:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def build(given=None, cc="gcc", kasan=True, jobs=2):
    """Build xv6 from the source @given (None: the fetched one). Return an Image.

    kasan: with KASAN and the demonstration's bugs; without, as xv6 is.
    """
    tree = source.find(given)
    folder = HOME / (cc if kasan else f"{cc}-plain")
    log = HOME / f"build-{folder.name}.log"
    with base.locked(HOME / "locks" / folder.name):
        log.unlink(missing_ok=True)
        for path in [*source.files(tree), Path("README")]:
            _refresh(folder / path, (tree / path).read_bytes())
        make = ["make", f"-j{jobs}", f"TOOLPREFIX={PREFIX}"]
        environment = {
            name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "CFLAGS")
        }
        execute([*make, "fs.img"], log, cwd=folder, env=environment)
        if kasan:
            for name in ("kasan.c", "bugs.c"):
                _refresh(folder / "kernel" / name, (PORT / name).read_bytes())
            for name in ("kasan.mk", "bugs.mk"):
                _refresh(folder / name, (PORT / name).read_bytes())
            make += ["-f", "Makefile", "-f", "kasan.mk", "-f", "bugs.mk", f"REDZONE={ROOT}"]
        _forget_stale(folder)
        execute([*make, *MAKE[cc], "kernel/kernel"], log, cwd=folder, env=environment)
    return Image(folder, folder / "kernel" / "kernel", folder / "fs.img", kasan)


def _forget_stale(folder):
    """Remove the kernel's objects that are older than a makefile or a header of the runtime: make does not
    know these."""
    inputs = [*folder.glob("*.mk"), ROOT / "redzone.mk", *(ROOT / "include").rglob("*.h")]
    newest = max(path.stat().st_mtime for path in inputs)
    objects = [path for path in (folder / "kernel").glob("*.o") if path.stat().st_mtime < newest]
    for path in objects:
        path.unlink()


def written_lines(folder=PORT):
    """Return how many lines of code a user writes: those of kasan.c and kasan.mk that are neither empty nor
    comment."""
    count, inside = 0, False
    for name in ("kasan.c", "kasan.mk"):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            text = line.strip()
            if inside or text.startswith("/*"):
                inside = "*/" not in text
                continue
            count += bool(text) and not (text.startswith("# ") or text == "#")
    return count
