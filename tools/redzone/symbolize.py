# SPDX-License-Identifier: MIT
"""Turns `function+0xOFFSET/0xSIZE` into source files and lines, inlined functions included.

The ELF file's symbol table gives the address, and LLVM's symbolizer the lines.
"""

import json
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from redzone.elf.file import File
from redzone.elf.symbols import Functions
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


class Symbolizer:
    """Answers for one ELF file. Close it, or use it in a with statement.

    files: the ELF files that it answers for. They are not read before the first question: most runs ask none.
    """

    def __init__(self, elf, command="llvm-symbolizer-19"):
        self.files = [elf]
        self._command = [command, f"--obj={elf}", "--inlines", "--output-style=JSON"]
        self._cache = {}

    @cached_property
    def _file(self):
        return File.open(self.files[0])

    @cached_property
    def functions(self):
        return Functions(self._file)

    @cached_property
    def _code(self):
        return Code(self._file, self.functions)

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
        """Return [elf.symbols.Function] of the functions called @name, the most likely one first."""
        return self.functions.find(name)

    def address(self, frame):
        """Return the address that @frame (of a console.Frame's shape) names, or None.

        Static functions may share a name: the size in the frame tells them apart.
        """
        entries = self.candidates(frame.name)
        if not entries:
            return None
        return min(entries, key=lambda entry: abs(frame.size - entry.size)).address + frame.offset

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
