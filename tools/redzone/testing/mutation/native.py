# SPDX-License-Identifier: MIT
"""Builds a library's test program for this machine: with counters of what is executed, with ASan, with MSan.

Each file is compiled from its own tree's top folder by a relative name, so that equal code makes an equal
object in every tree. Objects of files without a bug are compiled once, and kept for the next time.
"""

import bisect
import hashlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from redzone.core import process
from redzone.core.base import Failure
from redzone.run import each_build
from redzone.testing.mutation import workloads

CLANG = "clang-19"
# The name of the top folder of every tree in the debug information.
TOP = "/src"
# Chars have no sign, as on arm64. The guest's options are the same where they matter.
_COMMON = ("-w", "-O1", "-g1", "-gno-column-info", "-funsigned-char", f"-fdebug-compilation-dir={TOP}")
# Frames that a tail call drops would be missing in one of the two traces.
_FRAMES = ("-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
FLAGS = {
    "coverage": ("-fprofile-instr-generate", "-fcoverage-mapping"),
    "asan": ("-fsanitize=address", *_FRAMES),
    "msan": ("-fsanitize=memory", "-fsanitize-memory-track-origins", "-fsanitize-recover=memory", *_FRAMES),
}
EXIT_CODE = 77
_OPTIONS = {
    # The kernel's malloc() returns a null pointer when it cannot serve.
    "allocator_may_return_null": 1,
    "exitcode": EXIT_CODE,
    "hard_rss_limit_mb": 4096,
}
_ASAN = {**_OPTIONS, "detect_leaks": 0}
# A library's own such read may come before that of the bug.
_MSAN = {**_OPTIONS, "halt_on_error": 0}
# Bytes that a program may print before it counts as one without an end.
_OUTPUT = 64 << 20
# A hang: this many times the time of the program without a bug, and seconds more.
_TIMES, _MORE = 20, 10


@dataclass(frozen=True, eq=False)
class Case:
    """One test program of a library; compared by identity. @sources: the Paths of its own files."""

    library: object
    program: object
    sources: tuple

    @property
    def name(self):
        own = f".{self.sources[0].stem}" if self.program.each else ""
        return f"{self.library.name}.{self.program.name}{own}"

    @property
    def units(self):
        """Paths of the files that are compiled."""
        return (*self.sources, *map(self.library.path, self.program.library))


def cases(library):
    """Return the Cases of the libraries.Library @library in which bugs may be planted."""
    found = []
    for program in workloads.programs(library):
        if not program.planted:
            continue
        sources = tuple(library.sources(program))
        groups = [(source,) for source in sources] if program.each else [sources]
        found += [Case(library, program, group) for group in groups]
    return found


def compiler_words(options):
    """Return what a compiler has to know of the options @options of `./redzone run`."""
    words = []
    for option, value in itertools.pairwise(options):
        if option in ("-D", "-I"):
            words += [option, value]
        elif option == "--cflag":
            words.append(value)
    return words


def environment_of(options):
    """Return {name: value} of --env in @options."""
    pairs = itertools.pairwise(options)
    return dict(value.split("=", 1) for option, value in pairs if option == "--env")


@dataclass
class Coverage:
    """How often each part of a file was executed: llvm-cov's segments, sorted."""

    segments: list

    def count(self, line, column):
        """Return how often the code at @line, @column was executed."""
        at = bisect.bisect_right(self.segments, [line, column, float("inf")]) - 1
        if at < 0:
            return 0
        _, _, count, has_count = self.segments[at][:4]
        return count if has_count else 0


@dataclass
class Run:
    """The result of a native run. @status: exit status, negative for a signal. @seconds: of CPU time."""

    status: int
    lines: list
    errors: str
    hang: bool
    seconds: float


@dataclass
class Native:
    """Builds and runs the Cases of one library below @folder. @jobs: compilers at once."""

    library: object
    folder: Path
    jobs: int
    _limits: dict = field(default_factory=dict)

    def _command(self, case, flags):
        return [
            *(CLANG, *_COMMON, *FLAGS[flags], *case.library.compile_options(case.program)),
            *(*compiler_words(case.program.options), *case.program.host_options),
        ]

    def name(self, path):
        """Return the name of @path in the library, or all of it if it is elsewhere."""
        root = self.library.root.resolve()
        return str(path.resolve().relative_to(root) if path.resolve().is_relative_to(root) else path)

    def compile(self, case, flags, unit, tree, target):
        """Compile @unit as it is in @tree into @target. Return the compiler's message if it failed."""
        target.parent.mkdir(parents=True, exist_ok=True)
        new = Path(f"{target}.new")
        command = [*self._command(case, flags), "-MMD", "-MF", f"{target}.d", "-MT", "object"]
        status, output = process.call([*command, "-c", self.name(unit), "-o", str(new)], cwd=tree)
        if status != 0:
            return output
        new.rename(target)
        return None

    def object(self, case, flags, unit):
        """Return the object of the unchanged @unit."""
        text = json.dumps([self._command(case, flags), repr(self.library.source)])
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        target = self.folder / flags / key / f"{self.name(unit).replace('/', '_')}.o"
        if not target.is_file() or unit.stat().st_mtime > target.stat().st_mtime:
            message = self.compile(case, flags, unit, self.library.root, target)
            if message is not None:
                raise Failure(f"{self.name(unit)} of {self.library.name} does not compile here:\n{message}")
        return target

    def objects(self, case, flags):
        """Return {unit: object} of @case."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return dict(
                zip(
                    case.units,
                    pool.map(lambda unit: self.object(case, flags, unit), case.units),
                    strict=True,
                )
            )

    def size(self, case):
        """Return how many bytes of memory the objects of @case take, with ASan's checks and redzones."""
        return sum(map(each_build.in_memory, self.objects(case, "asan").values()))

    def used(self, case, unit):
        """Return the files that @unit is made of, as resolved paths."""
        text = Path(f"{self.object(case, 'coverage', unit)}.d").read_text(encoding="utf-8")
        names = text.replace("\\\n", " ").removeprefix("object:").split()
        # A header may be there under two names.
        return list(dict.fromkeys((self.library.root / name).resolve() for name in names))

    def link(self, flags, objects, target):
        command = [CLANG, *FLAGS[flags], *map(str, objects), "-lm", "-lpthread", "-o", str(target)]
        status, output = process.call(command)
        if status != 0:
            raise Failure(f"{target.name} does not link here:\n{output}")

    def run(self, case, binary, environment=None, limit=None):
        """Run @binary as the test program of @case. @limit: seconds of CPU time. Return the Run."""
        folder = self.folder / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, path in case.program.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.library.path(path), folder / name)

        def limits():
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            resource.setrlimit(resource.RLIMIT_FSIZE, (_OUTPUT, _OUTPUT))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output, errors = self.folder / "output", self.folder / "errors"
        with open(output, "wb") as out, open(errors, "wb") as err:
            try:
                status = subprocess.run(
                    [str(binary), *case.program.arguments],
                    check=False,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env={**os.environ, **environment_of(case.program.options), **(environment or {})},
                    # CPU time is what counts; a program that sleeps for ever is ended as well.
                    timeout=None if limit is None else 20 * limit + 60,
                    preexec_fn=limits,
                ).returncode
                hang = status in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGXFSZ)
            except subprocess.TimeoutExpired:
                status, hang = -signal.SIGKILL, True
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        with open(output, encoding="utf-8", errors="replace") as file:
            lines = file.read(4 << 20).splitlines()
        text = errors.read_text(encoding="utf-8", errors="replace")
        return Run(status, lines, text, hang, seconds)

    def coverage(self, case):
        """Return {resolved path: Coverage} of the files that @case executes."""
        objects = self.objects(case, "coverage").values()
        kept = self.folder / "coverage" / f"{case.name}.json"
        if not kept.is_file() or kept.stat().st_mtime < max(path.stat().st_mtime for path in objects):
            kept.write_text(self._measure(case, objects), encoding="utf-8")
        found = {}
        for file in json.loads(kept.read_text(encoding="utf-8"))["data"][0]["files"]:
            # Names are relative to the top folder, which the debug information calls TOP.
            name = re.sub(rf"^{TOP}/", "", file["filename"])
            found[(self.library.root / name).resolve()] = Coverage(sorted(file["segments"]))
        return found

    def _measure(self, case, objects):
        """Run the program of @objects, and return what llvm-cov says of it."""
        folder = self.folder / "measured"
        folder.mkdir(parents=True, exist_ok=True)
        binary, raw, merged = folder / "program", folder / "raw", folder / "merged"
        self.link("coverage", objects, binary)
        run = self.run(case, binary, {"LLVM_PROFILE_FILE": str(raw)})
        if run.status != 0:
            raise Failure(f"the native {case.name} returned {run.status}")
        process.execute(["llvm-profdata-19", "merge", "-sparse", raw, "-o", merged], folder / "log")
        command = ["llvm-cov-19", "export", "-format=text", "-skip-functions"]
        exported = process.run([*command, f"-instr-profile={merged}", binary])
        if exported.returncode != 0:
            raise Failure(f"llvm-cov-19 failed: {process.last_line(exported.stderr)}")
        return exported.stdout

    def asan(self, case, binary, more=()):
        """Run @binary under ASan, with the options @more. Its time limit follows from the program without a
        bug."""
        return self._checked(case, binary, "ASAN", _ASAN, more)

    def msan(self, case, binary):
        """Run @binary under MSan, which finds reads of memory without a value. The limit is ASan's."""
        return self._checked(case, binary, "MSAN", _MSAN)

    def _checked(self, case, binary, tool, options, more=()):
        environment = {
            f"{tool}_OPTIONS": ":".join([*(f"{name}={value}" for name, value in options.items()), *more]),
            f"{tool}_SYMBOLIZER_PATH": shutil.which("llvm-symbolizer-19") or "",
        }
        return self.run(case, binary, environment, self._limits.get(case.name))

    def control(self, case):
        """Run the program without a bug under ASan, twice. Return (Run, are both outputs alike)."""
        binary = self.folder / "control"
        self.link("asan", self.objects(case, "asan").values(), binary)
        runs = [self.asan(case, binary) for _ in range(2)]
        for run in runs:
            if run.status != 0:
                raise Failure(f"the native {case.name} returned {run.status}\n{run.errors[-2000:]}")
        self._limits[case.name] = _TIMES * max(run.seconds for run in runs) + _MORE
        return runs[0], runs[0].lines == runs[1].lines
