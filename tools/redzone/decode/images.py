# SPDX-License-Identifier: MIT
"""One ELF file: its symbols, its build ID, its code, and LLVM's symbolizer for its lines of source."""

import bisect
import contextlib
import gzip
import itertools
import json
import lzma
import shutil
import struct
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

from redzone import base, exact, variables
from redzone.base import Failure
from redzone.decode.model import Location
from redzone.symbolize import in_source

SYMBOLIZERS = ("llvm-symbolizer-19", "llvm-symbolizer")
LINKERS = ("ld.lld-19", "ld.lld")
_THUMB = 1
# A larger module is none: a small file may unpack to terabytes.
_MAX_UNPACKED = 1 << 30
# A function's size in a log may count the padding up to the next one, or not.
_PADDING = 64


@dataclass(frozen=True)
class Symbol:
    """A function. size: up to the next one; own: as the symbol table has it, 0 if it does not."""

    address: int
    size: int
    own: int = 0

    def fits(self, size):
        """Is @size, from a log, that of this function?"""
        return size in (self.size, self.own) or 0 <= self.size - size < min(_PADDING, self.size)


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


class _Elf(ELFFile):
    """An ELF file as linker scripts of firmware produce it: a malformed section is read as plain bytes."""

    def _make_section(self, section_header):
        try:
            return super()._make_section(section_header)
        except (ELFError, AttributeError, TypeError):
            return Section(section_header, self._get_section_name(section_header), self)


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
            with open(self._unpacked(), "rb") as file:
                self._read(_Elf(file))
        except Failure:
            self.close()
            raise
        except OSError as error:
            raise Failure(f"cannot read '{path}': {error.strerror}") from None
        except (ELFError, ValueError, KeyError, IndexError, TypeError, AttributeError, struct.error) as error:
            raise Failure(f"'{path}' cannot be read as ELF: {error}") from None

    def _read(self, elf):
        self.machine = elf["e_machine"]
        self.word = elf.elfclass // 8
        self.relocatable = elf["e_type"] == "ET_REL"
        self.build_id = _build_id(elf)
        self.is_module = self.relocatable or elf.get_section_by_name(".gnu.linkonce.this_module") is not None
        self.has_lines = any(elf.get_section_by_name(name) for name in (".debug_info", ".zdebug_info"))
        if self.relocatable:
            self._link()
            with open(self.file, "rb") as file:
                self._read_code(_Elf(file))
        else:
            self._read_code(elf)

    def _read_code(self, elf):
        self.loads = [
            (one["p_vaddr"], one.data()) for one in elf.iter_segments("PT_LOAD") if one["p_flags"] & 1
        ]
        ranges = [(one["p_vaddr"], one["p_memsz"]) for one in elf.iter_segments("PT_LOAD")]
        self.low = min((start for start, _ in ranges), default=0)
        self._ranges = [(start, start + size) for start, size in ranges]
        self.symbols = _symbols(elf)
        entries = sorted(
            {(one.address, one.size, name) for name, found in self.symbols.items() for one in found}
        )
        self._starts = [entry[0] for entry in entries]
        self._entries = entries
        self.code = exact.Code(
            self.machine, self.loads, lambda address: (self.name_of(address) or (None,))[0]
        )

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

    def name_of(self, address):
        """Return (name, offset, size) of the function at @address, None if there is none."""
        at = bisect.bisect_right(self._starts, address) - 1
        while at >= 0:
            start, size, name = self._entries[at]
            if start <= address < start + max(size, 1):
                return name, address - start, size
            if at and self._starts[at - 1] == start:
                at -= 1
                continue
            return None
        return None

    def find(self, name, offset, size):
        """Return [Symbol] of the functions @name of this @size (None, 0: unknown) that reach to @offset."""
        found = [one for one in self.symbols.get(name, ()) if offset <= one.size or not one.size]
        if not size:
            return found
        same = [one for one in found if size in (one.size, one.own)]
        return same or [one for one in found if one.fits(size)]

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
                if one.get("FileName") and one.get("Line"):
                    path = str(Path(one["FileName"]))
                    found.append(
                        Location(
                            in_source(one.get("FunctionName", "")), path, one["Line"], one.get("Column", 0)
                        )
                    )
            self._cache[address] = found
        return self._cache[address]

    def variable_at(self, address):
        """Return (name, its declaration's Location) of the global variable at @address, None if unknown."""
        name = (self._ask(f"DATA {address:#x}").get("Data") or {}).get("Name")
        # Only LLVM's plain output has the declaration.
        command = _tool(SYMBOLIZERS, "finds source lines")
        found = variables.at_address(self.file, name, address, command) if name else None
        return (found.function, Location("", found.path, found.line)) if found else None


def _build_id(elf):
    for section in elf.iter_sections():
        if section["sh_type"] == "SHT_NOTE":
            for note in section.iter_notes():
                if note["n_type"] == "NT_GNU_BUILD_ID":
                    return note["n_desc"]
    return ""


def _symbols(elf):
    """Return {name: [Symbol]} of the functions. A function extends to the next one, as kernels have it."""
    table = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
    if table is None:
        return {}
    data = table.data()
    names = elf.get_section(table["sh_link"]).data()
    order = "<" if elf.little_endian else ">"
    shape = struct.Struct(order + ("IBBHQQ" if elf.elfclass == 64 else "IIIBBH"))
    found = []
    for entry in shape.iter_unpack(data[: len(data) // shape.size * shape.size]):
        if elf.elfclass == 64:
            at, info, _, section, value, size = entry
        else:
            at, value, size, info, _, section = entry
        kind = info & 15
        if kind not in (0, 2, 10) or section in (0, 0xFFF1) or not at:
            continue
        name = names[at : names.index(b"\0", at)].decode("utf-8", "replace")
        if not name or name[0] == "$" or name.startswith(".L"):
            continue
        if elf["e_machine"] == "EM_ARM" and kind == 2:
            value &= ~_THUMB
        found.append((value, size, name))
    starts = sorted({value for value, _, _ in found})
    following = dict(itertools.pairwise(starts))
    symbols = {}
    for value, size, name in found:
        reach = following.get(value, value + size) - value
        symbols.setdefault(name, []).append(Symbol(value, reach, size))
    return {name: list(dict.fromkeys(entries)) for name, entries in symbols.items()}


def module_name(path):
    """Return the name that the kernel gives to the module in the file @path."""
    return Path(path).name.partition(".ko")[0].replace("-", "_")


def shown(path):
    return base.relative(path)
