# SPDX-License-Identifier: MIT
"""`./redzone decode`: every format, each line exactly, hostile logs, the same reports from any cut of a log.

The tests are in tests/decode, for pytest. The suite decode-fuzz has a million hostile logs.
"""

from redzone.testing.suites import _pytest

TOOLS = ("clang-19", "lld", "nm", "objdump", "objcopy", "symbolizer")
QUICK = "all"
run = _pytest.suite("tests/decode", "gcc-arm64", "gcc")
