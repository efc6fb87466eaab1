# SPDX-License-Identifier: MIT
"""Writes flattened device trees, well formed or not."""

import struct

MAGIC = 0xD00DFEED
BEGIN, END_NODE, PROPERTY, END = 1, 2, 3, 9
HEADER = 40
# Where `virtio read` puts a disk's start, and a place that is free.
COMMANDS = ("virtio read 42000000 0 8", "fdt addr 42000000")


def _padded(raw):
    return raw.ljust(-(-len(raw) // 4) * 4, b"\0")


class Tree:
    """Add tokens, then take bytes(). memory: place of the memory reservations, None: behind the header."""

    def __init__(self, memory=None):
        self.structure, self.strings = b"", b""
        self.memory = memory

    def begin(self, name=""):
        self.structure += struct.pack(">I", BEGIN) + _padded(name.encode() + b"\0")
        return self

    def set(self, name, value):
        self.structure += struct.pack(">III", PROPERTY, len(value), len(self.strings)) + _padded(value)
        self.strings += name.encode() + b"\0"
        return self

    def end(self):
        self.structure += struct.pack(">I", END_NODE)
        return self

    def __bytes__(self):
        structure = self.structure + struct.pack(">I", END)
        start = HEADER + 16
        strings = start + len(structure)
        total = strings + len(self.strings)
        memory = HEADER if self.memory is None else self.memory
        sizes = (len(self.strings), len(structure))
        head = struct.pack(">10I", MAGIC, total, start, strings, memory, 17, 16, 0, *sizes)
        return head + bytes(16) + structure + self.strings


def disk(tree):
    """Return a disk that starts with @tree, padded to what COMMANDS read."""
    return bytes(tree).ljust(8 * 512, b"\0")
