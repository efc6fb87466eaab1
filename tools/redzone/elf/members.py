# SPDX-License-Identifier: MIT
"""Reads archives of object files (.a), also thin ones, whose members are files beside them."""

import struct
from typing import NamedTuple

from redzone.elf.file import ElfError

_MAGIC = {b"!<arch>\n": False, b"!<thin>\n": True}
# Of a member: its name, and its size in decimal digits.
_HEADER = struct.Struct("16s32x10s2s")
# What is no member: indexes of symbols, and the table of long names.
_INDEXES = (b"/", b"/SYM64/", b"__.SYMDEF")
_NAMES = b"//"


class Member(NamedTuple):
    """content: None in a thin archive, where the name is a path from the archive's folder."""

    name: str
    content: bytes | None


def is_archive(data):
    return data[:8] in _MAGIC


def members(data):
    """Yield each Member of the archive with the content @data. Raises ElfError."""
    if not is_archive(data):
        raise ElfError("is not an archive")
    thin = _MAGIC[data[:8]]
    at, names = 8, b""
    while at + _HEADER.size <= len(data):
        name, digits, end = _HEADER.unpack_from(data, at)
        if end != b"`\n" or not digits.strip().isdigit():
            raise ElfError("is not a whole archive")
        name, size, start = name.rstrip(), int(digits), at + _HEADER.size
        stored = not thin or name in (*_INDEXES, _NAMES)
        content = data[start : start + size] if stored else None
        at = start + (size + size % 2 if stored else 0)
        if name == _NAMES:
            names = content
        elif name not in _INDEXES:
            if name[1:].isdigit():
                name = names[int(name[1:]) :].partition(b"\n")[0]
            yield Member(name.rstrip(b"/").decode("utf-8", "replace"), content)
