# SPDX-License-Identifier: MIT
"""Counts what allocations cost in Linux: without KASAN, with Linux's own, with Redzone. measure.c counts."""

import re
import shutil
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.core.process import call

from . import boot, build
from .source import HOME

FOLDER = Path(__file__).parents[1] / "bench"
_ROW = re.compile(r"redzone-bench: (\S+) (\d+)")
# A quarantine of 8 MiB: the rounds before the count fill it.
MEMORY = "256M"


def archive(files):
    """Return an initial RAM disk, cpio's "newc" format, with {name: bytes} of the executable @files."""
    out = b""
    entries = [(name, data, 0o100755) for name, data in files.items()] + [("TRAILER!!!", b"", 0)]
    for number, (name, data, mode) in enumerate(entries, 1):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        head += b"\0" * (-len(head) % 4)
        out += head + data + b"\0" * (-len(data) % 4)
    return out


def _module(make):
    """Build measure.ko for the kernel of @make. Return its path."""
    folder = make.output / "bench"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(FOLDER, folder, copy_function=shutil.copyfile)
    make("modules_prepare")
    make(f"M={folder}", "KBUILD_MODPOST_WARN=1", "modules")
    return folder / "measure.ko"


def _init(arch, folder):
    path = folder / "init"
    command = ["clang-19", f"--target={build.ARCHES[arch].target}", "-O2", "-ffreestanding", "-nostdlib"]
    source = str(FOLDER / "init.c")
    status, text = call([*command, "-static", "-fuse-ld=lld", "-o", str(path), source])
    if status:
        raise Failure(f"{base.relative(FOLDER / 'init.c')} cannot be compiled:\n{text}")
    return path


def rows(lines):
    """Return {row: instructions} of a console's @lines."""
    return {match[1]: int(match[2]) for match in map(_ROW.search, lines) if match}


def measure(make, own=False, append=(), log=None):
    """Build the kernel of @make, boot it and count. Return {row: instructions}, without those of the loop."""
    image = build.build(make, own)
    folder = image.image.parent
    module = _module(make)
    files = {"init": _init(make.arch, folder).read_bytes(), "measure.ko": module.read_bytes()}
    disk = folder / "bench.cpio"
    disk.write_bytes(archive(files))
    log = log or HOME / "logs" / f"bench-{image.name}.log"
    session = boot.run(image, log, ["kunit.enable=0", *append], initrd=disk, memory=MEMORY, icount=True)
    found = rows(session.lines)
    if session.ended or "nothing" not in found:
        raise Failure(
            f"the machine stopped before it had counted: {session.ended} (log: {base.relative(log)})"
        )
    empty = found.pop("nothing")
    return {name: count - empty for name, count in found.items()}


def table(columns):
    """Return the lines of a table of @columns, {heading: {row: instructions}}."""
    names = list(next(iter(columns.values())))
    lines = ["| instructions | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for name in names:
        cells = [f"{column[name]:,}" if name in column else "-" for column in columns.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines
