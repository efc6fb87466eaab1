# SPDX-License-Identifier: MIT
"""A program: `_pytest_main.py FD FILE MARKS` runs the tests in FILE whose marks fit the expression MARKS with
pytest, and writes one line of JSON to the file descriptor FD for each test that has ended."""

import json
import os
import sys


class _Results:
    """Joins the three phases of a test (set-up, call, tear-down) into one result: the worst of them."""

    def __init__(self, stream):
        self.stream = stream
        self.outcome, self.detail = "passed", ""

    def pytest_runtest_logstart(self, nodeid, location):
        self.outcome, self.detail = "passed", ""

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.outcome, self.detail = "failed", self.detail + report.longreprtext
        elif report.skipped and self.outcome == "passed":
            # A skip has (file, line, "Skipped: reason").
            where = report.longrepr
            reason = where[2] if isinstance(where, tuple) else str(where)
            self.outcome, self.detail = "skipped", reason.removeprefix("Skipped: ")

    def pytest_runtest_logfinish(self, nodeid, location):
        path, _, name = nodeid.partition("::")
        module = os.path.basename(path).removesuffix(".py")
        entry = {"name": f"{module}.{name}", "outcome": self.outcome, "detail": self.detail}
        print(json.dumps(entry), file=self.stream, flush=True)


def main(descriptor, file, marks):
    # This file's folder is first on the path, and some of its modules have the same names as pytest's own.
    del sys.path[0]
    import pytest

    with os.fdopen(int(descriptor), "w", encoding="utf-8") as stream:
        # The log ends with the tests that take longest: candidates for the mark `rest`.
        options = ["-q", "-p", "no:cacheprovider", "--durations=0", "--durations-min=1"]
        return pytest.main([*options, file, "-m", marks], plugins=[_Results(stream)])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
