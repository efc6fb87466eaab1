# SPDX-License-Identifier: MIT
"""Linux's KASAN suite inside Linux, with Redzone and with Linux's own KASAN on the same machine.

It fetches Debian's source the first time, and builds two kernels for each mode: about an hour on two CPUs.
With --quick it does so for Generic mode with inline checks only.
"""

from redzone.testing.runner import FAIL, PASS, Result

from .host import apply, boot, build, source

SLOW = True
QUICK = "part"
TOOLS = (*build.TOOLS, "qemu-arm64", "xz")

# (name of the boot, mode, CPUs, boot parameters)
BOOTS = (
    ("generic-inline", "generic-inline", 1, ()),
    ("generic-inline-smp", "generic-inline", 4, ()),
    ("generic-outline", "generic-outline", 1, ()),
    ("sw_tags", "sw_tags", 1, ()),
    ("hw_tags", "hw_tags", 1, ()),
    ("hw_tags-async", "hw_tags", 1, ("kasan.mode=async",)),
    ("hw_tags-asymm", "hw_tags", 1, ("kasan.mode=asymm",)),
)
IN_QUICK = ("generic-inline",)
RANK = {"fail": 0, "skip": 1, "pass": 2}


def worse(own, ours):
    """Return lines about the cases of the Session @ours that are worse than in @own: one that passes there
    must pass, one that is skipped may be."""
    there, here = ({case.name: case for case in session.cases} for session in (own, ours))
    lines = []
    for name, case in there.items():
        mine = here.get(name)
        if mine is None:
            lines.append(f"{name}: {case.status} with Linux's own, not run with Redzone")
        elif RANK[mine.status] < RANK[case.status]:
            lines.append(f"{name}: {case.status} with Linux's own, {mine.status} with Redzone")
    return lines


def _boot(name, image, smp, parameters):
    log = source.HOME / "logs" / f"suite-{name}{'-own' if image.own else ''}.log"
    return boot.kunit(image, log, append=parameters, smp=smp)


def _compare(name, own, ours):
    if ours.ended:
        return Result(name, FAIL, f"Linux stopped: {ours.ended}", ours.log)
    if own.ended:
        return Result(name, FAIL, f"Linux with its own KASAN stopped: {own.ended}", own.log)
    lines = worse(own, ours)
    if not ours.totals()["pass"]:
        lines.append("no case passes")
    return Result(name, FAIL if lines else PASS, "\n".join(lines), ours.log)


def _user_tree(tree):
    """--apply and --revert of a whole tree of Linux: afterwards nothing has changed."""
    apply.revert(tree)
    before = {path.name: path.read_bytes() for path in (tree / "mm/kasan").iterdir()}
    apply.apply(tree)
    apply.revert(tree)
    after = {path.name: path.read_bytes() for path in (tree / "mm/kasan").iterdir()}
    return Result(
        "apply-revert", PASS if before == after else FAIL, "" if before == after else "mm/kasan differs"
    )


def run(context):
    tree = source.tree()
    yield _user_tree(tree)
    for mode in context.part(build.MODES, IN_QUICK):
        chosen = [row for row in BOOTS if row[1] == mode]
        own = build.build(tree, mode, own=True, jobs=context.jobs)
        theirs = {name: _boot(name, own, smp, parameters) for name, _, smp, parameters in chosen}
        ours = build.build(tree, mode, jobs=context.jobs)
        for name, _, smp, parameters in chosen:
            yield _compare(name, theirs[name], _boot(name, ours, smp, parameters))
