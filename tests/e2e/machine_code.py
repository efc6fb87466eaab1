# SPDX-License-Identifier: MIT
"""Machine code for arm64 in objects and kernels, for the tests that read it."""

import capstone
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, symbols


def functions(path):
    """Yield (name, [instruction], {address: function that is called or jumped to}) for each function in the
    file @path. Only the relocations of an object name other functions."""
    decoder = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    decoder.detail = True
    elf = File.open(path)
    found = list(symbols(elf))
    for index, section in enumerate(elf.sections):
        relocations = elf.section(f".rela{section.name}")
        targets = {
            entry.offset: found[entry.symbol].name
            for entry in (elf.relocations(relocations) if relocations else ())
        }
        content = elf.content(section)
        for name, value, size, kind, _, where in found:
            if index and where == index and kind == FUNC:
                start = value - section.address
                yield name, list(decoder.disasm(content[start : start + size], value)), targets
