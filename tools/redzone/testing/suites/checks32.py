# SPDX-License-Identifier: MIT
"""Checks on a 32-bit processor, by brute force, in every layout of the shadow: QEMU's Cortex-M3."""

from redzone.testing.suites import _pytest

SLOW = True
TOOLS = ("lld", "qemu-arm64")
run = _pytest.suite("tests/checks32", "clang-19")
