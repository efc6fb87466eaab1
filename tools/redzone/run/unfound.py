# SPDX-License-Identifier: MIT
"""What no report says anything about: bugs that a mode does not find.

One row for each kind of bug. Each has a small program in tests/not-found, which a test runs in each mode, so
the rows are true. They make the table of docs/use/not-found.md, and the lines of `./redzone run -v`.
"""

from dataclasses import dataclass

from redzone.core.base import ROOT

DOCUMENT = ROOT / "docs" / "use" / "not-found.md"
PROGRAMS = ROOT / "tests" / "not-found"
MODES = {"generic": "Generic", "sw_tags": "software tags", "hw_tags": "hardware tags"}
# The begin and the end of the table in the document.
MARKS = ("<!-- bugs -->\n", "<!-- end of bugs -->\n")


@dataclass(frozen=True)
class Bug:
    """A kind of bug. name: of its program. kind: in a few words. found: the modes that report it. helps: what
    else finds it."""

    name: str
    kind: str
    found: tuple
    helps: str


ALL = tuple(MODES)
TAGS = ("sw_tags", "hw_tags")
NONE = ()

BUGS = (
    Bug("uninitialised", "reads of memory without a value", NONE, "MSan"),
    Bug("leak", "leaks", NONE, "`--leaks`, `./redzone fuzz --leaks`, LSan"),
    Bug("inside_a_struct", "overflows inside a structure", NONE, ""),
    Bug("inside_an_arena", "overflows inside an allocator of the program's own", NONE,
        "`ASAN_POISON_MEMORY_REGION()` in that allocator"),
    Bug("thread_local", "overflows of thread-local arrays", NONE, ""),
    Bug("data_race", "data races", NONE, "TSan"),
    Bug("signed_overflow", "calculations without a defined result", NONE, "`--ubsan`"),
    Bug("inline_assembly", "accesses by assembly", ("hw_tags",), "`--mode hw_tags`"),
    Bug("misaligned_volatile", "ends of misaligned `volatile` accesses", ("hw_tags",), "`--outline`"),
    Bug("use_after_return", "uses of a local variable after its function's return", ("sw_tags",),
        "`--mode sw_tags`, `--mte-stack`"),
    Bug("another_object", "indices so wrong that they hit another object", TAGS, "a mode with tags"),
    Bug("late_use_after_free", "uses after free when the memory has a new owner", TAGS, "a mode with tags"),
    Bug("last_granule", "overflows that end in the object's last 16 bytes", ("generic", "sw_tags"),
        "`--mode generic`; `--append kasan.slack=check` for writes"),
    Bug("variable_length_array", "overflows of variable-length arrays", ("generic",), "`--mode generic`"),
    Bug("global_array", "overflows of global arrays", ("generic",), "`--mode generic`, `--tagged-globals`"),
    Bug("stack_array", "overflows of arrays on the stack", ("generic", "sw_tags"), "`--mte-stack`"),
    Bug("use_after_scope", "uses of a block's variable after it", ("generic", "sw_tags"), "`--mte-stack`"),
    Bug("misaligned", "ends of misaligned accesses", ALL, ""),
)  # fmt: skip


def table():
    """Return the table of the document."""
    lines = [
        f"| bug | {' | '.join(MODES.values())} | what else finds it |",
        f"|---|{'---|' * len(MODES)}---|",
    ]
    for bug in BUGS:
        cells = ["found" if mode in bug.found else "**no**" for mode in MODES]
        kind = f"[{bug.kind}](../../{(PROGRAMS / bug.name).relative_to(ROOT)}.c)"
        lines.append(f"| {kind} | {' | '.join(cells)} | {bug.helps} |")
    return "\n".join(lines) + "\n"


def lines(mode, ubsan=False):
    """Return the three lines about what a run in @mode without a report does not exclude."""
    never = [bug.kind for bug in BUGS if not bug.found and not (ubsan and bug.helps == "`--ubsan`")]
    here = [bug.kind for bug in BUGS if bug.found and mode not in bug.found]
    return (
        f"no mode reports: {', '.join(never)}",
        f"{MODES[mode]} does not report either: {', '.join(here)}",
        f"{DOCUMENT.relative_to(ROOT)} has an example of each, and says what else finds it",
    )


def write():
    """Write the table into the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    DOCUMENT.write_text(before + MARKS[0] + table() + MARKS[1] + after, encoding="utf-8")


if __name__ == "__main__":
    write()
