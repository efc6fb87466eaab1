# SPDX-License-Identifier: MIT
"""All KUnit suites in all configurations of the suite kunit, which leaves out what hardly differs."""

from redzone.suites import kunit

TOOLS = kunit.TOOLS
MODES = kunit.MODES
SLOW = True


def run(context):
    yield from kunit.run(context, matrix=True)
