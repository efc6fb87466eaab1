# SPDX-License-Identifier: MIT
"""Unpacks tar archives that come from outside."""

import lzma
import shutil
import tarfile

from redzone.core import base
from redzone.core.base import Failure


def unpack(file, folder, place=lambda name: name):
    """Unpack the tar archive @file into @folder, which is made anew. Raise Failure if that is not possible;
    then the folder is gone. place(name): where below @folder a member belongs, "" or None to leave it out.

    Only files and links are unpacked, and only what stays inside @folder. tarfile's own filter for that came
    with Python 3.11.4, and Debian 12 has 3.11.2.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    inside = folder.resolve()
    try:
        with tarfile.open(file) as members:
            for member in members:
                name = place(member.name)
                target = (inside / (name or "")).resolve()
                if not name or not target.is_relative_to(inside):
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                if member.issym() and (target.parent / member.linkname).resolve().is_relative_to(inside):
                    target.symlink_to(member.linkname)
                elif member.isfile():
                    with members.extractfile(member) as source, target.open("wb") as copy:
                        shutil.copyfileobj(source, copy)
                    target.chmod(0o755 if member.mode & 0o100 else 0o644)
    except (tarfile.TarError, lzma.LZMAError, OSError, EOFError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        base.check_room(folder.parent, error if isinstance(error, OSError) else "")
        raise Failure(f"{base.relative(file)} cannot be unpacked: {error}") from None
