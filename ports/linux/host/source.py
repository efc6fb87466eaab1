# SPDX-License-Identifier: MIT
"""Gets the source of Linux, and makes the copy that the port changes: build/linux/tree, or linux-7."""

import fnmatch
import hashlib
import os
import shutil
import stat
from pathlib import Path

from redzone.core import base, tarball
from redzone.core.base import BUILD, Failure
from redzone.kit import ports

from . import apply

HOME = BUILD / "linux"
# {line of Linux: its tree}. The user's own source takes the place of the first.
TREES = {line: HOME / (f"linux-{line}" if line != apply.LINES[0] else "tree") for line in apply.LINES}
# Megabytes that the tree takes, and the builds of all modes.
ROOM = 6000
# Folders that no configuration of this port reads, a quarter of the source.
LEFT_OUT = (
    *(
        "Documentation/",
        "drivers/gpu/drm/amd/include/",
        "drivers/gpu/drm/nouveau/",
        "tools/testing/selftests/",
    ),
    *(f"arch/{name}/" for name in ("mips", "sh", "sparc", "m68k", "parisc")),
)
# A tree of a Redzone that left out more of Debian's source has no such file, and is made anew.
NEWEST = "arch/loongarch/kernel/setup.c"
# They are read however little of their folder is used.
NEEDED = ("Kconfig", "Makefile", "Kbuild")
# What git and a build in the tree itself leave there. Linux refuses to build such a tree in another folder.
MADE = (".git", ".config", "include/config", "include/generated", "arch/*/include/generated", "*.o", "*.cmd")


def _stamp(tree):
    """Return the file that says which source @tree is a copy of."""
    return tree.with_name(f"{tree.name}.source")


def _debian(line):
    """Return (package, version, path of its tar file) of @line, fetched if necessary."""
    kunit = ports.load("linux-kunit", "source")
    try:
        return kunit.archive(line)
    except kunit.Unavailable as error:
        raise Failure(f"{error}; or give a source tree with --source DIR") from None


def _place(name):
    """Return where the member @name of Linux's tar file belongs in the tree, "" if it is left out."""
    name = name.partition("/")[2]
    return "" if name.startswith(LEFT_OUT) and Path(name).name not in NEEDED else name


def _made(source):
    """Return the function that tells which of the names in a folder of the tree @source match MADE."""

    def ignored(folder, names):
        place = Path(folder).relative_to(source)
        return [
            name for name in names if any(fnmatch.fnmatchcase(str(place / name), pattern) for pattern in MADE)
        ]

    return ignored


def _state(source):
    """Return a digest of names, sizes and times of the files that _copy() copies."""
    made, digest = _made(source), hashlib.sha256()
    for folder, folders, files in os.walk(source):
        left_out = {*made(folder, [*folders, *files])}
        folders[:] = sorted({*folders} - left_out)
        for path in (os.path.join(folder, name) for name in sorted({*files} - left_out)):
            status = os.lstat(path)
            digest.update(os.fsencode(f"{path} {status.st_size} {status.st_mtime_ns}\n"))
    return digest.hexdigest()


def _remove(path):
    """Remove the file, link or folder @path, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _is_same(one, other):
    """Return True if the file or link @other is a copy of @one, by size and time."""
    first, second = one.lstat(), os.lstat(other) if os.path.lexists(other) else None
    if second is None or stat.S_IFMT(first.st_mode) != stat.S_IFMT(second.st_mode):
        return False
    if one.is_symlink():
        return one.readlink() == other.readlink()
    return (first.st_size, first.st_mtime_ns) == (second.st_size, second.st_mtime_ns)


def _update(source, folder, ignored):
    """Make @folder a copy of the folder @source, and write only what differs. @ignored: see _made()."""
    if not folder.is_dir() or folder.is_symlink():
        _remove(folder)
        folder.mkdir(parents=True)
    names = [*os.listdir(source)]
    names = {*names} - {*ignored(source, names)}
    for name in {*os.listdir(folder)} - names:
        _remove(folder / name)
    for name in sorted(names):
        mine, theirs = folder / name, source / name
        if theirs.is_dir() and not theirs.is_symlink():
            _update(theirs, mine, ignored)
        elif not _is_same(theirs, mine):
            _remove(mine)
            shutil.copy2(theirs, mine, follow_symlinks=False)


def _copy(source, folder, is_older):
    """Copy the user's tree @source to @folder. Files keep their times, so make compiles what has changed.
    @is_older: @folder is an older copy of it."""
    try:
        if not is_older:
            shutil.rmtree(folder, ignore_errors=True)
        _update(source, folder, _made(source))
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Failure(f"{source} cannot be copied to {base.relative(folder)}: {error}") from None
    # Both KASANs have a shadow.c: the objects may be of Redzone's.
    for path in (folder / "mm/kasan").glob("*"):
        path.touch()


def _forget_builds(tree):
    """Remove the builds of @tree, which is made anew: files that are older than they were would be stale."""
    for stamp in HOME.glob("*/fragments"):
        # Linux's make leaves a link there.
        if os.path.realpath(stamp.with_name("source")) == os.path.realpath(tree):
            shutil.rmtree(stamp.parent)


def tree(source=None, line=apply.LINES[0]):
    """Return the tree to work on, a copy of the folder @source or of Debian's source of @line of Linux."""
    HOME.mkdir(parents=True, exist_ok=True)
    target = TREES[line]
    file = _stamp(target)
    with base.locked(HOME):
        is_whole = (target / NEWEST).is_file()
        last = file.read_text(encoding="utf-8") if file.is_file() else ""
        if source is None and last.startswith("linux-source") and is_whole:
            return target
        if source is None:
            package, version, archive = _debian(line)
            stamp = f"{package} {version}"
        else:
            apply.Tree(source).version()
            source = Path(source).resolve()
            stamp = f"{source}\n{_state(source)}"
        if last == stamp and (source is not None or is_whole):
            return target
        base.check_room(HOME, megabytes=ROOM)
        base.say(f"copying {source or stamp} to {base.relative(target)}; this takes a minute")
        file.unlink(missing_ok=True)
        is_older = source is not None and last.partition("\n")[0] == str(source)
        if not is_older:
            _forget_builds(target)
        if source is None:
            tarball.unpack(archive, target, _place)
            if archive.parent != Path("/usr/src"):
                archive.unlink()
        else:
            _copy(source, target, is_older)
        file.write_text(stamp, encoding="utf-8")
    return target
