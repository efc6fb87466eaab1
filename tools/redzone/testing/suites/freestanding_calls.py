# SPDX-License-Identifier: MIT
"""Every compiler, optimisation, target and layout: the runtime never calls the functions that it checks.

The suite freestanding has some of these combinations."""

from redzone.testing.suites import _calls

SLOW = True


def run(context):
    yield from _calls.run(context, _calls.everything())
