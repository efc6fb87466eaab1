# SPDX-License-Identifier: MIT
"""The command from outside: exit statuses, bad options, missing tools, hangs.

The tests are in tests/e2e, for pytest."""

from redzone.build.builder import KERNEL
from redzone.testing.suites import _pytest

TOOLS = (*KERNEL, "clang-19", "gcc-arm64", "symbolizer", "git")

OPTIONS = ("rest",)
QUICK = "part"
run = _pytest.suite("tests/e2e", "clang-22")
