# SPDX-License-Identifier: MIT
"""Writes small squashfs images, well formed or not. A file has at most one block, or lies in one fragment.

A node is Dir, File or Symlink. Everything that an image says about a node can be overridden.
"""

import struct
import zlib
from dataclasses import dataclass, field

BLOCK_SIZE = 131072
DIRECTORY, REGULAR, SYMLINK = 1, 2, 3
UNCOMPRESSED = 0x8000
UNCOMPRESSED_DATA = 1 << 24
NOTHING_COMPRESSED = 0x000B
NO_FRAGMENTS = 0x0010
METADATA_SIZE = 8192
SUPERBLOCK_SIZE = 96
# Places in the superblock: how many fragments there are, where their index begins, and the next table.
FRAGMENTS, FRAGMENT_TABLE, EXPORT_TABLE = 16, 80, 88


@dataclass
class File:
    """fragment: which one the inode says, if the contents lie in one."""

    name: str
    content: bytes = b""
    fragment: int = 0


@dataclass
class Symlink:
    """size: what the inode says; None: the length of @target. time: that of the last change."""

    name: str
    target: bytes
    size: int | None = None
    time: int = 0


@dataclass
class Dir:
    name: str
    entries: list = field(default_factory=list)


def _base(kind, mode, number, time=0):
    return struct.pack("<HHHHII", kind, mode, 0, 0, time, number)


def _metadata(data, compress=False):
    """Return @data as metadata blocks."""
    blocks = b""
    for start in range(0, len(data), METADATA_SIZE):
        piece = data[start : start + METADATA_SIZE]
        if compress:
            piece = zlib.compress(piece)
        blocks += struct.pack("<H", len(piece) | (0 if compress else UNCOMPRESSED)) + piece
    return blocks


class Writer:
    """Numbers the nodes below @root and lays out the tables.

    U-Boot searches for an inode by number from the start of the table, so the order decides which inodes it
    passes first. @last: nodes whose inodes come after all others. @fragments: the contents of all files lie
    in one fragment, and there is a table of it. @compress: with zlib.
    """

    def __init__(self, root, last=(), fragments=False, compress=False):
        self.root = root
        self.fragments, self.compress = fragments, compress
        self.nodes = []
        self._collect(root)
        # The root's inode has the highest number, because U-Boot starts there.
        self.numbers = {id(node): number for number, node in enumerate(self.nodes, 1)}
        behind = {id(node) for node in last}
        self.order = [*(node for node in reversed(self.nodes) if id(node) not in behind), *last]
        self.inodes = {}
        self.directories = b""
        self.places = {}
        self.data = b""
        self.blocks = {}

    def _collect(self, node):
        for entry in getattr(node, "entries", ()):
            self._collect(entry)
        self.nodes.append(node)

    def _inode(self, node):
        number = self.numbers[id(node)]
        if isinstance(node, Dir):
            offset, size = self.places[id(node)]
            body = struct.pack("<IIHHI", 0, 2, size + 3, offset, len(self.nodes) + 1)
            return _base(DIRECTORY, 0o755, number) + body
        if isinstance(node, Symlink):
            size = len(node.target) if node.size is None else node.size
            return _base(SYMLINK, 0o777, number, node.time) + struct.pack("<II", 1, size) + node.target
        if self.fragments and node.content:
            place = self.blocks[id(node)] - SUPERBLOCK_SIZE
            body = struct.pack("<IIII", 0, node.fragment, place, len(node.content))
            return _base(REGULAR, 0o644, number) + body
        body = struct.pack("<IIII", self.blocks[id(node)], 0xFFFFFFFF, 0, len(node.content))
        if node.content:
            body += struct.pack("<I", len(node.content) | UNCOMPRESSED_DATA)
        return _base(REGULAR, 0o644, number) + body

    def _listing(self, node, offsets):
        kinds = {Dir: DIRECTORY, File: REGULAR, Symlink: SYMLINK}
        if not node.entries:
            return b""
        first = min(self.numbers[id(entry)] for entry in node.entries)
        listing = struct.pack("<III", len(node.entries) - 1, 0, first)
        for entry in sorted(node.entries, key=lambda entry: entry.name):
            name = entry.name.encode()
            listing += struct.pack(
                "<HhHH",
                offsets[id(entry)],
                self.numbers[id(entry)] - first,
                kinds[type(entry)],
                len(name) - 1,
            )
            listing += name
        return listing

    def image(self):
        """Return the image: a whole number of 512-byte blocks, with zeros after the last table."""
        offsets, at = {}, 0
        for node in self.order:
            offsets[id(node)] = at
            if isinstance(node, Symlink):
                at += 24 + len(node.target)
            else:
                at += 36 if getattr(node, "content", b"") and not self.fragments else 32
            if isinstance(node, File):
                self.blocks[id(node)] = SUPERBLOCK_SIZE + len(self.data)
                self.data += node.content
        for node in self.nodes:
            if isinstance(node, Dir):
                listing = self._listing(node, offsets)
                self.places[id(node)] = (len(self.directories), len(listing))
                self.directories += listing
        inodes = _metadata(b"".join(self._inode(node) for node in self.order), self.compress)
        directories = _metadata(self.directories, self.compress)
        ids = _metadata(struct.pack("<I", 0))
        data = zlib.compress(self.data) if self.fragments and self.compress else self.data
        inode_start = SUPERBLOCK_SIZE + len(data)
        directory_start = inode_start + len(inodes)
        tables, fragment_start = self._fragment_tables(len(data), directory_start + len(directories))
        id_block = directory_start + len(directories) + len(tables)
        id_start = id_block + len(ids)
        used = id_start + 8
        flags = 0 if self.compress else NOTHING_COMPRESSED
        flags |= 0 if self.fragments else NO_FRAGMENTS
        superblock = struct.pack(
            "<IIIIIHHHHHHQQQQQQQQ",
            *(0x73717368, len(self.nodes), 0, BLOCK_SIZE, int(self.fragments), 1, 17, flags, 1, 4, 0),
            offsets[id(self.root)],
            *(used, id_start, 0xFFFFFFFFFFFFFFFF, inode_start, directory_start, fragment_start),
            id_block if self.fragments else 0xFFFFFFFFFFFFFFFF,
        )
        image = superblock + data + inodes + directories + tables + ids + struct.pack("<Q", id_block)
        return image.ljust(65536, b"\0")

    def _fragment_tables(self, size, start):
        """Return the tables of fragments, at the place @start, and the place of their index.

        @size: bytes of the one fragment. U-Boot takes what follows the index for the next table.
        """
        if not self.fragments:
            return b"", start
        entry = struct.pack("<QII", SUPERBLOCK_SIZE, size | (0 if self.compress else UNCOMPRESSED_DATA), 0)
        block = _metadata(entry)
        return block + struct.pack("<Q", start), start + len(block)
