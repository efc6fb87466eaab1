# SPDX-License-Identifier: MIT
"""Runs a folder of pytest tests as a suite: each result is shown when it is there."""

import json
import os
import subprocess
import sys

from redzone.base import ROOT
from redzone.runner import FAIL, PASS, SKIP, Result

MAIN = ROOT / "tools" / "redzone" / "suites" / "_pytest_main.py"
LINES = 20  # of what a failed test says: the end has the reason
STATUS = {"passed": PASS, "failed": FAIL, "skipped": SKIP}


def run(context, folder):
    """Yield a Result for each test in @folder."""
    log = context.write_log("pytest", "")
    receive, send = os.pipe()
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [sys.executable, str(MAIN), str(send), str(folder)],
            cwd=ROOT,
            pass_fds=[send],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        os.close(send)
        count = failed = 0
        with os.fdopen(receive, encoding="utf-8") as results:
            for line in results:
                entry = json.loads(line)
                count += 1
                failed += entry["outcome"] == "failed"
                detail = "\n".join(entry["detail"].splitlines()[-LINES:])
                yield Result(entry["name"], STATUS[entry["outcome"]], detail, log)
        status = process.wait()
    # 1: tests failed, as the results said. All else is pytest's own trouble, or a test that ended it.
    if count == 0 or status not in (0, 1) or (status == 1 and not failed):
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES:]
        yield Result("all", FAIL, "\n".join([f"pytest ended with status {status}", *said]), log)
