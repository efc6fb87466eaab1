# SPDX-License-Identifier: MIT
"""`./redzone decode`: every format, each line exactly, hostile logs, the same reports from any cut of a log.

The tests are in tests/decode, for pytest. The suite decode-fuzz has a million hostile logs.
"""

from redzone.core.base import ROOT
from redzone.testing.suites import _pytest

TOOLS = ("clang-19", "lld", "nm", "objdump", "objcopy", "symbolizer")
QUICK = "all"


def run(context):
    # If a compiler is missing, its tests skip by name.
    context.missing("gcc-arm64", "gcc")
    yield from _pytest.run(context, ROOT / "tests" / "decode")
