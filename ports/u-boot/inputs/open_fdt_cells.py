# SPDX-License-Identifier: MIT
"""Open in the patched source: fdt_pack_reg() takes an error for a number of cells.

fdt_size_cells() returns a negative number if #size-cells has another size than 4. The next value is then
stored before the buffer on the stack, and the length of the whole is negative.
"""

from . import fdt

FUNCTION = "fdt_fixup_memory_banks"
TYPES = ("out-of-bounds", "stack-out-of-bounds", "wild-memory-access")
COMMANDS = (*fdt.COMMANDS, "fdt memory 40000000 10000000")


def image():
    tree = fdt.Tree().begin()
    tree.set("#address-cells", b"\0\0\0\2").set("#size-cells", bytes(8))
    tree.begin("memory").set("device_type", b"memory\0").set("reg", bytes(16)).end()
    return fdt.disk(tree.end())
