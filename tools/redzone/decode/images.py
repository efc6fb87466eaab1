# SPDX-License-Identifier: MIT
"""One ELF file: its symbols, its build ID, its code, and LLVM's symbolizer for its lines of source."""

import contextlib
import gzip
import json
import lzma
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.decode import exact, variables
from redzone.decode.model import Location, Variable
from redzone.elf.file import ET_REL, ElfError, File
from redzone.elf.symbols import Functions

SYMBOLIZERS = ("llvm-symbolizer-19", "llvm-symbolizer")
LINKERS = ("ld.lld-19", "ld.lld")
# A larger module is none: a small file may unpack to terabytes.
_MAX_UNPACKED = 1 << 30
# A function's size in a log may count the padding up to the next one, or not.
_PADDING = 64


def in_source(name):
    """Return the function @name as its source has it: compilers name their copies of it and parts of it
    name.constprop.0, name.specialized.1, name.cold."""
    return name.partition(".")[0] or name


def _tool(names, use):
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    raise Failure(f"{names[0]} is missing, which {use}; ./redzone doctor --install {names[0]} gets it")


def _unpack(path, target, opener):
    """Unpack @path to the file @target. @opener: gives a reader of the unpacked bytes of an open file."""
    left = _MAX_UNPACKED
    try:
        with open(path, "rb") as file, opener(file) as source, open(target, "wb") as out:
            while left > 0 and (data := source.read(1 << 20)):
                out.write(data)
                left -= len(data)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise Failure(f"'{path}' cannot be unpacked: {error}") from None
    if left <= 0:
        raise Failure(f"'{path}' is not read: it has more than {_MAX_UNPACKED >> 20} MiB unpacked")


@contextlib.contextmanager
def _zstd(file):
    """Unpack by the program zstd: the standard library has it from Python 3.14 on only."""
    command = [_tool(("zstd",), "unpacks modules (.ko.zst)"), "-dc", "--no-progress"]
    process = subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield process.stdout
        if process.stdout.read(1) == b"" and process.wait():
            raise OSError("zstd says that it is damaged")
    finally:
        process.stdout.close()
        process.kill()
        process.wait()


# {suffix: what unpacks such a file}.
PACKED = {".xz": lzma.LZMAFile, ".gz": lambda file: gzip.GzipFile(fileobj=file), ".zst": _zstd}


class Image:
    """An ELF file. name: of the module or program; build_id: in hexadecimal, "" if it has none.

    Close it, or use it in a with statement. Raises Failure if the file is none or has no code.
    """

    def __init__(self, path, name=None):
        self.path = Path(path)
        self.name = name or self.path.name
        self._process = None
        self._folder = None
        self._cache = {}
        try:
            self._read(File.open(self._unpacked()))
        except Failure:
            self.close()
            raise
        except OSError as error:
            raise Failure(f"cannot read '{path}': {error.strerror}") from None
        except ElfError as error:
            raise Failure(f"'{path}' cannot be read as ELF: {error}") from None

    def _read(self, elf):
        self.machine = elf.machine
        self.word = elf.bits // 8
        self.relocatable = elf.type == ET_REL
        self.build_id = elf.build_id
        self.is_module = self.relocatable or elf.section(".gnu.linkonce.this_module") is not None
        self.has_lines = any(elf.section(name) for name in (".debug_info", ".zdebug_info"))
        if self.relocatable:
            self._link()
            elf = File.open(self.file)
        self._ranges = [(load.address, load.address + load.size) for load in elf.loads]
        self.low = min((start for start, _ in self._ranges), default=0)
        self.high = max((end for _, end in self._ranges), default=0)
        self.functions = Functions(elf)
        self.code = exact.Code(elf, self.functions)

    def _temporary(self):
        """Return a folder that goes when the image is closed."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="redzone-decode-")
        return Path(self._folder.name)

    def _unpacked(self):
        """Return the ELF file itself: distributions compress modules."""
        self.file = self.path
        opener = PACKED.get(self.path.suffix)
        if opener is not None:
            self.file = self._temporary() / "unpacked"
            _unpack(self.path, self.file, opener)
        return self.file

    def _link(self):
        """Give a module's file addresses, so that one address is one place in its debug information."""
        target = self._temporary() / "linked"
        command = [
            *(_tool(LINKERS, "gives a module addresses"), "-nostdlib", "-static", "-e", "0"),
            *("--no-gc-sections", "--noinhibit-exec", "--unresolved-symbols=ignore-all", "--no-warnings"),
            *(str(self.file.resolve()), "-o", str(target)),
        ]
        result = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
        if not target.exists():
            raise Failure(f"the symbols of '{self.path}' cannot be read: {result.stderr.strip()[:300]}")
        self.file = target

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                pipe.close()
            self._process.terminate()
            self._process.wait()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    # --- Names ----------------------------------------------------------------------------------------------

    def holds(self, address):
        """Does @address lie in the image?"""
        return any(start <= address < end for start, end in self._ranges)

    def find(self, name, offset, size):
        """Return [elf.symbols.Function] of the functions @name of this @size (None, 0: unknown) that reach to
        @offset."""
        found = [one for one in self.functions.find(name) if offset <= one.size or not one.size]
        if not size:
            return found
        return [one for one in found if size in (one.size, one.own)] or [
            one for one in found if 0 <= one.size - size < min(_PADDING, one.size)
        ]

    # --- Lines ----------------------------------------------------------------------------------------------

    def _ask(self, question):
        """Return LLVM's answer, a dictionary; an empty one if there is none."""
        if self._process is None:
            self._process = subprocess.Popen(
                [
                    *(_tool(SYMBOLIZERS, "finds source lines"), f"--obj={self.file}"),
                    *("--inlines", "--output-style=JSON"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="replace",
            )
        try:
            self._process.stdin.write(question + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline() or "{}")
        except (OSError, ValueError):
            return {}

    def lines_at(self, address):
        """Return the list of Location at @address, the innermost inlined function first; empty: unknown."""
        if address not in self._cache:
            if len(self._cache) > 200000:
                self._cache.clear()
            found = []
            for one in self._ask(f"{address:#x}").get("Symbol", []):
                path, line = Path(base.placed(one.get("FileName") or "")), one.get("Line", 0)
                # Without a line the function still is the right one. A file without a folder then comes from
                # the symbol table, because there is no debug information.
                if path.name and (line or path.is_absolute()):
                    function = in_source(one.get("FunctionName", ""))
                    found.append(Location(function, str(path), line, one.get("Column", 0)))
            self._cache[address] = found
        return self._cache[address]

    def locals_at(self, address):
        """Return [(Variable, its declaration's Location)] of the function at @address, inlined functions
        included. Offsets are those from its frame record.

        Variables whose place changes, or is a register, are left out."""
        found = []
        for one in self._ask(f"FRAME {address:#x}").get("Frame", []):
            if all(one.get(key) for key in ("Name", "DeclFile", "DeclLine", "FrameOffset", "Size")):
                start, line = one["FrameOffset"], one["DeclLine"]
                variable = Variable(one["Name"], start, start + int(one["Size"], 16), line)
                found.append((variable, Location("", str(Path(base.placed(one["DeclFile"]))), line)))
        return found

    def variable_at(self, address):
        """Return (name, its declaration's Location) of the global variable at @address, None if unknown."""
        name = (self._ask(f"DATA {address:#x}").get("Data") or {}).get("Name")
        # Only LLVM's plain output has the declaration.
        command = _tool(SYMBOLIZERS, "finds source lines")
        found = variables.at_address(self.file, name, address, command) if name else None
        return (name, found) if found else None


def module_name(path):
    """Return the name that the kernel gives to the module in the file @path."""
    return Path(path).name.partition(".ko")[0].replace("-", "_")
