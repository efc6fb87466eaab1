# SPDX-License-Identifier: MIT
"""Opens the debug information of ELF files with pyelftools, which knows DWARF."""

import functools
import struct
from pathlib import PurePosixPath

from redzone.core import base


def errors():
    """Return what reading damaged debug information may raise."""
    # Not at the top: the library takes a twelfth of the time that a command needs to start.
    from elftools.common.exceptions import DWARFError, ELFError

    return DWARFError, ELFError, struct.error, KeyError, ValueError, AttributeError, IndexError, TypeError


@functools.cache
def _reader():
    """Return a class for firmware's ELF files, of which a malformed section is read as plain bytes."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import Section

    class Elf(ELFFile):
        def _make_section(self, section_header):
            try:
                return super()._make_section(section_header)
            except (ELFError, AttributeError, TypeError):
                return Section(section_header, self._get_section_name(section_header), self)

    return Elf


def information(file, relocate=True):
    """Return the DWARFInfo of the open binary @file, which has to stay open; None if there is none.

    @relocate: fill in the addresses of an object; not for RISC-V, whose relocations the library refuses.
    """
    elf = _reader()(file)
    # Strict: tables for unwinding alone are none.
    return elf.get_dwarf_info(relocate_dwarf_sections=relocate) if elf.has_dwarf_info(strict=True) else None


def text(die, attribute):
    """Return the text that the entry @die has as its @attribute, "" if it has none."""
    value = die.attributes.get(attribute)
    return value.value.decode("utf-8", "replace") if value is not None else ""


def unit_path(top):
    """Return the path of the file that the unit with the entry @top was compiled from."""
    return base.placed(str(PurePosixPath(text(top, "DW_AT_comp_dir")) / text(top, "DW_AT_name")))
