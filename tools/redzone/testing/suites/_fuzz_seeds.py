# SPDX-License-Identifier: MIT
"""Inputs for the suite fuzz-own to begin with: for each target a function that returns a list of bytes."""

import struct
import tempfile
from pathlib import Path

from redzone.core import process
from redzone.core.base import ROOT, Failure
from redzone.run import cpio

OWN = ROOT / "tests" / "fuzz" / "own"
# Kinds of reports in report.c.
KINDS = 12


class _Tree:
    """Writes a flattened device tree."""

    def __init__(self):
        self._structure, self._strings = b"", b""

    @staticmethod
    def _padded(data):
        return data + bytes(-len(data) % 4)

    def node(self, name, properties, *children):
        """Add a node. properties: {name: bytes}. children: functions that add the nodes in it."""
        self._structure += struct.pack(">I", 1) + self._padded(name.encode() + b"\0")
        for key, value in properties.items():
            self._structure += struct.pack(">III", 3, len(value), len(self._strings)) + self._padded(value)
            self._strings += key.encode() + b"\0"
        for child in children:
            child()
        self._structure += struct.pack(">I", 2)

    def finish(self, reserved=b""):
        """Return the tree. reserved: entries of its block of reserved memory."""
        structure = self._structure + struct.pack(">I", 9)
        reserved += bytes(16)
        at = 40 + len(reserved)
        total = at + len(structure) + len(self._strings)
        sizes = (len(self._strings), len(structure))
        header = struct.pack(">10I", 0xD00DFEED, total, at, at + len(structure), 40, 17, 16, 0, *sizes)
        return header + reserved + structure + self._strings


def _cells(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def _tree(properties, *nodes, reserved=b""):
    """Return a tree. nodes: of its root; each is what _Tree.node() takes, and the nodes in it behind that."""
    tree = _Tree()

    def add(name, values, *inside):
        return lambda: tree.node(name, values, *(add(*node) for node in inside))

    add("", properties, *nodes)()
    return tree.finish(reserved)


def device_tree():
    """Small trees, one for each thing that the code looks for: a large one takes many times as long."""
    wide = {"#address-cells": _cells(2), "#size-cells": _cells(2)}
    narrow = {"#address-cells": _cells(1), "#size-cells": _cells(1)}
    bank = {"device_type": b"memory\0", "reg": _cells(0, 0x40000000, 0, 0x20000000)}
    uart = {"compatible": b"arm,pl011\0arm,primecell\0", "reg": _cells(0x1000, 0x1000), "status": b"okay\0"}
    bus = {"ranges": _cells(0, 0, 0x9000000, 0x10000), **narrow}
    aliases = {"serial0": b"/bus@0/uart@1000\0"}
    cpu = {"device_type": b"cpu\0", "reg": _cells(0)}
    return [
        _tree({}),
        _tree({}, ("chosen", {"bootargs": b"loglevel=3\0", "rng-seed": bytes(8)})),
        _tree({}, ("chosen", {"stdout-path": b"serial0:9600\0"}), ("aliases", aliases), ("bus@0", {})),
        _tree(wide, ("memory@40000000", bank), reserved=struct.pack(">QQ", 0x48000000, 0x1000)),
        _tree(wide, ("bus@0", bus, ("uart@1000", uart))),
        _tree({}, ("cpus", {"#address-cells": _cells(1), "#size-cells": _cells(0)}, ("cpu@0", cpu))),
        _tree({}, ("intc", {"compatible": b"arm,gic-v3\0", "interrupts": _cells(1, 9, 4)})),
    ]


def files():
    with tempfile.TemporaryDirectory(prefix="redzone-seeds-") as folder:
        one, empty = (Path(folder) / name for name in ("one", "empty"))
        one.write_bytes(b"hello\n")
        empty.touch()
        made = []
        for members in ([], [("a", one)], [("./dir/b.txt", one), ("c", empty), ("/d", one)]):
            made.append(cpio.pack(members, Path(folder)).read_bytes())
    return made


def command_line():
    return [
        b"switch=on the-number=0x12 range=7 text=hello size=16M -- a \"b c\" 'd' \\e",
        b'switch text="two words" size=1g unknown=1 kasan.unknown',
        b"kasan=on kasan.fault=panic_on_write kasan.stacktrace=collect kasan_multi_shot kasan.repeat=full",
        b"kasan.quarantine_size=1M kasan.depot_size=512K kasan.ignore=memcpy,kfree*,no kasan.slack=check",
        b"kasan.mode=async kasan.vmalloc=off kasan.sample=9 kasan.tag_policy=random kasan.stack_ring_size=64",
    ]


def formats():
    numbers = struct.pack("<4Q", 10, 2**64 - 1, 3, 0xFFFF800080000000)
    made = []
    for text in (
        b"%d %u %x %o",
        b"%-*s|%5.3s|\0a string",
        b"%#010llx %+hhd %hu",
        b"%pS %ps %pB %p",
        b"%c%%%.*d",
    ):
        made.append(bytes([64]) + numbers + text)
    return [*made, bytes([0]) + numbers + b"%s\0x", bytes([3]) + numbers + b"%lX%zd%ti%jx"]


def modules():
    with tempfile.TemporaryDirectory(prefix="redzone-seeds-") as folder:
        made = []
        for number, options in enumerate(((), ("-mcmodel=large",), ("-fpie",))):
            target = Path(folder) / f"{number}.o"
            command = ["clang-19", "--target=aarch64-none-elf", "-O1", "-ffreestanding", "-fno-pic", *options]
            command += ["-fno-asynchronous-unwind-tables", "-c", OWN / "seed_module.c", "-o", target]
            ended = process.run(command)
            if ended.returncode != 0:
                raise Failure(f"seed_module.c cannot be compiled:\n{ended.stderr.strip()}")
            made.append(target.read_bytes())
    return made


def reports():
    words = struct.pack("<6Q", 0xFFFF800000001000, 8, 0xFFFF800080001000, 0xFFFF000000100000, 0, 2**64 - 16)
    return [bytes([kind, at]) + words for kind in range(KINDS) for at in (0, 7)]
