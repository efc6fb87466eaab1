# SPDX-License-Identifier: MIT
"""Writes a small ext2 image: one block group, blocks of 1,024 bytes, a root directory with given inodes."""

import struct

BLOCK = 1024
BLOCKS = 256
INODES = 32
FIRST_DATA = 12
REGULAR, DIRECTORY, SYMLINK = 0o100644, 0o040755, 0o120777
_FILE_TYPES = {REGULAR: 1, DIRECTORY: 2, SYMLINK: 7}


class Image:
    """Add files, then take bytes()."""

    def __init__(self):
        self.data = bytearray(BLOCK * BLOCKS)
        self.next_block = FIRST_DATA
        self.next_inode = 11
        self.entries = [(2, DIRECTORY, "."), (2, DIRECTORY, "..")]

    def _take(self, content):
        block = self.next_block
        self.next_block += 1
        self.data[block * BLOCK : block * BLOCK + len(content)] = content
        return block

    def _inode(self, number, mode, size, blocks, inline=b""):
        raw = struct.pack("<HHIIIIIHHIII", mode, 0, size, 0, 0, 0, 0, 0, 1, 2 * len(blocks), 0, 0)
        raw += (
            inline.ljust(60, b"\0") if inline else struct.pack("<15I", *blocks, *([0] * (15 - len(blocks))))
        )
        place = 5 * BLOCK + (number - 1) * 128
        self.data[place : place + len(raw)] = raw

    def add(self, name, mode, content, size=None):
        """Add a file of up to twelve blocks. size: what its inode says; None: the true size."""
        number = self.next_inode
        self.next_inode += 1
        self.entries.append((number, mode, name))
        if mode == SYMLINK and size is None and len(content) < 60:
            # A short target lies in the inode itself.
            self._inode(number, mode, len(content), [], inline=content)
            return
        pieces = [content[at : at + BLOCK] for at in range(0, len(content), BLOCK)]
        blocks = [self._take(piece) for piece in pieces]
        self._inode(number, mode, len(content) if size is None else size, blocks)

    def __bytes__(self):
        listing = b""
        for at, (number, mode, name) in enumerate(self.entries):
            raw = name.encode()
            length = 8 + (len(raw) + 3) // 4 * 4
            if at == len(self.entries) - 1:
                length = BLOCK - len(listing)
            head = struct.pack("<IHBB", number, length, len(raw), _FILE_TYPES[mode])
            listing += (head + raw).ljust(length, b"\0")
        self._inode(2, DIRECTORY, BLOCK, [self._take(listing)])
        free = BLOCKS - self.next_block
        superblock = struct.pack(
            "<13I6H4I2HI2H3I",
            *(INODES, BLOCKS, 0, free, INODES - self.next_inode + 1, 1, 0, 0, 8192, 8192, INODES, 0, 0),
            *(0, 20, 0xEF53, 1, 1, 0),
            *(0, 0, 0, 1),
            *(0, 0),
            11,
            *(128, 0),
            # File types in directory entries.
            *(0, 2, 0),
        )
        self.data[BLOCK : BLOCK + len(superblock)] = superblock
        group = struct.pack("<IIIHHH", 3, 4, 5, free, INODES - self.next_inode + 1, 1)
        self.data[2 * BLOCK : 2 * BLOCK + len(group)] = group
        used = (1 << (self.next_block - 1)) - 1
        self.data[3 * BLOCK : 4 * BLOCK] = used.to_bytes(BLOCK, "little")
        inodes = (1 << (self.next_inode - 1)) - 1
        self.data[4 * BLOCK : 5 * BLOCK] = inodes.to_bytes(BLOCK, "little")
        return bytes(self.data)
