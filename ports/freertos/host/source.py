# SPDX-License-Identifier: MIT
"""FreeRTOS's source for the port: a folder that the user has, or git's, pinned by commit and by a hash.

ports/freertos/source.json names the repository, the commit and the hash of the files. Nothing of FreeRTOS is
kept in this tree.
"""

import hashlib
import json
import re
import shutil
from pathlib import Path

from redzone import base
from redzone.base import BUILD, Failure, say
from redzone.process import call, last_line

PORT = Path(__file__).resolve().parent.parent
HOME = BUILD / "freertos"
PINS = json.loads((PORT / "source.json").read_text(encoding="utf-8"))
# The port needs the fields and macros of this one and of later ones.
OLDEST = 11


class Unavailable(Failure):
    """There is no source, and none can be fetched."""


def digest(folder):
    """Return the SHA-256 of the parts of @folder that the port compiles: their names and contents."""
    total = hashlib.sha256()
    for part in PINS["parts"]:
        top = folder / part
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file():
                total.update(f"{path.relative_to(folder).as_posix()} {base.sha256(path)}\n".encode())
    return total.hexdigest()


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


def _fetch(folder):
    """Fill @folder with the pinned commit. Raise Unavailable if the repository cannot be reached."""
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    say(f"fetching FreeRTOS-Kernel {PINS['version']} (git) into {base.relative(folder)}")
    for command in (
        ["git", "init", "--quiet"],
        ["git", "fetch", "--quiet", "--depth", "1", PINS["repository"], PINS["commit"]],
        ["git", "-c", "advice.detachedHead=false", "checkout", "--quiet", PINS["commit"]],
    ):
        status, output = call(command, cwd=new)
        if status != 0:
            shutil.rmtree(new)
            raise Unavailable(
                f"FreeRTOS-Kernel {PINS['version']} cannot be fetched: {last_line(output)}; "
                "give a folder that has it: --source DIR"
            )
    if digest(new) != PINS["sha256"]:
        raise Failure(
            f"{base.relative(new)} does not have the files that the port was made for: its hash differs"
        )
    new.rename(folder)


def get(given=None):
    """Return the folder with FreeRTOS's source. @given: one that the user has. Raise Unavailable or
    Failure."""
    if given:
        folder = Path(given).resolve()
        version(folder)
        return folder
    folder = HOME / "source" / PINS["commit"]
    with base.locked(HOME):
        if not folder.is_dir():
            _fetch(folder)
    return folder
