# SPDX-License-Identifier: MIT
"""Runs `./redzone fuzz` for the suites that fuzz, in a folder of their own."""

import shlex
import signal
import subprocess

from redzone import process
from redzone.base import ROOT
from redzone.runner import FAIL, PASS, Result

# What the command takes, for TOOLS of a suite.
TOOLS = (
    "cmake",
    "ninja",
    "clang-19",
    "lld",
    "nm",
    "objcopy",
    "symbolizer",
    "qemu-arm64",
    "libfuzzer",
    "libc",
)
HERE = ROOT / "tests" / "fuzz"
TIMEOUT = 7200
# How long the command may take to end when it is interrupted, in seconds.
STOP = 120


class Fuzz:
    """Runs the command in @folder; logs go to the runner.Context @context."""

    def __init__(self, context, folder):
        self.context, self.folder = context, folder
        self.number = 0

    def run(self, *arguments):
        """Return (status, output, log file)."""
        return self.finish(self.start(*arguments))

    def start(self, *arguments):
        self.folder.mkdir(parents=True, exist_ok=True)
        return process.start([ROOT / "redzone", "fuzz", *arguments], cwd=self.folder)

    def finish(self, running):
        try:
            output, _ = running.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            output = f"no end after {TIMEOUT} s\n"
        finally:
            # Also after Ctrl-C, which only this process may get. The command ends what it has started.
            if running.poll() is None:
                running.send_signal(signal.SIGINT)
                process.end(running, STOP)
        return running.returncode, output, self.write_log(running.args, output)

    def write_log(self, command, output):
        self.number += 1
        return self.context.write_log(f"{self.number:02}", f"$ {shlex.join(command)}\n{output}")

    def titles(self, name):
        """Return {title: folder} of the findings in the folder @name."""
        found = (self.folder / name / "findings").glob("*/title")
        return {path.read_text().strip(): path.parent for path in found}


def result(name, wrong, log):
    """Return the Result of a test. wrong: texts, none if all is well."""
    return Result(name, FAIL if wrong else PASS, "; ".join(wrong), log)


def missing(titles, wanted):
    """Return a text for each start of a title in @wanted that none of @titles has."""
    return [f"no finding '{start}'" for start in wanted if not any(t.startswith(start) for t in titles)]
