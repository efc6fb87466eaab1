# SPDX-License-Identifier: MIT
"""Checks on a 32-bit processor, by brute force, in every layout of the shadow: QEMU's Cortex-M3."""

from redzone.core.base import ROOT
from redzone.testing.suites import _pytest

TOOLS = ("lld", "qemu-arm64")


def run(context):
    # If a compiler is missing, its tests skip by name.
    context.missing("clang-19")
    yield from _pytest.run(context, ROOT / "tests" / "checks32")
