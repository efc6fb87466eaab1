# SPDX-License-Identifier: MIT
"""The bugs that the demonstration plants, and what the report of each must say."""

from dataclasses import dataclass, field, replace

from .boots import functions


@dataclass(frozen=True)
class Planted:
    """One bug. type: of its first report. function: in the trace of the access, None: the bug's name, "":
    any. task: that had it. text: in the report: the variable, or the object with its size.
    stacks: {section of the report: function in it}."""

    name: str
    type: str
    text: str
    task: str = "supervisor"
    function: str | None = None
    stacks: dict = field(default_factory=dict)

    def problem(self, reports):
        """Return the fault in the @reports of this bug, None if they are right."""
        if not reports:
            return "no report"
        first = reports[0]
        function = self.name if self.function is None else self.function
        if first.type != self.type:
            return f"{first.type}, expected {self.type}"
        trace = functions(first)
        if function and function not in trace:
            return f"the trace has no {function}(): {' < '.join(trace) or 'it is empty'}"
        lines = "\n".join(first.raw)
        for text in (self.text, f"by task {self.task}/"):
            if text not in lines:
                return f"the report does not say '{text}'"
        for section, name in self.stacks.items():
            trace = functions(first, section)
            if name not in trace:
                return f"the stack '{section}' has no {name}(): {' < '.join(trace) or 'it is empty'}"
        return None


def _region(size, state="allocated"):
    return f"{state} {size}-byte region" if size else f"{state} "


def _heap(name, kind, size, freed=None, **more):
    """A bug in an object of the heap. freed: the function that freed it."""
    stacks = {"allocated": more.pop("allocated", name)}
    if freed:
        stacks["freed"] = freed
    return Planted(name, kind, _region(size, "freed" if freed else "allocated"), stacks=stacks, **more)


# Those that a heap without frees (heap_1) has, in the order of bugs.c.
FIRST = (
    _heap("heap_overflow", "slab-out-of-bounds", 13),
    _heap("heap_underflow", "slab-out-of-bounds", 24),
    _heap("heap_copy", "slab-out-of-bounds", 20),
)
FREED = (
    _heap("use_after_free", "slab-use-after-free", 40, "use_after_free"),
    Planted(
        "double_free",
        "double-free",
        " 40-byte region",
        function="release",
        stacks={"allocated": "double_free", "freed": "double_free"},
    ),
    Planted(
        "invalid_free",
        "invalid-free",
        " 40-byte region",
        function="release",
        stacks={"allocated": "invalid_free"},
    ),
    Planted("free_of_global", "invalid-free", "area+", function="release"),
    _heap(
        "freed_by_sender",
        "slab-use-after-free",
        16,
        "hasty_sender",
        allocated="hasty_sender",
        function="read_received",
    ),
    _heap("queue_receive_small", "slab-out-of-bounds", 12),
    _heap("queue_deleted", "slab-use-after-free", "", "queue_deleted"),
    _heap("semaphore_deleted_twice", "slab-use-after-free", "", "semaphore_deleted_twice"),
    _heap("event_group_deleted", "slab-use-after-free", "", "event_group_deleted"),
    _heap("stream_receive_small", "slab-out-of-bounds", 10),
    _heap("message_buffer_deleted", "slab-use-after-free", "", "message_buffer_deleted"),
    _heap(
        "timer_context_freed",
        "slab-use-after-free",
        "",
        "timer_context_freed",
        task="Tmr Svc",
        function="blink",
    ),
    _heap("task_deleted", "slab-use-after-free", "", "task_deleted"),
    _heap("stack_of_dead_task", "slab-use-after-free", "", "prvIdleTask", allocated="run_task"),
    Planted("stack_overflow", "stack-overflow", " digger/", task="digger", function=""),
    Planted("stack_overrun", "stack-overflow", " miner/", task="miner", function=""),
)
LAST = (
    Planted("global_overflow", "global-out-of-bounds", " calibration+"),
    Planted("local_overflow", "stack-out-of-bounds", "'frame_buffer'"),
    Planted("use_after_scope", "use-after-scope", "'scratch'"),
    Planted(
        "interrupt_local",
        "stack-out-of-bounds",
        "'status_bytes'",
        task="interrupt",
        function="read_registers",
    ),
    Planted("null_pointer", "null-ptr-deref", "", task="lost"),
    Planted("wild_pointer", "wild-memory-access", "2fff0010", task="lost"),
    Planted("jump_to_null", "invalid-call", "", task="lost"),
)


def expected(board, heap):
    """Return the bugs that a demonstration with heap_@heap for @board plants."""
    bugs = FIRST + (FREED if heap != 1 else ()) + LAST
    # Where the processor refuses the write, the trace is that of the write, not of a later switch.
    return tuple(
        replace(bug, function="burrow")
        if bug.name == "stack_overrun" and not board.startswith("riscv")
        else bug
        for bug in bugs
    )
