# SPDX-License-Identifier: MIT
"""FreeRTOS under KASAN: planted bugs on four boards and five heaps, ordinary traffic without a report.

Its source is fetched once (git); REDZONE_FREERTOS names a folder that has it instead. With --seconds the
traffic takes so many seconds of the board's time: --seconds 600 for ten minutes.
"""

from redzone.testing.runner import FAIL, PASS, SKIP, Result, result

from .host import boots, build, planted, source

SLOW = True
TOOLS = ("make", "symbolizer")
OPTIONS = ("seconds",)
# Board, heap, compiler: each heap is used once, and each board by both compilers.
BUILDS = (
    ("mps2-an385", 4, "gcc"),
    ("mps2-an505", 5, "gcc"),
    ("riscv-virt", 4, "gcc"),
    ("riscv32-virt", 4, "gcc"),
    ("mps2-an385", 1, "gcc"),
    ("mps2-an385", 2, "gcc"),
    ("mps2-an385", 3, "gcc"),
    ("riscv-virt", 3, "gcc"),
    ("mps2-an385", 5, "clang-19"),
    ("mps2-an505", 4, "clang-19"),
    ("riscv-virt", 2, "clang-19"),
    ("riscv32-virt", 3, "clang-19"),
)
TRAFFIC = 20
# What the port says to memory without shadow.
REFUSED = {
    "REGION": "a region of heap_5 must lie in the RAM that has shadow",
    "STACK": "a task's stack must lie in the RAM that has shadow",
}


def _planted(title, image):
    """Boot @image: a result for each bug, and one for what comes before them."""
    session = boots.boot(image)
    if session.reports or not session.traffic:
        first = session.reports[0] if session.reports else None
        detail = f"{first.type} in {first.where}" if first else session.ended
        yield Result(f"{title}.traffic", FAIL, f"before the first bug: {detail}", session.log)
    else:
        yield Result(f"{title}.traffic", PASS)
    for bug in planted.expected(image.board, image.heap):
        problem = bug.problem(session.bugs.get(bug.name, []))
        yield result(f"{title}.{bug.name}", problem, session.log)
    yield result(f"{title}.end", session.ended, session.log)


def _refused(folder, refuse, jobs):
    """A demonstration that gives FreeRTOS memory without shadow stops with the reason."""
    board = build.BOARDS[0]
    session = boots.boot(build.build(board, folder, 5, 1, bugs=False, jobs=jobs, refuse=refuse))
    said = any(line.startswith(REFUSED[refuse]) for line in session.lines)
    detail = "" if said and session.ended and not session.traffic else f"no line '{REFUSED[refuse]}'"
    return result(f"{board}.refuses-{refuse.lower()}", detail, session.log)


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
        folder = source.get()
    except source.Unavailable as error:
        yield Result("all", SKIP, str(error).splitlines()[0])
        return
    for board, heap, cc in BUILDS:
        title = f"{board}.heap_{heap}" + (".clang" if cc != "gcc" else "")
        reason = context.missing(*build.tools(board, cc))
        if reason:
            yield Result(title, SKIP, reason)
            continue
        yield from _planted(title, build.build(board, folder, heap, jobs=context.jobs, cc=cc))
    reason = context.missing(*build.tools(build.BOARDS[0], cmake=True))
    if reason:
        yield Result("cmake", SKIP, reason)
    else:
        yield from _planted("cmake", build.build_by_cmake(folder, context.jobs))
    for refuse in build.REFUSE:
        if not context.missing(*build.tools(build.BOARDS[0])):
            yield _refused(folder, refuse, context.jobs)
    for board in build.BOARDS:
        if not context.missing(*build.tools(board)):
            yield _ordinary(board, folder, context.seconds or TRAFFIC, context.jobs)
