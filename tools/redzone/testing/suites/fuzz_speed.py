# SPDX-License-Identifier: MIT
"""Executions a second of `./redzone fuzz`, beside those of libFuzzer with ASan on the host.

Prints a table, and tests only that each target runs: numbers of a busy machine mean nothing. The
host's and the kernel's runs follow each other, so that all meet the same machine. Where AFL++ is installed,
it drives the kernel as well.
"""

import os
import re
from dataclasses import dataclass

from redzone.core import crates, process
from redzone.core.base import ROOT
from redzone.testing.runner import FAIL, PASS, SKIP, Result
from redzone.testing.suites import _fuzz

SLOW = True
TOOLS = (*_fuzz.TOOLS, "cargo", "taskset")
OPTIONS = ("seconds",)
# Of each run, if the user does not say it.
SECONDS = 20
_EXECUTED = re.compile(r"^stat::average_exec_per_sec: +(\d+)", re.MULTILINE)
_RATE = re.compile(r" s, \d+ inputs, (\d+) a second, ")
# The harnesses leave out the bug that is known.
_DEFINE = "WITHOUT_BUG"


@dataclass(frozen=True)
class Target:
    """@library: with its harness; None for one that does nothing. @limit: bytes of an input."""

    name: str
    library: _fuzz.Library | None = None
    limit: int = 4096


TARGETS = (
    Target("empty", limit=64),
    Target("zlib", _fuzz.ZLIB),
    Target("lz4", _fuzz.LZ4),
)
# (CPUs, jobs)
WAYS = ((1, 1), (2, 1), (2, 2))


def _pinned(cpus, command):
    """Return @command for the first @cpus CPUs that this process may use."""
    mine = sorted(os.sched_getaffinity(0))[:cpus]
    return ["taskset", "-c", ",".join(map(str, mine)), *map(str, command)]


def _native(fuzz, executable, target, way, seconds):
    """Return the executions a second of all jobs on the host, None if they did not run."""
    cpus, jobs = way
    corpus = fuzz.folder / f"native-{target.name}-{cpus}-{jobs}"
    corpus.mkdir()
    options = [f"-max_total_time={seconds}", f"-max_len={target.limit}", "-len_control=0", "-reload=1"]
    running = [
        process.start(
            _pinned(cpus, [executable, *options, f"-seed={seed}", "-print_final_stats=1", corpus]),
            cwd=fuzz.folder,
        )
        for seed in range(1, jobs + 1)
    ]
    rates = []
    for one in running:
        status, output, _ = fuzz.finish(one)
        found = _EXECUTED.search(output)
        if status == 0 and found:
            rates.append(int(found[1]))
    return sum(rates) if len(rates) == jobs else None


def _kernel(fuzz, sources, source, target, way, seconds, engine="libfuzzer"):
    """Return (executions a second in the kernel or None, log)."""
    cpus, jobs = way
    words = [*sources, "-I", source, "--cflag", "-w", "-D", _DEFINE, "--max-len", target.limit]
    words += ["--libfuzzer", "-len_control=0"] if engine == "libfuzzer" else []
    words += ["--engine", engine, "--time", seconds, "--jobs", jobs, "--seed", 1]
    words += ["--dir", f"{engine}-{target.name}-{cpus}-{jobs}"]
    status, output, log = fuzz.finish(
        process.start(_pinned(cpus, [ROOT / "redzone", "fuzz", *words]), cwd=fuzz.folder)
    )
    rates = _RATE.findall(output)
    return (int(rates[-1]) if status == 0 and rates else None), log


def _one_target(context, fuzz, target, seconds):
    sources, source = target.library.sources() if target.library else ([_fuzz.HERE / "empty.c"], _fuzz.HERE)
    executable = fuzz.folder / f"native-{target.name}.bin"
    fuzz.native(sources, executable, f"-D{_DEFINE}", f"-I{source}")
    here = len(os.sched_getaffinity(0))
    for way in WAYS:
        name = f"{target.name}.{way[0]}-cpus.{way[1]}-jobs"
        if way[0] > here:
            yield Result(name, SKIP, f"this machine gives {here} CPUs")
            continue
        native = _native(fuzz, executable, target, way, seconds)
        kernel, log = _kernel(fuzz, sources, source, target, way, seconds)
        afl = "-"
        if not context.missing("afl++"):
            afl, log = _kernel(fuzz, sources, source, target, way, seconds, "afl++")
        if native is None or not kernel or not afl:
            yield Result(name, FAIL, "it did not run to its end without findings", log)
            continue
        part = f"{kernel / native:.2f}" if native else "-"
        afl = afl if afl == "-" else f"{afl:,}"
        context.note(f"| {target.name} | {way[0]} | {way[1]} | {native:,} | {kernel:,} | {part} | {afl} |")
        yield Result(name, PASS, "", log)


def run(context):
    seconds = max(2, int(context.seconds or SECONDS))
    context.note(
        "| target | CPUs | jobs | libFuzzer with ASan on the host | in the kernel | of the host's | AFL++ |"
    )
    with _fuzz.campaign(context, "fuzz-speed") as fuzz:
        for target in TARGETS:
            try:
                yield from _one_target(context, fuzz, target, seconds)
            except crates.Unavailable as error:
                yield Result(target.name, SKIP, str(error))
