# SPDX-License-Identifier: MIT
"""The command from outside: exit statuses, bad options, missing tools, hangs.

The tests are in tests/e2e, for pytest."""

from redzone.base import ROOT
from redzone.suites import _pytest

TOOLS = ("cmake", "ninja", "clang-19", "lld", "nm", "objcopy", "symbolizer", "qemu-arm64")


def run(context):
    yield from _pytest.run(context, ROOT / "tests" / "e2e")
