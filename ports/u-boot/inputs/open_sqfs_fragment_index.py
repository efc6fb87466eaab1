# SPDX-License-Identifier: MIT
"""Open in the patched source: sqfs_frag_lookup() reads past the index of the fragments.

The number of a fragment is compared with the count that the superblock gives, and the index is as long as the
places of two tables say. Here number and count are large, and the index has 8 bytes.
"""

import struct

from . import squashfs

FUNCTION = "sqfs_frag_lookup"
TYPES = ("slab-out-of-bounds",)
COMMANDS = ("sqfsload virtio 0 0x44000000 /file",)

# An entry of the index is for 512 fragments. U-Boot reads one block of the disk, so entry 64 lies behind it.
NUMBER = 512 * 64


def image():
    root = squashfs.Dir("", [squashfs.File("file", b"contents", fragment=NUMBER)])
    image = bytearray(squashfs.Writer(root, fragments=True).image())
    struct.pack_into("<I", image, squashfs.FRAGMENTS, NUMBER + 1)
    return bytes(image)
