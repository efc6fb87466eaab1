# SPDX-License-Identifier: MIT
"""`./redzone fuzz` finds known bugs of zlib and lz4 from nothing.

The sources come from crates that cargo fetches. Random numbers begin with fixed seeds, and the limits are
numbers of inputs. The same target runs under libFuzzer with ASan on this machine; those numbers are printed,
not tested.
"""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from redzone.core import crates
from redzone.core.base import ROOT, Failure
from redzone.testing.runner import SKIP, Result
from redzone.testing.suites import _fuzz

SLOW = True
TOOLS = (*_fuzz.TOOLS, "cargo")
SEEDS = (1, 2, 3)
NATIVE_TIMEOUT = 3600
_EXECUTED = re.compile(r"^stat::number_of_executed_units: +(\d+)", re.MULTILINE)
_FOUND = re.compile(r"found by input (\d+):")


@dataclass(frozen=True)
class Bug:
    """@harness: in tests/fuzz. @files: of the crate's source. @title: how the finding's begins.

    @native: a part of ASan's headline. @limit: inputs within which it is found.
    """

    name: str
    crate: crates.Crate
    harness: str
    files: tuple
    title: str
    native: str
    limit: int


BUGS = (
    Bug(
        "CVE-2022-37434",
        crates.Crate("libz-sys", "1.1.6", ROOT / "tests" / "zlib", "src/zlib"),
        "zlib_header.c",
        ("adler32.c", "crc32.c", "inffast.c", "inflate.c", "inftrees.c", "zutil.c"),
        "KASAN: slab-out-of-bounds Read in inflate",
        "heap-buffer-overflow",
        500_000,
    ),
    Bug(
        "CVE-2021-3520",
        crates.Crate("lz4-sys", "1.9.3", ROOT / "tests" / "lz4", "liblz4/lib"),
        "lz4_partial.c",
        ("lz4.c",),
        "KASAN: out-of-bounds Read in LZ4_decompress_safe_partial",
        "negative-size-param",
        20_000,
    ),
)


def _native(fuzz, bug, sources, source, executable):
    """Build the same target with libFuzzer and ASan."""
    command = ["clang-19", "-O2", "-g", "-w", "-fsanitize=fuzzer,address", f"-I{source}", *sources]
    command = [*map(str, command), "-o", str(executable)]
    made = subprocess.run(command, check=False, capture_output=True, text=True)
    fuzz.write_log(command, made.stderr)
    if made.returncode != 0:
        raise Failure(f"{bug.harness} cannot be built for this machine:\n{made.stderr.strip()}")


def _native_found(fuzz, bug, executable, seed):
    """Return a text: after how many inputs libFuzzer with ASan has found the bug."""
    corpus = fuzz.folder / f"native-{bug.name}-{seed}"
    corpus.mkdir()
    command = [str(executable), f"-seed={seed}", f"-runs={bug.limit}", "-print_final_stats=1"]
    command += [f"-artifact_prefix={corpus}/", str(corpus)]
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, errors="replace", timeout=NATIVE_TIMEOUT
    )
    fuzz.write_log(command, ended.stderr)
    executed = _EXECUTED.search(ended.stderr)
    found = ended.returncode != 0 and f"ERROR: AddressSanitizer: {bug.native}" in ended.stderr
    return f"input {executed[1]}" if found and executed else "not found"


def _one_seed(fuzz, bug, sources, source, seed):
    name = f"{bug.name}.{seed}"
    arguments = ("-I", source, "--cflag", "-w", "--dir", name, "--runs", bug.limit, "--seed", seed, "--first")
    status, output, log = fuzz.run(*sources, *arguments)
    wrong = _fuzz.missing(fuzz.titles(name), [bug.title])
    if status != 1:
        wrong.append(f"exit status {status}")
    number = _FOUND.search(output)
    return _fuzz.result(name, wrong, log), f"input {number[1]}" if number else "not found"


def run(context):
    folder = Path(tempfile.mkdtemp(prefix="redzone-fuzz-cves-"))
    fuzz = _fuzz.Fuzz(context, folder)
    try:
        for bug in BUGS:
            try:
                source = bug.crate.source()
            except crates.Unavailable as error:
                yield Result(bug.name, SKIP, str(error))
                continue
            sources = [_fuzz.HERE / bug.harness, *(source / name for name in bug.files)]
            executable = folder / f"native-{bug.name}"
            _native(fuzz, bug, sources, source, executable)
            for seed in SEEDS:
                found, number = _one_seed(fuzz, bug, sources, source, seed)
                other = _native_found(fuzz, bug, executable, seed)
                context.note(f"{bug.name}, seed {seed}: {number}; libFuzzer with ASan: {other}")
                yield found
    finally:
        shutil.rmtree(folder, ignore_errors=True)
