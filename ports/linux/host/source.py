# SPDX-License-Identifier: MIT
"""Gets the source of Linux, and makes the copy that the port changes: build/linux/tree."""

import shutil
import subprocess
from pathlib import Path

from redzone.core import base, tarball
from redzone.core.base import BUILD, Failure
from redzone.kit import ports

from . import apply

HOME = BUILD / "linux"
TREE = HOME / "tree"
# Which source the tree is a copy of.
STAMP = HOME / "tree.source"
# Megabytes that the tree takes, and the builds of all modes.
ROOM = 6000
# Folders that no configuration of this port reads, a third of the source.
LEFT_OUT = (
    *(
        "Documentation/",
        "drivers/gpu/drm/amd/include/",
        "drivers/gpu/drm/nouveau/",
        "tools/testing/selftests/",
    ),
    *(f"arch/{name}/" for name in ("mips", "powerpc", "s390", "sh", "sparc", "m68k", "parisc", "loongarch")),
)
# A tree of a Redzone that left out more of Debian's source has no such file, and is made anew.
NEWEST = TREE / "arch/riscv/kernel/setup.c"
# They are read however little of their folder is used.
NEEDED = ("Kconfig", "Makefile", "Kbuild")


def _debian():
    """Return (package, version, path of its tar file), fetched if necessary."""
    kunit = ports.load("linux-kunit", "source")
    try:
        return kunit.archive(apply.LINE)
    except kunit.Unavailable as error:
        raise Failure(f"{error}; or give a source tree with --source DIR") from None


def _place(name):
    """Return where the member @name of Linux's tar file belongs in the tree, "" if it is left out."""
    name = name.partition("/")[2]
    return "" if name.startswith(LEFT_OUT) and Path(name).name not in NEEDED else name


def _copy(source, folder):
    """Copy the user's tree @source to the new @folder, without its history."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = 'tar -C "$1" --exclude=./.git -cf - . | tar -C "$2" -xf -'
    if subprocess.run(["sh", "-c", command, "sh", str(source), str(folder)], check=False).returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise Failure(f"{source} cannot be copied to {base.relative(folder)}")


def tree(source=None):
    """Return the tree to work on, a copy of the folder @source or of Debian's source of Linux."""
    HOME.mkdir(parents=True, exist_ok=True)
    with base.locked(HOME):
        if (
            source is None
            and STAMP.is_file()
            and STAMP.read_text(encoding="utf-8").startswith("linux-source")
            and NEWEST.is_file()
        ):
            return TREE
        if source is None:
            package, version, archive = _debian()
            stamp = f"{package} {version}"
        else:
            apply.Tree(source).version()
            stamp = str(Path(source).resolve())
        whole = source is not None or NEWEST.is_file()
        if whole and STAMP.is_file() and STAMP.read_text(encoding="utf-8") == stamp:
            return TREE
        base.check_room(HOME, megabytes=ROOM)
        base.say(f"copying {stamp} to {base.relative(TREE)}; this takes a minute")
        STAMP.unlink(missing_ok=True)
        if source is None:
            tarball.unpack(archive, TREE, _place)
            if archive.parent != Path("/usr/src"):
                archive.unlink()
        else:
            _copy(source, TREE)
        STAMP.write_text(stamp, encoding="utf-8")
    return TREE
