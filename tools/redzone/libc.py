# SPDX-License-Identifier: MIT
"""Chooses a program's C library. Gets the source of the large one, musl, and makes the headers that its own
Makefile would make.

The source is one file, fetched once, in the version and with the checksum below: from Debian's pool, where
this machine uses it, or from the library's own site. Nothing of it is in this repository. cmake/Libc.cmake
and tools/build-scripts/link_libc.py do the rest.
"""

import os
import re
import shutil
import tarfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from redzone import apt, base, process
from redzone.arch import DEFAULT, KERNELS
from redzone.base import BUILD, Failure

VERSION = "1.2.5"
ARCHIVE = f"musl_{VERSION}.orig.tar.gz"
# Where Debian and Ubuntu have it.
POOLS = tuple(f"pool/{part}/m/musl/{ARCHIVE}" for part in ("main", "universe"))
# Where others have it: it is the same file.
SITE = f"https://musl.libc.org/releases/musl-{VERSION}.tar.gz"
# Names another file, or a URL, from which it comes instead.
VARIABLE = "REDZONE_MUSL"
DIGEST = "a9a118bbe84d8764da0ea0d28b3ab3fae8477fc7e4085d90102b8596fc7c75e4"
FOLDER = BUILD / "libc"
SOURCE = FOLDER / f"musl-{VERSION}"
# The choices of --libc.
NAMES = ("auto", "small", "musl")
# Why a fetch failed that took long, and the seconds for which `auto` does not try again. Other failures are
# not remembered: their cause may be gone at once.
FAILED = FOLDER / "not-fetched"
LONG = 5
RETRY = 600


class Unavailable(Failure):
    """The source is not there, and it cannot be fetched. why: the reason alone."""

    def __init__(self, why):
        super().__init__(
            f"the C library musl {VERSION} cannot be fetched: {why}. Name the file {Path(SITE).name} with "
            f"{VARIABLE}=FILE, or take the small library: --libc small"
        )
        self.why = why


def large(options):
    """Return whether the programs of the job.Options @options should get the large library. The shipped
    example should not: a newcomer's first screen comes quickly, and without a network. Nor should files that
    use the kernel's headers, which have the same names for other types."""
    if options.libc != "auto":
        return options.libc == "musl"
    return bool(options.files or options.project) and not options.kernel_headers


def choose(options):
    """Return the folder of the large library's source, or None: the programs of the job.Options @options get
    the small one. Raises Unavailable if the user insists on the large one."""
    if not large(options):
        return None
    if options.libc == "musl" or options.save:
        return source()
    try:
        return source(again=False)
    except Unavailable as error:
        base.say(
            f"the C library musl {VERSION} cannot be fetched: {error.why}. The small library takes its "
            f'place: no printf("%f"), math.h, time.h, or files to write. For musl name the file '
            f"{Path(SITE).name} with {VARIABLE}=FILE"
        )
        return None


def _from_url(url, target):
    """Fetch the file @url to @target. Return None, or why that was not possible; then there is no @target.
    Raise base.DiskFull."""
    shown = url.removeprefix("file://")
    try:
        with urllib.request.urlopen(url, timeout=20) as reply, open(target, "wb") as file:
            shutil.copyfileobj(reply, file)
        if base.sha256(target) == DIGEST:
            return None
        why = f"{shown} is another file: its checksum is not that of musl {VERSION}"
    except (OSError, ValueError) as error:
        base.check_room(target.parent, error if isinstance(error, OSError) else "")
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        why = f"{shown}: {getattr(reason, 'strerror', None) or reason}"
    target.unlink(missing_ok=True)
    return why


def _fetch(archive):
    """Fetch the file of the source to @archive. Return None, or why that was not possible."""
    given = os.environ.get(VARIABLE)
    if given:
        return _from_url(given if "://" in given else Path(given).absolute().as_uri(), archive)
    reasons = []
    for name in POOLS:
        why = apt.pool_file(name, DIGEST, archive)
        if why is None:
            return None
        reasons.append(why)
    why = _from_url(SITE, archive)
    return f"{reasons[0]}; {why}" if why else None


def _archive(again):
    """Return the file of the source; fetch it unless it is there already. again: also if that failed a short
    time ago."""
    archive = FOLDER / ARCHIVE
    if archive.is_file() and base.sha256(archive) == DIGEST:
        return archive
    if (
        not (again or os.environ.get(VARIABLE))
        and FAILED.exists()
        and 0 <= (age := time.time() - FAILED.stat().st_mtime) < RETRY
    ):
        why = FAILED.read_text(encoding="utf-8")
        raise Unavailable(f"{why} ({age / 60:.0f} minutes ago; --libc musl tries again)")
    archive.unlink(missing_ok=True)
    base.say(f"fetching the C library musl {VERSION} (1 MB) into {base.relative(FOLDER)}")
    started = time.monotonic()
    why = _fetch(archive)
    if why is None:
        FAILED.unlink(missing_ok=True)
        return archive
    if time.monotonic() - started >= LONG:
        FAILED.write_text(why, encoding="utf-8")
    raise Unavailable(why)


def _generate(folder):
    """Write the headers that the Makefile of the source in @folder would make with sed."""
    made = folder / "obj" / "include" / "bits"
    made.mkdir(parents=True)
    bits = folder / "arch" / KERNELS[DEFAULT].musl / "bits"
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


def source(again=True):
    """Return the folder of the library's source; fetch and unpack it if it is not there. Raises
    Unavailable. again: fetch also if that failed a short time ago."""
    with base.locked(FOLDER):
        if SOURCE.is_dir():
            return SOURCE
        archive = _archive(again)
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
            shutil.rmtree(new, ignore_errors=True)
            base.check_room(FOLDER, error if isinstance(error, OSError) else "")
            raise Failure(f"{base.relative(archive)} cannot be unpacked: {error}") from None
        _generate(new / SOURCE.name)
        (new / SOURCE.name).rename(SOURCE)
        shutil.rmtree(new)
    return SOURCE
