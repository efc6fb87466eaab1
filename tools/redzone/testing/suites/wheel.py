# SPDX-License-Identifier: MIT
"""The wheel: built, installed into fresh environments of each Python here, and used without the tree.

The packages come from the Python package index. A Python that is not on this machine is skipped by name.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from redzone.core import base, process
from redzone.core.base import ROOT
from redzone.testing.runner import FAIL, PASS, SKIP, Result, result, when

SLOW = True
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
TIMEOUT = 600

# (name, arguments, exit status, what the output has)
USES = (
    ("version", ("--version",), 0, r"^redzone \d+\.\d+\.\d+$"),
    ("help", ("--help",), 0, r"^ +decode "),
    ("decode", ("decode", "console.log"), 1, r"KASAN: slab-use-after-free Read in read_after_free"),
    ("decode-nothing", ("decode", "empty.log"), 0, r"no report"),
    ("decode-html", ("decode", "console.log", "--html", "bugs.html"), 1, r"1 report"),
    ("flags", ("flags", "--shadow-offset", "0x1000000000"), 0, r"-fsanitize=kernel-address"),
    ("amalgamate", ("amalgamate", "copy"), 0, r"kasan\.c: \d+ lines"),
    ("audit", ("audit", "image"), 1, r"nothing is instrumented"),
    ("ksyms", ("ksyms", "image", "--output", "names.c"), 2, r"has no symbol table"),
    ("size", ("size", "--help"), 0, r"redzone size"),
    ("run", ("run", "bug.c"), 2, r"needs a clone of the Redzone repository"),
    ("test", ("test",), 2, r"needs a clone of the Redzone repository"),
    ("doctor", ("doctor",), 2, r"needs a clone of the Redzone repository"),
)


def _find(version):
    """Return the interpreter of Python @version, None if there is none that runs."""
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for found in (shutil.which(f"python{version}"), *sorted(home.glob(f"{version}.*/bin/python{version}"))):
        if found and _call([found, "-c", "import venv, ensurepip"])[0] == 0:
            return found
    return None


def _call(command, **options):
    # The tree's own packages must not be found in place of the wheel's.
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", base.PLACE)
    }
    return process.call(command, env=environment, timeout=TIMEOUT, **options)


def _environment(python, folder, *packages):
    """Make a virtual environment of @python in @folder with @packages. Return "", or what went wrong."""
    for command in (
        [python, "-m", "venv", folder],
        [folder / "bin" / "pip", "-q", "--disable-pip-version-check", "install", *packages],
    ):
        status, output = _call(command)
        if status:
            return output
    return ""


def _uses(context, version, folder):
    """Yield the Results of all USES, in an empty folder with the files that they need."""
    work = folder / "work"
    work.mkdir()
    shutil.copy(ROOT / "tests" / "golden" / "slab-use-after-free.log", work / "console.log")
    (work / "empty.log").write_text("booting\ndone\n", encoding="utf-8")
    (work / "bug.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    shutil.copy(shutil.which("true"), work / "image")
    for name, words, expected, pattern in USES:
        status, output = _call([folder / "env" / "bin" / "redzone", *words], cwd=work)
        wrong = [] if status == expected else [f"ended with status {status}, expected {expected}"]
        wrong += when(not re.search(pattern, output, re.M), f"the output has nothing like '{pattern}'")
        if "./redzone" in output and "needs a clone" not in output:
            wrong.append("the output names ./redzone, which is not there")
        log = context.write_log(f"{version}-{name}", output)
        yield result(f"{version}.{name}", wrong, log)


def run(context):
    with base.scratch("wheel-") as folder:
        problem = _environment(sys.executable, folder / "build", "build")
        if problem:
            log = context.write_log("build", problem)
            yield Result("build", SKIP, "the package 'build' cannot be installed here; see the log", log)
            return
        status, output = _call(
            [folder / "build" / "bin" / "python", "-m", "build", "--wheel", "-o", folder, ROOT]
        )
        log = context.write_log("build", output)
        wheels = list(folder.glob("*.whl"))
        yield Result("build", PASS if not status and len(wheels) == 1 else FAIL, output[-2000:], log)
        if status or len(wheels) != 1:
            return
        for version in PYTHONS:
            python = _find(version)
            if python is None:
                yield Result(version, SKIP, f"there is no Python {version} with venv on this machine")
                continue
            place = folder / version
            place.mkdir()
            problem = _environment(python, place / "env", wheels[0])
            log = context.write_log(f"{version}-install", problem)
            yield result(f"{version}.install", problem[-2000:], log)
            if not problem:
                yield from _uses(context, version, place)
