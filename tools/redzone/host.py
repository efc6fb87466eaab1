# SPDX-License-Identifier: MIT
"""What a program gets from the host besides files, and gives back: standard input, environment, saved files.

The kernel finds all of it in private files of its boot image (kernel/ulib/host.c, kernel/libc/save.c). It
reads standard input through the emulator when the program asks for it, and not before: the input may never
end, and what the program does not read stays for others.
"""

import os
import shutil
import stat
import sys
from pathlib import Path

from redzone import base
from redzone.base import Failure
from redzone.options import check_output

PRIVATE = ".redzone/"
# What the kernel has room for.
MAX_SAVES = 100
# Results of the kernel's save.c, as errors of Linux on arm64, which are the host's as well.
_WHY = {
    2: "the program made no such file",
    16: "the program crashed while it worked on its files",
    20: "a part of the name is a file, not a directory",
    21: "it is a directory",
    22: "it is a device",
    5: "the emulator could not write it",
}


def check(options):
    """Raise Failure if something is wrong with --file, --stdin, --env or --save of the job.Options."""
    for name, _ in options.data:
        if name.removeprefix("./").lstrip("/").startswith(PRIVATE):
            raise Failure(f"--file '{name}': names in {PRIVATE} are taken")
    names = [name for name, _ in options.env]
    for name in names:
        if names.count(name) > 1:
            raise Failure(f"--env names '{name}' twice")
    if not (options.stdin or options.env or options.save):
        return
    if not (options.files or options.project):
        raise Failure("--stdin, --env and --save need files: a program that uses them")
    if options.stdin:
        _check_stdin(options.stdin)
    if options.save:
        _check_saves(options)


def _check_stdin(name):
    path = Path(name)
    if path.is_dir():
        raise Failure(f"--stdin '{name}' is a directory, not a file")
    try:
        # A pipe would wait for its writer.
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        raise Failure(f"--stdin '{name}' cannot be read: {error.strerror}") from None


def _check_saves(options):
    if options.libc != "musl":
        raise Failure("--save needs --libc musl: with the small library a program writes no files")
    if options.separate:
        raise Failure("--save does not go with --each: every program has files of its own")
    if len(options.save) > MAX_SAVES:
        raise Failure(f"{len(options.save)} times --save; at most {MAX_SAVES} are possible")
    names, paths = set(), set()
    for name, path in options.save:
        check_output("--save", path)
        if name in names:
            raise Failure(f"--save names '{name}' twice")
        if path.absolute() in paths:
            raise Failure(f"--save names the host's file '{path}' twice")
        names.add(name)
        paths.add(path.absolute())


def _own_stdin(folder):
    """Return (path of this command's standard input for the emulator, descriptor that it inherits or None);
    None if there is none.

    A terminal gives nothing: the console shows whole lines only, and a program that waits would look as if it
    hung. @folder gets a copy of what cannot be opened again: a file that is partly read, a pipe with a name.
    """
    try:
        number = sys.stdin.fileno()
        mode = os.fstat(number).st_mode
        target = os.readlink(f"/proc/self/fd/{number}")
    except (AttributeError, OSError, ValueError):
        return None
    if stat.S_ISREG(mode) and os.lseek(number, 0, os.SEEK_CUR) == 0 and Path(target).exists():
        return target, None
    if stat.S_ISFIFO(mode) and target.startswith("pipe:"):
        # The emulator has another standard input.
        number = os.dup(number)
        return f"/dev/fd/{number}", number
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return None
    copy = folder / "stdin"
    with open(number, "rb", closefd=False) as source, open(copy, "wb") as file:
        shutil.copyfileobj(source, file)
    return str(copy), None


class Host:
    """What one run gives to the kernel and takes from it. @options: job.Options. @folder: of the run.

    files: {name in the boot image: bytes}. inherited: descriptors for the emulator.
    """

    def __init__(self, options, folder):
        self.files, self.inherited = {}, ()
        self._saves, self._folder = list(options.save), folder
        if options.stdin:
            path = str(Path(options.stdin).resolve())
        # Programs of --each cannot share what can be read only once.
        elif options.separate or not (options.own_stdin and (options.files or options.project)):
            path = None
        else:
            path, number = _own_stdin(folder) or (None, None)
            self.inherited = () if number is None else (number,)
        if path is not None:
            self._add("stdin", os.fsencode(path))
        if options.env:
            entries = [f"{name}={value}" for name, value in options.env]
            self._add("environ", b"".join(os.fsencode(entry) + b"\0" for entry in entries))
        if self._saves:
            pairs = [(name, self._copy(number)) for number, (name, _) in enumerate(self._saves)]
            pairs.append(("", folder / "saved"))
            words = [os.fsencode(word) for pair in pairs for word in pair]
            self._add("save", b"".join(word + b"\0" for word in words))

    def _add(self, name, data):
        self.files[PRIVATE + name] = data

    def _copy(self, number):
        return self._folder / f"save-{number}"

    def take(self):
        """Copy the saved files to where the user wants them. Return True if all are there; else it has said
        why not."""
        if not self._saves:
            return True
        results = self._folder / "saved"
        if not results.exists():
            base.say("--save: no file was saved, because the machine stopped before the program's end")
            return False
        good = True
        errors = [-int(word) for word in results.read_text(encoding="utf-8").split()]
        for number, (error, (name, path)) in enumerate(zip(errors, self._saves, strict=True)):
            if error:
                base.say(f"--save {name}: not saved: {_WHY.get(error, os.strerror(error))}")
                good = False
                continue
            try:
                shutil.copyfile(self._copy(number), path)
            except OSError as why:
                base.say(f"--save {name}: '{path}' cannot be written: {why.strerror}")
                good = False
        return good
