# SPDX-License-Identifier: MIT
"""Gets the source of musl, the C library of programs, and makes the headers that its own Makefile would make.

The source is one file, fetched once, in the version and with the checksum below: from Debian's pool, where
this machine uses it, or from the library's own site. Nothing of it is in this repository. The file is kept
outside of the build folder, so a tree that is cleaned, or another one, needs no network. cmake/Libc.cmake
and tools/build-scripts/link_libc.py do the rest.

Standard library only: `doctor` uses it, and runs before the virtual environment exists.
"""

import os
import re
import shutil
import time
from pathlib import Path

from redzone.core import apt, base, process, tarball
from redzone.core.arch import KERNELS
from redzone.core.base import BUILD, Failure

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
# Where the file may be. A new one goes into the first folder that can be written, or into the build folder if
# the user has named one for all that Redzone makes.
PLACES = tuple(folder for folder in (base.CACHE / "libc", FOLDER) if folder.is_absolute())
# A wheel brings the file along; nothing is written there.
_BROUGHT = base.PREBUILT
# Why a fetch failed that took long, and the seconds for which builds do not try again. Other failures are not
# remembered: their cause may be gone at once.
FAILED = FOLDER / "not-fetched"
LONG = 5
RETRY = 600


class Unavailable(Failure):
    """The source is not there, and it cannot be fetched."""

    def __init__(self, why):
        super().__init__(
            f"the C library musl {VERSION}, which programs need, cannot be fetched: {why}. With a network, "
            "./redzone doctor --install gets it (1 MB), once for all trees of this user; without one, name a "
            f"copy of {Path(SITE).name} with {VARIABLE}=FILE"
        )


def _from_url(url, target):
    """Fetch the file @url to @target. Return None, or why that was not possible; then there is no @target.
    Raise base.DiskFull."""
    # Not at the top: it takes a twelfth of the time that a command needs to start.
    import urllib.error
    import urllib.request

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


def kept():
    """Return the file of the source, None if this machine does not have it."""
    for folder in (*PLACES, _BROUGHT):
        archive = folder / ARCHIVE
        if archive.is_file() and base.sha256(archive) == DIGEST:
            return archive
    return None


def _place():
    """Return the folder that a new file goes into."""
    for folder in () if os.environ.get(base.PLACE) else PLACES:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return FOLDER


def archive(again=True):
    """Return the file of the source; fetch it if it is not there. Raise Unavailable. again: also if that
    failed a short time ago."""
    with base.locked(FOLDER):
        return kept() or _new_archive(again or bool(os.environ.get(VARIABLE)))


def _new_archive(again):
    if not again and FAILED.exists() and 0 <= (age := time.time() - FAILED.stat().st_mtime) < RETRY:
        why = FAILED.read_text(encoding="utf-8")
        raise Unavailable(f"{why} (tried {age / 60:.0f} minutes ago)")
    place = _place()
    base.say(f"fetching the C library musl {VERSION} (1 MB) into {base.relative(place)}")
    # Another tree may fetch it at the same time.
    new = place / f".{ARCHIVE}.{os.getpid()}"
    started = time.monotonic()
    why = _fetch(new)
    if why is None:
        FAILED.unlink(missing_ok=True)
        return new.replace(place / ARCHIVE)
    if time.monotonic() - started >= LONG:
        FAILED.write_text(why, encoding="utf-8")
    raise Unavailable(why)


def _generated(folder, name):
    """Return the folder in the source @folder for the headers of the architecture @name, musl's word."""
    return folder / "obj" / name / "include" / "bits"


def _generate(folder, name):
    """Write the headers that the Makefile of the source in @folder would make with sed for @name."""
    made = _generated(folder, name)
    made.mkdir(parents=True, exist_ok=True)
    bits = folder / "arch" / name / "bits"
    status, output = process.call(
        [
            *("sed", "-f", str(folder / "tools" / "mkalltypes.sed")),
            *(str(bits / "alltypes.h.in"), str(folder / "include" / "alltypes.h.in")),
        ]
    )
    if status != 0:
        raise Failure(f"the headers of musl cannot be made: {process.last_line(output)}")
    numbers = (bits / "syscall.h.in").read_text(encoding="utf-8")
    again = [line.replace("__NR_", "SYS_") for line in re.findall(r"(?m)^.*__NR_.*$", numbers)]
    (made / "syscall.h").write_text(numbers + "\n".join(again) + "\n", encoding="utf-8")
    internal = folder / "obj" / "src" / "internal"
    internal.mkdir(parents=True, exist_ok=True)
    (internal / "version.h").write_text(f'#define VERSION "{VERSION}"\n', encoding="utf-8")
    # Last: it says that the others are there.
    (made / "alltypes.h").write_text(output, encoding="utf-8")


def _missing():
    """Return the architectures whose headers an unpacked source lacks: an older tree knew only one."""
    names = [kernel.musl for kernel in KERNELS.values()]
    return [name for name in names if not (_generated(SOURCE, name) / "alltypes.h").is_file()]


def _unpack(file):
    """Make SOURCE from @file."""
    new = FOLDER / "new"
    tarball.unpack(file, new)
    for kernel in KERNELS.values():
        _generate(new / SOURCE.name, kernel.musl)
    (new / SOURCE.name).rename(SOURCE)
    shutil.rmtree(new)


def source():
    """Return the folder of the library's source; fetch and unpack it if it is not there. Raise
    Unavailable."""
    if not SOURCE.is_dir():
        file = archive(again=False)
        with base.locked(FOLDER):
            if not SOURCE.is_dir():
                _unpack(file)
    if _missing():
        with base.locked(FOLDER):
            for name in _missing():
                _generate(SOURCE, name)
    return SOURCE
