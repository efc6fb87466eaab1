# SPDX-License-Identifier: MIT
"""FreeRTOS's source for the port: a folder that the user has, or git's, pinned by commit and by a hash.

ports/freertos/source.json names the repository, the commit and the hash of the files. Nothing of FreeRTOS is
kept in this tree.
"""

import json
import os
import re
from pathlib import Path

from redzone.core import base
from redzone.core.base import BUILD, Failure
from redzone.core.gitsource import Source, Unavailable, digest_of

PORT = Path(__file__).resolve().parent.parent
HOME = BUILD / "freertos"
PINS = json.loads((PORT / "source.json").read_text(encoding="utf-8"))
# The port needs the fields and macros of this one and of later ones.
OLDEST = 11


# A folder with the source, for machines without a network.
VARIABLE = "REDZONE_FREERTOS"
__all__ = ["HOME", "PORT", "VARIABLE", "Unavailable", "digest", "fetched", "get", "version"]


def digest(folder):
    """Return the SHA-256 of the parts of @folder that the port compiles: their names and contents."""
    files = []
    for part in PINS["parts"]:
        top = folder / part
        files += sorted(top.rglob("*")) if top.is_dir() else [top]
    return digest_of(folder, [path.relative_to(folder) for path in files if path.is_file()])


def version(folder):
    """Return the version text of the FreeRTOS in @folder. Raise Failure if the port cannot use it."""
    path = folder / "include" / "task.h"
    found = None
    if path.is_file():
        text = path.read_text(encoding="utf-8", errors="replace")
        found = re.search(r'tskKERNEL_VERSION_NUMBER\s+"(V(\d+)\.[^"]*)"', text)
    if not found:
        raise Failure(
            f"{base.relative(folder)} is not FreeRTOS-Kernel: it has no include/task.h with a version; "
            "give the folder that has tasks.c"
        )
    if int(found[2]) < OLDEST:
        raise Failure(f"{base.relative(folder)} is FreeRTOS {found[1]}; the port is for V{OLDEST}")
    return found[1]


def pinned():
    """Return the gitsource.Source of the pinned version."""
    return Source(
        name=f"FreeRTOS-Kernel {PINS['version']}",
        repository=PINS["repository"],
        commit=PINS["commit"],
        hash=PINS["sha256"],
        digest=digest,
        mirror="REDZONE_FREERTOS_GIT",
        advice=f"give a folder that has it with --source DIR or {VARIABLE}=DIR",
    )


def fetched():
    """Return where the fetched source is, or will be."""
    return HOME / "source" / PINS["commit"]


def get(given=None):
    """Return the folder with FreeRTOS's source: @given by the user, that of the variable, or the fetched one.
    Raise Unavailable or Failure."""
    given = given or os.environ.get(VARIABLE)
    if given:
        folder = Path(given).resolve()
        version(folder)
        return folder
    return pinned().obtain(fetched(), HOME)
