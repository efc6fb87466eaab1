# SPDX-License-Identifier: MIT
"""CVE-2024-57259: one byte past a heap chunk in sqfs_search_dir().

A path goes through a symbolic link. The link's target, a slash and the rest of the path are put into a chunk
whose size does not count the slash. The terminating zero lies past the chunk.
"""

from . import squashfs

FUNCTION = "sqfs_search_dir"
TYPES = ("slab-out-of-bounds",)
COMMANDS = ("sqfsls virtio 0 /link/inner",)


def image():
    inner = squashfs.Dir("inner", [squashfs.File("file")])
    root = squashfs.Dir("", [squashfs.Symlink("link", b"real"), squashfs.Dir("real", [inner])])
    return squashfs.Writer(root).image()
