# SPDX-License-Identifier: MIT
"""Valid inputs that fuzzing of U-Boot begins with, made here: one function for each target."""

import gzip
import hashlib
import itertools
import re
import struct
import zlib

from ..inputs import bootp, ext2, fat, squashfs

# --- Device trees ---------------------------------------------------------------------------------


def device_tree(root, reserved=()):
    """Return a flattened device tree. root: {name: bytes for a property, dict for a node}."""
    structure, strings = b"", b""
    places = {}

    def text(name):
        raw = name.encode() + b"\0"
        return raw.ljust(-(-len(raw) // 4) * 4, b"\0")

    def node(name, content):
        nonlocal structure, strings
        structure += struct.pack(">I", 1) + text(name)
        for key, value in content.items():
            if isinstance(value, bytes):
                if key not in places:
                    places[key] = len(strings)
                    strings += key.encode() + b"\0"
                structure += struct.pack(">III", 3, len(value), places[key])
                structure += value.ljust(-(-len(value) // 4) * 4, b"\0")
        for key, value in content.items():
            if isinstance(value, dict):
                node(key, value)
        structure += struct.pack(">I", 2)

    node("", root)
    structure += struct.pack(">I", 9)
    memory = b"".join(struct.pack(">QQ", *entry) for entry in reserved) + bytes(16)
    at_structure = 40 + len(memory)
    at_strings = at_structure + len(structure)
    total = at_strings + len(strings)
    head = struct.pack(
        ">10I",
        *(0xD00DFEED, total, at_structure, at_strings, 40, 17, 16, 0, len(strings), len(structure)),
    )
    return head + memory + structure + strings


def _words(*values):
    return struct.pack(f">{len(values)}I", *values)


def dtb():
    """Return device trees: a small board, and an overlay."""
    board = {
        "#address-cells": _words(2),
        "#size-cells": _words(2),
        "compatible": b"linux,dummy-virt\0",
        "aliases": {"serial0": b"/pl011@9000000\0"},
        "chosen": {"bootargs": b"console=ttyAMA0\0", "stdout-path": b"/pl011@9000000\0"},
        "memory@40000000": {"device_type": b"memory\0", "reg": _words(0, 0x40000000, 0, 0x10000000)},
        "clock": {"compatible": b"fixed-clock\0", "phandle": _words(1)},
        "pl011@9000000": {"compatible": b"arm,pl011\0arm,primecell\0", "clocks": _words(1, 1)},
    }
    overlay = {
        "fragment@0": {
            "target-path": b"/\0",
            "__overlay__": {"more": {"status": b"okay\0", "phandle": _words(1), "see": _words(1)}},
        },
        "fragment@1": {"target": _words(0xFFFFFFFF), "__overlay__": {"more": b"1\0"}},
        "__local_fixups__": {"fragment@0": {"__overlay__": {"more": {"see": _words(0)}}}},
        "__fixups__": {"label": b"/fragment@1:target:0\0"},
        "__symbols__": {"more": b"/fragment@0/__overlay__/more\0"},
    }
    return {
        "board": device_tree(board, [(0x48000000, 0x1000)]),
        "overlay": device_tree(overlay),
        "empty": device_tree({}),
    }


# --- Image trees ----------------------------------------------------------------------------------


def _image(kind, data, **more):
    """Return the node of an image with hashes, which U-Boot checks."""
    return {
        "description": f"a {kind}".encode() + b"\0",
        "data": data,
        "type": kind.encode() + b"\0",
        "arch": b"arm64\0",
        "os": b"linux\0",
        "compression": more.pop("compression", b"none\0"),
        "load": _words(0x44000000),
        "entry": _words(0x44000000),
        "hash-1": {"algo": b"sha256\0", "value": hashlib.sha256(data).digest()},
        "hash-2": {"algo": b"crc32\0", "value": _words(zlib.crc32(data))},
        **more,
    }


def fit():
    """Return image trees: one with kernel, device tree and RAM disk, and one that is signed."""
    kernel = gzip.compress(b"a kernel that nobody starts" * 8, mtime=0)
    images = {
        "kernel": _image("kernel", kernel, compression=b"gzip\0"),
        "fdt": _image("flat_dt", device_tree({"compatible": b"linux,dummy-virt\0"})),
        "ramdisk": _image("ramdisk", b"a RAM disk"),
        "more": _image("loadable", b"loadable"),
    }
    chosen = {
        "description": b"all of it\0",
        "kernel": b"kernel\0",
        "fdt": b"fdt\0",
        "ramdisk": b"ramdisk\0",
        "loadables": b"more\0",
        "compatible": b"linux,dummy-virt\0",
    }
    head = {"description": b"an image tree\0", "timestamp": _words(1673308800), "#address-cells": _words(1)}
    whole = {**head, "images": images, "configurations": {"default": b"conf\0", "conf": chosen}}
    signature = {
        "algo": b"sha256,rsa2048\0",
        "key-name-hint": b"dev\0",
        "value": bytes(256),
        "hashed-nodes": b"/\0/configurations/conf\0/images/kernel\0",
        "hashed-strings": _words(0, 64),
        "sign-images": b"kernel\0",
    }
    small = {"kernel": _image("kernel", b"kernel", signature={**signature})}
    signed = {"conf": {"kernel": b"kernel\0", "signature": signature}, "default": b"conf\0"}
    return {
        "whole": device_tree(whole),
        "signed": device_tree({**head, "images": small, "configurations": signed}),
        # The data lie behind the tree.
        "external": device_tree(
            {**head, "images": {"kernel": {**_image("kernel", b""), "data-offset": _words(0)}}}
        ),
    }


# --- Disks ----------------------------------------------------------------------------------------

TEXT = b"a file\n" * 6


# A folder is reached through six links; U-Boot follows seven. Most names differ from others in one bit, so
# that a small change makes a link lead elsewhere. The inodes of links come last and in the order in which
# they are followed: U-Boot finds an inode by the sizes of those before it, so a link whose size is changed
# is still found, and so are all that lead to it.
CHAIN = ("link", "p", "q", "s", "r", "v", "room")


def _links():
    return [squashfs.Symlink(name, to.encode()) for name, to in itertools.pairwise(CHAIN)]


def _squashfs(**features):
    """Return an image with files, folders, links to a folder through each other, and one to a file."""
    inner = squashfs.Dir("inner", [squashfs.File("more")])
    room = squashfs.Dir("room", [squashfs.File("file", TEXT), inner])
    links = [*_links(), squashfs.Symlink("long", b"./file")]
    root = squashfs.Dir("", [room, squashfs.File("file", TEXT), *links])
    return squashfs.Writer(root, last=links, **features).image()


def _squashfs_links():
    """Return the smallest image with a link to a folder."""
    inner = squashfs.Dir("inner", [squashfs.File("more")])
    links = _links()
    root = squashfs.Dir("", [*links, squashfs.Dir("room", [inner])])
    return squashfs.Writer(root, last=links).image()


def _ext2():
    volume = ext2.Image()
    volume.add("file", ext2.REGULAR, TEXT)
    volume.add("link", ext2.SYMLINK, b"file")
    volume.add("long", ext2.SYMLINK, b"/file".rjust(80, b"/"))
    return bytes(volume)


def _ext2_links():
    """Return a volume with the same links, each too long for its inode."""
    volume = ext2.Image()
    volume.add("room", ext2.REGULAR, TEXT)
    for name, to in itertools.pairwise(CHAIN):
        volume.add(name, ext2.SYMLINK, to.encode().rjust(60, b"/"))
    return bytes(volume)


def _fat12():
    """Return a small volume: one sector of FAT, sixteen entries in its root."""
    entry = struct.Struct("<11sBBBHHHHHHHI")
    date = fat.DATE

    def one(name, kind, cluster, size):
        return entry.pack(name, kind, 0, 0, 0, date, date, 0, 0, date, cluster, size)

    table = 0xFF8 | 0xFFF << 12 | 0xFFF << 24 | 0xFFF << 36
    root = one(b"FILE       ", 0x20, 2, len(TEXT)) + one(b"ROOM       ", 0x10, 3, 0)
    folder = one(b".          ", 0x10, 3, 0) + one(b"..         ", 0x10, 0, 0)
    folder += one(b"FILE       ", 0x20, 2, len(TEXT))
    boot = b"\xeb\x3c\x90MSWIN4.1" + struct.pack(
        "<HBHBHHBHHHIIBBBI11s8s",
        *(512, 1, 1, 1, 16, 64, 0xF8, 1, 32, 64, 0, 0),
        *(0x80, 0, 0x29, 0x12345678, b"REDZONE    ", b"FAT12   "),
    )
    sectors = [boot.ljust(510, b"\0") + b"\x55\xaa", table.to_bytes(9, "little"), root, TEXT, folder]
    return b"".join(sector.ljust(512, b"\0") for sector in sectors)


PARTS = b"disk parts:\n"
# Between two parts of a disk at least so many bytes are zero.
GAP = 48


def parts(disk):
    """Return @disk in the form that names the parts that are not zero, see fs.c."""
    content, at = PARTS, 0
    for found in re.finditer(rb"[^\0](?:\0{0,%d}[^\0])*" % (GAP - 1), disk):
        for at in range(found.start(), found.end(), 0xFFFF):
            piece = disk[at : min(at + 0xFFFF, found.end())]
            content += struct.pack("<IH", at, len(piece)) + piece
    return content


def whole(content):
    """Return the disk that an input of the target `fs` stands for, without the zeros at its end."""
    if not content.startswith(PARTS):
        return content
    disk, at = bytearray(), len(PARTS)
    while at + 6 < len(content):
        start, size = struct.unpack_from("<IH", content, at)
        piece = content[at + 6 : at + 6 + size]
        disk.extend(bytes(max(0, start + len(piece) - len(disk))))
        disk[start : start + len(piece)] = piece
        at += 6 + len(piece)
    return bytes(disk)


def disks():
    """Return {name: contents} of valid disks: squashfs with links, fragments, compression; ext2; FAT."""
    start = struct.pack("<B3sB3sII", 0x80, b"\0" * 3, 1, b"\0" * 3, 1, 64)
    table = start.rjust(446 + 16, b"\0").ljust(510, b"\0") + b"\x55\xaa"
    return {
        "squashfs": _squashfs(),
        "squashfs-links": _squashfs_links(),
        "squashfs-fragments": _squashfs(fragments=True),
        "squashfs-zlib": _squashfs(fragments=True, compress=True),
        "ext2": _ext2(),
        "ext2-links": _ext2_links(),
        "fat12": _fat12(),
        "partition": table + _fat12(),
    }


def fs():
    """Return disks without their zeros: U-Boot sees 16 MiB each time."""
    return {name: parts(disk) for name, disk in disks().items()}


# --- Packets --------------------------------------------------------------------------------------

DHCP, DNS, TFTP, NFS, PING = range(5)
RAW, ANSWERS, BROADCAST = 1, 2, 4


def _exchange(number, *packets):
    """Return an input: the exchange, and (how, contents) of each packet."""
    content = bytes((number,))
    for how, data in packets:
        content += struct.pack("<BH", how, len(data)) + data
    return content


def _dhcp(kind):
    head = bytes((2, 1, 6, 0)) + bytes(12) + bootp.CLIENT_IP + bootp.SERVER_IP + bytes(4)
    head += bytes.fromhex("525400123456").ljust(16, b"\0") + b"server".ljust(64, b"\0")
    options = (
        bytes((53, 1, kind, 54, 4)) + bootp.SERVER_IP + bytes((51, 4, 0, 0, 14, 16, 1, 4, 255, 255, 255, 0))
    )
    options += bytes((3, 4)) + bootp.SERVER_IP + bytes((6, 4)) + bootp.SERVER_IP
    options += bytes((12, 4)) + b"host" + bytes((17, 5)) + b"/root" + bytes((255,))
    return head + b"file".ljust(128, b"\0") + bootp.MAGIC + options


def _rpc(*words):
    """Return a reply: accepted, without an error, and @words."""
    return struct.pack(f">6I{len(words)}I", 0, 1, 0, 0, 0, 0, *words)


def net():
    """Return exchanges as servers would have them."""
    answer = b"\0\x01\x81\x80\0\x01\0\x01\0\0\0\0\x04host\x07example\0\0\x01\0\x01"
    answer += b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04" + bootp.SERVER_IP
    handle = tuple(range(8))
    echo = b"\0\0\xff\xff\0\0\0\0"
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 1, 0) + bootp.SERVER_IP + bootp.CLIENT_IP
    return {
        "dhcp": _exchange(DHCP, (ANSWERS | BROADCAST, _dhcp(2)), (ANSWERS | BROADCAST, _dhcp(5))),
        "dns": _exchange(DNS, (ANSWERS, answer)),
        "tftp": _exchange(
            TFTP,
            (0, b"\0\x06blksize\x001468\0timeout\x005\0"),
            (0, b"\0\x03\0\x01" + bytes(1468)),
            (0, b"\0\x03\0\x02the end"),
        ),
        "tftp-error": _exchange(TFTP, (0, b"\0\x05\0\x01File not found\0")),
        "nfs": _exchange(
            NFS,
            (ANSWERS, _rpc(635)),
            (ANSWERS, _rpc(2049)),
            (ANSWERS, _rpc(0, *handle)),
            (ANSWERS, _rpc(0, *handle, *([0] * 17))),
            (ANSWERS, _rpc(0, *([0] * 17), 7) + b"the end\0"),
        ),
        "ping": _exchange(PING, (RAW, ip + echo)),
    }


# --- Environments, and PE images ------------------------------------------------------------------


def env():
    """Return environments: text, text with carriage returns, binary; all of it and chosen variables."""
    text = b"bootcmd=echo hello\na=1\nbootargs=console=ttyAMA0\n# none\n.hidden=x\nethaddr=52:54:00:1:2:3\n"
    binary = text.replace(b"\n", b"\0") + b"\0"
    return {
        "text": b"\x01" + text,
        "crlf": b"\x03" + text.replace(b"\n", b"\r\n"),
        "binary": b"\x00" + binary,
        "chosen": b"\x04" + binary,
        "twice": b"\x09" + text,
    }


def _pe(relocations):
    """Return a PE image for arm64 with one section of code and the table @relocations."""
    directories = [(0, 0)] * 16
    directories[5] = (0x2000, len(relocations))
    optional = struct.pack(
        "<HBBIIIIIQIIHHHHHHIIIIHHQQQQII",
        *(0x20B, 0, 0, 0x200, 0x200, 0, 0x1000, 0x1000, 0, 0x1000, 0x200, 0, 0, 0, 0, 0, 0),
        *(0, 0x3000, 0x200, 0, 10, 0, 0, 0, 0, 0, 0, 16),
    )
    optional += b"".join(struct.pack("<II", *entry) for entry in directories)
    section = struct.Struct("<8sIIIIIIHHI")
    sections = section.pack(b".text", 0x200, 0x1000, 0x200, 0x200, 0, 0, 0, 0, 0x60000020)
    sections += section.pack(b".reloc", len(relocations), 0x2000, 0x200, 0x400, 0, 0, 0, 0, 0x42000040)
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64)
    head += b"PE\0\0" + struct.pack("<HHIIIHH", 0xAA64, 2, 0, 0, 0, len(optional), 0x22) + optional
    return (head + sections).ljust(0x200, b"\0") + bytes(0x200) + relocations.ljust(0x200, b"\0")


def efi():
    """Return PE images: with relocations, of a length that efi.c lets through, and without."""
    table = struct.pack("<IIHHHH", 0x1000, 16, 0xA010, 0xA020, 0x3030, 0)
    return {"relocated": _pe(table) + bytes(7), "plain": _pe(b"")}


# Words for inputs: the largest numbers, which overflow when something is added, and parts of paths.
NUMBERS = (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\xff\xff")
WORDS = {"fs": (*NUMBERS, b"link", b"p", b"room", b"..")}
INPUTS = {"dtb": dtb, "efi": efi, "env": env, "fit": fit, "fs": fs, "net": net}
