# SPDX-License-Identifier: MIT
"""xv6 for RISC-V under KASAN: planted bugs, and usertests without a report, with GCC and Clang.

Without xv6's source, and without a network to fetch it, it is skipped.
"""

from redzone.testing.runner import SKIP, Result, result

from .host import bugs, build, session, source
from .host.bugs import BUGS
from .port import LONG, PASSED, USERTESTS

SUITE_NAME = "xv6"
SLOW = True
TOOLS = build.TOOLS
# What a user writes: the goal of this port.
LINES_MAX = 60


def _planted(cc, image, logs):
    """Yield the result of each bug; those that xv6 does not survive have a boot each."""
    groups = [[bug for bug in BUGS if not bug.fatal], *([bug] for bug in BUGS if bug.fatal)]
    for group in groups:
        log = logs / f"{cc}-{group[0].name}.log"
        played = session.play(image, [bugs.command(bug) for bug in group], log)
        for at, bug in enumerate(group):
            reply = played.replies[at + 1] if at + 1 < len(played.replies) else session.Reply("")
            fault = bugs.problem(bug, reply)
            if fault and played.ended:
                fault += f"; xv6 stopped: {played.ended}"
            yield result(f"{cc}.{bug.name}", fault, log)


def _usertests(cc, image, logs):
    log = logs / f"{cc}-usertests.log"
    played = session.play(image, [USERTESTS], log, LONG)
    reports = [f"{report.type} in {report.where}" for report in played.reports]
    if reports:
        fault = f"reports: {'; '.join(reports)}"
    elif played.ended:
        fault = f"xv6 stopped: {played.ended}"
    else:
        fault = "" if PASSED in played.replies[-1].lines else f"no line '{PASSED}'"
    return result(f"{cc}.usertests", fault, log)


def run(context):
    lines = build.written_lines()
    fault = f"{lines} lines, at most {LINES_MAX}" if lines > LINES_MAX else ""
    yield result("lines", fault)
    try:
        source.find()
    except source.Unavailable as error:
        yield Result("xv6", SKIP, str(error))
        return
    for cc in build.COMPILERS:
        reason = context.missing(*build.tools(cc))
        if reason:
            yield Result(cc, SKIP, reason)
            continue
        image = build.build(cc=cc, jobs=context.jobs)
        yield from _planted(cc, image, context.logs)
        yield _usertests(cc, image, context.logs)
