# SPDX-License-Identifier: MIT
"""Which headers a program's files include, by the compiler's own lists, and which could come before one of
them.

Ninja compiles a file again if a header of its has changed. It does not notice a new header that comes before
one of the same name, in the order of -I: builder.py asks this module for those.
"""

import os
import re
from pathlib import Path

from redzone.core import process
from redzone.core.base import BUILD, ROOT

_ENTRY = re.compile(r"^\S.*: #deps \d+, deps mtime \d+ \((?:VALID|STALE)\)$")
# Folders whose files do not change while one works; those of the tree change by hand only, and Ninja sees
# that.
_SYSTEM = ("/usr/", f"{BUILD}/", f"{ROOT}/kernel/", f"{ROOT}/include/", f"{ROOT}/runtime/")
# Folders in a header's name, as <a/b/c.h> has two.
_DEPTH = 4


def included(folder, programs):
    """Return the Paths of all files that the objects of @programs were made of, as the last build in the
    build folder @folder has noted them."""
    sources = {str(source) for program in programs for source in (*program.sources, *program.library)}
    if not sources or not (folder / ".ninja_deps").exists():
        return set()
    listed = process.run(["ninja", "-C", str(folder), "-t", "deps"])
    found, files = set(), []

    def end():
        # The folder also has the objects of earlier programs.
        if not sources.isdisjoint(files):
            found.update(files)

    # There are 20,000 lines, most of them plain paths of objects that are not asked for.
    for line in listed.stdout.splitlines():
        if line.startswith("    "):
            path = line[4:]
            plain = path[0] == "/" and "/." not in path and "//" not in path
            files.append(path if plain else os.path.normpath(f"{folder}/{path}"))
        elif _ENTRY.match(line):
            end()
            files = []
    end()
    return {Path(file) for file in found}


def users(paths):
    """Return those of @paths that a user may change: not those of the kernel and of the C library."""
    return {path for path in paths if not str(path).startswith(_SYSTEM)}


def rivals(paths, folders):
    """Return, sorted, the files that exist in @folders, or in the folders of the user's files among @paths,
    under a name by which one of @paths may have been included: <sys/x.h> as x.h or sys/x.h."""
    places = {*map(str, folders), *(str(path.parent) for path in users(paths))}
    names = {}
    for path in paths:
        if path.suffix != ".c":
            for depth in range(1, _DEPTH + 1):
                parts = path.parts[-depth:]
                names.setdefault(parts[0], set()).add("/".join(parts))
    found = set()
    for place in places:
        try:
            there = names.keys() & set(os.listdir(place))
        except OSError:
            continue
        found |= {
            f"{place}/{name}" for first in there for name in names[first] if os.path.isfile(f"{place}/{name}")
        }
    return sorted(found)


def folders(program):
    """Return the folders in which a Program's files look for headers, besides their own."""
    found = [str(path) for path in program.includes]
    lists = [program.cflags, *program.file_options.values()]
    for words in lists:
        for at, word in enumerate(words):
            for option in ("-I", "-isystem", "-iquote", "-idirafter"):
                if word == option:
                    found += words[at + 1 : at + 2]
                elif word.startswith(option):
                    found.append(word.removeprefix(option))
    return found
