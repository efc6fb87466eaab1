# SPDX-License-Identifier: MIT
"""The end of a build that failed: one table of the headers and functions that are missing, with the files
that need them."""

import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from redzone.core import base
from redzone.elf.file import File
from redzone.elf.symbols import linkage

# As Clang and GCC say it.
_HEADER = re.compile(r"fatal error: '?([^':]+\.\w+)'?(?: file not found|: No such file or directory)")
_UNDECLARED = re.compile(
    r"(?:call to undeclared (?:library )?function|implicit declaration of function) ['‘](\w+)['’]"
)
_UNDEFINED = re.compile(r"undefined symbol: (\S+)$")
_KINDS = ("header", "function")


@dataclass
class Missing:
    """found: {(kind, name): {file}}; kinds are those of the table."""

    found: dict = field(default_factory=dict)

    def add(self, kind, name, file):
        self.found.setdefault((kind, name), set()).add(file)

    def add_messages(self, lines, file):
        """Take what the compiler's messages @lines about the source @file say."""
        for line in lines:
            for match in _HEADER.finditer(line):
                self.add("header", match[1], file)
            for match in _UNDECLARED.finditer(line):
                self.add("function", match[1], file)

    def rows(self):
        """Return [(kind, name, files)], headers first."""
        order = sorted(self.found, key=lambda key: (_KINDS.index(key[0]), key[1]))
        return [(kind, name, ", ".join(sorted(self.found[kind, name]))) for kind, name in order]

    def show(self):
        """Print the table to stderr; nothing if nothing is missing."""
        rows = self.rows()
        if not rows:
            return
        base.say("missing, and the files that need it:")
        if sys.stderr.isatty():
            table = Table("kind", "name", "files")
            for row in rows:
                table.add_row(*map(escape, row))
            Console(stderr=True).print(table)
            return
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        for kind, name, files in rows:
            print(f"  {kind:{widths[0]}}  {name:{widths[1]}}  {files}", file=sys.stderr, flush=True)


def compiled(step, sources):
    """Return the index of the source that the failed Step @step compiles, or None."""
    try:
        words = shlex.split(step.command)
    except ValueError:
        return None
    if "-c" not in words[:-1]:
        return None
    path = Path(words[words.index("-c") + 1])
    return sources.index(path) if path in sources else None


def undefined_symbols(lines):
    """Return the names that a linker's messages @lines call undefined."""
    return {match[1] for match in map(_UNDEFINED.search, lines) if match}


def names_used(path):
    """Return the names that the object file @path takes from others."""
    return linkage(File.open(path))[1]


def defines(path, name):
    """Return whether the object file @path has the name @name for others."""
    return name in linkage(File.open(path))[0]


def mentions(path, name):
    """Has the source @path the word @name? Then it may define it."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
