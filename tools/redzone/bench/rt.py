# SPDX-License-Identifier: MIT
"""`./redzone bench rt`: for how long interrupts are off, and for how long KASAN's runtime holds its locks.

The kernels, ordinary and real-time ones in the four modes, have the interrupts-off tracer (`+irqsoff`). One
boot of each does the work of kernel/tests/bench/rt_work.c, which contains the runtime's worst cases, on
one CPU under -icount, and prints the longest periods. docs/internals/realtime.md states the limits of the
locks.
"""

import re
from dataclasses import dataclass

import click

from redzone.bench import cost, page
from redzone.build import builder
from redzone.core import base
from redzone.core.base import Failure
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, OBJECT, Functions

TRACER = "irqsoff"
MODES = {
    "off": "KASAN off",
    "generic": "Generic",
    "sw_tags": "software tags",
    "hw_tags": "hardware tags",
}
# {title: features of the build}.
KERNELS = {"ordinary": (), "real-time": ("rt",)}
# The parts of the work, in the order of kernel/tests/bench/rt_work.c.
WORKS = {
    "traces": "16,384 new stack traces",
    "quarantine": "large objects into a full quarantine",
    "caches": "a cache is emptied and destroyed",
    "pages": "blocks of up to 256 pages",
    "areas": "vmalloc areas of up to 1 MiB",
    "deferred": "timers, work items, RCU callbacks",
    "threads": "threads that come and go",
    "processes": "programs, system calls, pipes",
    "mix": "the mix of bench lockdep",
}
# Code places that the table names for each kernel.
PLACES = 5


@dataclass(frozen=True)
class Lock:
    """A lock of the runtime. limit: instructions; None: none is stated."""

    title: str
    limit: int | None


# By the variable that has it. docs/internals/realtime.md has the same table.
LOCKS = {
    "depot": Lock("stack depot", 1000),
    "global_queue": Lock("quarantine: queue of all CPUs", 2000),
    "kasan_cpu_queues": Lock("quarantine: queue of one CPU", 1000),
    "kasan_claim_locks": Lock("claims of objects and blocks", 200),
    "globals_lock": Lock("registry of globals", 4000),
    "kasan_report_lock": Lock("a report or a notice", None),
}
NOTES = (
    "Instructions, to 16 of them, which is the clock's step. A period contains the tracer's own calls, about "
    "20 instructions for each lock of the runtime.",
    "The stack ring takes no lock.",
)

_RECORD = re.compile(r"irqsoff: (?P<work>\w+)\.(?P<kind>off|lock) (\d+) (\d+) 0x([0-9a-f]+) 0x([0-9a-f]+)$")
_CLOCK = re.compile(r"bench: clock (\d+)$")
_LOST = re.compile(r"irqsoff: \w+: \d+ periods were not recorded$")


def parse(lines, names):
    """Return {"off": {work: [[instructions, times, from, to]]}, "locks": {variable: [instructions, times]}}
    from a console. @names: the elf.symbols.Functions of its functions and variables."""
    per_count = None
    off, locks = {}, {}
    for line in lines:
        if _LOST.search(line):
            raise Failure(f"the tracer's tables are too small: {line}", base.CRASHED)
        clock = _CLOCK.search(line)
        if clock:
            per_count = 1e9 / int(clock[1])
        match = _RECORD.search(line)
        if not match or per_count is None:
            continue
        longest, times = round(int(match[3]) * per_count), int(match[4])
        place, to = names.name(int(match[5], 16)), names.name(int(match[6], 16))
        if match["kind"] == "off":
            off.setdefault(match["work"], []).append([longest, times, place, to])
        else:
            if place not in LOCKS:
                raise Failure(f"the runtime holds a lock in '{place}', which has no limit", base.CRASHED)
            known = locks.setdefault(place, [0, 0])
            known[0], known[1] = max(known[0], longest), known[1] + times
    missing = [work for work in WORKS if work not in off]
    if missing:
        raise Failure(f"the kernel printed no figure for {', '.join(missing)}", base.CRASHED)
    return {"off": off, "locks": locks}


def preset_of(mode, features):
    """Return the preset of the kernel of @mode with @features."""
    return builder.preset_name(mode, features=[*features, TRACER])


def measure_kernel(image, mode, title):
    """Return the figures of @image, a builder.Image, as parse() gives them."""
    lines = cost.run_kernel(title, image, mode, "rt", memory="512M")
    names = Functions(File.open(image.elf), (FUNC, OBJECT))
    return parse(lines, names)


def longest(figures, work=None):
    """Return the longest record of @work, by default of all."""
    works = [work] if work else list(figures["off"])
    return max((record for name in works for record in figures["off"][name]), key=lambda record: record[0])


def rows(measured):
    """Yield the table of one kernel as rows of text, the heading first. measured: {mode: its figures}."""
    yield ["interrupts off at most", *(MODES[mode] for mode in measured)]
    for work, title in WORKS.items():
        yield [title, *(f"{longest(figures, work)[0]:,}" for figures in measured.values())]
    yield ["longest of all", *(f"{longest(figures)[0]:,}" for figures in measured.values())]


def place_rows(measured):
    """Yield the table of the longest places, each once: where it was switched off, and on."""
    yield ["", "instructions", "from", "to", "in"]
    for mode, figures in measured.items():
        seen = {}
        for work, records in figures["off"].items():
            for value, _, place, to in records:
                if value > seen.get(place, (0,))[0]:
                    seen[place] = (value, to, work)
        best = sorted(seen.items(), key=lambda item: -item[1][0])[:PLACES]
        for place, (value, to, work) in best:
            yield [MODES[mode], f"{value:,}", place, to, work]


def lock_rows(measured):
    """Yield the table of the runtime's locks, for the modes that have one."""
    modes = [mode for mode in measured if mode != "off"]
    yield ["a lock of KASAN held at most", "limit", *(MODES[mode] for mode in modes)]
    for name, lock in LOCKS.items():
        held = [measured[mode]["locks"].get(name) for mode in modes]
        if any(held):
            limit = "-" if lock.limit is None else f"{lock.limit:,}"
            yield [lock.title, limit, *(f"{value[0]:,}" if value else "-" for value in held)]


def over_limits(measured):
    """Return lines about the locks that were held for longer than stated."""
    return [
        f"{MODES[mode]}: {LOCKS[name].title}: {value[0]:,}, limit {LOCKS[name].limit:,}"
        for mode, figures in measured.items()
        for name, value in figures["locks"].items()
        if LOCKS[name].limit is not None and value[0] > LOCKS[name].limit
    ]


def verdict(measured):
    """Return a line that says whether the locks' limits hold."""
    over = over_limits(measured)
    return "limits of the locks: " + ("met" if not over else "missed: " + "; ".join(over))


def page_of(measured):
    """Return the page of {kernel: {mode: figures}}."""
    made = page.Page(
        "rt",
        "For how long interrupts are off, and KASAN's runtime holds its locks, in instructions; see\n"
        "[docs/internals/realtime.md](../docs/internals/realtime.md).",
    )
    for kernel, modes in measured.items():
        made.section(f"{kernel.capitalize()} kernel")
        made.table(rows(modes))
        made.table(lock_rows(modes))
        made.remarks([verdict(modes)])
        made.table(place_rows(modes), f"The {PLACES} longest places of each mode")
    made.notes(NOTES)
    return made


def run(quick, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    modes = ["off", "generic"] if quick else list(MODES)
    presets = {
        (kernel, mode): preset_of(mode, features) for kernel, features in KERNELS.items() for mode in modes
    }
    measured = {}
    for (kernel, mode), image in page.build(presets, yes).items():
        base.say(f"{kernel} kernel: {MODES[mode]}")
        measured.setdefault(kernel, {})[mode] = measure_kernel(image, mode, presets[kernel, mode])
    return page_of(measured).publish(json_file, markdown_file, kernels=measured)


def register(group):
    """Add the table to `./redzone bench`."""

    @group.command("rt", short_help="How long interrupts are off, and KASAN's locks are held.")
    @click.option("--quick", is_flag=True, help="Without KASAN and Generic mode only.")
    @page.options
    @click.pass_context
    def realtime(context, **options):
        """Measure for how long interrupts are off, in instructions, and for how long KASAN holds its locks.

        Builds an ordinary and a real-time kernel in each mode with a tracer, and lets them do what keeps
        interrupts off for long, the worst cases of KASAN's runtime included.

        \b
        Examples:
          ./redzone bench rt --quick
          ./redzone bench rt --markdown rt.md

        \b
        Exit status: 0 all was measured, 2 usage or build error, 3 a kernel crashed.
        """
        context.exit(run(**options))
