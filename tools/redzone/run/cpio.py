# SPDX-License-Identifier: MIT
"""Packs the files of `--file NAME=HOSTPATH`, and what the tools add, into the archive that the kernel gets as
its initrd.

Format: cpio "newc", with headers of 110 characters, and names and data padded to 4 bytes.
"""

import os

from redzone.core.base import Failure


def _entry(number, name, data, mode):
    raw = os.fsencode(name) + b"\0"
    fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0]
    header = b"070701" + "".join(f"{field:08x}" for field in fields).encode() + raw
    header += b"\0" * (-len(header) % 4)
    return header + data + b"\0" * (-len(data) % 4)


def read(path, what):
    """Return the bytes of the host file @path; @what starts the message if it cannot be read."""
    try:
        if path.is_dir():
            raise Failure(f"{what} '{path}' is a directory, not a file")
        return path.read_bytes()
    except OSError as error:
        raise Failure(f"{what} '{path}' cannot be read: {error.strerror}") from None


def pack(files, folder, more=None):
    """Write the archive of @files, a list of (name, host path), and @more, {name: bytes}, into @folder.

    Return its path."""
    archive = b""
    names = set()
    for number, (name, path) in enumerate(files, 1):
        if name in names:
            raise Failure(f"--file names '{name}' twice")
        names.add(name)
        archive += _entry(number, name, read(path, f"--file {name}:"), 0o100444)
    for number, (name, data) in enumerate((more or {}).items(), len(files) + 1):
        archive += _entry(number, name, data, 0o100444)
    archive += _entry(0, "TRAILER!!!", b"", 0)
    target = folder / "files.cpio"
    target.write_bytes(archive)
    return target
