# SPDX-License-Identifier: MIT
"""U-Boot under KASAN: planted bugs, real vulnerabilities, ordinary commands, its own tests.

It fetches Debian's source package the first time, and builds it five times: about ten minutes on two CPUs.
"""

from redzone.decode import decoder, symbols
from redzone.testing.runner import FAIL, PASS, SKIP, Result, result

from .host import boots, build

SLOW = True
TOOLS = (*build.tools(), "qemu-arm64", "symbolizer")

# Command of the port, type of the report, the function that it must name, the stacks that it must have.
PLANTED = (
    ("heap", "slab-out-of-bounds", "bug_heap", ("call", "allocated")),
    ("uaf", "slab-use-after-free", "bug_uaf", ("call", "allocated", "freed")),
    ("double-free", "double-free", "drop_buffer", ("call", "allocated", "freed")),
    ("header", "invalid-free", "drop_buffer", ("call",)),
    ("global", "global-out-of-bounds", "bug_global", ("call",)),
    ("stack", "stack-out-of-bounds", "bug_stack", ("call",)),
)
# U-Boot's own functions in the stacks of the first two; only the host can name them.
NAMED = {"do_kasan", "cmd_process", "main_loop", "board_init_r"}
MEMORIES = ("128M", "512M", "6G")
ORDINARY = 200
# The last lines of U-Boot's own tests. They are the same without KASAN: some tests expect the sandbox board.
OWN_TESTS = {
    "ut lib": "Failures: 0",
    "ut env": "Failures: 0",
    "ut str": "Failures: 0",
    "ut unicode": "Failures: 0",
    "ut overlay": "Failures: 0",
    "ut mem": "Failures: 9",
    "ut print": "Failures: 4",
    "ut log": "Failures: 1",
    "ut common": "Failures: 1",
}


def _names(session):
    text = "; ".join(boots.describe(report) for report in session.reports) or "no report"
    return f"{text}; U-Boot stopped: {session.ended}" if session.ended else text


def _report_problem(report, kind, function, stacks):
    """Return the fault in the report of a planted bug, or None."""
    if report.type != kind:
        return f"{report.type}, expected {kind}"
    if boots.culprit(report) != function:
        return f"in {boots.culprit(report)}(), expected {function}()"
    for stack in stacks:
        names = {frame.name for frame in report.frames(stack)}
        if not names >= NAMED:
            return f"the stack '{stack}' lacks {', '.join(sorted(NAMED - names))}"
    return None


def _decode_problem(image, session, log):
    """Return the fault in what `./redzone decode` makes of the console in the file @log, or None."""
    with symbols.Symbols([image.elf]) as found:
        one = decoder.Decoder(found)
        decoder.read_file(one, str(log))
        decoded = one.finish()
    kasan = [bug for bug in decoded.bugs if bug.kind == "kasan"]
    types = [(kind, function) for _, kind, function, _ in PLANTED]
    if sum(bug.count for bug in kasan) != len(session.reports):
        return f"{sum(bug.count for bug in kasan)} reports, the console has {len(session.reports)}"
    if [(bug.type, bug.function) for bug in kasan] != types:
        return f"{[(bug.type, bug.function) for bug in kasan]}, expected {types}"
    lacking = [bug.title for bug in kasan if bug.location is None]
    return f"no line of source: {'; '.join(lacking)}" if lacking else None


def _planted(image):
    for memory in MEMORIES:
        log = boots.HOME / "logs" / f"planted-{memory}.log"
        commands = [f"kasan {name}" for name, *_ in PLANTED]
        session = boots.play(image, "patched", commands, log, memory=memory)
        for at, (name, *expected) in enumerate(PLANTED):
            reports = session.by_command[at] if at < len(session.by_command) else []
            if len(reports) == 1:
                problem = _report_problem(reports[0], *expected)
            else:
                problem = f"{len(reports)} reports, expected 1; {_names(session)}"
            yield result(f"planted.{memory}.{name}", problem, log)
        problem = _decode_problem(image, session, log)
        yield result(f"planted.{memory}.decoded", problem, log)


def _unpatched(name, jobs):
    """The bug is reported in the function that has it."""
    module = boots.input_module(name)
    session = boots.attack(name, "original", jobs=jobs)
    if boots.expected(module, session):
        return Result(f"unpatched.{name}", PASS)
    detail = f"expected {' or '.join(module.TYPES)} in {module.FUNCTION}(); {_names(session)}"
    return Result(f"unpatched.{name}", FAIL, detail, session.log)


def _patched(name, jobs):
    """The bug is not reported; U-Boot reads the input and goes on."""
    module = boots.input_module(name)
    session = boots.attack(name, "patched", jobs=jobs)
    title = f"patched.{name}"
    if session.ended:
        return Result(title, FAIL, _names(session), session.log)
    if hasattr(module, "server") and not session.answers:
        return Result(title, FAIL, "U-Boot has asked the malicious server nothing", session.log)
    if boots.expected(module, session) or boots.unknown(module, session):
        return Result(title, FAIL, _names(session), session.log)
    return Result(title, PASS)


def _open(name, jobs):
    """Check what bugs.md says about the patched source."""
    module = boots.input_module(name)
    session = boots.attack(name, "patched", jobs=jobs)
    if boots.expected(module, session):
        return Result(f"patched.{name}", PASS)
    return Result(f"patched.{name}", FAIL, f"{_names(session)}; bugs.md says otherwise", session.log)


def _ordinary(image):
    log = boots.HOME / "logs" / "ordinary.log"
    session, lacking = boots.ordinary(image, "patched", log)
    count = len(session.outputs)
    if session.ended or session.reports:
        return Result("ordinary-commands", FAIL, f"command {count}: {_names(session)}", log)
    if lacking or count < ORDINARY:
        return Result("ordinary-commands", FAIL, "\n".join([f"{count} commands", *lacking]), log)
    return Result("ordinary-commands", PASS)


def _own_tests(image):
    log = boots.HOME / "logs" / "own-tests.log"
    session = boots.play(image, "patched", list(OWN_TESTS), log)
    for at, (command, text) in enumerate(OWN_TESTS.items()):
        title = f"own-tests.{command.replace(' ', '-')}"
        output = session.outputs[at] if at < len(session.outputs) else []
        reports = session.by_command[at] if at < len(session.by_command) else []
        if reports or not any(text in line for line in output):
            yield Result(title, FAIL, f"expected '{text}' and no report; {_names(session)}", log)
        else:
            yield Result(title, PASS)


def _selftest(image):
    """U-Boot's test of its EFI implementation: it passes; the reports are those of bugs.md."""
    log = boots.HOME / "logs" / "selftest.log"
    session = boots.selftest(image, "patched", log)
    if session.ended or not any("Summary: 0 failures" in line for line in session.lines):
        return Result("own-tests.bootefi-selftest", FAIL, _names(session), log)
    left = list(session.reports)
    for kind, function in boots.OPEN_SELFTEST:
        found = boots.matching(left, (kind,), function)
        if not found:
            detail = f"no {kind} in {function}(); bugs.md says otherwise"
            return Result("own-tests.bootefi-selftest", FAIL, detail, log)
        left = [report for report in left if report not in found]
    if left:
        detail = "; ".join(boots.describe(report) for report in left)
        return Result("own-tests.bootefi-selftest", FAIL, detail, log)
    return Result("own-tests.bootefi-selftest", PASS)


def _gcc(context):
    """The same, built with GCC: stack variables and some whole files have no checks."""
    reason = context.missing(*build.tools("gcc"))
    if reason:
        yield Result("gcc", SKIP, reason)
        return
    image = build.build(cc="gcc", jobs=context.jobs)
    log = boots.HOME / "logs" / "planted-gcc.log"
    chosen = [planted for planted in PLANTED if planted[0] != "stack"]
    session = boots.play(image, "patched", [f"kasan {name}" for name, *_ in chosen], log)
    for at, (name, *expected) in enumerate(chosen):
        reports = session.by_command[at] if at < len(session.by_command) else []
        problem = _report_problem(reports[0], *expected) if len(reports) == 1 else _names(session)
        yield result(f"gcc.{name}", problem, log)


def run(context):
    image = build.build(jobs=context.jobs)
    yield from _planted(image)
    yield _ordinary(image)
    yield from _own_tests(image)
    yield _selftest(image)
    for name in boots.CVES:
        yield _unpatched(name, context.jobs)
        yield _patched(name, context.jobs)
    for name in boots.OPEN:
        yield _open(name, context.jobs)
    yield from _gcc(context)
