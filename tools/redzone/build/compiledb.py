# SPDX-License-Identifier: MIT
"""Owns build/compile_commands.json, where clangd and clang-tidy look for a file's compiler options.

CMake writes one such file in each build folder. An editor wants one for the tree, so this module merges those
of all folders after each build.
"""

import contextlib
import json
import os
import threading

from redzone.core.arch import PRESET
from redzone.core.base import BUILD, ROOT

_NAME = "compile_commands.json"


def _rank(path):
    """Nearly every folder compiles the files of the kernel and the runtime; an editor shows the usual one's
    options. Clang before GCC, because clangd does not know all of GCC's options."""
    preset = path.parent.name
    return (preset != PRESET, "gcc" in preset, preset)


def update():
    """Write build/compile_commands.json if a build folder's own file is newer than it."""
    target = BUILD / _NAME
    parts = sorted(BUILD.glob(f"*/{_NAME}"), key=_rank)
    if target.exists() and all(part.stat().st_mtime < target.stat().st_mtime for part in parts):
        return
    entries = {}
    for part in parts:
        # Another command's CMake may be writing it at this moment; the next build reads it again.
        with contextlib.suppress(ValueError, OSError):
            for entry in json.loads(part.read_text(encoding="utf-8")):
                inside = entry["file"].startswith(f"{ROOT}/") and not entry["file"].startswith(f"{BUILD}/")
                if inside:
                    entries.setdefault(entry["file"], entry)
    temporary = BUILD / f".{_NAME}.{os.getpid()}.{threading.get_ident()}"
    temporary.write_text(json.dumps([entries[file] for file in sorted(entries)], indent=1), encoding="utf-8")
    temporary.replace(target)
