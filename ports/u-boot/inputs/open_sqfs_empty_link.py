# SPDX-License-Identifier: MIT
"""Open in the patched source: sqfs_count_tokens() reads the byte before an empty string.

It looks at the last character of a path without asking whether there is one. A symbolic link with an empty
target makes such a path.
"""

from . import squashfs

FUNCTION = "sqfs_count_tokens"
TYPES = ("slab-out-of-bounds",)
COMMANDS = ("sqfsls virtio 0 /link/inner",)


def image():
    inner = squashfs.Dir("inner", [squashfs.File("file")])
    root = squashfs.Dir("", [squashfs.Symlink("link", b""), squashfs.Dir("real", [inner])])
    return squashfs.Writer(root).image()
