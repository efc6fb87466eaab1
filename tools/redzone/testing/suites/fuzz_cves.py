# SPDX-License-Identifier: MIT
"""`./redzone fuzz` finds known bugs of zlib and lz4 from nothing.

The sources come from crates that cargo fetches. Random numbers begin with fixed seeds, and the limits are
numbers of inputs. The same target runs under libFuzzer with ASan on this machine; those numbers are printed,
not tested.
"""

import re
from dataclasses import dataclass

from redzone.core import crates
from redzone.testing.runner import SKIP, Result, result, when
from redzone.testing.suites import _fuzz

SLOW = True
TOOLS = (*_fuzz.TOOLS, "cargo")
SEEDS = (1, 2, 3)
NATIVE_TIMEOUT = 3600
_EXECUTED = re.compile(r"^stat::number_of_executed_units: +(\d+)", re.MULTILINE)
_FOUND = re.compile(r"found by input (\d+):")


@dataclass(frozen=True)
class Bug:
    """@title: how the finding's begins. @native: a part of ASan's headline.

    @limit: inputs within which it is found.
    """

    name: str
    library: _fuzz.Library
    title: str
    native: str
    limit: int


BUGS = (
    Bug(
        "CVE-2022-37434",
        _fuzz.ZLIB,
        "KASAN: slab-out-of-bounds Read in inflate",
        "heap-buffer-overflow",
        500_000,
    ),
    Bug(
        "CVE-2021-3520",
        _fuzz.LZ4,
        "KASAN: out-of-bounds Read in LZ4_decompress_safe_partial",
        "negative-size-param",
        20_000,
    ),
)


def _native_found(fuzz, bug, executable, seed):
    """Return a text: after how many inputs libFuzzer with ASan has found the bug."""
    corpus = fuzz.folder / f"native-{bug.name}-{seed}"
    corpus.mkdir()
    command = [str(executable), f"-seed={seed}", f"-runs={bug.limit}", "-print_final_stats=1"]
    command += [f"-artifact_prefix={corpus}/", str(corpus)]
    ended = fuzz.plain(command, timeout=NATIVE_TIMEOUT)
    fuzz.write_log(command, ended.stderr)
    executed = _EXECUTED.search(ended.stderr)
    found = ended.returncode != 0 and f"ERROR: AddressSanitizer: {bug.native}" in ended.stderr
    return f"input {executed[1]}" if found and executed else "not found"


def _one_seed(fuzz, bug, sources, source, seed):
    name = f"{bug.name}.{seed}"
    arguments = ("-I", source, "--cflag", "-w", "--dir", name, "--runs", bug.limit, "--seed", seed, "--first")
    status, output, log = fuzz.run(*sources, *arguments)
    wrong = _fuzz.missing(fuzz.titles(name), [bug.title])
    wrong += when(status != 1, f"exit status {status}")
    number = _FOUND.search(output)
    return result(name, wrong, log), f"input {number[1]}" if number else "not found"


def run(context):
    with _fuzz.campaign(context, "fuzz-cves") as fuzz:
        for bug in BUGS:
            try:
                sources, source = bug.library.sources()
            except crates.Unavailable as error:
                yield Result(bug.name, SKIP, str(error))
                continue
            executable = fuzz.folder / f"native-{bug.name}"
            fuzz.native(sources, executable, f"-I{source}")
            for seed in SEEDS:
                found, number = _one_seed(fuzz, bug, sources, source, seed)
                other = _native_found(fuzz, bug, executable, seed)
                context.note(f"{bug.name}, seed {seed}: {number}; libFuzzer with ASan: {other}")
                yield found
