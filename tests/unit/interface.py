#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares <sanitizer/asan_interface.h> and <sanitizer/allocator_interface.h> of the installed compilers
with the runtime's archive and with its own header: each function is there, or LEFT_OUT says why not.

usage: interface.py ARCHIVE OWN_HEADER
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from abi_symbols import Tap, nm

HEADERS = ("asan_interface.h", "allocator_interface.h")
# {compiler: its command that prints the folder of its headers}.
COMPILERS = {
    "clang-19": ["clang-19", "-print-file-name=include"],
    "gcc": ["gcc", "-print-file-name=include"],
}
# {compiler: the package with its sanitizer headers}, if the compiler's own package does not contain them.
PACKAGES = {"clang-19": "libclang-rt-19-dev"}
_COUNTS = "counts of an allocator, and each system has its own: <kasan/stats.h> has what the runtime holds"
_HOOKS = "the allocator is the system's, which can call what it likes"
LEFT_OUT = {
    "__asan_default_options": "options of a process; a kernel has boot parameters: kasan_option()",
    "__sanitizer_get_current_allocated_bytes": _COUNTS,
    "__sanitizer_get_heap_size": _COUNTS,
    "__sanitizer_get_free_bytes": _COUNTS,
    "__sanitizer_get_unmapped_bytes": _COUNTS,
    "__sanitizer_malloc_hook": _HOOKS,
    "__sanitizer_free_hook": _HOOKS,
    "__sanitizer_ignore_free_hook": _HOOKS,
    "__sanitizer_install_malloc_and_free_hooks": _HOOKS,
    "__sanitizer_purge_allocator": "gives pages back to an operating system, and the runtime has none",
}
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)
_FUNCTION = re.compile(r"\b(__(?:asan|sanitizer)_\w+)\s*\(")


def functions(path):
    """Return the names of the functions that the header @path declares."""
    return set(_FUNCTION.findall(_COMMENT.sub("", path.read_text(encoding="utf-8"))))


def declared(command):
    """Return the functions of the HEADERS that the compiler with that @command has."""
    folder = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    paths = [Path(folder) / "sanitizer" / name for name in HEADERS]
    return {name for path in paths if path.is_file() for name in functions(path)}


def main(archive, header):
    tap = Tap()
    print("TAP version 13")
    defined, _ = nm(archive)
    own = functions(Path(header))
    known, unread = set(), False
    for compiler, command in COMPILERS.items():
        lacks = "" if shutil.which(compiler) else compiler
        names = set() if lacks else declared(command)
        if not lacks and not names:
            lacks = PACKAGES.get(compiler, "")
        if lacks:
            hint = f"{lacks} not found; ./redzone doctor --install {lacks} installs it"
            tap.result(True, f"{compiler}: all that its headers declare", skip=hint)
            unread = True
            continue
        known |= names
        lacking = sorted(names - defined - set(LEFT_OUT))
        hidden = sorted(names & defined - own)
        notes = [f"neither defined nor left out with a reason: {name}" for name in lacking]
        notes += [f"not in {Path(header).name}: {name}" for name in hidden]
        notes += [] if len(names) > 20 else [f"only {len(names)} functions were found"]
        tap.result(not notes, f"{compiler}: all {len(names)} functions that its headers declare", notes)
    wrong = [f"left out, but defined: {name}" for name in sorted(set(LEFT_OUT) & defined)]
    # Each compiler declares some that the others do not.
    if not unread:
        wrong += [f"no compiler declares it: {name}" for name in sorted(set(LEFT_OUT) - known)]
    wrong += [f"declared, but not defined: {name}" for name in sorted(own - defined)]
    tap.result(not wrong, "what is left out, and what is declared", wrong)
    print(f"1..{tap.count}")
    print(f"# {tap.count - tap.failed} passed, {tap.failed} failed")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
