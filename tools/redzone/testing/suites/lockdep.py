# SPDX-License-Identifier: MIT
"""The lock validator: the kernel's own locks run clean, planted lock bugs are reported, with golden texts.

In Generic mode all KUnit suites run under it, on 4 CPUs, and with --rest on one. With --rest the suites of
the validator and of KASAN run in the other modes: a lock in bad memory is KASAN's to report.
tests/golden/lockdep/ has reports, written again with REDZONE_UPDATE_GOLDEN=1."""

import re

from redzone.build import builder
from redzone.core import base
from redzone.core.base import ROOT
from redzone.machine import console, qemu
from redzone.testing.runner import asked, result, rewrite
from redzone.testing.suites import golden, kunit

SLOW = True
TOOLS = (*builder.KERNEL, "clang-19")
MODES = ("generic", "sw_tags", "hw_tags", "off")
OPTIONS = ("filter", "rest")
TIMEOUT = 600
GOLDEN = ROOT / "tests" / "golden" / "lockdep"
GOLDEN_TIMEOUT = 300
# The mode, CPUs, and the suites that run; None: all.
OWN_SUITES = "lockdep*,kasan*"
CONFIGURATIONS = (
    ("generic", 4, None),
    ("generic", 1, None),
    ("sw_tags", 4, OWN_SUITES),
    ("hw_tags", 4, OWN_SUITES),
    ("off", 4, "lockdep*"),
)
REST = CONFIGURATIONS[1:]
# {golden report: the KUnit case that plants the bug}. Each prints one report.
GOLDEN_CASES = {
    "circular-dependency": "lockdep_order.ab_ba",
    "circular-dependency-of-three": "lockdep_order.three_tasks",
    "recursive-locking": "lockdep_rw.upgrade",
    "inconsistent-irq-state": "lockdep_irq.used_then_enabled",
    "inversion-hard": "lockdep_irq.hard_inversion",
    "inversion-soft": "lockdep_softirq.soft_inversion",
    "wait-context": "lockdep_context.rcu_and_mutex",
    "flush-of-work": "lockdep_wait.flush_under_its_lock",
    "completion": "lockdep_wait.completion_under_its_lock",
    "bad-unlock": "lockdep_context.bad_unlock",
    "held-at-exit": "lockdep_context.held_at_task_exit",
    "held-in-user-mode": "lockdep_context.held_at_user_mode",
    "held-while-sleeping": "lockdep_context.held_while_sleeping",
    "not-initialised": "lockdep_context.not_initialised",
}
# With two CPUs, one can interrupt the other.
GOLDEN_CPUS = 2

_TITLE = re.compile(r"^BUG: lockdep: ")
_INTERRUPT = re.compile(r"^ +(el1_irq|\w*softirq\w*)\+")
_SUBTEST = re.compile(r"^    # Subtest: (\w+)$")
_PLACE = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+")
_HEX16 = re.compile(r"\b(?:0x)?[0-9a-f]{16}\b")
# "COMMAND/PID is trying to take:", and the like; idle tasks have their CPU in their name.
_TASK = re.compile(r"^[\w./-]+/\d+(?= )")


def reports(lines):
    """Return the validator's reports on a console: a list of lists of lines, without timestamps."""
    found = []
    inside = False
    for line in lines:
        text = console.split(line)[1]
        if _TITLE.match(text):
            found.append([])
            inside = True
        if inside:
            found[-1].append(text)
            inside = text != console.RULE
    return found


def normalize(report):
    """Return the lines of a report without what changes from boot to boot or from build to build."""
    result = []
    interrupted = False
    for text in report:
        text = _PLACE.sub("+OFFSET/SIZE", text)
        # An interrupt may come anywhere: the code below it in the trace is another one each time.
        is_frame = text.startswith(" ") and text.endswith("+OFFSET/SIZE")
        if interrupted and is_frame:
            continue
        interrupted = is_frame and bool(_INTERRUPT.match(text))
        text = _HEX16.sub("ADDRESS", text)
        text = _TASK.sub("TASK/PID", text)
        text = re.sub(r"^CPU: \d+ PID: \d+ Comm: \S+", "CPU: N PID: PID Comm: TASK", text)
        result.append(text)
    return result


def judge(name, lines, wanted):
    """Return what is wrong with a console, as a list of texts. @wanted: the console that it must match."""
    found, wanted = reports(lines), reports(wanted)
    if len(found) != 1 or found[0][-1] != console.RULE:
        return [f"{base.plural(len(found), 'report')}, expected one complete report"]
    if len(wanted) != 1:
        return ["there is no golden report of this name"]
    return golden.difference(name, normalize(wanted[0]), normalize(found[0]))


def strays(lines):
    """Return the titles of reports that no suite of the validator has planted: bugs of the kernel."""
    found = []
    suite = "the boot"
    for line in lines:
        text = console.split(line)[1]
        subtest = _SUBTEST.match(text)
        if subtest:
            suite = subtest[1]
        elif _TITLE.match(text) and not suite.startswith("lockdep"):
            found.append(f"{suite}: {text}")
    return found


def _golden(context):
    """Compare the report of each case with the golden one."""
    image = context.build(builder.preset_name(features=["lockdep"]), targets=["redzone"])["redzone"]

    def one(name):
        append = [f"kunit.filter_glob={GOLDEN_CASES[name]}"]
        target = qemu.Machine(image.image, smp=GOLDEN_CPUS, append=append, timeout=GOLDEN_TIMEOUT)
        _, lines, log = context.boot(f"golden/{name}", target)
        path = GOLDEN / f"{name}.log"
        wrong = judge(name, lines, golden.lines_of(path))
        found = reports(lines)
        if wrong and asked("REDZONE_UPDATE_GOLDEN") and len(found) == 1:
            rewrite(path, "\n".join([console.RULE, *found[0]]) + "\n")
            wrong = []
        return result(f"golden.{name}", wrong, log)

    yield from context.each(one, GOLDEN_CASES)


def run(context):
    """Yield the results."""

    def label(configuration):
        mode, cpus, _ = configuration
        return f"{mode}-{cpus}cpu"

    def preset(configuration):
        return builder.preset_name(mode=configuration[0], features=["lockdep"])

    ready, skipped = context.kernels(context.part(CONFIGURATIONS, rest=REST), preset, label)
    yield from skipped
    machines = []
    for (mode, cpus, suites), image in ready:
        chosen = context.filter or suites
        append = [f"kunit.filter_glob={chosen}"] if chosen else []
        target = qemu.Machine(image.image, smp=cpus, mode=mode, append=append, timeout=TIMEOUT)
        machines.append((f"{mode}-{cpus}cpu", target))
    yield from kunit.results(context, machines, strays)
    if context.mode in (None, "generic") and not context.filter and not context.rest:
        yield from _golden(context)
