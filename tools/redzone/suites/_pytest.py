# SPDX-License-Identifier: MIT
"""Runs a folder of pytest tests as a suite."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from redzone.base import ROOT
from redzone.runner import FAIL, PASS, SKIP, Result


def run(context, folder):
    """Yield a Result for each test in @folder."""
    results = context.logs / "results.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={results}", str(folder)]
    process = subprocess.run(
        command, cwd=ROOT, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    log = context.write_log("pytest", process.stdout + process.stderr)
    if not results.exists():
        yield Result("all", FAIL, "\n".join((process.stdout + process.stderr).splitlines()[-20:]), log)
        return
    for case in ElementTree.parse(results).iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"
        status, detail = PASS, ""
        for child in case:
            if child.tag in ("failure", "error"):
                status, detail = FAIL, (child.text or child.get("message") or "")
            elif child.tag == "skipped":
                status, detail = SKIP, child.get("message") or ""
        yield Result(name, status, "\n".join(detail.splitlines()[-20:]), log)
