# SPDX-License-Identifier: MIT
"""Paths, exit statuses, messages, locks and the error that ends a command: all other modules use these.

Standard library only: `doctor` uses it, and runs before there is a virtual environment.
"""

import contextlib
import fcntl
import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "logs"

# Exit statuses of `./redzone run`. In `test`, OK means that nothing failed, REPORTED that something did.
OK = 0
REPORTED = 1
USAGE = 2
CRASHED = 3
PROGRAM_FAILED = 4
LOCKS_REPORTED = 5


class Failure(Exception):
    """Ends the command: one clear line for the user, and the exit status. table: None, or something with a
    show(), which comes last."""

    table = None

    def __init__(self, message, status=USAGE):
        super().__init__(message)
        self.status = status


def say(text):
    """Tell the user something. Goes to stderr: stdout belongs to the machine's console."""
    print(f"redzone: {text}", file=sys.stderr, flush=True)


# Folders outside the current one, {resolved path: path as the user typed it}.
_typed = {}


def remember_typed(name, folder=False):
    """Note that the user typed the path @name of a file (or @folder). Paths below `../` are then shown that
    way."""
    path = Path(name)
    if path.is_absolute() or ".." not in path.parts:
        return
    if not folder:
        path = path.parent
    if path.is_dir():
        _typed.setdefault(path.resolve(), path)


def relative(path, start=None):
    """Return @path as the user would write it.

    It is relative to @start (default: the current folder) if it lies below that folder or below one that the
    user typed with `..`; otherwise it is unchanged.
    """
    try:
        return str(Path(path).relative_to(start or Path.cwd()))
    except ValueError:
        pass
    for real in sorted(_typed, key=lambda folder: len(folder.parts), reverse=True):
        try:
            return str(_typed[real] / Path(path).relative_to(real))
        except ValueError:
            continue
    return str(path)


def shorten(text):
    """Return the compiler's @text with paths as the user would write them."""
    text = text.replace(f"{Path.cwd()}/", "")
    for real in sorted(_typed, key=lambda folder: len(folder.parts), reverse=True):
        text = text.replace(f"{real}/", f"{_typed[real]}/")
    return text


@contextlib.contextmanager
def locked(folder):
    """Make @folder, below build/, and hold its lock, so that no other command changes the folder
    meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".redzone.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sha256(path):
    """Return the SHA-256 of the file @path, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def version():
    """Return the version of this tree, which include/kasan/version.h states."""
    text = (ROOT / "include" / "kasan" / "version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define REDZONE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE))


def plural(count, noun):
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
