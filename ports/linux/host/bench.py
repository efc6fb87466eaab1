# SPDX-License-Identifier: MIT
"""Counts what Linux executes with one kernel: module/init.c and module/measure.c count, under -icount."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from redzone.core import base
from redzone.core.base import Failure
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, Functions
from redzone.machine import execlog

from . import boot, build, disk
from .source import HOME

_ROW = re.compile(r"redzone-bench: (\S+) (\d+)")
# Of Linux's lib/test_vmalloc.c. A microsecond of the machine has so many instructions.
_VMALLOC = re.compile(r"Summary: (\w+)_alloc_test passed: 1 failed: 0.* avg: (\d+) usec")
PER_USEC = 1000
# The lock validator switches itself off when it has found something, or has no room.
WARNING = re.compile(
    r"\] (?:WARNING: |BUG: |turning off the locking correctness|INFO: lockdep is turned off)"
)
TIMEOUT = 3600
# The functions of Redzone that store a trace, once for each call.
ALLOCATIONS = ("redzone_slab_alloc", "kasan_slab_alloc_init")
FREES = ("redzone_slab_free", "redzone_slab_free_search", "redzone_slab_free_deferred")
# A quarantine of 8 MiB: the rounds before the count fill it. The full configuration needs more than that.
MEMORY_MIB = {build.SMALL: 256, build.FULL: 1024}


def rows(lines):
    """Return {row: count} of a console's @lines."""
    found = {match[1]: int(match[2]) for match in map(_ROW.search, lines) if match}
    tests = {match[1]: int(match[2]) * PER_USEC for match in map(_VMALLOC.search, lines) if match}
    return found | tests


@dataclass
class Kernel:
    """A kernel that prepare() has built, with the initial RAM disk for it."""

    image: build.Image
    initrd: Path


def prepare(make, own=False, modules=True):
    """Build the kernel of @make. @modules: false if no work of init.c that needs one is to be done.

    Return the Kernel."""
    image = build.build(make, own)
    folder = image.image.parent
    files = {name: disk.program(make.arch, folder, name) for name in ("init", "exit")}
    if modules:
        files |= disk.own_modules(make) | disk.modules(image, "lib/test_vmalloc.ko")
    return Kernel(image, disk.write(folder / "bench.cpio", files))


def measure(kernel, append=(), works=(), options=(), clock=False, strict=False):
    """Boot @kernel and count. @works: what init.c is to do, by name; none: all. @options: of QEMU.
    @clock: measure time instead of instructions. @strict: a kernel that warns of something is an error.

    Return {row: count}: instructions or ticks, and KiB of memory.
    """
    log = HOME / "logs" / f"bench-{kernel.image.name}.log"
    memory = MEMORY_MIB[kernel.image.make.start]
    machine = {"memory": f"{memory}M", "icount": not clock, "timeout": TIMEOUT, "options": options}
    parameters = ["kunit.enable=0", *append, *(("--", *works) if works else ())]
    session = boot.run(kernel.image, log, parameters, initrd=kernel.initrd, **machine)
    found = rows(session.lines)
    if session.ended or "end" not in found:
        raise Failure(
            f"the machine stopped before it had counted: {session.ended} (log: {base.relative(log)})"
        )
    warning = next(filter(WARNING.search, session.lines), None)
    if strict and warning:
        raise Failure(f"the kernel warned: {warning.partition('] ')[2]} (log: {base.relative(log)})")
    del found["end"]
    if "memory_free" in found:
        found["memory_kib"] = memory * 1024 - found.pop("memory_free")
        found["image_kib"] = _loaded(kernel.image.elf) // 1024
    return found


def calls(kernel, names, works):
    """Return {name: how often} of those functions in @names that @kernel calls from reset until init has done
    @works."""
    functions = Functions(File.open(kernel.image.elf), (FUNC,))
    with tempfile.TemporaryDirectory(prefix="redzone-") as folder:
        path = Path(folder) / "exec"
        # So that the functions are where the file has them.
        measure(kernel, ("nokaslr",), works, execlog.options(path, functions, names))
        return {functions.name(address): times for address, times in execlog.executed(path).items()}


def traces(kernel):
    """Return how many traces @kernel stores until init starts: of allocations, and of frees."""
    found = calls(kernel, ALLOCATIONS + FREES, ("boot",))
    return tuple(sum(found.get(name, 0) for name in names) for names in (ALLOCATIONS, FREES))


def _loaded(path):
    """Return the bytes of memory that the segments of the kernel @path take."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        return sum(one["p_memsz"] for one in elf.iter_segments() if one["p_type"] == "PT_LOAD")
