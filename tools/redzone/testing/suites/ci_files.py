# SPDX-License-Identifier: MIT
"""The Action, the workflows of the docs, and the Dockerfile, by the programs that check such files.

The tests are in tests/ci, for pytest. What they use of package registries is pinned by hash there, and goes
to build/ci-files. tests/e2e/test_action.py runs the Action's steps.
"""

from redzone.testing.suites import _pytest

# It fetches packages.
SLOW = True
run = _pytest.suite("tests/ci", "go")
