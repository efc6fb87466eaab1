# SPDX-License-Identifier: MIT
"""Paths, exit statuses, messages, locks and the error that ends a command: all other modules use these.

Standard library only: `doctor` uses it, and runs before there is a virtual environment.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
import time
from pathlib import Path

# Installed from a wheel, the package has the files of the tree that the verbs below need (pyproject.toml).
_TREE = Path(__file__).resolve().parent.parent / "tree"
INSTALLED = _TREE.is_dir()
ROOT = _TREE if INSTALLED else Path(__file__).resolve().parents[3]
# How the user calls the command.
COMMAND = "redzone" if INSTALLED else "./redzone"
# Where everything goes that a command makes, for trees that the user cannot write to.
PLACE = "REDZONE_BUILD"
if os.environ.get(PLACE):
    # Absolute for the commands that this one starts in other folders.
    os.environ[PLACE] = os.path.abspath(os.environ[PLACE])


# What is kept for all trees of a user. Not absolute if the user has no home.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "redzone"
# Installed packages build here, each in a folder of its own.
INSTALLATIONS = CACHE / "installed"


def _installation():
    """Return the name of this installation's folder. CMake writes the package's path into what it makes, and
    an update may bring files that are older than the objects of the last version."""
    key = hashlib.sha256(os.fsencode(ROOT))
    for record in sorted(ROOT.parent.parent.glob("redzone-*.dist-info/RECORD")):
        key.update(record.read_bytes())
    return f"{version()}-{key.hexdigest()[:8]}"


def version():
    """Return the version of this tree, which include/kasan/version.h states."""
    text = (ROOT / "include" / "kasan" / "version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define REDZONE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE))


BUILD = Path(os.environ.get(PLACE) or (INSTALLATIONS / _installation() if INSTALLED else ROOT / "build"))
# Downloads go here: a tree has its own, and all installed versions share one place.
DOWNLOADS = CACHE if INSTALLED and not os.environ.get(PLACE) else BUILD
# Objects that a wheel brings along (build/prebuilt.py), and what their debug information calls the tree.
PREBUILT = ROOT / "prebuilt"
PREBUILT_TREE = "/redzone.tree"
VENV = BUILD / "venv" if os.environ.get(PLACE) else ROOT / ".venv"
LOGS = BUILD / "logs"


def kernel_value(name):
    """Return the number that kernel/config.cmake sets for the reference kernel and for the tools."""
    return int(re.search(rf"^set\(REDZONE_{name} (\d+)\)", _CONFIG, re.MULTILINE)[1])


# Exit statuses of `./redzone run`. In `test`, OK means that nothing failed, REPORTED that something did.
_CONFIG = (ROOT / "kernel" / "config.cmake").read_text(encoding="utf-8")
OK, REPORTED, CRASHED, PROGRAM_FAILED, LOCKS_REPORTED = (
    kernel_value(f"EXIT_{name}") for name in ("OK", "KASAN", "CRASH", "PROGRAM", "LOCKDEP")
)
USAGE = 2
INTERRUPTED = 130


class Failure(Exception):
    """Ends the command: one clear line for the user, and the exit status. table: None, or something with a
    show(), which comes last."""

    table = None

    def __init__(self, message, status=USAGE):
        super().__init__(message)
        self.status = status


def called(text):
    """Return @text, which may name this command, as the user calls it."""
    text = text.replace("./redzone", COMMAND)
    return text.replace("docs/use/", f"{ROOT}/docs/use/") if INSTALLED else text


def say(text, fold=False):
    """Tell the user something. Goes to stderr: stdout belongs to the machine's console.

    @fold: break the line between words if it is too long for the terminal; elsewhere it stays one line."""
    text = f"redzone: {called(text)}"
    if fold and sys.stderr.isatty():
        margin = " " * (len(text) - len(text[9:].lstrip()) + 2)
        width = shutil.get_terminal_size().columns
        words = {"break_long_words": False, "break_on_hyphens": False}
        text = "\n".join(textwrap.wrap(text, width, subsequent_indent=margin, **words))
    print(text, file=sys.stderr, flush=True)


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


def placed(path):
    """Return the file @path of debug information as this machine has it, if it names a file of the tree from
    which a wheel's objects were made."""
    if not path.startswith(f"{PREBUILT_TREE}/"):
        return path
    below = path[len(PREBUILT_TREE) + 1 :]
    return str(BUILD / below[6:] if below.startswith("build/") else ROOT / below)


def shorten(text):
    """Return the compiler's @text with paths as the user would write them."""
    text = text.replace(f"{Path.cwd()}/", "")
    for real in sorted(_typed, key=lambda folder: len(folder.parts), reverse=True):
        text = text.replace(f"{real}/", f"{_typed[real]}/")
    return text


def refused(error):
    """Return a line for the user about the OSError @error if it means that the tree cannot be written;
    else None."""
    if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS) or not error.filename:
        return None
    path = Path(os.path.abspath(error.filename))
    if path != VENV.parent and not any(path.is_relative_to(folder) for folder in (BUILD, VENV)):
        return None
    return (
        f"'{relative(path)}' cannot be written: {error.strerror}. {PLACE}=DIR chooses another folder for all "
        f"that Redzone makes, as in {PLACE}=~/redzone-build ./redzone run"
    )


_FULL = (errno.ENOSPC, errno.EDQUOT)
_SAYS_FULL = re.compile(r"(?i)no space left on device|disk quota exceeded")


class DiskFull(Failure):
    """There is no room on the disk of the path @path. Whatever failed for it is not to be remembered."""

    def __init__(self, path):
        super().__init__(f"the disk is full: no space left for '{relative(path)}'")


def _nearest(folder):
    """Return @folder, or the nearest folder above it that exists."""
    folder = Path(folder)
    while not folder.is_dir():
        folder = folder.parent
    return folder


def _free(folder):
    """Return the bytes that the disk of @folder has left."""
    return shutil.disk_usage(_nearest(folder)).free


def _disk(folder):
    return _nearest(folder).stat().st_dev


def _fuller(folder):
    """Return @folder, or the folder of temporary files if that is on another disk, with less left.

    On one disk the two differ only in what others have written between two looks."""
    temporary = tempfile.gettempdir()
    elsewhere = _disk(temporary) != _disk(folder)
    return temporary if elsewhere and _free(temporary) < _free(folder) else folder


def check_room(folder, cause="", megabytes=1):
    """Raise DiskFull if something failed because no space is left: the text or OSError @cause says so, or the
    disk of @folder has less than @megabytes left.

    The disk may be that of temporary files, which compilers and package tools write."""
    if isinstance(cause, OSError):
        if cause.errno in _FULL:
            raise DiskFull(cause.filename or _fuller(folder)) from None
    elif _SAYS_FULL.search(cause):
        raise DiskFull(_fuller(folder))
    if _free(folder) < megabytes << 20:
        raise DiskFull(folder)


def explain(error):
    """Return a line for the user about the OSError @error."""
    if error.errno in _FULL:
        return str(DiskFull(error.filename or _fuller(BUILD)))
    where = f" '{error.filename}'" if error.filename else ""
    return refused(error) or f"{error.strerror or error}{where}"


# Seconds after which one who waits for a lock says so.
_PATIENCE = 1.0


def _is_at(file, path):
    """Is the open @file still the one at @path?"""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def lock(path, wait=True):
    """Lock the file @path, which says who holds it, and return it open: closing it releases the lock. Return
    None if another has it, and not @wait. Its folder is made if it is not there."""
    while True:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = _locked_file(path, wait)
        # The command that had the lock may have removed the folder (`clean`).
        if file is None or _is_at(file, path):
            break
        file.close()
    if file is not None:
        file.truncate(0)
        file.write(f"{os.getpid()} {shlex.join(['./redzone', *sys.argv[1:]])[:200]}\n")
        file.flush()
    return file


def _locked_file(path, wait):
    """Return the file @path, open and locked, or None if another has it, and not @wait."""
    file = open(path, "a+", encoding="utf-8", errors="replace")  # noqa: SIM115 (open, it is the lock)
    started = time.monotonic()
    told = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if told else fcntl.LOCK_NB))
            return file
        except BlockingIOError:
            if not wait:
                file.close()
                return None
        if time.monotonic() - started < _PATIENCE:
            time.sleep(0.05)
            continue
        told = True
        file.seek(0)
        number, _, command = file.read().strip().partition(" ")
        # A thread of this command waits for another one: that is not worth a word.
        if number != str(os.getpid()):
            who = f"process {number} ({command})" if number else "another command"
            say(f"waiting for {who}, which uses {relative(Path(path).parent)}", fold=True)


LOCK = ".redzone.lock"


@contextlib.contextmanager
def locked(folder):
    """Make @folder, below build/, and hold its lock, so that no other command changes the folder
    meanwhile."""
    with lock(folder / LOCK):
        yield


@contextlib.contextmanager
def scratch(prefix=""):
    """Make a folder below build/runs that is this command's alone, and remove it at the end. Those of
    commands that were killed are removed now."""
    runs = BUILD / "runs"
    with locked(runs):
        for left in filter(Path.is_dir, runs.iterdir()):
            if held := lock(left / LOCK, wait=False):
                shutil.rmtree(left, ignore_errors=True)
                held.close()
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=runs))
        held = lock(folder / LOCK)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        held.close()


def sha256(path):
    """Return the SHA-256 of the file @path, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plural(count, noun, at_least=False):
    text = f"{count} {noun}" if count == 1 else f"{count} {noun}s"
    return f"{text} or more" if at_least else text
