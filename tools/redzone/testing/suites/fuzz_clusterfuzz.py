# SPDX-License-Identifier: MIT
"""ClusterFuzz's own libFuzzer engine drives a target that `./redzone fuzz --export` wrote.

ClusterFuzz comes from PyPI into build/clusterfuzz, pinned by tests/fuzz/clusterfuzz/requirements.txt.
drive.py beside that file fuzzes, reproduces, makes the input small and merges the corpus, through
ClusterFuzz's interface alone, and has its parser of stack traces read what the target prints.
"""

import hashlib
import json
import platform
import re
import sys
import venv

from redzone.core import base, process
from redzone.core.base import BUILD, Failure
from redzone.testing.runner import SKIP, Result, result, when
from redzone.testing.suites import _fuzz

SLOW = True
TOOLS = _fuzz.TOOLS
HERE = _fuzz.HERE / "clusterfuzz"
REQUIREMENTS = HERE / "requirements.txt"
STEPS = ("targets", "prepare", "fuzz", "reproduce", "minimize_testcase", "cleanse", "minimize_corpus")
# Bytes of the smallest inputs that show the bugs of parser.c, and a few more.
SMALL = 16


def _python(context):
    """Return the Python that has ClusterFuzz; make its virtual environment if need be. Raise Failure."""
    folder = BUILD / "clusterfuzz"
    stamp = folder / "stamp"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    python = folder / "bin" / "python"
    with base.locked(folder):
        if stamp.exists() and stamp.read_text() == wanted:
            return python
        context.note("first use: installing ClusterFuzz into build/clusterfuzz")
        venv.create(folder, clear=False, with_pip=True)
        options = ["--disable-pip-version-check", "--quiet", "--only-binary", ":all:"]
        options += ["--require-hashes", "--no-deps"]
        process.execute(
            [python, "-m", "pip", "install", *options, "-r", REQUIREMENTS], context.logs / "install.log"
        )
        stamp.write_text(wanted)
    return python


def _export(fuzz):
    """Return (the exported folder, what is wrong, log)."""
    seeds = _fuzz.inputs(fuzz.folder / "seeds", "TOY1keys")
    words = fuzz.folder / "toy.dict"
    words.write_text('magic="TOY1"\n')
    arguments = ("--export", "out", "--seeds", seeds, "--dict", words, "--max-len", 32)
    # With functions, so that there is a trace to read.
    status, _, log = fuzz.run(_fuzz.HERE / "parser.c", *arguments, "--cflag", "-fno-inline")
    return fuzz.folder / "out", [] if status == 0 else [f"exit status {status}"], log


def _crash(crash):
    """Return what is wrong with what ClusterFuzz has read from the target's output."""
    wrong = []
    if not re.fullmatch(r"Kernel failure\n[A-Z][a-z-]+\n(READ|WRITE) \d+", crash["type"]):
        wrong.append(f"the type is {crash['type']!r}")
    if not re.fullmatch(r"0x[0-9a-f]{16}", crash["address"]):
        wrong.append(f"the address is {crash['address']!r}")
    wrong += when(not crash["state"][0] or crash["state"][0] == "NULL", "no function of the target")
    return wrong


def _judge(step, said, first):
    """Return what is wrong with a step. @said: what drive.py said of it. @first: of the step `fuzz`."""
    wrong = []
    if step == "targets" and said["names"] != ["parser"]:
        wrong.append(f"ClusterFuzz takes {said['names']} for targets")
    if step == "prepare":
        wrong += [
            f"no {word}" for word in ("-max_len=32", "-dict=") if word not in " ".join(said["arguments"])
        ]
        wrong += when(not said["seeds"], "the seed corpus was not unpacked")
    if step == "fuzz":
        if not said["crashes"]:
            return ["no crash"]
        wrong += _crash(said["crash"])
        wrong += when(not said["edges"] or not said["executions"], "no edges, or no executions")
    if step in ("reproduce", "cleanse"):
        wrong += when(not said["status"], "exit status 0")
        wrong += _crash(said["crash"])
        if first and said["crash"]["state"] != first["crash"]["state"]:
            wrong.append(f"it is another bug: {said['crash']['state']}")
    if step == "minimize_testcase" and not said["after"] <= min(said["before"], SMALL):
        wrong.append(f"{said['after']} bytes of {said['before']}")
    # Each input was there twice.
    if step == "minimize_corpus" and not 0 < said["after"] <= said["before"] // 2:
        wrong.append(f"{said['after']} of {said['before']} inputs")
    return wrong


def run(context):
    if sys.version_info[:2] != (3, 11) or platform.machine() != "x86_64":
        yield Result("all", SKIP, "ClusterFuzz is pinned for Python 3.11 on x86_64")
        return
    try:
        python = _python(context)
    except base.DiskFull:
        raise
    except Failure as error:
        yield Result("all", SKIP, f"ClusterFuzz cannot be installed: {process.last_line(str(error))}")
        return
    with _fuzz.campaign(context, "clusterfuzz") as fuzz:
        exported, wrong, log = _export(fuzz)
        yield result("export", wrong, log)
        if wrong:
            return
        work = fuzz.folder / "work"
        work.mkdir()
        command = [python, HERE / "drive.py", exported, "parser", work]
        _, output, log = fuzz.finish(process.start(command, cwd=fuzz.folder))
        lines = [line for line in output.splitlines() if line.startswith('{"step"')]
        said = {one["step"]: one for one in map(json.loads, lines)}
        for step in STEPS:
            wrong = _judge(step, said[step], said.get("fuzz")) if step in said else ["it was not reached"]
            yield result(step, wrong, log)
