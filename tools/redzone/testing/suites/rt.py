# SPDX-License-Identifier: MIT
"""All KUnit suites in real-time kernels: in each mode on 1 and 4 CPUs, and with the lock validator on 4.

realtime.md says what is different in such a kernel. The suite kunit has one of these configurations, and
`./redzone test soak --preempt-rt` does the soak test."""

from redzone.testing.suites import kunit

TOOLS = kunit.TOOLS
MODES = kunit.MODES
OPTIONS = ("filter",)
SLOW = True

# As in the suite kunit.
CONFIGURATIONS = [
    (mode, "sync" if mode == "hw_tags" else "inline", "clang-19", cpus, features)
    for cpus, features in ((1, "rt"), (4, "rt"), (4, "lockdep+rt"))
    for mode in MODES
]


def run(context):
    # The validator makes each lock several times as long.
    yield from kunit.run(context, matrix=True, only=CONFIGURATIONS, timeout=2 * kunit.TIMEOUT)
