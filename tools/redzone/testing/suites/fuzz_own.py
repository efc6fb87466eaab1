# SPDX-License-Identifier: MIT
"""The kernel's own parsers, and the report printer, fuzzed under KASAN: no finding.

--rounds N: inputs for each target; --seconds N: so long for each one, instead; --filter NAME: only these
targets. Corpus and findings stay in build/fuzz-own, so the next run goes on where this one ended. There
NAME.inputs counts the inputs of all runs, also of those that were interrupted. Each target is a file in
tests/fuzz/own. The files that it fuzzes are its own copies, compiled from the kernel's source:
thus no input changes the running kernel. The report printer has no copy: its own files get coverage.
"""

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass

from redzone.core import base
from redzone.core.arch import DEFAULT
from redzone.core.base import BUILD, ROOT
from redzone.testing.runner import result, when
from redzone.testing.suites import _fuzz, _fuzz_seeds

SLOW = True
OPTIONS = ("seconds", "rounds", "seed", "filter")
TOOLS = _fuzz.TOOLS
ROUNDS = 5_000


@dataclass(frozen=True)
class Target:
    """@harness: in tests/fuzz/own. @files: sources that it has copies of. @cover: those with coverage.

    @seeds: returns inputs. @slower: it does so many times less in the same time. @words: for a dictionary.
    """

    name: str
    harness: str
    seeds: Callable
    max_len: int
    files: tuple = ()
    cover: tuple = ()
    words: tuple = ()
    slower: int = 1


MODULE = ("core", "elf_check", "loader", "lookup", "space")
REPORT = ("capture", "classify", "describe", "describe_stack", "hw_frame", "print", "repeat", "report")
TARGETS = (
    Target("device-tree", "device_tree.c", _fuzz_seeds.device_tree, 384, ("kernel/drivers/fdt.c",)),
    Target("archive", "archive.c", _fuzz_seeds.files, 1024, ("kernel/lib/initrd.c",)),
    Target(
        "command-line",
        "command_line.c",
        _fuzz_seeds.command_line,
        256,
        (
            "kernel/lib/kstrto.c",
            "runtime/report/options.c",
            "runtime/report/ignore.c",
        ),
        words=("=", " ", '\\"', "--", "on", "off", "1", "K", "kasan.", "switch", "range=", "text=", "size="),
    ),
    Target("formatter", "formatter.c", _fuzz_seeds.formats, 128, ("kernel/lib/vsprintf.c",)),
    Target(
        "module",
        "module.c",
        _fuzz_seeds.modules,
        4096,
        (*(f"kernel/module/{name}.c" for name in MODULE), f"kernel/arch/{DEFAULT}/module.c"),
        slower=4,
    ),
    Target(
        "report",
        "report.c",
        _fuzz_seeds.reports,
        260,
        ("kernel/tests/kasan_whole.c",),
        tuple(f"runtime/report/{name}.c" for name in REPORT),
        slower=20,
    ),
)


def _seeds(folder, target):
    """Write the inputs to begin with. Return the options that name them."""
    seeds = folder / f"{target.name}.seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(target.seeds()):
        (seeds / str(number)).write_bytes(data)
    options = ["--seeds", seeds]
    if target.words:
        words = folder / f"{target.name}.dict"
        words.write_text("".join(f'"{word}"\n' for word in target.words), encoding="utf-8")
        options += ["--dict", words]
    return options


def _count(context, folder, target, output):
    """Add the inputs of a run, which printed @output, to those of all runs. Return how many it had."""
    state, done = _fuzz.state(output)
    kept = folder / f"{target.name}.inputs"
    with base.locked(folder):
        total = done + (int(kept.read_text(encoding="utf-8")) if kept.is_file() else 0)
        new = kept.with_suffix(".new")
        new.write_text(f"{total}\n", encoding="utf-8")
        new.replace(kept)
    context.note(f"{target.name}: {state}; {base.plural(total, 'input')} in all runs")
    return done


def run(context):
    folder = BUILD / "fuzz-own"
    fuzz = _fuzz.Fuzz(context, folder)
    patterns = (context.filter or "*").split(",")
    for target in TARGETS:
        if not any(fnmatch.fnmatch(target.name, pattern) for pattern in patterns):
            continue
        sources = [_fuzz.HERE / "own" / target.harness, *(ROOT / name for name in target.files)]
        options = ["--kernel-headers", "--dir", target.name, "--max-len", target.max_len]
        options += ["--seed", context.seed or 1, *_seeds(folder, target)]
        for name in target.cover:
            options += ["--cover", ROOT / name]
        rounds = (context.rounds or ROUNDS) // (1 if context.rounds else target.slower)
        options += ["--time", context.seconds] if context.seconds else ["--runs", rounds]
        try:
            status, _, log = fuzz.run(*sources, *options)
        finally:
            # An interrupted run has had its inputs as well.
            done = _count(context, folder, target, fuzz.output)
        wrong = list(fuzz.titles(target.name))
        wrong += when(status != 0 and not wrong, f"exit status {status}")
        wrong += when(not context.seconds and done < rounds, f"{done} of {rounds} inputs")
        yield result(target.name, wrong, log)
