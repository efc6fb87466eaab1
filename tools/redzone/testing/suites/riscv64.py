# SPDX-License-Identifier: MIT
"""The KUnit suites in the kernel for riscv64: all on one CPU, with both compilers, and some on four.

docs/dev/new-architecture.md says what that kernel has."""

from redzone.testing.suites import kunit

TOOLS = kunit.TOOLS
OPTIONS = ("filter",)
SLOW = True


def run(context):
    yield from kunit.run(context, only=kunit.ON_RISCV64)
