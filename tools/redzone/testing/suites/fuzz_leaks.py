# SPDX-License-Identifier: MIT
"""`./redzone fuzz --leaks`: objects that an input leaves over are findings, which their lines repeat."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from redzone.core import mteqemu
from redzone.testing.runner import SKIP, Result
from redzone.testing.suites import _fuzz

SLOW = True
TOOLS = _fuzz.TOOLS
# The first four bytes of inputs of leaky.c; the last two leave nothing over for good.
INPUTS = ("Lose", "Huge", "Text", "Once", "Last")
TITLES = {"BUG: memory leak in lose_some", "BUG: memory leak in lose_text"}
_MODES = {
    "inline": (),
    "off": ("--mode", "off"),
    "gcc": ("--cc", "gcc"),
    "sw_tags": ("--mode", "sw_tags"),
    "hw_tags": ("--mode", "hw_tags"),
}


def _repeated(fuzz, folder):
    """Return what is wrong with the command that repeats the finding in @folder."""
    line = (folder / "command").read_text()
    again = subprocess.run(
        line, shell=True, check=False, cwd=fuzz.folder, capture_output=True, text=True, errors="replace"
    )
    fuzz.write_log([line], again.stdout + again.stderr)
    title = (folder / "title").read_text().strip()
    # There is no report of KASAN: the program itself says by its status that it has failed.
    if again.returncode == 0 or title not in again.stdout:
        return [f"'{title}' is not repeated by: {line.strip()}"]
    return []


def _one_mode(fuzz, name, options, seeds):
    target = (_fuzz.HERE / "leaky.c", "--leaks", "--dir", name, "--seeds", seeds)
    status, _, log = fuzz.run(*target, *options, "--runs", 300, "--seed", 1, "--max-len", 4)
    titles = fuzz.titles(name)
    wrong = [] if status == 1 else [f"exit status {status}"]
    if set(titles) != TITLES:
        wrong.append(f"the findings are {sorted(titles)}")
    if name in ("inline", "off"):
        for folder in titles.values():
            wrong += _repeated(fuzz, folder)
            if "lose_" not in (folder / "report.txt").read_text():
                wrong.append("a report without its trace")
    return _fuzz.result(name, wrong, log)


def _without(fuzz, seeds):
    """Without the option the same inputs are no findings."""
    arguments = ("--dir", "without", "--seeds", seeds, "--runs", 100, "--seed", 1, "--max-len", 4)
    status, _, log = fuzz.run(_fuzz.HERE / "leaky.c", *arguments)
    wrong = [] if status == 0 else [f"exit status {status}"]
    return _fuzz.result("without", wrong, log)


def run(context):
    folder = Path(tempfile.mkdtemp(prefix="redzone-fuzz-leaks-"))
    fuzz = _fuzz.Fuzz(context, folder)
    try:
        seeds = folder / "seeds"
        seeds.mkdir()
        for text in INPUTS:
            (seeds / text).write_bytes(text.encode())
        for name, options in _MODES.items():
            reason = mteqemu.reason() if name == "hw_tags" else None
            reason = reason or (context.missing("gcc-arm64") if name == "gcc" else None)
            if reason:
                yield Result(name, SKIP, reason)
            else:
                yield _one_mode(fuzz, name, options, seeds)
        yield _without(fuzz, seeds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
