# SPDX-License-Identifier: MIT
"""FreeRTOS under KASAN: planted bugs on three boards and five heaps, ordinary traffic without a report.

Its source is fetched once (git); REDZONE_FREERTOS names a folder that has it instead. With --seconds the
traffic takes so many seconds of the board's time: --seconds 600 for ten minutes.
"""

import os

from redzone.runner import FAIL, PASS, SKIP, Result

from .host import boots, build, planted, source

SLOW = True
TOOLS = ("make", "symbolizer")
OPTIONS = ("seconds",)
# Board, heap, seconds of traffic: each heap is used once.
BUILDS = (
    ("mps2-an385", 4),
    ("mps2-an505", 5),
    ("riscv-virt", 4),
    ("mps2-an385", 1),
    ("mps2-an385", 2),
    ("mps2-an385", 3),
    ("riscv-virt", 3),
)
TRAFFIC = 20


def _planted(image):
    """Boot @image: a result for each bug, and one for what comes before them."""
    title = f"{image.board}.heap_{image.heap}"
    session = boots.boot(image)
    if session.reports or not session.traffic:
        first = session.reports[0] if session.reports else None
        detail = f"{first.type} in {first.where}" if first else session.ended
        yield Result(f"{title}.traffic", FAIL, f"before the first bug: {detail}", session.log)
    else:
        yield Result(f"{title}.traffic", PASS)
    for bug in planted.expected(image.board, image.heap):
        problem = bug.problem(session.bugs.get(bug.name, []))
        yield Result(f"{title}.{bug.name}", FAIL if problem else PASS, problem or "", session.log)
    yield Result(f"{title}.end", FAIL if session.ended else PASS, session.ended or "", session.log)


def _ordinary(board, folder, seconds, jobs):
    """Ordinary traffic for @seconds: no report."""
    image = build.build(board, folder, 4, seconds, bugs=False, jobs=jobs)
    session = boots.boot(image)
    title = f"{board}.traffic-{seconds}s"
    if session.reports or session.ended:
        detail = f"{len(session.reports)} reports; {session.ended or session.traffic}"
        return Result(title, FAIL, detail, session.log)
    return Result(title, PASS)


def run(context):
    try:
        folder = source.get(os.environ.get("REDZONE_FREERTOS"))
    except source.Unavailable as error:
        yield Result("all", SKIP, str(error).splitlines()[0])
        return
    for board, heap in BUILDS:
        reason = context.missing(*build.tools(board))
        if reason:
            yield Result(f"{board}.heap_{heap}", SKIP, reason)
            continue
        yield from _planted(build.build(board, folder, heap, jobs=context.jobs))
    for board in build.BOARDS:
        if not context.missing(*build.tools(board)):
            yield _ordinary(board, folder, context.seconds or TRAFFIC, context.jobs)
