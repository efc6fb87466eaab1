# SPDX-License-Identifier: MIT
"""CVE-2024-57257: sqfs_search_dir() follows symbolic links by calling itself, without a limit.

Two links that name each other use up the stack. The bug is not an access outside an object: KASAN reports the
first access to the memory below the stack, which the port poisons.
"""

from . import squashfs

FUNCTION = "sqfs_search_dir"
TYPES = ("stack-out-of-bounds",)
COMMANDS = ("sqfsls virtio 0 /ping/x",)


def image():
    root = squashfs.Dir("", [squashfs.Symlink("ping", b"pong"), squashfs.Symlink("pong", b"ping")])
    return squashfs.Writer(root).image()
