# SPDX-License-Identifier: MIT
"""The developers' own instruments from outside: bench, mutations, soak, style, the library tables, .ci/run.

The tests are in tests/e2e/instruments, for pytest. They cost as much as the rest of tests/e2e and say nothing
about Redzone itself, so that only .ci/run and those who change an instrument need them."""

from redzone.testing.suites import _pytest, e2e

TOOLS = e2e.TOOLS
SLOW = True
run = _pytest.suite("tests/e2e/instruments", "clang-22")
