# SPDX-License-Identifier: MIT
"""What a program gets from the host besides files, and gives back: standard input, environment, saved files.

The names are in private files of its boot image (kernel/program/host.c, kernel/libc/save.c). The kernel asks
for standard input when the program does, and not before: the input may never end, and what the program does
not read stays for others. It has no names of files here: it asks for the input, and sends the contents of a
file with its number in the list of those to be saved.
"""

import contextlib
import errno
import os
import shutil
import stat
import struct
import sys
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.core.options import check_output

PRIVATE = ".redzone/"
# What the kernel has room for.
MAX_SAVES = 100
# Bytes of one answer to the kernel.
MAX_INPUT = 1 << 14
# Results of the kernel's save.c, as errors of Linux on arm64, which are the host's as well.
_WHY = {
    2: "the program made no such file",
    16: "the program crashed while it worked on its files",
    20: "a part of the name is a file, not a directory",
    21: "it is a directory",
    22: "it is a device",
    5: "it could not be read",
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
    """Return (path of the file @name of --stdin, None), or (None, a descriptor of it)."""
    path = Path(name).resolve()
    if path.exists():
        return str(path), None
    # A pipe without a name, as a shell's <(command) is one, or a file that is removed already.
    try:
        return None, os.open(name, os.O_RDONLY)
    except OSError as error:
        raise Failure(f"--stdin '{name}' cannot be read: {error.strerror}") from None


def _words(texts):
    """Return @texts with a NUL after each."""
    return b"".join(os.fsencode(text) + b"\0" for text in texts)


def _own_stdin(terminal):
    """Return a descriptor of this command's standard input, None if there is none.

    A terminal gives nothing, unless @terminal: the console shows whole lines only, and a program that waits
    would look as if it hung."""
    try:
        number = sys.stdin.fileno()
        mode = os.fstat(number).st_mode
    except (AttributeError, OSError, ValueError):
        return None
    good = stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or (terminal and os.isatty(number))
    return os.dup(number) if good else None


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

    files: {name in the boot image: bytes}. has_input: there is standard input.
    """

    def __init__(self, options, folder):
        self.files = {}
        self._saves, self._folder = list(options.save), folder
        # {number: file}, and {number: result}, of the files that are saved.
        self._copies, self._results = {}, {}
        # Of standard input: its file's path or None, and its descriptor if it is open.
        self._path, self._input = None, None
        if options.stdin:
            self._path, self._input = _named_stdin(options.stdin)
        # Programs of --each cannot share what can be read only once.
        elif options.own_stdin and not options.separate and (options.files or options.project):
            self._input = _own_stdin(options.console)
        self.has_input = self._path is not None or self._input is not None
        if self.has_input:
            typed = self._input is not None and os.isatty(self._input)
            self._add("stdin", b"terminal" if typed else b"pipe")
        self._env, self._arguments = dict(options.env), list(options.arguments)
        if options.env:
            self._add("environ", _words(f"{name}={value}" for name, value in options.env))
        if self._saves:
            self._add("save", _words(name for name, _ in self._saves))

    def _add(self, name, data):
        self.files[PRIVATE + name] = data

    def add_tests(self, tests):
        """Give each of @tests, testset.Test, what it gets and the other programs do not."""
        for number, test in enumerate(tests, 1):
            self._add(f"arguments.{number}", _words([*test.arguments, *self._arguments]))
            if test.env:
                pairs = {**dict(test.env), **self._env}
                self._add(f"environ.{number}", _words(f"{name}={value}" for name, value in pairs.items()))

    def close(self):
        """Close the files."""
        for file in self._copies.values():
            file.close()
        if self._input is not None:
            os.close(self._input)
        self._copies, self._input = {}, None

    # --- Standard input

    def input_file(self):
        """Return the descriptor of standard input, None if it cannot be opened."""
        if self._input is None and self._path is not None:
            # Without waiting for the writer of a pipe: the kernel may end before there is one.
            with contextlib.suppress(OSError):
                self._input = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
        return self._input

    def read_input(self, request, size):
        """Return the answer to @request for at most @size bytes: what there is, nothing at the end."""
        data, count = b"", -1
        number = self.input_file()
        if number is not None:
            try:
                data = os.read(number, max(0, min(size, MAX_INPUT)))
                count = len(data)
            except OSError:
                pass
        return struct.pack("<Ii", request & 0xFFFFFFFF, count) + data

    def restart_input(self):
        """The next program reads it from its beginning."""
        if self._path is not None and self._input is not None:
            os.close(self._input)
            self._input = None

    # --- Files that are saved

    def save(self, number, data):
        """Take the next bytes of file @number."""
        if not 0 <= number < len(self._saves) or number in self._results:
            return
        try:
            if number not in self._copies:
                self._copies[number] = open(self._copy(number), "wb", buffering=0)  # noqa: SIM115
            self._copies[number].write(data)
        except OSError as error:
            self._results[number] = error

    def saved(self, number, result):
        """File @number is whole if @result is 0; else it is an error."""
        if not 0 <= number < len(self._saves) or number in self._results:
            return
        if not result:
            # An empty file.
            self.save(number, b"")
        self._results.setdefault(number, max(-4095, min(result, 0)))

    def _copy(self, number):
        return self._folder / f"save-{number}"

    def take(self):
        """Copy the saved files to where the user wants them. Return True if all are there; else it has said
        why not."""
        if not self._saves:
            return True
        if not self._results:
            base.say("--save: no file was saved, because the machine stopped before the program's end")
            return False
        good = True
        for number, (name, path) in enumerate(self._saves):
            result = self._results.get(number)
            if result is None:
                why = "its result did not arrive; was the machine stopped?"
            elif isinstance(result, OSError):
                why = f"its copy in '{base.relative(self._folder)}' cannot be written: {result.strerror}"
            elif result:
                why = _WHY.get(-result, os.strerror(-result))
            else:
                why = _copy(self._copy(number), path)
            if why:
                base.say(f"--save {name}: not saved: {why}")
                good = False
        return good
