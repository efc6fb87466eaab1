# SPDX-License-Identifier: MIT
"""Public C libraries that run in the kernel as they were published: what of them runs, what must come out.

A library is one source archive of a package registry, in one version with one checksum, fetched at the first
use into build/libraries (registries.py). No line of it is changed, and nothing of it is in this
repository. To add one, add a Library to the table in catalogue.py; suites/libraries.py does the
rest.
"""

import itertools
import re
import shutil
from dataclasses import dataclass, field

from redzone.core import base, process
from redzone.core.base import BUILD, ROOT, Failure
from redzone.libraries.registries import Unavailable

__all__ = ["Library", "Program", "Unavailable", "judge"]

FOLDER = BUILD / "libraries"
# Programs for libraries that have no test program of their own.
OWN = ROOT / "tests" / "libraries"


@dataclass(frozen=True)
class Program:
    """One `./redzone run`.

    sources, library, includes: below the library's folder; "NAME:PATH" is below that of another Library,
    which this one uses. own: sources in tests/libraries. each: every source is a program of its own, and all
    get what they use of @library; else it is one program. files: {name in the program: path of --file}.
    options: more options of `./redzone run`.

    The program must return 0, without a report. count: a regular expression for lines of the output. The sum
    of the numbers in its group, or the number of lines that match if it has no group, must be @tests. says:
    texts that must be in the output. host: the output must also be the same, line by line, as that of a
    native build on this machine; @host_options are the compiler's, for that build only. planted: the suite
    mutations may plant bugs in what it executes.
    """

    name: str
    sources: tuple = ()
    own: tuple = ()
    library: tuple = ()
    includes: tuple = ()
    options: tuple = ()
    arguments: tuple = ()
    files: dict = field(default_factory=dict)
    each: bool = False
    count: str = ""
    tests: int = 0
    says: tuple = ()
    host: bool = False
    host_options: tuple = ()
    planted: bool = True


@dataclass(frozen=True)
class Library:
    """source: where it comes from, as redzone/libraries/registries.py has it. uses: other Libraries of which
    programs take files.

    headers: {name: text}: what the library's configure script would write. They come into a
    folder that is looked at first.
    """

    name: str
    source: object
    programs: tuple = ()
    headers: dict = field(default_factory=dict)
    uses: tuple = ()

    @property
    def folder(self):
        return FOLDER / self.name

    @property
    def root(self):
        return self.source.root(self.folder)

    @property
    def made(self):
        return self.folder / "made"

    def path(self, name):
        """Return the Path of @name, a file below the library's folder or, as NAME:PATH, that of another."""
        of, colon, rest = name.partition(":")
        if not colon:
            return self.root / name
        return next(used for used in self.uses if used.name == of).root / rest

    def fetch(self, yes=False):
        """Fetch the sources unless they are there, and write the headers. yes: what fetching them takes may
        be installed. Raise Unavailable."""
        for used in self.uses:
            used.fetch(yes)
        with base.locked(self.folder):
            self.source.fetch(self.folder, yes)
            for name, text in self.headers.items():
                (self.made / name).parent.mkdir(parents=True, exist_ok=True)
                (self.made / name).write_text(text, encoding="utf-8")

    def sources(self, program):
        """Return the Paths of the sources of @program, without those of the library that it tests."""
        return [*(OWN / name for name in program.own), *(self.path(name) for name in program.sources)]

    def compile_options(self, program):
        """Return the options for headers and macros, which both `./redzone run` and a compiler take."""
        made = [library.made for library in (self, *self.uses) if library.headers]
        folders = [*made, *(self.path(name) for name in program.includes)]
        return [part for folder in folders for part in ("-I", str(folder))]

    def command(self, program):
        """Return the arguments of `./redzone run` for @program, without those that choose the kernel."""
        sources = [str(path) for path in self.sources(program)]
        library = [str(self.path(name)) for name in program.library]
        if program.each:
            parts = ["--each", *sources, *(part for name in library for part in ("--library", name))]
        else:
            parts = [*sources, *library]
        files = [f"--file={name}={self.path(path)}" for name, path in program.files.items()]
        after = ["--", *program.arguments] if program.arguments else []
        return [*parts, *self.compile_options(program), *program.options, *files, *after]

    def _host_program(self, program, source, folder, compiler, options):
        """Compile the native program of @source, or of all sources if it is None. Return its path."""
        sources = self.sources(program) if source is None else (source,)
        target = folder / (source.stem if source else program.name)
        macros = [
            part
            for option, value in zip(program.options, program.options[1:], strict=False)
            if option == "-D"
            for part in ("-D", value)
        ]
        code = [str(path) for path in (*sources, *(self.path(name) for name in program.library))]
        status, output = process.call(
            [
                *(*compiler, "-w", "-O1", *options, *macros, *self.compile_options(program)),
                *(*program.host_options, *code, "-lm", "-lpthread", "-o", str(target)),
            ]
        )
        if status != 0:
            raise Failure(f"the native build of {self.name} failed: {process.last_line(output)}")
        return target

    def host_output(self, program, folder, compiler=("gcc",), options=()):
        """Build @program natively into @folder with @compiler, run it where its files are; return its lines.

        Raise Failure if it does not compile or does not return 0.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in program.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.path(path), folder / name)
        lines = []
        for source in self.sources(program) if program.each else (None,):
            binary = self._host_program(program, source, folder, compiler, options)
            status, output = process.call([str(binary), *program.arguments], cwd=folder)
            if status != 0:
                raise Failure(f"the native {binary.name} of {self.name} returned {status}")
            lines += output.splitlines()
        return lines


def judge(program, lines, host_lines=None):
    """Return what is wrong with the output @lines of @program, which returned 0, as a list of texts.

    host_lines: the output of the native build, if there is one.
    """
    text = "\n".join(lines)
    wrong = []
    if program.count:
        pattern = re.compile(program.count, re.MULTILINE)
        found = pattern.findall(text)
        counted = sum(map(int, found)) if pattern.groups else len(found)
        if counted != program.tests:
            wrong.append(f"{counted} tests, expected {program.tests}")
    wrong += [f"it did not say '{said}'" for said in program.says if said not in text]
    if host_lines is not None and lines != host_lines:
        pairs = enumerate(itertools.zip_longest(lines, host_lines), 1)
        number, (line, there) = next((number, pair) for number, pair in pairs if pair[0] != pair[1])
        wrong.append(f"line {number} is {line!r}, and {there!r} on the host")
    return wrong
