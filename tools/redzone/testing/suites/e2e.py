# SPDX-License-Identifier: MIT
"""The command from outside: exit statuses, bad options, missing tools, hangs.

The tests are in tests/e2e, for pytest."""

from redzone.build.builder import KERNEL
from redzone.core.base import ROOT
from redzone.testing.suites import _pytest

TOOLS = (*KERNEL, "clang-19", "gcc-arm64", "symbolizer", "git")

OPTIONS = ("rest",)
QUICK = "part"


def run(context):
    # If this tool is not available, its tests skip by name.
    context.missing("clang-22")
    yield from _pytest.run(context, ROOT / "tests" / "e2e")
