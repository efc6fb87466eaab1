# SPDX-License-Identifier: MIT
"""Puts Redzone into a tree of Linux in place of its mm/kasan, and takes it out again.

Nothing is edited. The new folder is made complete beside the old one, and then the two change places by two
renames: mm/kasan becomes mm/.kasan-linux, mm/.kasan-redzone becomes mm/kasan. --revert renames them back. A
tree in which only one of the renames has happened has no mm/kasan, and --revert repairs it.
"""

import json
import re
import shutil
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure

from . import names

PORT = Path(__file__).parents[1]
# The lines of Linux whose interface the port is written for, the first without a wish for another.
LINES = ("6.12", "7")
# Files of Linux that stay: the early shadow, and the tests.
KEPT = ("init.c", "kasan_test_c.c", "kasan_test_module.c", "kasan_test_rust.rs")
# Linux's own files that a tree without Redzone has; a tree of another kind is left alone.
OWN = (*KEPT[:2], "Makefile", "kasan.h", "common.c", "report.c", "shadow.c")
MANIFEST = "redzone/manifest.json"
# Parts of the runtime that Linux has itself, that its architectures do not use, or that only programs call;
# and the heaps of systems without an allocator, for which kasan/heaps.c answers.
LEFT_OUT = (
    *("runtime/base/arm_abi.c", "runtime/ubsan/"),
    *("runtime/alloc/heap.c", "runtime/alloc/heap_find.c", "runtime/alloc/page_heap.c"),
    *("runtime/alloc/fifo.c", "runtime/alloc/retrack.c"),
    *("runtime/abi/asan_describe.c", "runtime/abi/asan_facts.c", "runtime/abi/asan_interface.c"),
)


class Tree:
    """A tree of Linux: the three places that its mm/kasan and Redzone's can have."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.here = self.folder / "mm" / "kasan"
        self.saved = self.folder / "mm" / ".kasan-linux"
        self.new = self.folder / "mm" / ".kasan-redzone"

    def version(self):
        """Return the version as in "6.12.117"; raise Failure if the folder is not a tree of Linux."""
        makefile = self.folder / "Makefile"
        text = makefile.read_text(encoding="utf-8", errors="replace") if makefile.is_file() else ""
        found = [re.search(rf"^{key} = (\d+)$", text, re.M) for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
        if not all(found) or not (self.folder / "include/linux/kasan.h").is_file():
            raise Failure(f"{self.folder} is not a source tree of Linux; give the folder with its Makefile")
        return ".".join(match.group(1) for match in found)

    def line(self):
        """Return the one of LINES that the tree is of, None if it is of another."""
        version = self.version()
        return next((line for line in LINES if version.startswith(f"{line}.")), None)

    def is_applied(self):
        """Return whether Redzone is in the tree; raise Failure for a tree in between."""
        applied, saved = (self.here / MANIFEST).is_file(), self.saved.is_dir()
        if applied and saved:
            return True
        if self.here.is_dir() and not applied and not saved:
            return False
        if saved:
            raise Failure(
                f"{self.folder} is half applied: mm/.kasan-linux has Linux's files and mm/kasan is not "
                f"Redzone's; ./redzone port linux --revert {self.folder} puts them back"
            )
        raise Failure(
            f"{self.folder} has no mm/.kasan-linux with Linux's own files; "
            "get mm/kasan from where the tree is from (git checkout mm/kasan)"
        )


def runtime_files():
    """Return [(path of a file, its place in redzone/)]."""
    root = base.ROOT
    files = [*sorted((root / "include/kasan").glob("*.h")), *sorted((root / "runtime").rglob("*.[chS]"))]
    pairs = [(path, str(path.relative_to(root))) for path in files]
    kept = [(path, place) for path, place in pairs if not place.startswith(LEFT_OUT)]
    return [*kept, (root / "LICENSE", "LICENSE")]


def _write(folder):
    """Write all that is Redzone's into the new @folder. All files are new: a build before this may have left
    objects of files with the same names."""
    shutil.copytree(PORT / "kasan", folder, copy_function=shutil.copyfile)
    redzone = folder / "redzone"
    sources = runtime_files()
    for path, place in sources:
        target = redzone / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    code = [path.read_text(encoding="utf-8") for path, place in sources if place.endswith((".c", ".h"))]
    begin, end = names.headers(names.renamed(code))
    (redzone / "names.h").write_text(begin, encoding="utf-8")
    (redzone / "names_end.h").write_text(end, encoding="utf-8")
    objects = [place.removesuffix(".c") + ".o" for _, place in sources if place.endswith(".c")]
    text = "# Made by `./redzone port linux`.\nobj-y := " + " \\\n\t".join(objects) + "\n"
    (redzone / "objects.mk").write_text(text, encoding="utf-8")


def _digests(folder):
    """Return {place: SHA-256} of the files in @folder, without the manifest, what a build has made,
    and Linux's own files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        place = str(path.relative_to(folder))
        if path.is_file() and path.suffix in (".c", ".h", ".mk", "") and place not in KEPT:
            found[place] = base.sha256(path)
    return found


def _stale(tree):
    """Return whether the tree has another state of Redzone than this one would write."""
    _make_new(tree)
    one = json.loads((tree.here / MANIFEST).read_text(encoding="utf-8"))
    other = json.loads((tree.new / MANIFEST).read_text(encoding="utf-8"))
    return one["files"] != other["files"]


def _make_new(tree):
    """Fill the folder `new` beside mm/kasan."""
    shutil.rmtree(tree.new, ignore_errors=True)
    _write(tree.new)
    own = tree.saved if tree.saved.is_dir() else tree.here
    for name in KEPT:
        if (own / name).is_file():
            shutil.copyfile(own / name, tree.new / name)
    manifest = {"linux": tree.version(), "files": _digests(tree.new)}
    (tree.new / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _check_edits(tree):
    """Raise Failure if somebody has changed Redzone's files in the tree: they would be lost. Return whether
    files are missing."""
    wanted = json.loads((tree.here / MANIFEST).read_text(encoding="utf-8"))["files"]
    there = {place: tree.here / place for place in wanted if (tree.here / place).is_file()}
    for place, path in there.items():
        if base.sha256(path) != wanted[place]:
            raise Failure(
                f"{path} was changed after --apply; save it elsewhere and remove it, then try again"
            )
    return len(there) < len(wanted)


def _update(tree):
    """Write the files that differ into mm/kasan of a tree that has Redzone: make then compiles only those."""
    new = {str(path.relative_to(tree.new)) for path in tree.new.rglob("*") if path.is_file()}
    old = {*json.loads((tree.here / MANIFEST).read_text(encoding="utf-8"))["files"]}
    for place in sorted(new):
        source, target = tree.new / place, tree.here / place
        if place != MANIFEST and target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)
    for place in old - new:
        (tree.here / place).unlink(missing_ok=True)
    shutil.rmtree(tree.new)


def apply(folder):
    """Put Redzone into the tree in @folder, or bring it up to date there. Returns lines that say what was
    done."""
    tree = Tree(folder)
    version = tree.version()
    if not tree.line():
        raise Failure(
            f"{folder} is Linux {version}; this port is for Linux {' and '.join(LINES)}, so get such a tree"
        )
    if tree.is_applied():
        incomplete = _check_edits(tree)
        # In this order: _update() takes the files that _stale() has made.
        if not _stale(tree) and not incomplete:
            shutil.rmtree(tree.new)
            return [f"{folder}: Redzone is in Linux {version} already; nothing is changed"]
        _update(tree)
        return [f"{folder}: Redzone in Linux {version} is brought up to date"]
    missing = [name for name in OWN if not (tree.here / name).is_file()]
    if missing:
        raise Failure(
            f"{tree.here} has no {missing[0]}, so it is not Linux's; get it from where the tree is from"
        )
    _make_new(tree)
    tree.here.rename(tree.saved)
    tree.new.rename(tree.here)
    kept = [name for name in KEPT if (tree.here / name).is_file()]
    return [
        f"{folder}: Redzone is in Linux {version}, in place of mm/kasan; no other file is changed",
        f"  Linux's own   mm/kasan is mm/.kasan-linux now; {', '.join(kept)} are used from there",
        f"  Redzone       mm/kasan, {base.plural(len(_digests(tree.here)), 'file')}, MIT licence",
        f"  undo          ./redzone port linux --revert {folder}",
    ]


def revert(folder):
    """Take Redzone out of the tree in @folder. Returns lines that say what was done."""
    tree = Tree(folder)
    version = tree.version()
    if not tree.saved.is_dir():
        if not tree.is_applied():
            shutil.rmtree(tree.new, ignore_errors=True)
            return [f"{folder}: Redzone is not in this tree; nothing is changed"]
    elif tree.here.is_dir():
        if not (tree.here / MANIFEST).is_file():
            raise Failure(
                f"{tree.here} is not Redzone's, and {tree.saved} has Linux's; remove the one that is wrong"
            )
        _check_edits(tree)
        shutil.rmtree(tree.new, ignore_errors=True)
        tree.here.rename(tree.new)
    # As in apply(): objects in the build folder may be of Redzone's files of the same names.
    for path in tree.saved.iterdir():
        path.touch()
    tree.saved.rename(tree.here)
    shutil.rmtree(tree.new, ignore_errors=True)
    return [f"{folder}: Linux {version} has its own mm/kasan again, and nothing of Redzone"]
