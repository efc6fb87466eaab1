# SPDX-License-Identifier: MIT
"""The bugs that kasan/bugs.c plants, and what the report of each must say."""

from dataclasses import dataclass

# Functions of OpenSBI on the way to each bug, which supervisor mode asks for by a call.
WAY = ("sbi_ecall_handler", "sbi_trap_handler")


@dataclass(frozen=True)
class Bug:
    """One bug of bugs.c, in its order.

    type: of the report; None: no report. where: functions, one of which the headline names; "": the bug
    itself. stacks: which stacks the report must have. way: functions that its own trace must have. line:
    beginning of a line in the report. stack: needs checks of stack variables. fatal: the hart stops after
    the report. also: types of reports that may come with it.
    """

    name: str
    type: str | None
    where: str = ""
    stacks: tuple = ()
    way: tuple = WAY
    line: str = ""
    stack: bool = False
    fatal: bool = False
    also: tuple = ()


def _heap(name, kind="slab-out-of-bounds", stacks=("allocated",), **more):
    line = " which belongs to the cache sbi_heap" if stacks else ""
    return Bug(name, kind, stacks=stacks, line=line, **more)


def _scratch(name, at=None, **more):
    """at: where beside or in an object of bugs.c; None: in none."""
    line = f"The buggy address is {at} of variable bugs.c:" if at else ""
    stacks = ("allocated",) if at else ()
    return Bug(name, "slab-out-of-bounds", stacks=stacks, line=line, **more)


BOTH = ("allocated", "freed")
BUGS = (
    Bug("correct_use", None),
    _heap("heap_overflow"),
    _heap("heap_underflow"),
    _heap("heap_copy_overflow"),
    _heap("heap_move_overflow"),
    _heap("heap_set_overflow"),
    _heap("heap_use_after_free", "slab-use-after-free", BOTH),
    _heap("heap_double_free", "double-free", BOTH),
    _heap("heap_invalid_free", "invalid-free"),
    _heap("heap_wild_read", stacks=()),
    _scratch("scratch_overflow", "0 bytes to the right"),
    _scratch("scratch_of_another_hart", "7 bytes to the right"),
    _scratch("scratch_copy_overflow", "0 bytes inside"),
    _scratch("scratch_wild_write"),
    Bug("global_overflow", "global-out-of-bounds", line=" table+0xa/0xa"),
    Bug("global_string_overread", "global-out-of-bounds", "sbi_strlen", line=" unterminated+0x4/0x4"),
    Bug("stack_overflow", "stack-out-of-bounds", line=" [32, 44) 'name'", stack=True),
    Bug("stack_underread", "stack-out-of-bounds", line=" [32, 44) 'name'", stack=True),
    Bug("stack_copy_overflow", "stack-out-of-bounds", line=" [32, 44) 'name'", stack=True),
    Bug("stack_print_overflow", "stack-out-of-bounds", "printc prints", line=" [32, 40) 'name'", stack=True),
    Bug("use_after_scope", "use-after-scope", line=" [32, 48) 'scoped'", stack=True),
    Bug("alloca_overflow", "alloca-out-of-bounds", stack=True),
    _heap("interrupt_handler", "slab-use-after-free", BOTH, where="in_interrupt", way=WAY[1:]),
    # Seen when the trap ends. GCC checks the frames of calls, and some of them lie where the stack has ended.
    Bug(
        "recursion",
        "stack-overflow",
        "kasan_sbi_trap_handler recurse",
        way=(),
        also=("stack-out-of-bounds", "slab-out-of-bounds"),
    ),
    Bug("null_read", "null-ptr-deref", fatal=True),
    Bug("wild_write", "wild-memory-access", fatal=True),
    Bug("null_call", "invalid-call", "0x0", fatal=True),
)
NAMES = [bug.name for bug in BUGS]


def expected(image_checks_stack):
    """Return the bugs that are reported in an image that checks stack variables or does not."""
    return [bug for bug in BUGS if bug.type and (image_checks_stack or not bug.stack)]


def problem(bug, reports, checks_stack=True):
    """Return what is wrong with the @reports that came after @bug was planted (None: it was not), or None."""
    if reports is None:
        return "it was not planted"
    if bug.type is None or (bug.stack and not checks_stack):
        return f"{len(reports)} reports, expected none" if reports else None
    if not reports:
        return "no report"
    others = sorted({report.type for report in reports} - {bug.type, *bug.also})
    report = next((report for report in reports if report.type == bug.type), None)
    if others or not report:
        kinds = sorted({report.type for report in reports})
        return f"reported as {', '.join(kinds)}, expected {bug.type}"
    where = bug.where or bug.name
    if report.where not in where.split():
        return f"in {report.where}, expected {where}"
    call = [frame.name for frame in report.frames("call")]
    lost = [name for name in bug.way if name not in call]
    if lost:
        return f"the trace lacks {', '.join(lost)}; it has {', '.join(call) or 'nothing'}"
    for stack in bug.stacks:
        names = [frame.name for frame in report.frames(stack)]
        if not any("sbi_" in name or name in NAMES for name in names):
            return f"the stack '{stack}' names no function of OpenSBI"
    if bug.line and not any(line.startswith(bug.line) for line in report.raw):
        return f"no line '{bug.line}' in the report"
    return None
