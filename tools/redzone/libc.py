# SPDX-License-Identifier: MIT
"""Gets the source of the large C library, musl, and makes the headers that its own Makefile would make.

The source is one file of Debian's pool, fetched once, in the version and with the checksum below. Nothing of
it is in this repository. cmake/Libc.cmake and tools/libc.py do the rest.
"""

import re
import shutil
import tarfile

from redzone import apt, base, process
from redzone.base import BUILD, Failure

VERSION = "1.2.5"
ARCHIVE = f"musl_{VERSION}.orig.tar.gz"
POOL = f"pool/main/m/musl/{ARCHIVE}"
DIGEST = "a9a118bbe84d8764da0ea0d28b3ab3fae8477fc7e4085d90102b8596fc7c75e4"
FOLDER = BUILD / "libc"
SOURCE = FOLDER / f"musl-{VERSION}"
ARCH = "aarch64"
# The choices of --libc.
NAMES = ("small", "musl")


class Unavailable(Failure):
    """The source is not there, and it cannot be fetched."""


def _fetch(archive):
    """Fetch the file @archive unless it is there already."""
    if archive.is_file() and base.sha256(archive) == DIGEST:
        return
    archive.unlink(missing_ok=True)
    base.say(f"fetching the C library musl {VERSION} (1 MB) into {base.relative(FOLDER)}")
    why = apt.pool_file(POOL, DIGEST, archive)
    if why is not None:
        archive.unlink(missing_ok=True)
        raise Unavailable(
            f"the C library musl {VERSION} cannot be fetched: {why}. Put {ARCHIVE} of Debian's source "
            f"package musl into {base.relative(FOLDER)}, or leave out --libc musl"
        )


def _generate(folder):
    """Write the headers that the Makefile of the source in @folder would make with sed."""
    made = folder / "obj" / "include" / "bits"
    made.mkdir(parents=True)
    bits = folder / "arch" / ARCH / "bits"
    status, output = process.call(
        [
            *("sed", "-f", str(folder / "tools" / "mkalltypes.sed")),
            *(str(bits / "alltypes.h.in"), str(folder / "include" / "alltypes.h.in")),
        ]
    )
    if status != 0:
        raise Failure(f"the headers of musl cannot be made: {process.last_line(output)}")
    (made / "alltypes.h").write_text(output, encoding="utf-8")
    numbers = (bits / "syscall.h.in").read_text(encoding="utf-8")
    again = [line.replace("__NR_", "SYS_") for line in re.findall(r"(?m)^.*__NR_.*$", numbers)]
    (made / "syscall.h").write_text(numbers + "\n".join(again) + "\n", encoding="utf-8")
    internal = folder / "obj" / "src" / "internal"
    internal.mkdir(parents=True)
    (internal / "version.h").write_text(f'#define VERSION "{VERSION}"\n', encoding="utf-8")


def source():
    """Return the folder of the library's source; fetch and unpack it if it is not there. Raises
    Unavailable."""
    with base.locked(FOLDER):
        if SOURCE.is_dir():
            return SOURCE
        archive = FOLDER / ARCHIVE
        _fetch(archive)
        new = FOLDER / "new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        try:
            with tarfile.open(archive) as members:
                for member in members:
                    if not member.isfile() or ".." in member.name.split("/") or member.name.startswith("/"):
                        continue
                    target = new / member.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(members.extractfile(member).read())
        except (tarfile.TarError, OSError, EOFError) as error:
            raise Failure(f"{base.relative(archive)} cannot be unpacked: {error}") from None
        _generate(new / SOURCE.name)
        (new / SOURCE.name).rename(SOURCE)
        shutil.rmtree(new)
    return SOURCE
