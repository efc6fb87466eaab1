# SPDX-License-Identifier: MIT
"""Finds variables that a report means, in an ELF file's debug information.

Globals: the address says which one it is; for a module, the file in which the compiler saw it. Local
variables that have hardware tags: the kernel says which frame the address lies in, and where in it the memory
with the pointer's tag is; their names are in the debug information only.
"""

import re
import subprocess
from pathlib import Path

from redzone.core import base
from redzone.core.base import ROOT
from redzone.decode.frames import parse_frame
from redzone.decode.model import Frame, Location
from redzone.elf import dwarf
from redzone.elf.dwarf import text as _text

_IN_FRAME = re.compile(r"^ and is located (\d{1,12}) bytes (below|above) the frame record of:$")
_TAGGED = re.compile(
    r"^The pointer's tag is that of (\d{1,12}) bytes, "
    r"which (end|begin) (\d{1,12}) bytes (?:before|behind) it$"
)


def in_frame(report):
    """Return (model.Frame, bad, start, end) if @report says where in a frame the memory is, or None.

    bad: of the access; start and end: of the memory with the pointer's tag, or of the bad byte if there is
    none; all in bytes from the frame record.
    """
    for at, text in enumerate(report.raw[:-2]):
        match = _IN_FRAME.match(text)
        frame = parse_frame(report.raw[at + 1]) if match else None
        if not isinstance(frame, Frame):
            continue
        bad = int(match[1]) * (-1 if match[2] == "below" else 1)
        tagged = _TAGGED.match(report.raw[at + 2])
        if tagged is None:
            return frame, bad, bad, bad + 1
        size, distance = int(tagged[1]), int(tagged[3])
        start = bad - distance - size if tagged[2] == "end" else bad + distance
        return frame, bad, start, start + size
    return None


def at_address(elf, name, address, command="llvm-symbolizer-19"):
    """Return the Location where the variable @name at @address of the ELF file is declared, or None."""
    result = subprocess.run(
        [command, f"--obj={elf}", f"DATA {address:#x}"], check=False, capture_output=True, text=True
    )
    lines = result.stdout.splitlines()
    if result.returncode or len(lines) < 3 or lines[0] != name:
        return None
    path, _, line = lines[2].rpartition(":")
    if not line.isdecimal() or line == "0":
        return None
    return Location("", base.placed(path), int(line))


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
    """Return the Location where @file declares the variable @name, or None.

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
            path = dwarf.unit_path(top)
            if path == file or path.endswith(f"/{file}"):
                lines.update(_lines(top, parts[-1], function))
    if len(lines) != 1:
        return None
    path = Path(file) if Path(file).is_absolute() else ROOT / file
    return Location("", str(path), lines.pop())
