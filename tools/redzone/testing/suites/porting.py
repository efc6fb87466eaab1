# SPDX-License-Identifier: MIT
"""The porting kit: the bare-metal example, the ways into another tree, flags, amalgamate, audit.

The tests are in tests/porting and in each port's folder tests, for pytest."""

from redzone.build.builder import KERNEL
from redzone.testing.suites import _pytest

TOOLS = (*KERNEL, "make", "pkg-config", "clang-19", "nm", "qemu-riscv64")

OPTIONS = ("rest",)
QUICK = "part"
run = _pytest.suite("tests/porting ports/*/tests", "clang-22", "gcc-arm64", "gcc-riscv64", "gcc-arm", "gcc")
