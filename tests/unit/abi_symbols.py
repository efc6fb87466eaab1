#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the compilers' ABI with the runtime's archive, by name.

Three questions, each with one TAP result for each library or compiler:
  - does the archive define every symbol of abi_symbols.def?
  - does the archive define each __asan_ or __hwasan_ symbol that its objects refer to? If not, a part of
    the runtime is instrumented. Constructors for globals show that as well.
  - is every symbol that an installed compiler refers to, with any of its options, in the archive?

usage: abi_symbols.py ARCHIVE ABI_SYMBOLS_DEF ABI_SAMPLE_C
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OFFSET = "0x7fff8000"
CLANG = [f"-mllvm -asan-mapping-offset={OFFSET}", "-mllvm -asan-use-after-scope=1"]
CLANG_SETS = {
    "outline": ["-mllvm -asan-instrumentation-with-call-threshold=0"],
    "inline": ["-mllvm -asan-instrumentation-with-call-threshold=10000"],
    "prefix": ["-mllvm -asan-kernel-mem-intrinsic-prefix=1"],
    "no inline poisoning": ["-mllvm -asan-max-inline-poisoning-size=0"],
    "aborting": ["-mllvm -asan-recover=0", "-mllvm -asan-instrumentation-with-call-threshold=0"],
    "aborting inline": ["-mllvm -asan-recover=0"],
    "dynamic": ["-mllvm -asan-force-dynamic-shadow=1"],
    "pointer pairs": ["-mllvm -asan-detect-invalid-pointer-pair=1"],
}
GCC = [
    f"-fasan-shadow-offset={OFFSET}",
    "-fsanitize-address-use-after-scope",
    "--param asan-stack=1",
    "--param asan-globals=1",
    "--param asan-instrument-allocas=1",
]
GCC_SETS = {
    "outline": ["--param asan-instrumentation-with-call-threshold=0"],
    "inline": ["--param asan-instrumentation-with-call-threshold=10000"],
    "aborting": [
        "-fno-sanitize-recover=kernel-address",
        "--param asan-instrumentation-with-call-threshold=0",
    ],
    "aborting inline": [
        "-fno-sanitize-recover=kernel-address",
        "--param asan-instrumentation-with-call-threshold=10000",
    ],
    "use after return": ["--param asan-use-after-return=1"],
    "pointer pairs": ["-fsanitize=pointer-compare,pointer-subtract"],
}


def nm(path):
    """Return (defined, undefined) symbol names of an object or archive."""
    out = subprocess.run(["nm", str(path)], check=True, capture_output=True, text=True).stdout
    defined, undefined = set(), set()
    for line in out.splitlines():
        match = re.match(r"^[0-9a-f ]*\s([A-Za-z]) (\S+)$", line)
        if match:
            (undefined if match[1] == "U" else defined).add(match[2])
    return defined, undefined


def compile_sample(compiler, options, sample, scratch):
    """Return the undefined symbols of the sample, or None if the compiler does not take the options."""
    words = [word for option in options for word in option.split()]
    command = [compiler, "-O1", "-ffreestanding", "-fsanitize=kernel-address", *words]
    command += ["-c", str(sample), "-o", str(scratch)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        print("\n".join("# " + line for line in result.stderr.splitlines()[:5]))
        return None
    return {name for name in nm(scratch)[1] if not name.startswith("_GLOBAL_OFFSET")}


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def result(self, ok, name, notes=(), skip=None):
        self.count += 1
        self.failed += not ok
        for note in notes:
            print(f"# {note}")
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}" + (f" # SKIP {skip}" if skip else ""))


def main(archive, table, sample):
    tap = Tap()
    print("TAP version 13")
    listed = set(re.findall(r"^ABI_\w+\((\w+)", Path(table).read_text(), re.M))
    defined, undefined = nm(archive)
    missing = sorted(listed - defined)
    tap.result(
        not missing,
        f"the archive defines all {len(listed)} symbols",
        [f"missing: {name}" for name in missing],
    )
    stray = sorted(name for name in undefined - defined if re.match(r"__(hw)?asan_", name))
    tap.result(not stray, "nothing in the archive is instrumented", [f"undefined: {name}" for name in stray])
    extra = sorted(
        name for name in defined if name.startswith("asan.module_") or name.startswith("_sub_I_00099")
    )
    tap.result(not extra, "no constructor for globals in the archive", extra)

    own = {"use", "stop"}
    with tempfile.TemporaryDirectory() as folder:
        for compiler, base, sets in (
            ("clang-19", CLANG, CLANG_SETS),
            ("clang-22", CLANG, CLANG_SETS),
            ("gcc", GCC, GCC_SETS),
        ):
            if not shutil.which(compiler):
                hint = f"{compiler} not found; ./redzone doctor --install {compiler} installs it"
                tap.result(True, f"{compiler}: all that it refers to", skip=hint)
                continue
            for name, options in sets.items():
                symbols = compile_sample(compiler, base + options, sample, Path(folder) / "sample.o")
                unknown = sorted((symbols or set()) - defined - own)
                unlisted = sorted(s for s in (symbols or set()) - listed - own)
                tap.result(
                    symbols is not None and not unknown and not unlisted,
                    f"{compiler}, {name}: all that it refers to",
                    [f"not in the archive: {s}" for s in unknown]
                    + [f"not in the list: {s}" for s in unlisted],
                )
    print(f"1..{tap.count}")
    print(f"# {tap.count - tap.failed} passed, {tap.failed} failed")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
