# SPDX-License-Identifier: MIT
"""Objects of the kernel, the runtime and the C library that a wheel brings along, so that a first run
compiles the user's files only.

`./redzone release` makes them (verbs/release.py). Each folder of base.PREBUILT is of one preset. It has the
objects in the folders that CMake gives them, as the linker script knows them; libc/; the files `compiler`,
which CMake compares (cmake/KernelOptions.cmake), and `key`. Whatever does not fit is built from the sources.
"""

import hashlib

from redzone.core import base
from redzone.core.base import PREBUILT, ROOT

# All that says what the objects are, beside the preset and the compiler.
_INPUTS = (
    "CMakeLists.txt",
    "CMakePresets.json",
    "cmake",
    "fuzz",
    "include",
    "kernel",
    "runtime",
    "tools/build-scripts",
)


def key(preset):
    """Return a word for all that the objects of @preset are made of."""
    found = hashlib.sha256(preset.encode())
    for name in _INPUTS:
        top = ROOT / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not path.name.startswith(".") and path.parent.name != "__pycache__":
                found.update(f"{path.relative_to(ROOT)} {base.sha256(path)}\n".encode())
    return found.hexdigest()


def folder(preset):
    """Return the folder of objects that fit @preset and these sources, None if there is none."""
    place = PREBUILT / preset
    try:
        return place if (place / "key").read_text(encoding="utf-8") == key(preset) else None
    except OSError:
        return None
