# SPDX-License-Identifier: MIT
"""Writes a small FAT16 volume with files in its root directory, and a disk with one such partition."""

import struct

SECTOR = 512
CLUSTERS = 8192
FAT_SECTORS = 33
ROOT_ENTRIES = 512
RESERVED = 4


# 10 January 2023: years since 1980, month, day.
DATE = (43 << 9) | (1 << 5) | 10


def volume(files, date=DATE):
    """Return a volume of 4 MiB. @files: {8.3 name in capitals: contents}. date: the value of every date of
    every file."""
    fat = [0xFFF8, 0xFFFF] + [0] * CLUSTERS
    root, data = b"", b""
    for name, content in files.items():
        first = len(data) // SECTOR + 2
        count = max(1, -(-len(content) // SECTOR))
        for cluster in range(first, first + count):
            fat[cluster] = cluster + 1
        fat[first + count - 1] = 0xFFFF
        data += content.ljust(count * SECTOR, b"\0")
        stem, _, extension = name.partition(".")
        short = (stem.ljust(8) + extension.ljust(3)).encode()
        root += struct.pack(
            "<11sBBBHHHHHHHI", short, 0x20, 0, 0, 0, date, date, 0, 0, date, first, len(content)
        )
    table = struct.pack(f"<{len(fat)}H", *fat).ljust(FAT_SECTORS * SECTOR, b"\0")[: FAT_SECTORS * SECTOR]
    root_sectors = ROOT_ENTRIES * 32 // SECTOR
    total = RESERVED + 2 * FAT_SECTORS + root_sectors + CLUSTERS - 2
    boot = b"\xeb\x3c\x90MSWIN4.1" + struct.pack(
        "<HBHBHHBHHHIIBBBI11s8s",
        *(SECTOR, 1, RESERVED, 2, ROOT_ENTRIES, total, 0xF8, FAT_SECTORS, 32, 64, 0, 0),
        *(0x80, 0, 0x29, 0x12345678, b"REDZONE    ", b"FAT16   "),
    )
    boot = boot.ljust(510, b"\0") + b"\x55\xaa"
    head = boot.ljust(RESERVED * SECTOR, b"\0") + table + table + root.ljust(ROOT_ENTRIES * 32, b"\0")
    return (head + data).ljust(total * SECTOR, b"\0")


def disk(content, kind=0x06):
    """Return a disk with one MBR partition that holds @content and starts at 1 MiB."""
    start = 2048
    entry = struct.pack("<B3sB3sII", 0x80, b"\0" * 3, kind, b"\0" * 3, start, len(content) // SECTOR)
    mbr = entry.rjust(446 + 16, b"\0").ljust(510, b"\0") + b"\x55\xaa"
    return mbr.ljust(start * SECTOR, b"\0") + content.ljust(len(content) + (1 << 20), b"\0")
