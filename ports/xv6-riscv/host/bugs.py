# SPDX-License-Identifier: MIT
"""The bugs that bugs.c plants, and what the report of each must say."""

from dataclasses import dataclass

# Functions of xv6 on the way to each bug; the outermost frame is the last one that is the kernel's.
WAY = ("syscall", "usertrap")


@dataclass(frozen=True)
class Bug:
    """One bug of bugs.c. name: for `mkdir bug:NAME`.

    type: of the report; None: no report. where: the function that the headline names. stacks: which stacks
    the report must have. has: functions that each of them must have. lines: beginnings of lines in the
    report. fatal: xv6 panics behind the report.
    """

    name: str
    type: str | None
    where: str = ""
    stacks: tuple = ("call",)
    has: tuple = ()
    lines: tuple = ()
    fatal: bool = False


BOTH = ("call", "allocated", "freed")
KALLOC = " which belongs to the cache kalloc of size 4096"
BUGS = (
    Bug("page_overflow", "slab-out-of-bounds", "page_overflow", ("call", "allocated"), (), (KALLOC,)),
    Bug("page_far_overflow", "slab-out-of-bounds", "page_far_overflow", ("call", "allocated"), (), (KALLOC,)),
    Bug(
        "page_copy_overflow", "slab-out-of-bounds", "page_copy_overflow", ("call", "allocated"), (), (KALLOC,)
    ),
    Bug("page_use_after_free", "use-after-free", "page_use_after_free", BOTH, (), (KALLOC,)),
    Bug("page_fill_after_free", "use-after-free", "page_fill_after_free", BOTH, (), (KALLOC,)),
    Bug("page_double_free", "double-free", "page_double_free", BOTH, (), (KALLOC,)),
    Bug("page_invalid_free", "invalid-free", "page_invalid_free", ("call", "allocated"), (), (KALLOC,)),
    Bug("image_free", "invalid-free", "image_free"),
    Bug("global_overflow", "global-out-of-bounds", "global_overflow", lines=(" table+0xa/0xa",)),
    Bug("stack_overflow", "stack-out-of-bounds", "stack_overflow", lines=(" [32, 44) 'name'",)),
    Bug("stack_underread", "stack-out-of-bounds", "stack_underread", lines=(" [32, 44) 'name'",)),
    Bug("string_overflow", "stack-out-of-bounds", "safestrcpy", lines=(" [32, 40) 'name'",)),
    Bug("use_after_scope", "use-after-scope", "use_after_scope", lines=(" [32, 48) 'scoped'",)),
    Bug("alloca_overflow", "alloca-out-of-bounds", "alloca_overflow"),
    Bug(
        "other_stack", "stack-out-of-bounds", "other_stack", lines=("The buggy address belongs to stack of",)
    ),
    # The page fault's trace has the timer's handler, and the function that the timer has interrupted.
    Bug("interrupted_here", "use-after-free", "tick", BOTH, ("kerneltrap", "interrupted_here")),
    Bug("correct_use", None),
    Bug("null_read", "null-ptr-deref", "null_read", fatal=True),
    Bug("wild_write", "wild-memory-access", "wild_write", fatal=True),
    Bug("null_call", "invalid-call", "", fatal=True),
)


def command(bug):
    """Return what plants @bug, typed into xv6's shell."""
    return f"mkdir bug:{bug.name}"


def problem(bug, reply):
    """Return the fault in the reports of @bug that came with @reply, or None."""
    if f"planted: {bug.name}" not in [line.strip() for line in reply.lines]:
        return "it was not planted"
    if bug.type is None:
        return f"{len(reply.reports)} reports, expected none" if reply.reports else None
    if not reply.reports:
        return "no report"
    others = [report.type for report in reply.reports if report.type != bug.type]
    if others:
        return f"reported as {', '.join(others)}, expected {bug.type}"
    report = reply.reports[0]
    if bug.where and report.where != bug.where:
        return f"in {report.where}, expected {bug.where}"
    for stack in bug.stacks:
        names = [frame.name for frame in report.frames(stack)]
        lost = [name for name in (*bug.has, *WAY) if name not in names]
        if lost:
            return f"the stack '{stack}' lacks {', '.join(lost)}; it has {', '.join(names) or 'nothing'}"
    # An address that is no function's would be a register of user mode, or garbage.
    for line in report.raw:
        if line.startswith(" 0x"):
            return f"a trace has a frame that is no code:{line}"
    for kind in BOTH:
        trace = report.frames(kind)
        if trace and trace[-1].name != WAY[-1]:
            return f"a trace ends with {trace[-1].name}, expected {WAY[-1]}"
    for start in bug.lines:
        if not any(line.startswith(start) for line in report.raw):
            return f"no line '{start}' in the report"
    return None
