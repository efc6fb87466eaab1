# SPDX-License-Identifier: MIT
"""Open in the patched source: `fdt print` indents by a table that it leaves when a node ends too often.

The tree has one end of a node more than it has nodes. The level is then -1. Its text of tabs starts behind
the table.
"""

from . import fdt

FUNCTION = "fdt_print"
TYPES = ("global-out-of-bounds",)
COMMANDS = (*fdt.COMMANDS, "fdt print /")


def image():
    return fdt.disk(fdt.Tree().end())
