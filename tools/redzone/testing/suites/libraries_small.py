# SPDX-License-Identifier: MIT
"""The smallest four public C libraries of the suite libraries, in Generic mode.

They are those that take the least time to build and run. `./redzone test libraries` has all of them in every
mode. Without a network they are skipped, unless their sources were fetched before.
"""

from redzone.libraries import catalogue
from redzone.testing.suites import libraries

SLOW = True
TOOLS = libraries.TOOLS


def run(context):
    pairs = [pair for name in catalogue.SMALL for pair in libraries.chosen(name)]
    yield from libraries.run_builds(context, libraries.BUILDS[:1], pairs)
