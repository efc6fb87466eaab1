# SPDX-License-Identifier: MIT
"""Public C libraries, unmodified, with their own tests: the right result and no report in every mode.

Each program goes through `./redzone run`, as a user's would. --filter chooses programs by
"LIBRARY" or "LIBRARY.PROGRAM". The table of libraries is redzone/libraries/catalogue.py.
"""

import fnmatch
import re
import sys
import time

from redzone.build import builder
from redzone.core import base, process
from redzone.core.base import ROOT, Failure
from redzone.libraries import catalogue, recipe
from redzone.testing.runner import FAIL, SKIP, Result, result

TOOLS = (*builder.KERNEL, "clang-19", "symbolizer")
# Five kernels times a dozen libraries.
SLOW = True
MODES = ("generic", "sw_tags", "hw_tags")
OPTIONS = ("filter",)
# (mode, instrumentation, compiler).
BUILDS = (
    ("generic", "inline", "clang-19"),
    ("generic", "outline", "clang-19"),
    ("generic", "inline", "gcc"),
    ("sw_tags", "inline", "clang-19"),
    ("hw_tags", "inline", "clang-19"),
)
# Seconds for one `./redzone run`, compilation included.
LIMIT = 7200
# Console lines of the kernel begin with its time; the program's do not.
_KERNEL = re.compile(r"^\[ *\d+\.\d+\] ")
_KTAP = re.compile(r"^(?:KTAP version|1\.\.\d+$|(?:not )?ok \d+ )")
# {(library, program): output of the native build}.
_natives = {}


def chosen(filter_):
    """Return [(Library, Program)] that --filter names, all if it is None."""
    pairs = [(library, program) for library in catalogue.LIBRARIES for program in library.programs]
    if filter_ is None:
        return pairs
    return [
        (library, program)
        for library, program in pairs
        if fnmatch.fnmatch(library.name, filter_)
        or fnmatch.fnmatch(f"{library.name}.{program.name}", filter_)
    ]


def program_lines(log):
    """Return what programs wrote to the console in the file @log: all but the kernel's lines."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    return [line for line in text.splitlines() if not _KERNEL.match(line) and not _KTAP.match(line)]


def run_command(library, program, build, log, extra=()):
    """Run `./redzone run` for @program on the kernel @build; the console goes to the file @log. Return (exit
    status, its output)."""
    mode, where, compiler = build
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    checks = () if mode in builder.UNINSTRUMENTED else (f"--{where}",)
    return process.call(
        [
            *(sys.executable, "-m", "redzone", "run", "--mode", mode, *checks),
            *("--cc", compiler, "--log", str(log), *extra, *library.command(program)),
        ],
        timeout=LIMIT,
        cwd=ROOT,
    )


def _why(status, output):
    """Return why a run failed: its report, or the last thing it said."""
    reports = [line for line in output.splitlines() if "BUG: KASAN" in line]
    return f"status {status}: {reports[0] if reports else process.last_line(output)}"


def _native(context, library, program):
    """Return the output of the native build of @program, which is built once for all kernels."""
    key = (library.name, program.name)
    if key not in _natives:
        _natives[key] = library.host_output(program, context.logs.joinpath("host", *key))
    return _natives[key]


def judge(context, library, program, build, name):
    """Run @program of @library on the kernel @build. Return the Result called @name."""
    log = context.logs / f"{name}.console.log"
    started = time.monotonic()
    status, output = run_command(library, program, build, log)
    whole = context.write_log(name, output)
    if status != base.OK:
        return Result(name, FAIL, _why(status, output), whole)
    host_lines = None
    if program.host:
        try:
            host_lines = _native(context, library, program)
        except Failure as error:
            return Result(name, FAIL, str(error), whole)
    wrong = recipe.judge(program, program_lines(log), host_lines)
    if not wrong:
        counted = f"{program.tests} tests of its own, " if program.tests else ""
        compared = "the output of the native build, " if program.host else ""
        context.note(f"{name}: {counted}{compared}{time.monotonic() - started:.0f} s")
    return result(name, wrong, whole)


def run_builds(context, builds, pairs):
    """Run @pairs on the kernels @builds; yield Results."""
    ready = []
    for library, program in pairs:
        try:
            library.fetch(context.yes)
            ready.append((library, program))
        except recipe.Unavailable as error:
            yield Result(f"{library.name}.{program.name}", SKIP, str(error))
    for build in context.of_mode(builds):
        preset = builder.preset_name(*build)
        reason = context.missing_for(preset)
        if reason:
            yield Result(preset, SKIP, reason)
            continue
        for library, program in ready:
            yield judge(context, library, program, build, f"{preset}.{library.name}.{program.name}")


def run(context):
    pairs = chosen(context.filter)
    if not pairs:
        raise Failure(f"--filter '{context.filter}' matches no library")
    yield from run_builds(context, BUILDS, pairs)
