# SPDX-License-Identifier: MIT
"""xv6's source for the port: a folder that is there, or git's, pinned by commit and by a checksum.

Nothing of it is kept in this repository. source.json has the commit and the checksum.
"""

import json
import os
from pathlib import Path

from redzone.core import base
from redzone.core.base import BUILD, Failure
from redzone.core.gitsource import Source, Unavailable, digest_of

PORT = Path(__file__).resolve().parent.parent
HOME = BUILD / "xv6-riscv"
PINS = json.loads((PORT / "source.json").read_text(encoding="utf-8"))
# A folder with the source, for machines without a network.
VARIABLE = "REDZONE_XV6_SOURCE"
FOLDERS = ("kernel", "user", "mkfs")


__all__ = ["FOLDERS", "HOME", "PORT", "VARIABLE", "Unavailable", "digest", "files", "find", "source_here"]


def files(folder):
    """Return the sorted paths, relative to @folder, of the files that the build reads: no object files."""
    kept = [Path("Makefile")]
    for name in FOLDERS:
        kept += [path.relative_to(folder) for path in (folder / name).glob("*") if path.is_file()]
    suffixes = (".c", ".h", ".S", ".ld", ".pl")
    # usys.S is made from usys.pl.
    return sorted(
        path
        for path in kept
        if path.name != "usys.S" and (path.name == "Makefile" or path.suffix in suffixes)
    )


def digest(folder):
    """Return the SHA-256 of the names and contents of files()."""
    return digest_of(folder, files(folder))


def _check(folder, name):
    """Raise Failure if @folder, which the user called @name, is not a source of xv6."""
    if not (folder / "kernel" / "kalloc.c").is_file() or not (folder / "Makefile").is_file():
        raise Failure(
            f"{name} '{folder}' has no source of xv6-riscv: kernel/kalloc.c and Makefile are not there"
        )


def pinned():
    """Return the gitsource.Source of the pinned version."""
    return Source(
        name="xv6-riscv",
        repository=PINS["repository"],
        commit=PINS["commit"],
        hash=PINS["sha256"],
        digest=digest,
        mirror="REDZONE_XV6_GIT",
        advice=f"give a folder that has it with --source DIR or {VARIABLE}=DIR",
    )


def source_here(given=None):
    """Is the source on this machine: @given by the user, that of the variable, or the fetched one?"""
    return bool(given or os.environ.get(VARIABLE)) or (HOME / "source").is_dir()


def find(given=None):
    """Return the folder with xv6's source: @given by the user, that of the variable, or the fetched one."""
    named = [("--source", given), (VARIABLE, os.environ.get(VARIABLE))]
    for name, value in named:
        if value:
            folder = Path(value).resolve()
            _check(folder, name)
            if not pinned().is_known(folder):
                base.say(f"'{value}' is another version of xv6 than this port was made for")
            return folder
    return pinned().obtain(HOME / "source", HOME / "locks" / "source")
