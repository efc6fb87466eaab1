# SPDX-License-Identifier: MIT
"""Counts what Linux executes with one kernel: module/init.c and module/measure.c count, under -icount."""

import re
import shutil

from elftools.elf.elffile import ELFFile
from redzone.core import base
from redzone.core.base import Failure

from . import boot, build, disk
from .source import HOME

_ROW = re.compile(r"redzone-bench: (\S+) (\d+)")
# Of Linux's lib/test_vmalloc.c. A microsecond of the machine has so many instructions.
_VMALLOC = re.compile(r"Summary: (\w+)_alloc_test passed: 1 failed: 0.* avg: (\d+) usec")
PER_USEC = 1000
TIMEOUT = 3600
# A quarantine of 8 MiB: the rounds before the count fill it.
MEMORY_MIB = 256


def _modules(make):
    """Build measure.ko, and Linux's test_vmalloc.ko, for the kernel of @make. Return {name: bytes}."""
    folder = make.output / "bench"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(disk.FOLDER, folder, copy_function=shutil.copyfile)
    found = disk.modules(make, "lib/test_vmalloc.ko")
    make(f"M={folder}", "KBUILD_MODPOST_WARN=1", "modules")
    return found | {"measure.ko": (folder / "measure.ko").read_bytes()}


def rows(lines):
    """Return {row: count} of a console's @lines."""
    found = {match[1]: int(match[2]) for match in map(_ROW.search, lines) if match}
    tests = {match[1]: int(match[2]) * PER_USEC for match in map(_VMALLOC.search, lines) if match}
    return found | tests


def measure(make, own=False, append=(), log=None):
    """Build the kernel of @make, boot it and count. Return {row: count}: instructions, and KiB of memory."""
    image = build.build(make, own)
    folder = image.image.parent
    programs = {name: disk.program(make.arch, folder, name) for name in ("init", "exit")}
    initrd = disk.write(folder / "bench.cpio", programs | _modules(make))
    log = log or HOME / "logs" / f"bench-{image.name}.log"
    machine = {"memory": f"{MEMORY_MIB}M", "icount": True, "timeout": TIMEOUT}
    session = boot.run(image, log, ["kunit.enable=0", *append], initrd=initrd, **machine)
    found = rows(session.lines)
    if session.ended or "end" not in found:
        raise Failure(
            f"the machine stopped before it had counted: {session.ended} (log: {base.relative(log)})"
        )
    del found["end"]
    found["memory_kib"] = MEMORY_MIB * 1024 - found.pop("memory_free")
    found["image_kib"] = _loaded(image.elf) // 1024
    return found


def _loaded(path):
    """Return the bytes of memory that the segments of the kernel @path take."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        return sum(one["p_memsz"] for one in elf.iter_segments() if one["p_type"] == "PT_LOAD")
