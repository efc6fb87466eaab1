# SPDX-License-Identifier: MIT
"""Open in the patched source: fdt_open_into() takes an error for a number of memory reservations.

fdt_num_mem_rsv() returns a negative number if the list of reservations has no end within the tree. That times
16 is the size of a copy, and the place of the next copies before the new tree.
"""

from . import fdt

FUNCTION = "fdt_open_into"
TYPES = ("out-of-bounds", "slab-out-of-bounds")
COMMANDS = (*fdt.COMMANDS, "fdt move 42000000 43000000 2000")


def image():
    tree = fdt.Tree().begin().end()
    tree.memory = len(bytes(tree)) - 4
    return fdt.disk(tree)
