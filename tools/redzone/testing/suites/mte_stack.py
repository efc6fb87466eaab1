# SPDX-License-Identifier: MIT
"""All KUnit suites with stack variables in tagged memory: sync, async and asymm, on 1 and 4 CPUs.

The suite kunit has one of these configurations. The KUnit suite kasan_stack_rate commits a thousand random
bugs of each kind on the stack, and prints how many were caught. The soak test takes --mte-stack."""

from redzone.testing.suites import kunit

TOOLS = (*kunit.TOOLS, "clang-19")
OPTIONS = ("filter",)
SLOW = True


def run(context):
    yield from kunit.run(context, matrix=True, only=kunit.MTE_STACK)
