# SPDX-License-Identifier: MIT
"""Open in the patched source: sqfs_find_inode() walks past the end of the inode table.

It takes the size of each inode from the image and adds it up, without checking the size of the table. Here a
symbolic link claims 64 KiB, which does not overflow anything that the patches check.
"""

from . import squashfs

FUNCTION = "sqfs_find_inode"
TYPES = ("slab-out-of-bounds", "out-of-bounds", "slab-use-after-free")
COMMANDS = ("sqfsls virtio 0 /dir",)


def image():
    link = squashfs.Symlink("link", b"target", size=65536)
    target = squashfs.Dir("dir", [squashfs.File("file")])
    return squashfs.Writer(squashfs.Dir("", [link, target]), last=[target]).image()
