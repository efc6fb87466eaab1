# SPDX-License-Identifier: MIT
"""All KUnit suites in all configurations, including those that the suite kunit leaves out as nearly alike."""

from redzone.testing.suites import kunit

TOOLS = kunit.TOOLS
MODES = kunit.MODES
SLOW = True


def run(context):
    yield from kunit.run(context, matrix=True)
