# SPDX-License-Identifier: MIT
"""The KUnit suites without their bugs: a case that expects a report must then fail.

A case expects a report if the console of the ordinary kernel shows one while it runs. The kernel
redzone-bugs-removed has the same suites, compiled with REDZONE_REMOVE_BUGS. With --rest: in the modes and
suites that share most of their cases with Generic mode.
"""

from redzone.build.builder import KERNEL
from redzone.testing.runner import FAIL, PASS, SKIP, Result
from redzone.testing.suites import kunit

TOOLS = (*KERNEL, "clang-19")
# One configuration for each mode whose cases expect different reports, in the format of the suite kunit.
CONFIGURATIONS = (
    ("generic", "inline", "clang-19", 1),
    ("hw_tags", "sync", "clang-19", 1),
    kunit.WITH_LOCKDEP,
)
# What runs in the last one: its other cases are those of the first one.
LOCK_SUITES = "kunit.filter_glob=lockdep*"
REST = CONFIGURATIONS[1:]
OPTIONS = ("rest",)
SLOW = True
MODES = ("generic", "hw_tags")


def verdict(with_bug, without):
    """Return (status, detail) for one case of both kernels; @without is None if it did not run."""
    if without is None:
        return FAIL, "did not run in the kernel without bugs"
    if with_bug.reports == 0:
        if without.status == with_bug.status:
            return PASS, ""
        return FAIL, f"expects no report, but {with_bug.status} became {without.status}"
    if without.reports:
        return FAIL, "there is a report although the bug is removed"
    if without.status != FAIL:
        return FAIL, f"{without.status} although its bug is removed"
    return PASS, ""


def _compare(context, configuration):
    mode = configuration[0]
    locks = configuration == kunit.WITH_LOCKDEP
    prefix = "" if mode == "generic" else f"{mode}."
    preset = kunit.preset_of(configuration)
    images = context.build(preset, targets=["redzone", "redzone-bugs-removed"])
    parsed = {}

    def boot(item):
        name, image = item
        target = kunit.machine_of(configuration, image, timeout=kunit.TIMEOUT)
        target.append += [LOCK_SUITES] if locks else []
        return name, kunit.boot(context, prefix + name, target)

    for name, ended in context.each(boot, images.items()):
        parsed[name] = ended.parsed
        if errors := [*ended.parsed.errors, *filter(None, [ended.end_error])]:
            yield Result(prefix + name, FAIL, "\n".join(errors), ended.log)
    without = parsed["redzone-bugs-removed"].by_name()
    expecting = 0
    for case in parsed["redzone"].cases:
        expecting += case.reports > 0
        status, detail = verdict(case, without.get(case.name))
        yield Result(prefix + case.name, status, detail)
    if expecting == 0:
        yield Result(f"{prefix}all", FAIL, "no case expects a report")


def run(context):
    for configuration in context.of_mode(context.part(CONFIGURATIONS, rest=REST)):
        reason = context.missing_for(kunit.preset_of(configuration))
        if reason:
            yield Result(kunit.label(configuration), SKIP, reason)
        else:
            yield from _compare(context, configuration)
