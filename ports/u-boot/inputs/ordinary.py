# SPDX-License-Identifier: MIT
"""The disks and files for commands.txt, none of them malicious."""

import gzip
import struct
import zlib

from . import ext2, fat, squashfs

TEXT = b"".join(b"line %d of an ordinary file\n" % number for number in range(200))
SCRIPT = b"echo hello from a script\nsetenv scripted yes\n"


def legacy_image(kind, name, data, compression=0):
    """Return @data with U-Boot's legacy image header before it. kind: 6 is a script, 5 firmware."""
    if kind == 6:
        data = struct.pack(">II", len(data), 0) + data
    fields = [0x27051956, 0, 0, len(data), 0, 0, zlib.crc32(data), 5, 22, kind, compression, name]
    head = struct.pack(">7I4B32s", *fields)
    fields[1] = zlib.crc32(head)
    return struct.pack(">7I4B32s", *fields) + data


def disks():
    """Return the disks in the order of their numbers."""
    files = {
        "TEXT.TXT": TEXT,
        "SMALL.BIN": bytes(range(256)),
        "EMPTY.BIN": b"",
        "TEXT.GZ": gzip.compress(TEXT, mtime=0),
        "SCRIPT.IMG": legacy_image(6, b"script", SCRIPT),
        "FIRM.IMG": legacy_image(5, b"firmware", TEXT),
        "ENV.TXT": b"first=1\nsecond=two\n",
    }
    volume = ext2.Image()
    volume.add("text.txt", ext2.REGULAR, TEXT)
    volume.add("small.bin", ext2.REGULAR, bytes(range(256)))
    volume.add("link", ext2.SYMLINK, b"text.txt")
    inner = squashfs.Dir("inner", [squashfs.File("first"), squashfs.File("second", bytes(range(256)))])
    outer = squashfs.Dir("outer", [inner])
    tree = squashfs.Dir("", [squashfs.File("file", TEXT), squashfs.Symlink("link", b"file"), outer])
    empty = bytes(8 << 20)
    return [fat.disk(fat.volume(files)), bytes(volume), squashfs.Writer(tree).image(), empty]


def served():
    """Return {name: contents} of the files on the network's file server."""
    return {"text.txt": TEXT, "script.img": legacy_image(6, b"script", SCRIPT), "big.bin": bytes(1 << 20)}
