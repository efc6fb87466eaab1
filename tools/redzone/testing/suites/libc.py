# SPDX-License-Identifier: MIT
"""The C library, musl: what it computes, what KASAN finds inside of it, and that all of it links.

The programs are in tests/libc/. Those that are right run in every mode, without a report; --rounds says how
many random numbers go through printf() and strtod(). The program of bugs runs in Generic mode only, where
each bug is certain to be reported: with tags, neighbours have the same tag now and then. One more program
names every function that docs/use/run.md says works.
"""

import re
import sys

from redzone.build import builder
from redzone.core import base, process
from redzone.core.base import ROOT
from redzone.machine import console, qemu
from redzone.run import cpio
from redzone.testing import libc_calls, supported
from redzone.testing.runner import FAIL, SKIP, Result, result, when

TOOLS = (*builder.KERNEL, "clang-19")
# Five kernels with their own copies of the library: minutes of compilation.
SLOW = True
MODES = ("generic", "sw_tags", "hw_tags", "off")
OPTIONS = ("rounds",)
HERE = ROOT / "tests" / "libc"
TIMEOUT = 600
NUMBERS = 2000
# (mode, instrumentation, compiler).
BUILDS = (
    ("generic", "inline", "clang-19"),
    ("generic", "outline", "gcc"),
    ("sw_tags", "inline", "clang-19"),
    ("hw_tags", "inline", "clang-19"),
    ("off", "inline", "clang-19"),
)
BUGS_IN = (("generic", "inline", "clang-19"), ("generic", "outline", "gcc"))
FLAG = ["--flag", "value"]
DATA = "one 1\ntwo 2\nthree 3\n"
SERVICES = ["constructor", "no end of line", "exit 11", "exit 12", "services: good", "destructor"]
# The bugs of bugs.c: the type of the first report, and a function that its trace must have.
BUGS = {
    "strlen": ("slab-out-of-bounds", "strlen"),
    "sprintf": ("slab-out-of-bounds", "sprintf"),
    "puts": ("slab-out-of-bounds", "puts"),
    "strtod": ("slab-out-of-bounds", "strtod"),
    "qsort": ("slab-out-of-bounds", "qsort"),
    "memcpy": ("slab-out-of-bounds", "main"),
    "memcmp": ("slab-out-of-bounds", "memcmp"),
    "null": ("slab-out-of-bounds", "write"),
    "wcslen": ("slab-out-of-bounds", "wcslen"),
    "fileno": ("slab-use-after-free", "fileno"),
    "free": ("double-free", "free"),
    "none": None,
}
# The bugs of faults.c, in its order, and the type of the first report in Generic mode; None: no bug.
FAULTS = (
    ("null", "null-ptr-deref"),
    ("null-write", "null-ptr-deref"),
    ("wild", "wild-memory-access"),
    ("null-again", "null-ptr-deref"),
    ("memcpy", "null-ptr-deref"),
    ("null-after", "null-ptr-deref"),
    ("memcmp", "null-ptr-deref"),
    ("section", "null-ptr-deref"),
    ("strlen", "null-ptr-deref"),
    ("none", None),
    ("call", "invalid-call"),
    ("none", None),
    ("none", None),
    ("behind", "vmalloc-out-of-bounds"),
    ("part", "vmalloc-out-of-bounds"),
    ("gone", "vmalloc-out-of-bounds"),
    ("none", None),
    ("on-stack", "null-ptr-deref"),
    ("none", None),
    ("thread", "null-ptr-deref"),
    ("none", None),
)
# A line of faults.c, or of the kernel when a fault ends it, by its argument; how often.
ENDS = {
    "nested": ("the handler", 1),
    "blocked": ("Unable to handle kernel NULL pointer dereference", 1),
    "again": ("its handler of SIGSEGV returned", 1),
}
# The same for stack.c.
STACK_ENDS = {
    "overflow": ("kernel stack overflow: ESR", 1),
    "memory": ("Out of memory: there is none for the stack", 1),
}
# stack.c has more stack than that.
STACK_MEMORY = "256M"
# Status of a program that has called abort().
ABORTED = "program returned 134"
# Programs without a bug.
CLEAN = ("numbers", "round_trip", "services", "files", "mapping", "pipes", "threads")
_MARK = re.compile(r"^bug: ([\w-]+)$")


def _said(lines):
    """Return the program's own lines: those without the kernel's time."""
    return [line for line in lines if not line.startswith("[")]


def judge(name, outcome, lines, count):
    """Return what is wrong with the console @lines of the program @name, which should be clean, as a list of
    texts."""
    reports = outcome.reader.reports
    if reports:
        return [f"a report: {reports[0].type} in {reports[0].where}"]
    said = _said(lines)
    if outcome.status != base.OK:
        return [outcome.message or f"status {outcome.status}", *said[:3]]
    text = "".join(said)
    wanted = {
        "numbers": ["numbers: good"],
        "round_trip": [f"{count} numbers, all the same"],
        "services": SERVICES,
        "files": ["files: good"],
        "mapping": ["mapping: good"],
        "pipes": ["pipes: good"],
        "threads": ["threads: good"],
    }[name]
    return [f"the program did not say '{word}'" for word in wanted if word not in text]


def _marked(lines):
    """Return [(name of a bug, Reader of the console @lines that follow it)]."""
    marked = []
    for line in lines:
        mark = _MARK.match(line)
        if mark:
            marked.append((mark[1], console.Reader()))
        elif marked:
            marked[-1][1].feed(console.split(line)[1])
    return marked


def judge_faults(mode, outcome, lines):
    """Return what is wrong with the console @lines of the program of faults, as a list of texts."""
    marked = _marked(lines)
    names = tuple(name for name, _ in marked)
    wrong = [] if names == tuple(name for name, _ in FAULTS) else [f"the program came to {', '.join(names)}"]
    for (name, reader), (_, expected) in zip(marked, FAULTS, strict=False):
        first = reader.reports[0].type if reader.reports else None
        if mode == "off":
            expected = None
        if bool(first) != bool(expected) or (mode == "generic" and first != expected):
            wrong.append(f"{name}: {first}, expected {expected}")
    if not any("faults: good" in line for line in _said(lines)):
        wrong += ["the program did not say 'faults: good'", *_said(lines)[:3]]
    expected = base.OK if mode == "off" else base.REPORTED
    return wrong if outcome.status == expected else [*wrong, f"status {outcome.status}"]


def judge_stack(outcome, lines):
    """Return what is wrong with the console @lines of the program of stacks, as a list of texts."""
    wrong = [] if any("stack: good" in line for line in lines) else _said(lines)[:3]
    handled = sum("SIGSEGV (stack overflow)" in line for line in lines)
    wrong += [] if handled == 6 else [f"{handled} handled overflows"]
    if outcome.reader.reports:
        wrong.append(f"a report: {outcome.reader.reports[0].type}")
    return wrong if outcome.status == base.OK else [*wrong, outcome.message or f"status {outcome.status}"]


def judge_end(text, count, expected, outcome, lines):
    """Return what is wrong with the console @lines of a program that was to end with @text, and with the
    status @expected."""
    said = sum(text in line for line in lines)
    wrong = [] if said == count else [f"'{text}' {said} times"]
    return wrong if outcome.status == expected else [*wrong, f"status {outcome.status}"]


def judge_bugs(lines):
    """Return what is wrong with the console @lines of the program of bugs, as a list of texts."""
    readers = dict(_marked(lines))
    wrong = [] if list(readers) == list(BUGS) else [f"the program came to {', '.join(readers)}"]
    for name, reader in readers.items():
        expected, first = BUGS.get(name), (reader.reports or [None])[0]
        if expected is None or first is None:
            wrong += [] if expected is first else [f"{name}: {first.type if first else 'no report'}"]
        elif first.type != expected[0]:
            wrong.append(f"{name}: {first.type}, expected {expected[0]}")
        elif not first.again and expected[1] not in [frame.name for frame in first.frames("call")]:
            wrong.append(f"{name}: no {expected[1]}() in the trace")
    if not any(console.split(line)[1] == ABORTED for line in lines):
        wrong.append(f"the kernel did not say '{ABORTED}'")
    return wrong


def judge_together(outcome, lines):
    """Return what is wrong with the console @lines of the programs that ran one after the other."""
    said = [console.split(line)[1] for line in lines]
    wanted = [f"ok {number} {name}" for number, name in enumerate(CLEAN, 1)]
    wrong = [f"the kernel did not say '{line}'" for line in wanted if line not in said]
    # Each has its own copy of the library, with a list of functions to call at its end.
    if sum("destructor" in line for line in said) != 1:
        wrong.append("one program has a destructor, and it must run once")
    return wrong


def _target(image, folder, arguments, mode, memory="512M"):
    return qemu.Machine(
        image.image,
        initrd=folder / "files.cpio",
        append=[] if mode == "off" else ["kasan_multi_shot"],
        arguments=arguments,
        mode=mode,
        memory=memory,
        timeout=TIMEOUT,
    )


def _all_functions(context):
    """Link each function that works, once."""
    redzone = [sys.executable, "-m", "redzone", "run", "--timeout", str(TIMEOUT)]
    first = process.call([*redzone, str(HERE / "round_trip.c"), "--", "1"], cwd=ROOT)
    if first[0] != base.OK:
        yield Result("all_functions", FAIL, process.last_line(first[1]))
        return
    functions, _ = supported.library(supported.command_of_a_program(), supported.ALL)
    works = supported.working(functions) - libc_calls.BUILTIN
    there = {header: [name for name in names if name in works] for header, names in functions.items()}
    source = context.logs / "all_functions.c"
    source.write_text(supported.program_of_all_functions(there), encoding="utf-8")
    status, output = process.call([*redzone, "-D", "_GNU_SOURCE", str(source)], cwd=ROOT)
    log = context.write_log("all_functions", output)
    good = status == base.OK and f"{len(works)} functions are there" in output
    yield result("all_functions", when(not good, process.last_line(output)), log)


def run(context):
    count = context.rounds or NUMBERS
    data = context.logs / "data.txt"
    data.write_text(DATA, encoding="utf-8")
    small = context.logs / "small.txt"
    small.write_text("abc\n", encoding="utf-8")
    cpio.pack([("data.txt", data), ("sub/data.txt", small)], context.logs)
    for build in context.of_mode(BUILDS):
        mode, *_ = build
        name = builder.preset_name(*build)
        reason = context.missing_for(name)
        if reason:
            yield Result(name, SKIP, reason)
            continue
        names = (*CLEAN, "faults", "stack")
        programs = [builder.Program(program, [HERE / f"{program}.c"]) for program in names]
        if build in BUGS_IN:
            programs.append(builder.Program("bugs", [HERE / "bugs.c"]))
            sources = [HERE / f"{program}.c" for program in CLEAN]
            programs.append(builder.Program("together", sources, function="redzone_add_programs"))
        images = context.build(name, programs=programs)
        for program in images:
            arguments = {"round_trip": [str(count)], "services": FLAG, "together": FLAG}.get(program, [])
            memory = STACK_MEMORY if program == "stack" else "512M"
            target = _target(images[program], context.logs, arguments, mode, memory)
            outcome, lines, log = context.boot(f"{name}/{program}", target)
            if program == "bugs":
                wrong = judge_bugs(lines)
            elif program == "together":
                wrong = judge_together(outcome, lines)
            elif program == "faults":
                wrong = judge_faults(mode, outcome, lines)
            elif program == "stack":
                wrong = judge_stack(outcome, lines)
            else:
                wrong = judge(program, outcome, lines, count)
            yield result(f"{name}.{program}", wrong, log)
        status = base.CRASHED if mode == "off" else base.REPORTED
        ends = [("faults", end, *how, status) for end, how in ENDS.items()]
        ends += [("stack", end, *how, base.CRASHED) for end, how in STACK_ENDS.items()]
        for program, end, text, times, expected in ends:
            target = _target(images[program], context.logs, [end], mode, STACK_MEMORY)
            outcome, lines, log = context.boot(f"{name}/{program}-{end}", target)
            wrong = judge_end(text, times, expected, outcome, lines)
            yield result(f"{name}.{program}-{end}", wrong, log)
    if context.mode in (None, "generic"):
        yield from _all_functions(context)
