# SPDX-License-Identifier: MIT
"""Runs folders of pytest tests as a suite, and shows each result as it comes.

Tests with the mark `rest` run only with --rest, and with --quick only those with the mark `quick` run."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from redzone.core.base import ROOT
from redzone.testing import needs
from redzone.testing.runner import FAIL, PASS, SKIP, Result

MAIN = ROOT / "tools" / "redzone" / "testing" / "suites" / "_pytest_main.py"
LINES = 20  # of a failed test's output: the end has the reason
STATUS = {"passed": PASS, "failed": FAIL, "skipped": SKIP}


class _Run:
    """One pytest process. results(): its Results as they come; stop() ends it from another thread."""

    def __init__(self, context, path, marks, shared):
        name = path.stem
        self.name, self.log = name, context.write_log(name, "")
        receive, send = os.pipe()
        self.receive = os.fdopen(receive, encoding="utf-8")
        with self.log.open("w", encoding="utf-8") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(MAIN), str(send), str(path), marks],
                cwd=ROOT,
                env={**os.environ, needs.VARIABLE: "1" if context.yes else "", "REDZONE_SHARED": shared},
                pass_fds=[send],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        os.close(send)

    def stop(self):
        self.process.kill()

    def results(self):
        count = failed = 0
        with self.receive as results:
            for line in results:
                entry = json.loads(line)
                count += 1
                failed += entry["outcome"] == "failed"
                detail = "\n".join(entry["detail"].splitlines()[-LINES:])
                yield Result(entry["name"], STATUS[entry["outcome"]], detail, self.log)
        status = self.process.wait()
        # 1: tests failed, and the results say so. Anything else is pytest's own trouble, or a test that
        # killed it.
        # 5: the file has no test with these marks.
        if status not in (0, 1, 5) or (status == 0 and count == 0) or (status == 1 and not failed):
            said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES:]
            yield Result(self.name, FAIL, "\n".join([f"pytest ended with status {status}", *said]), self.log)


def marks_of(context):
    """Return pytest's expression for the tests that this run takes."""
    if context.quick:
        return "quick and not rest"
    return "rest" if context.rest else "not rest"


def suite(folders, *skips):
    """Return run() of a suite whose tests are in @folders, patterns below the repository. Tests that lack one
    of the tools @skips are skipped by name."""

    def run_suite(context):
        context.missing(*skips)
        yield from run(context, *sorted(path for one in folders.split() for path in ROOT.glob(one)))

    return run_suite


def run(context, *folders):
    """Yield a Result for each test in @folders. One file more than there are jobs runs at once: tests wait.

    Tests in different files may share only what the builder locks, and REDZONE_SHARED, a folder of this run.
    """
    results = queue.SimpleQueue()
    runs = []

    def run_file(path):
        try:
            current = _Run(context, path, marks_of(context), shared)
            runs.append(current)
            for result in current.results():
                results.put(result)
        finally:
            results.put(None)

    # The longest first, so that none is left running alone at the end.
    files = [path for folder in folders for path in folder.glob("test_*.py")]
    files.sort(key=lambda path: (-path.stat().st_size, path))
    with tempfile.TemporaryDirectory() as shared, ThreadPoolExecutor(max_workers=context.jobs + 1) as pool:
        futures = [pool.submit(run_file, path) for path in files]
        try:
            left = len(files)
            while left:
                result = results.get()
                if result is None:
                    left -= 1
                else:
                    yield result
            for future in futures:
                future.result()
        finally:
            for future in futures:
                future.cancel()
            for current in runs:
                with contextlib.suppress(OSError):
                    current.stop()
