# SPDX-License-Identifier: MIT
"""CVE-2024-57256: ext4fs_read_symlink() allocates the size of a symbolic link plus one, in 32 bits.

The inode says 4 GiB - 1, so the chunk has no bytes. The target is read into it by a block device, whose
writes no compiler can check.
"""

from . import ext2

FUNCTION = "ext4fs_read_symlink"
# The patch computes in 64 bits and then asks for 4 GiB; zalloc() clears the result without checking that it
# is not NULL. That is another bug, still open: see ports/u-boot/bugs.md.
OPEN = (("null-ptr-deref", "ext4fs_read_symlink"),)
TYPES = ("slab-out-of-bounds",)
COMMANDS = ("ext4load virtio 0 0x44000000 /link",)


def image():
    volume = ext2.Image()
    volume.add("file", ext2.REGULAR, b"contents\n")
    volume.add("link", ext2.SYMLINK, b"/file".ljust(4 * ext2.BLOCK, b"x"), size=0xFFFFFFFF)
    return bytes(volume)
