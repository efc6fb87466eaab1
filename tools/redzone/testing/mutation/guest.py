# SPDX-License-Identifier: MIT
"""Runs mutants of a library in the kernel: as many as fit are in one image, and each has a boot of its own.

A boot of its own, because a bug that nobody notices may damage the kernel's memory for the programs after it.
"""

import contextlib
import shutil
import time
from dataclasses import dataclass

from redzone import cli
from redzone.build import builder
from redzone.core.base import Failure
from redzone.machine import console
from redzone.run import each, each_build, job

# Seconds for the program without a bug; a mutant gets this many times that, and seconds more.
_CONTROL = 3000
_TIMES, _MORE = 5, 60


@dataclass
class Guest:
    """@verdict: each.Verdict. @lines: what the program printed. @console: all of the console."""

    verdict: each.Verdict
    lines: list
    console: list
    seconds: float


class _Ended(Exception):
    """The program has its verdict; the machine is no longer needed."""


def _options(case, mode, sources):
    """Return the job.Options that run @sources, one in place of a unit of @case each, in @mode."""
    library, program = case.library, case.program
    words = ["--each", "--mode", mode, "-O", "1"]
    words += [*map(str, sources), *library.compile_options(program), *program.options]
    for unit in case.units:
        words += ["--library", str(unit)]
    words += [f"--file={name}={library.path(path)}" for name, path in program.files.items()]
    return job.Options(arguments=list(program.arguments), own_stdin=False, **cli.run_options(words))


def _boot(work, image, folder, follower, number, seconds):
    """Boot for the program @number, from 1. Return the console's lines, all and the program's."""
    lines, own = [], []

    def log(line):
        lines.append(line)
        if follower.current == number and not console.split(line)[0]:
            own.append(line)
        if follower.done >= number:
            raise _Ended

    target = work.machine(image, folder)
    target.timeout = seconds
    follower.done = number - 1
    with contextlib.suppress(_Ended):
        each.boots(target, follower, log)
    return lines, own


class Kernel:
    """Builds and boots mutants in @mode. @folder: for images."""

    def __init__(self, mode, folder):
        self.mode = mode
        self.folder = folder
        # {name of a case: Guest without a bug}
        self._control = {}

    def run(self, case, sources, control, size):
        """Run each of @sources, a file in place of a unit of @case. @control: the same for a file without a
        bug, which runs first when the case is new. @size: bytes in memory of the case's objects. Return
        [Guest], one for each source; None for one that does not compile or link."""
        first = case.name not in self._control
        files = [control, *sources] if first else list(sources)
        work, images, rejected = self._images(case, files, size)
        if first and 0 in rejected:
            text = "\n".join([f"{case.name} {rejected[0].title} for the kernel:", *rejected[0].messages])
            raise Failure(text)
        found = [None] * len(files)
        for image, built in images:
            for index, run in zip(built, self._boots(case, work, image, built), strict=True):
                found[index] = run
        return found[1:] if first else found

    def _images(self, case, files, size):
        """Build @files, with @size bytes of objects each. Return (their job.Work, and what rejects.build()
        returns)."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        work = job.check(_options(case, self.mode, files))
        program = builder.Program(
            each.NAME,
            work.sources,
            function="redzone_add_programs",
            **work.code,
            **work.parts,
        )
        return work, *each_build.build(work.preset, program, self.folder, [size] * len(files))

    def _boots(self, case, work, image, built):
        """Boot for each program of @image, which has the files @built of @work. Return [Guest]. When @case is
        new, the first one has no bug."""
        found = []
        with each.ProgramSymbols([image.elf]) as known:
            for number in range(1, len(built) + 1):
                found.append(self._one(case, work, image, known, built, number))
                if case.name not in self._control:
                    if found[0].verdict.end != "ok":
                        raise Failure(f"{case.name} without a bug: {found[0].verdict.title}")
                    self._control[case.name] = found[0]
        return found

    def control(self, case):
        """Return the Guest of @case without a bug, when run() has been called."""
        return self._control[case.name]

    def _one(self, case, work, image, known, built, number):
        """Boot for program @number of the image, which has the files @built of @work. Return its Guest."""
        verdicts = []
        files = [work.options.files[index] for index in built]
        sources = [*(work.sources[index] for index in built), *case.units]
        follower = each.Follower(files, sources, known, verdicts.append)
        control = self._control.get(case.name)
        limit = _TIMES * control.seconds + _MORE if control else _CONTROL
        started = time.monotonic()
        lines, own = _boot(work, image, self.folder, follower, number, limit)
        return Guest(verdicts[0], own, lines, time.monotonic() - started)
