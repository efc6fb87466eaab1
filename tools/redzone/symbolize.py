# SPDX-License-Identifier: MIT
"""Turns `function+0xOFFSET/0xSIZE` into source files and lines, inlined functions included.

The ELF file's symbol table gives the address, and LLVM's symbolizer the lines.
"""

import itertools
import json
import struct
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.elf.elffile import ELFFile

from redzone.exact import Code


@dataclass(frozen=True)
class Source:
    """Where an address lies. @function: as written in the source; @path: absolute; @line: 0 if the compiler
    names none, as for code that it has made of several lines."""

    function: str
    path: str
    line: int

    def at(self, path):
        """Return @path, which is how to show this one's, with the line if there is one."""
        return f"{path}:{self.line}" if self.line else path


@dataclass(frozen=True)
class Local:
    """A variable of a function's frame. @start: where, in bytes from the frame record; @size: in bytes."""

    name: str
    path: str
    line: int
    start: int
    size: int


def in_source(name):
    """Return the function @name as its source has it: compilers name their copies of it and parts of it
    name.constprop.0, name.specialized.1, name.cold."""
    return name.partition(".")[0] or name


NOTYPE, FUNC, FILE = 0, 2, 4
LOCAL = 0


def symbols(elf):
    """Yield (name, address, binding, type) of the symbols of the ELF file @elf, in their order; the last two
    are numbers.

    ELFFile could do it as well, in ten times the time, for each program that is run.
    """
    with open(elf, "rb") as file:
        image = ELFFile(file)
        table = image.get_section_by_name(".symtab")
        if table is None:
            return
        names, data = image.get_section(table["sh_link"]).data(), table.data()
    order = "<" if image.little_endian else ">"
    if image.elfclass == 64:
        entries = ((name, value, info) for name, info, value in struct.iter_unpack(f"{order}IB3xQ8x", data))
    else:
        entries = struct.iter_unpack(f"{order}II4xB3x", data)
    for at, value, info in entries:
        name = names[at : names.index(b"\0", at)].decode("utf-8", "surrogateescape")
        yield name, value, info >> 4, info & 15


def _code_symbols(elf):
    """Return {name: [(address, size)]}. As in the kernel, a function extends to the next one."""
    found = [
        (address, name)
        for name, address, _, kind in symbols(elf)
        if kind in (FUNC, NOTYPE) and name and name[0] not in "$."
    ]
    starts = sorted({address for address, _ in found})
    following = dict(itertools.pairwise(starts))
    named = {}
    for address, name in found:
        size = following.get(address, address) - address
        named.setdefault(name, []).append((address, size))
    return named


class Symbolizer:
    """Answers for one ELF file. Close it, or use it in a with statement.

    files: the ELF files that it answers for. They are not read before the first question: most runs ask none.
    """

    def __init__(self, elf, command="llvm-symbolizer-19"):
        self.files = [elf]
        self._command = [command, f"--obj={elf}", "--inlines", "--output-style=JSON"]
        self._cache = {}

    @cached_property
    def _symbols(self):
        return _code_symbols(self.files[0])

    @cached_property
    def _code(self):
        with open(self.files[0], "rb") as file:
            image = ELFFile(file)
            segments = [(one["p_vaddr"], one.data()) for one in image.iter_segments("PT_LOAD")]
            return Code(image["e_machine"], segments, self._name_of)

    def _name_of(self, address):
        return next(
            (name for name, found in self._symbols.items() if any(start == address for start, _ in found)),
            None,
        )

    @cached_property
    def _process(self):
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        if "_process" not in vars(self):
            return
        for pipe in (self._process.stdin, self._process.stdout):
            pipe.close()
        self._process.terminate()
        self._process.wait()

    def candidates(self, name):
        """Return [(address, size)] of the functions called @name, the most likely one first."""
        return self._symbols.get(name, [])

    def address(self, frame):
        """Return the address that @frame (of a console.Frame's shape) names, or None.

        Static functions may share a name: the size in the frame tells them apart.
        """
        entries = self.candidates(frame.name)
        if not entries:
            return None
        start, _ = min(entries, key=lambda entry: abs(frame.size - entry[1]))
        return start + frame.offset

    def _ask(self, question):
        """Return LLVM's answer, a dictionary; an empty one if there is none."""
        try:
            self._process.stdin.write(question + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline() or "{}")
        except (OSError, ValueError):
            return {}

    def locals_of(self, frame):
        """Return the list of Local of the function that @frame names, inlined functions included.

        Variables whose place changes, or is a register, are left out.
        """
        address = self.address(frame)
        answer = self._ask(f"FRAME {address:#x}") if address is not None else {}
        return [
            Local(
                one["Name"],
                str(Path(one["DeclFile"])),
                one["DeclLine"],
                one["FrameOffset"],
                int(one["Size"], 16),
            )
            for one in answer.get("Frame", [])
            if all(one.get(key) for key in ("Name", "DeclFile", "DeclLine", "FrameOffset", "Size"))
        ]

    def look_up(self, address):
        """Return the list of Source at @address, innermost inlined function first; empty: unknown."""
        if address in self._cache:
            return self._cache[address]
        sources = []
        for symbol in self._ask(f"{address:#x}").get("Symbol", []):
            name, line = symbol.get("FileName"), symbol.get("Line", 0)
            # Without a line the function still is the right one. A file without a folder then comes from
            # the symbol table, because there is no debug information.
            if name and (line or Path(name).is_absolute()):
                function = in_source(symbol.get("FunctionName", ""))
                sources.append(Source(function, str(Path(name)), line))
        self._cache[address] = sources
        return sources

    def frame(self, frame):
        """Fill and return @frame.sources."""
        address = self.address(frame)
        if address is not None:
            exact = self._code.is_exact(address, frame.exact, frame.offset, frame.access)
            frame.sources = self.look_up(address if exact else address - 1)
        return frame.sources
