# SPDX-License-Identifier: MIT
"""Chooses places for bugs in a library by a seed, and makes the files that have them.

A pick is a kind (bound or lifetime, in turn), then a rule, then a place, each with equal chance: so rare
rules come up as often as common ones. Only code that the library's tests execute is chosen.
"""

import os
import random
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from redzone.testing.mutation import native, places

# Folders of a library that hold tests and what only tests use.
_TESTS = frozenset(("test", "tests", "testing", "unittest", "unity", "examples", "fuzz", "fuzzing"))
_SUFFIXES = (".c", ".inc")


@dataclass(frozen=True)
class Pick:
    """A bug to plant. @file: below the library's folder. @case: the native.Case that executes it. @unit: the
    file of it that is compiled, @file itself or one that includes it, below the same folder.
    """

    case: native.Case
    file: str
    unit: str
    place: places.Place

    @property
    def title(self):
        return f"{self.file}:{self.place.line}"


def is_code(path):
    """May a bug be planted in @path, a Path below the library's folder?"""
    return path.suffix in _SUFFIXES and not _TESTS & {part.lower() for part in path.parts[:-1]}


def candidates(library, covered, used):
    """Return the Picks that are possible in @library.

    covered: {Case: {resolved path: native.Coverage}}. used: {Case: {unit: files it is made of}}. A file that
    is compiled into more than one object of a case is left out there.
    """
    root = library.root.resolve()
    sources = {path.resolve() for case in covered for path in case.sources}
    found, executed = {}, {}
    for case, files in covered.items():
        executed[case] = []
        for path, coverage in files.items():
            if not path.is_relative_to(root) or not is_code(path.relative_to(root)) or path in sources:
                continue
            units = [unit.resolve() for unit, parts in used[case].items() if path in parts]
            # The tree of a mutant has the library's own files only.
            if len(units) != 1 or not units[0].is_relative_to(root):
                continue
            if path not in found:
                found[path] = places.find(path.read_bytes())
            for place in found[path]:
                if coverage.count(place.line, place.column):
                    name = str(path.relative_to(root))
                    unit = str(units[0].relative_to(root))
                    executed[case].append(Pick(case, name, unit, place))
    # Few test programs, and those that execute the most: each costs a kernel of its own.
    picks = {}
    for case in sorted(executed, key=lambda case: len(executed[case]), reverse=True):
        for pick in executed[case]:
            picks.setdefault((pick.file, pick.place), pick)
    return sorted(picks.values(), key=lambda pick: (pick.file, pick.place))


def sequence(picks, seed):
    """Yield all of @picks in the order that @seed, a text, makes."""
    chance = random.Random(seed)
    left = {}
    for pick in picks:
        left.setdefault(pick.place.kind, {}).setdefault(pick.place.rule, []).append(pick)
    kinds = [kind for kind in (places.BOUND, places.LIFETIME) if kind in left]
    while kinds:
        for kind in list(kinds):
            rules = left[kind]
            rule = chance.choice(sorted(rules))
            yield rules[rule].pop(chance.randrange(len(rules[rule])))
            if not rules[rule]:
                del rules[rule]
            if not rules:
                kinds.remove(kind)


def plant(pick, files, tree, broken=True):
    """Make the folder @tree: links to those of @files that lie in the library, and the one with the bug.

    @files: what the unit of @pick is made of, as resolved paths. @broken: else there is no bug. Return the
    path of the unit in it.
    """
    root = pick.case.library.root.resolve()
    shutil.rmtree(tree, ignore_errors=True)
    for path in files:
        if path.is_relative_to(root):
            link = tree / path.relative_to(root)
            link.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, link)
    if broken:
        changed = tree / pick.file
        source = changed.read_bytes()
        # A link is the library's own file: remove it before the write.
        changed.unlink()
        changed.write_bytes(pick.place.apply(source))
    # Names like `tests/../cJSON.c` need the folder that they lead through.
    for name in {str(Path(name).parent) for name in (pick.unit, pick.file)}:
        (tree / name).mkdir(parents=True, exist_ok=True)
    return tree / pick.unit


def below(path, pick, tree):
    """Return @path, in the tree of a mutant or in the library, as the library's own name; None elsewhere."""
    for root in (tree, pick.case.library.root, Path(native.TOP)):
        text = re.sub(r"/[^/.]+/\.\./", "/", str(path))
        if text.startswith(f"{root}/"):
            return text.removeprefix(f"{root}/")
    return None
