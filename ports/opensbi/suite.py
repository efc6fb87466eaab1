# SPDX-License-Identifier: MIT
"""OpenSBI under KASAN: planted bugs, ordinary use on all harts, U-Boot after it. --rest adds GCC and more.

Without OpenSBI's source, and without a network to fetch it, it is skipped.
"""

from redzone.testing.runner import FAIL, PASS, SKIP, Result, result

from .host import boots, build, planted, source
from .port import U_BOOT, checks_stack

SUITE_NAME = "opensbi"
SLOW = True
OPTIONS = ("rest",)
TOOLS = build.TOOLS
# What a user writes: the goal of this port.
LINES_MAX = 350
# (compiler, fixed, drivers, [(harts, address)]): the first by default, the others with --rest.
BUILDS = (
    ("clang-19", False, "board", ((4, boots.MOVED),)),
    ("gcc", True, "board", ((4, build.RAM),)),
    ("clang-19", False, "board", ((1, build.RAM), (2, build.RAM + 0x1000000))),
    ("clang-19", True, "board", ((4, build.RAM), (1, build.RAM))),
    ("gcc", True, "board", ((1, build.RAM),)),
    ("gcc", False, "board", ((4, boots.MOVED), (1, build.RAM))),
    ("clang-19", False, "all", ((4, build.RAM),)),
)
FIRST = 2


def _ordinary(title, image, harts, load, log, own_tests):
    """Ordinary use without a report. own_tests: OpenSBI's own unit tests run at the start."""
    session = boots.boot(image, log, boots.ORDINARY, harts, load)
    faults = [f"{report.type} in {report.where}" for report in session.reports] + session.failures
    faults += [session.ended] if session.ended else []
    if not any(line.startswith(f"{boots.DONE} {harts}") for line in session.lines):
        faults.append("ordinary use did not come to its end")
    if sum(bool(boots.TESTED.match(line)) for line in session.lines) < 5 and own_tests:
        faults.append("OpenSBI's own unit tests did not run")
    return result(f"{title}.ordinary", faults, log)


def _planted(title, image, stack, harts, load, logs):
    log = logs / f"{title}.log"
    session = boots.boot(image, log, boots.ALL, harts, load)
    for number, bug in enumerate(planted.BUGS):
        path, found = log, session.bugs
        if bug.fatal:
            path = logs / f"{title}-{bug.name}.log"
            found = boots.boot(image, path, number + 1, harts, load).bugs
        yield result(f"{title}.{bug.name}", planted.problem(bug, found.get(bug.name), stack), path)
    yield result(f"{title}.end", session.ended, log)


def _at_once(title, image, harts, load, log):
    """All harts plant a bug and print, at the same time: no line is inside another one, no report is lost."""
    session = boots.boot(image, log, boots.HARTS, harts, load)
    faults = [session.ended] if session.ended else []
    output = [line for line in session.lines if "output of a hart" in line]
    planted_lines = [line for line in session.lines if "planted:" in line]
    # Each hart but the first plants it three times.
    count = 3 * (harts - 1) + 1
    if len(output) != count - 1 or not all(line.startswith("output of") for line in output):
        faults.append(f"{len(output)} whole lines of harts, expected {count - 1}")
    if planted_lines != ["planted: heap_use_after_free"] * count:
        faults.append(f"lines of firmware: {planted_lines}")
    whole = [report for report in session.reports if report.type == "slab-use-after-free"]
    if len(session.reports) != len(whole) or len(whole) != count:
        faults.append(f"{len(whole)} reports of {len(session.reports)} are of this bug, expected {count}")
    for report in whole:
        strange = [line for line in report.raw if "output of" in line or "planted" in line]
        faults += [f"inside of a report: {line}" for line in strange]
    return result(f"{title}.at-once", faults, log)


def _u_boot(title, image, log):
    try:
        session, outputs = boots.u_boot(image, U_BOOT, log)
    except source.Unavailable as error:
        return Result(f"{title}.u-boot", SKIP, str(error).splitlines()[0])
    faults = [f"{report.type} in {report.where}" for report in session.reports]
    faults += [session.ended] if session.ended else []
    text = "\n".join(line for lines in outputs for line in lines)
    faults += [f"U-Boot does not print '{word}'" for word in ("U-Boot 20", "OpenSBI") if word not in text]
    return result(f"{title}.u-boot", faults, log)


def _open_bug(title, image, log):
    """OpenSBI's own: the debug console reads a text at an address where nothing is, and the hart stops."""
    session = boots.boot(image, log, boots.HOLE, 1)
    found = [report.type for report in session.reports]
    wrong = "" if found == ["wild-memory-access"] else f"{found}; docs/port/riscv-firmware.md says otherwise"
    return result(f"{title}.console-write-of-nothing", wrong, log)


def _costs(title, image, log):
    """Firmware must not become unusably slow: a call takes at most 60 times as many instructions."""
    plain = build.build(kasan=False)
    pair = [
        boots.boot(one, log.with_name(f"{log.stem}-{name}.log"), boots.COST, 1, exact=True).costs
        for name, one in (("kasan", image), ("plain", plain))
    ]
    if not pair[1] or pair[0].keys() != pair[1].keys():
        return Result(f"{title}.costs", FAIL, f"no figures: {pair}", log)
    slow = [
        f"{what}: {count} for {pair[1][what]}"
        for what, count in pair[0].items()
        if count > 60 * pair[1][what]
    ]
    return result(f"{title}.costs", slow, log)


def run(context):
    lines = build.written_lines()
    yield result("lines", f"{lines} lines, at most {LINES_MAX}" if lines > LINES_MAX else "")
    try:
        source.find()
    except source.Unavailable as error:
        yield Result("opensbi", SKIP, str(error).splitlines()[0])
        return
    for build_of in context.part(BUILDS, rest=BUILDS[FIRST:]):
        cc, fixed, drivers, machines = build_of
        name = f"{cc}-{'fixed' if fixed else 'pie'}" + ("" if drivers == "board" else f"-{drivers}")
        reason = context.missing(*build.tools(cc))
        if reason:
            yield Result(name, SKIP, reason)
            continue
        image = build.build(cc=cc, fixed=fixed, drivers=drivers, jobs=context.jobs)
        for harts, load in machines:
            title = f"{name}.{harts}@{load:x}"
            logs = context.logs
            yield _ordinary(title, image, harts, load, logs / f"{title}-ordinary.log", drivers == "board")
            yield from _planted(title, image, checks_stack(image, cc), harts, load, logs)
            if harts > 1:
                yield _at_once(title, image, harts, load, logs / f"{title}-at-once.log")
        if build_of == BUILDS[0]:
            yield _u_boot(name, image, context.logs / f"{name}-u-boot.log")
        if build_of == BUILDS[FIRST]:
            yield _costs(name, image, context.logs / f"{name}-costs.log")
            yield _open_bug(name, image, context.logs / f"{name}-hole.log")
    yield Result("end", PASS)
