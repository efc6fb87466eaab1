# SPDX-License-Identifier: MIT
"""What a program gets from the host besides files, and gives back: standard input, environment, saved files.

The kernel finds all of it in private files of its boot image (kernel/ulib/host.c, kernel/libc/save.c). It
reads standard input through the emulator when the program asks for it, and not before: the input may never
end, and what the program does not read stays for others.
"""

import errno
import os
import shutil
import stat
import sys
from pathlib import Path

from redzone import base, libc
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
        _check_stdin(options.stdin, options.separate)
    if options.save:
        _check_saves(options)


def _check_stdin(name, separate):
    try:
        mode = os.stat(name).st_mode
        if stat.S_ISDIR(mode):
            raise Failure(f"--stdin '{name}' is a directory, not a file")
        if stat.S_ISFIFO(mode):
            # To open it here and close it again would end its writer.
            if not os.access(name, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            os.close(os.open(name, os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        raise Failure(f"--stdin '{name}' cannot be read: {error.strerror}") from None
    if separate and stat.S_ISFIFO(mode):
        raise Failure(
            f"--stdin '{name}' is a pipe, and --each needs a file: every program reads it from its beginning"
        )


def _check_saves(options):
    if not libc.large(options):
        needs = "--kernel-headers" if options.kernel_headers else "--libc small"
        raise Failure(f"--save does not go with {needs}: with the small library a program writes no files")
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


def _named_stdin(name):
    """Return (path of the file @name of --stdin for the emulator, descriptor that it inherits or None)."""
    path = Path(name).resolve()
    if path.exists():
        return str(path), None
    # A pipe without a name, as a shell's <(command) is one, or a file that is removed already.
    try:
        number = os.open(name, os.O_RDONLY)
    except OSError as error:
        raise Failure(f"--stdin '{name}' cannot be read: {error.strerror}") from None
    return f"/dev/fd/{number}", number


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


def _copy(source, path):
    """Copy the file @source to @path. Return None, or why it cannot be done."""
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe: it stays what it is.
            with open(source, "rb") as file, open(path, "wb") as target:
                shutil.copyfileobj(file, target)
            return None
        # All of it or nothing: what is there already stays until the copy is whole. A link stays a link.
        path = path.resolve()
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            shutil.copyfile(source, new)
            if path.exists():
                shutil.copymode(path, new)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        return f"'{path}' cannot be written: {error.strerror or error}"
    return None


class Host:
    """What one run gives to the kernel and takes from it. @options: job.Options. @folder: of the run.

    files: {name in the boot image: bytes}. inherited: descriptors for the emulator.
    """

    def __init__(self, options, folder):
        self.files, self.inherited = {}, ()
        self._saves, self._folder = list(options.save), folder
        found = None
        if options.stdin:
            found = _named_stdin(options.stdin)
        # Programs of --each cannot share what can be read only once.
        elif options.own_stdin and not options.separate and (options.files or options.project):
            found = _own_stdin(folder)
        if found:
            path, number = found
            self.inherited = () if number is None else (number,)
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
        # The last line may be torn: the machine was stopped, or the disk is full.
        lines = results.read_text(encoding="utf-8").splitlines(keepends=True)
        errors = [-int(line) for line in lines if line.endswith("\n")]
        for number, (name, path) in enumerate(self._saves):
            if number >= len(errors):
                why = "its result did not arrive; is the disk full, or was the machine stopped?"
            elif errors[number]:
                why = _WHY.get(errors[number], os.strerror(errors[number]))
            else:
                why = _copy(self._copy(number), path)
            if why:
                base.say(f"--save {name}: not saved: {why}")
                good = False
        return good
