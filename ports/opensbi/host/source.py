# SPDX-License-Identifier: MIT
"""OpenSBI's source for the port: a folder that is there, or Debian's archive, pinned by a checksum.

Nothing of it is kept in this repository. source.json has the names in Debian's pool and the checksums, also
of the U-Boot that runs after it.
"""

import json
import os
import re
import shutil
from pathlib import Path

from redzone.core import apt, base, tarball
from redzone.core.base import BUILD, Failure
from redzone.core.gitsource import Unavailable
from redzone.core.process import execute

PORT = Path(__file__).resolve().parent.parent
HOME = BUILD / "opensbi"
PINS = json.loads((PORT / "source.json").read_text(encoding="utf-8"))
# A folder with the source, for machines without a network.
VARIABLE = "REDZONE_OPENSBI_SOURCE"
# Texts that the port relies on: {file: [text]}. Names that it renames or wraps must be there.
ANCHORS = {
    "Makefile": ["platform-object-mks", "compile_cc =", "merge_objs ="],
    "firmware/fw_base.S": ["call\tfw_platform_init", "call\tsbi_init", "call\tsbi_trap_handler"],
    "include/sbi/sbi_scratch.h": ["#define SBI_SCRATCH_HARTINDEX_OFFSET\t\t(14 * __SIZEOF_POINTER__)"],
    "include/sbi/sbi_heap.h": ["sbi_malloc_from(", "sbi_zalloc_from(", "sbi_aligned_alloc_from("],
    "lib/sbi/sbi_console.c": ["spin_lock(&console_out_lock)"],
    "lib/sbi/sbi_string.c": ["*sbi_memset(", "*sbi_memcpy(", "*sbi_memmove("],
    "platform/generic/platform.c": ["fw_platform_init("],
}


def version(folder):
    """Return the version of the OpenSBI in @folder, as "1.8". Raise Failure if it is none."""
    header = folder / "include" / "sbi" / "sbi_version.h"
    text = header.read_text(encoding="utf-8", errors="replace") if header.is_file() else ""
    found = re.findall(r"#define OPENSBI_VERSION_M(?:AJOR|INOR)\s+(\d+)", text)
    if len(found) != 2:
        raise Failure(f"'{folder}' has no source of OpenSBI: no version in include/sbi/sbi_version.h")
    return ".".join(found)


def check(folder):
    """Raise Failure if @folder is not a source that the port fits: the message names file and text."""
    number = version(folder)
    for name, texts in ANCHORS.items():
        path = folder / name
        content = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        lost = [text for text in texts if text not in content]
        if lost:
            raise Failure(
                f"OpenSBI {number} differs from {PINS['version']}, which this port was made for: "
                f"{name} has no '{lost[0]}'"
            )


def _fetch(name, digest, target):
    """Have @target, a file of Debian's pool. Raise Unavailable."""
    if target.is_file() and base.sha256(target) == digest:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    base.say(f"fetching {target.name} into {base.relative(target.parent)}")
    why = apt.pool_file(name, digest, target)
    if why:
        raise Unavailable(
            f"{target.name} cannot be fetched: {why}\nput it into {base.relative(target.parent)}, "
            f"or give a folder that has OpenSBI's source with --source DIR or {VARIABLE}=DIR"
        )


def fetched():
    """Return where the fetched source is, or will be."""
    return HOME / f"source-{PINS['version']}"


def source_here(given=None):
    """Is the source on this machine: @given by the user, that of the variable, or the fetched one?"""
    return bool(given or os.environ.get(VARIABLE)) or fetched().is_dir()


def find(given=None):
    """Return the folder with OpenSBI's source: @given by the user, that of the variable, or the fetched one.
    Raise Unavailable or Failure."""
    named = given or os.environ.get(VARIABLE)
    if named:
        folder = Path(named).resolve()
        check(folder)
        return folder
    folder = fetched()
    with base.locked(HOME / "locks" / "source"):
        if not folder.is_dir():
            archive = HOME / "download" / Path(PINS["archive"]).name
            _fetch(PINS["archive"], PINS["sha256"], archive)
            new = HOME / "new"
            shutil.rmtree(new, ignore_errors=True)
            tarball.unpack(archive, new)
            (inside,) = new.iterdir()
            inside.rename(folder)
            shutil.rmtree(new)
    check(folder)
    return folder


def u_boot():
    """Return Debian's U-Boot for supervisor mode of QEMU's board: a file to be loaded at 0x80200000. Raise
    Unavailable."""
    folder = HOME / "u-boot"
    with base.locked(HOME / "locks" / "u-boot"):
        if not folder.is_dir():
            package = HOME / "download" / Path(PINS["u-boot"]).name
            _fetch(PINS["u-boot"], PINS["u-boot-sha256"], package)
            new = folder.with_name("u-boot.new")
            shutil.rmtree(new, ignore_errors=True)
            execute(["dpkg-deb", "-x", package, new], HOME / "unpack.log")
            new.rename(folder)
    return folder / PINS["u-boot-file"]
