# SPDX-License-Identifier: MIT
"""The command from outside: exit statuses, bad options, missing tools, hangs.

The tests are in tests/e2e, for pytest."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from redzone.base import ROOT
from redzone.runner import FAIL, PASS, SKIP, Result

TOOLS = ("cmake", "ninja", "clang-19", "lld", "nm", "objcopy", "symbolizer", "qemu-arm64")


def run(context):
    results = context.logs / "results.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={results}", str(ROOT / "tests" / "e2e")]
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
