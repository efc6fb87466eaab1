# SPDX-License-Identifier: MIT
"""`./redzone fuzz`: planted bugs are found from nothing, and no misbehaviour of a target ends it.

Targets with planted bugs are in tests/fuzz. Random numbers begin with a fixed seed, and limits are numbers of
inputs, so a busy machine needs longer and finds the same.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from redzone import mteqemu
from redzone.runner import SKIP, Result
from redzone.suites import _fuzz

SLOW = True
TOOLS = _fuzz.TOOLS
# Inputs within which both bugs of the parser are found.
RUNS = 150000
# {first bytes of the input: what the finding's title begins with}, for bad.c.
BAD = {
    "Hang": "hang: no end after ",
    "Null": "KASAN: null-ptr-deref",
    "Exit": "exit: program returned 3",
    "Free": "KASAN: double-free",
    "Deep": "Kernel panic - not syncing: kernel stack overflow",
    "Many": "KASAN: slab-out-of-bounds",
}


def _inputs(folder, *texts):
    """Make a folder of inputs, as --seeds takes them."""
    folder.mkdir(parents=True)
    for text in texts:
        (folder / text).write_bytes(text.encode())
    return folder


def _parser(fuzz):
    """From an empty corpus: both bugs, each with an input that repeats it; a second run finds nothing new."""
    arguments = (_fuzz.HERE / "parser.c", "--dir", "toy", "--runs", RUNS, "--seed", 1, "--max-len", 32)
    status, _, log = fuzz.run(*arguments)
    titles = fuzz.titles("toy")
    wrong = _fuzz.missing(titles, ["KASAN: slab-out-of-bounds Read", "KASAN: slab-use-after-free Read"])
    if status != 1:
        wrong.append(f"exit status {status}")
    yield _fuzz.result("parser.found", wrong, log)

    wrong = []
    for title, folder in titles.items():
        line = (folder / "command").read_text()
        again = subprocess.run(
            line, shell=True, check=False, cwd=fuzz.folder, capture_output=True, text=True, errors="replace"
        )
        fuzz.context.write_log(f"repeat-{folder.name}", line + again.stdout + again.stderr)
        kind = title.removeprefix("KASAN: ").split()[0]
        if again.returncode != 1 or f"BUG: KASAN: {kind} in " not in again.stdout:
            wrong.append(f"'{title}' is not repeated by: {line.strip()}")
        if (folder / "input").stat().st_size > (folder / "original").stat().st_size:
            wrong.append(f"'{title}': the input became larger")
        if f"BUG: KASAN: {kind}" not in (folder / "console.log").read_text(errors="replace"):
            wrong.append(f"'{title}': no report in console.log")
    yield _fuzz.result("parser.repeated", wrong, log)

    before = len(list((fuzz.folder / "toy" / "corpus").iterdir()))
    status, _, log = fuzz.run(*arguments[:3], "--runs", 2000, "--seed", 2, "--max-len", 32)
    wrong = [] if fuzz.titles("toy") == titles else ["the second run has other findings"]
    if status != 1:
        wrong.append(f"exit status {status}")
    if before < 3 or len(list((fuzz.folder / "toy" / "corpus").iterdir())) < before:
        wrong.append(f"the corpus had {before} files, and has less now")
    yield _fuzz.result("parser.resumed", wrong, log)


def _bad(fuzz):
    """Each way to misbehave is one finding, and the inputs behind it run as well."""
    seeds = _inputs(fuzz.folder / "seeds", *BAD)
    status, _, log = fuzz.run(
        _fuzz.HERE / "bad.c",
        "--dir",
        "bad",
        "--seeds",
        seeds,
        "--runs",
        200,
        "--seed",
        1,
        "--hang",
        1,
        "--max-len",
        4,
    )
    wrong = _fuzz.missing(fuzz.titles("bad"), BAD.values())
    if status != 1:
        wrong.append(f"exit status {status}")
    yield _fuzz.result("bad.findings", wrong, log)


def _descendants(pid):
    """Return the processes below @pid, as [(number, name)]."""
    children = {}
    names = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        number, _, rest = text.partition(" (")
        name, _, rest = rest.rpartition(") ")
        children.setdefault(int(rest.split()[1]), []).append(int(number))
        names[int(number)] = name
    found, new = [], [pid]
    while new:
        new = [child for one in new for child in children.get(one, [])]
        found += [(child, names[child]) for child in new]
    return found


def _wait_for(process, condition):
    """Wait until condition() gives something, and return that; None if @process ends before."""
    while process.poll() is None:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    return None


def _emulators(process):
    return [number for number, name in _descendants(process.pid) if name.startswith("qemu-system")]


def _killed(fuzz):
    """The emulator is killed, then Ctrl-C: the first is one line, and what was found before is kept."""
    seeds = _inputs(fuzz.folder / "null", "Null")
    process = fuzz.start(_fuzz.HERE / "bad.c", "--dir", "kill", "--seeds", seeds, "--seed", 1)
    wrong = []
    try:
        corpus, findings = fuzz.folder / "kill" / "corpus", fuzz.folder / "kill" / "findings"
        if not _wait_for(process, lambda: list(findings.glob("*/title")) and _emulators(process)):
            wrong.append("no finding before the end")
        for number in _emulators(process):
            os.kill(number, signal.SIGKILL)
        known = set(_emulators(process))
        if not _wait_for(process, lambda: set(_emulators(process)) - known):
            wrong.append("no other emulator started")
        process.send_signal(signal.SIGINT)
    finally:
        status, output, log = fuzz.finish(process)
    if status != 130:
        wrong.append(f"exit status {status}")
    if "the emulator was ended from outside" not in output:
        wrong.append("nothing says that the emulator was ended")
    wrong += _fuzz.missing(fuzz.titles("kill"), [BAD["Null"]])
    if not corpus.is_dir() or "Traceback" in output:
        wrong.append("no corpus, or a traceback")
    yield _fuzz.result("killed", wrong, log)


def _modes(fuzz):
    """The same bug in the other modes and with the other compiler."""
    seeds = _inputs(fuzz.folder / "short", "TOY1keysS\7abc")
    for name, options in (
        ("outline", ("--outline",)),
        ("gcc", ("--cc", "gcc")),
        ("sw_tags", ("--mode", "sw_tags")),
        ("hw_tags", ("--mode", "hw_tags")),
    ):
        reason = mteqemu.reason() if name == "hw_tags" else None
        reason = reason or (fuzz.context.missing("gcc-arm64") if name == "gcc" else None)
        if reason:
            yield Result(f"modes.{name}", SKIP, reason)
            continue
        status, output, log = fuzz.run(
            *(_fuzz.HERE / "parser.c", *options, "--dir", name, "--seeds", seeds, "--runs", 3000, "--seed", 1)
        )
        wrong = [] if status == 1 else [f"exit status {status}"]
        if not any("out-of-bounds" in title for title in fuzz.titles(name)):
            wrong.append("the bug was not found")
        edges = [line for line in output.splitlines() if " edges, " in line]
        if not edges or " 0 edges" in edges[-1] or ", 0 of " in edges[-1]:
            wrong.append("no coverage")
        yield _fuzz.result(f"modes.{name}", wrong, log)


def run(context):
    folder = Path(tempfile.mkdtemp(prefix="redzone-fuzz-"))
    fuzz = _fuzz.Fuzz(context, folder)
    try:
        for part in (_parser, _bad, _killed, _modes):
            yield from part(fuzz)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
