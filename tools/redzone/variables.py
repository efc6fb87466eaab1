# SPDX-License-Identifier: MIT
"""Finds where a variable of a report is declared, in an ELF file's debug information.

Globals: GCC writes the line into the program, and the kernel prints it. Clang does not, so this module looks
it up. The report of a tagged global has no file either: there the address says which variable it is. Local
variables that have hardware tags: the kernel says which frame the address lies in, and where in it the memory
with the pointer's tag is; their names are in the debug information only.
"""

import re
import subprocess
from pathlib import Path

from redzone import console
from redzone.base import ROOT
from redzone.elf import dwarf
from redzone.elf.dwarf import text as _text
from redzone.symbolize import Source

_HEADLINE = "The buggy address belongs to the variable:"
_NAME = re.compile(r"^ (?:(\d+) bytes to the left of )?([\w.$<> ]+)\+0x([0-9a-f]+)/0x[0-9a-f]+$")
_DEFINED = re.compile(r"^ defined (?:in|at) (.+?)(?::(\d+))?$")


_IN_FRAME = re.compile(r"^ and is located (\d+) bytes (below|above) the frame record of:$")
_TAGGED = re.compile(
    r"^The pointer's tag is that of (\d+) bytes, which (end|begin) (\d+) bytes (?:before|behind) it$"
)


def in_frame(report):
    """Return (console.Frame, start, end) if a console.Report says where in a frame the memory is, or None.

    start and end: of the memory with the pointer's tag, in bytes from the frame record; if there is none, of
    the bad byte.
    """
    for at, text in enumerate(report.lines[:-2]):
        match = _IN_FRAME.match(text)
        where = console.FRAME.match(report.lines[at + 1]) if match else None
        if where is None:
            continue
        bad = int(match[1]) * (-1 if match[2] == "below" else 1)
        tagged = _TAGGED.match(report.lines[at + 2])
        if tagged is None:
            return console.frame_of(where), bad, bad + 1
        size, distance = int(tagged[1]), int(tagged[3])
        start = bad - distance - size if tagged[2] == "end" else bad + distance
        return console.frame_of(where), start, start + size
    return None


def named(report):
    """Return (variable, file, line or None) as named in a console.Report, or None."""
    if _HEADLINE not in report.lines:
        return None
    at = report.lines.index(_HEADLINE)
    name, defined = (
        pattern.match(text)
        for pattern, text in zip((_NAME, _DEFINED), report.lines[at + 1 : at + 3], strict=False)
    )
    if not (name and defined):
        return None
    return name[2], defined[1], int(defined[2]) if defined[2] else None


def tagged(report):
    """Return (variable, its address) as a console.Report of a tagged global says, or None."""
    if _HEADLINE not in report.lines or report.address is None or named(report):
        return None
    match = next(map(_NAME.match, report.lines[report.lines.index(_HEADLINE) + 1 :]), None)
    if match is None:
        return None
    address = report.address - int(match[3], 16) + int(match[1] or 0)
    return match[2], address | 0xFF << 56


def at_address(elf, name, address, command="llvm-symbolizer-19"):
    """Return the Source where the variable @name at @address of the ELF file is declared, or None."""
    result = subprocess.run(
        [command, f"--obj={elf}", f"DATA {address:#x}"], check=False, capture_output=True, text=True
    )
    lines = result.stdout.splitlines()
    if result.returncode or len(lines) < 3 or lines[0] != name:
        return None
    path, _, line = lines[2].rpartition(":")
    if not line.isdecimal() or line == "0":
        return None
    return Source(name.rpartition(".")[2], path, int(line))


def _lines(die, name, function, inside=""):
    """Yield the lines of declarations of @name below @die, in @function if that is not ""."""
    for child in die.iter_children():
        if child.tag == "DW_TAG_variable":
            line = child.attributes.get("DW_AT_decl_line")
            if line is not None and _text(child, "DW_AT_name") == name and function in ("", inside):
                yield line.value
        elif child.has_children:
            within = _text(child, "DW_AT_name") if child.tag == "DW_TAG_subprogram" else inside
            yield from _lines(child, name, function, within)


def declared(elf, name, file):
    """Return the Source where @file declares the variable @name, or None.

    Clang calls a function's static variable FUNCTION.NAME.
    """
    parts = [part for part in name.split(".") if not part.isdecimal()]
    if not parts or not parts[-1]:
        return None
    function = parts[0] if len(parts) > 1 else ""
    lines = set()
    with open(elf, "rb") as binary:
        found = dwarf.information(binary)
        for unit in found.iter_CUs() if found else ():
            top = unit.get_top_DIE()
            path = str(Path(_text(top, "DW_AT_comp_dir")) / _text(top, "DW_AT_name"))
            if path == file or path.endswith(f"/{file}"):
                lines.update(_lines(top, parts[-1], function))
    if len(lines) != 1:
        return None
    path = Path(file) if Path(file).is_absolute() else ROOT / file
    return Source(parts[-1], str(path), lines.pop())
