# SPDX-License-Identifier: MIT
"""`./redzone bench lockdep`: what the lock validator costs, in the rows of the table published for Linux.

A build-like mix runs on four CPUs in kernels with and without KASAN, and with and without the validator: see
kernel/tests/bench/mix.h. Beside it stands what it costs to take and release one lock without contention.
"""

import re
from dataclasses import dataclass, field

import click

from redzone.bench import cost, page
from redzone.build import builder
from redzone.core import base

CPUS = 4
# Jobs of each of the mix's four makers: the warm-up fills KASAN's quarantine of 16 MiB.
JOBS = 64
# Steps of the mix's computing in user mode, to learn what one costs.
STEPS = 4096
COMPUTE = "calls.compute"
# {operation of kernel/tests/bench/lock_ops.c: its name in the table}.
LOCKS = {
    "locks.spin_lock": "spin_lock + spin_unlock",
    "locks.spin_lock_irqsave": "spin_lock_irqsave + spin_unlock_irqrestore",
    "locks.spin_lock_nested": "two spin locks, one inside the other",
    "locks.raw_spin_lock": "raw_spin_lock + raw_spin_unlock",
    "locks.mutex_lock": "mutex_lock + mutex_unlock",
    "locks.rcu_read_lock": "rcu_read_lock + rcu_read_unlock",
}
NO_FIGURE = "no figure"
BASE, KASAN, VALIDATOR, DEBUG = "none", "kasan", "validator", "debug"


@dataclass(frozen=True)
class Kernel:
    """A row. preset: (mode, where checks are). published, published_rt: how many times slower Linux builds a
    kernel: (run time on x86-64, its system time, run time on arm64)."""

    title: str
    preset: tuple
    features: tuple = ()
    published: tuple = ()
    published_rt: tuple = ()


KERNELS = {
    BASE: Kernel("non-debug", ("off", "inline"), (), (1, 1, 1), (1, 1, 1)),
    KASAN: Kernel("KASAN Generic, inline", ("generic", "inline")),
    "kasan-outline": Kernel("KASAN Generic, outline", ("generic", "outline")),
    VALIDATOR: Kernel("validator", ("off", "inline"), ("lockdep",)),
    "debug-instrumented": Kernel(
        "debug, inline, validator instrumented",
        ("generic", "inline"),
        ("lockdep-kasan",),
        (2.8, 8.9, 2.0),
        (6.7, 18.7, 4.9),
    ),
    DEBUG: Kernel("debug, inline", ("generic", "inline"), ("lockdep",), (2.3, 7.3, 1.8), (4.1, 10.3, 4.1)),
    "debug-outline-instrumented": Kernel(
        "debug, outline, validator instrumented", ("generic", "outline"), ("lockdep-kasan",)
    ),
    "debug-outline": Kernel("debug, outline", ("generic", "outline"), ("lockdep",)),
}
# The kernels of the table of uncontended locks.
COMPARED = (BASE, VALIDATOR, KASAN, DEBUG)


@dataclass(frozen=True)
class Half:
    """One of the two tables. goal: how many times the non-debug kernel's instructions DEBUG may take."""

    title: str
    features: tuple
    goal: float
    debug: str


HALVES = {
    "spinning": Half("Ordinary kernels", (), 1.8, "debug"),
    "rt": Half("Real-time kernels", ("rt",), 3.0, "RT debug"),
}
NOTES = (
    'mix: instructions per job, user mode included; "in the kernel": without what user mode computes. Ratios '
    "are over the non-debug kernel of the same table.",
    'debug: KASAN Generic with stack traces, and the validator. "validator instrumented": KASAN checks the '
    "validator itself too.",
    "Linux: how many times longer a parallel build of a kernel takes, as posted in 2025 for two machines: "
    "run time and system time on x86-64, run time on arm64.",
)

_COUNT = re.compile(r"bench: (?P<kind>count|event|total) (?P<name>\S+) (?P<number>\d+)$")


@dataclass
class Measured:
    """The figures of one kernel. job: instructions of one job of the mix. step: of one step of computing in
    user mode. steps: of one job. counts, events: what the kernel counted, per job. searches: for cycles,
    since boot."""

    job: float
    step: float
    steps: float
    locks: dict = field(default_factory=dict)
    counts: dict = field(default_factory=dict)
    events: dict = field(default_factory=dict)
    searches: int = 0


def preset_of(kernel, half):
    """Return the preset of row @kernel in table @half."""
    features = [*KERNELS[kernel].features, *HALVES[half].features]
    return builder.preset_name(*KERNELS[kernel].preset, features=features)


def counts_of(lines, kind):
    """Return {name: number} of the lines "bench: KIND NAME NUMBER"."""
    matches = filter(None, map(_COUNT.search, lines))
    return {match["name"]: int(match["number"]) for match in matches if match["kind"] == kind}


def measure_kernel(image, mode, title, jobs=JOBS):
    """Return the Measured of the kernel @image. jobs: of each maker. title: for messages."""
    work = ["locks", f"{COMPUTE}:{STEPS}", f"mix:{jobs}"]
    lines = cost.run_kernel(title, image, mode, *work, smp=CPUS)
    figures = cost.figures_of(title, lines, ("mix", COMPUTE, *LOCKS))
    counts = {name: number / (jobs * CPUS) for name, number in counts_of(lines, "count").items()}
    return Measured(
        job=figures["mix"],
        step=figures[COMPUTE],
        steps=counts.pop("steps"),
        locks={name: figures[name] for name in LOCKS},
        counts=counts,
        events={name: number / (jobs * CPUS) for name, number in counts_of(lines, "event").items()},
        searches=counts_of(lines, "total").get("cycle_checks", 0),
    )


def measure(images, progress):
    """Return {half: {kernel: Measured}}. images: {(half, kernel): builder.Image}."""
    result = {}
    for (half, kernel), image in images.items():
        title = f"{HALVES[half].title}: {KERNELS[kernel].title}"
        progress(title)
        result.setdefault(half, {})[kernel] = measure_kernel(image, KERNELS[kernel].preset[0], title)
    return result


def user_of(figures):
    """Return the instructions of one job that user mode computes, the same in every kernel."""
    return figures[BASE].step * figures[BASE].steps


def ratio(figures, kernel):
    """Return what a job of @kernel takes over one of the non-debug kernel."""
    return figures[kernel].job / figures[BASE].job


def kernel_ratio(figures, kernel):
    """Return the same without what user mode computes."""
    user = user_of(figures)
    return (figures[kernel].job - user) / (figures[BASE].job - user)


def _times(value):
    return f"x{value:.2f}"


def rows(half, figures):
    """Yield the table of the mix as rows of text, the heading first. figures: {kernel: Measured}."""
    yield [
        "kernel", "mix", "to non-debug", "in the kernel", "to non-debug", "Linux x86-64", "its system time",
        "Linux arm64",
    ]  # fmt: skip
    user = user_of(figures)
    for key, measured in figures.items():
        about = KERNELS[key]
        known = about.published_rt if half == "rt" else about.published
        yield [
            about.title,
            f"{measured.job:,.0f}",
            _times(ratio(figures, key)),
            f"{measured.job - user:,.0f}",
            _times(kernel_ratio(figures, key)),
            *([f"x{value:.1f}" for value in known] or [NO_FIGURE] * 3),
        ]


def lock_rows(figures):
    """Yield the table of locks without contention, the heading first."""
    kernels = [key for key in COMPARED if key in figures]
    yield ["operation", *(KERNELS[key].title for key in kernels)]
    for name, title in LOCKS.items():
        yield [title, *(f"{figures[key].locks[name]:,.0f}" for key in kernels)]


def event_rows(figures):
    """Yield the table of what was counted per job: what the programs did, then the kernel's lock events."""
    yield ["per job", *(KERNELS[key].title for key in figures)]
    for kind in ("counts", "events"):
        for name in dict.fromkeys(name for measured in figures.values() for name in getattr(measured, kind)):
            values = [getattr(measured, kind).get(name) for measured in figures.values()]
            yield [name, *("-" if value is None else f"{value:,.1f}" for value in values)]


def remarks(half, figures):
    """Yield lines about what is in the figures, and the goal."""
    about = HALVES[half]
    user = user_of(figures)
    share = 1 - user / figures[BASE].job
    yield (
        f"the kernel's share of the non-debug kernel's instructions: {share:.0%}; user mode computes "
        f"{user:,.0f} instructions per job in every kernel"
    )
    if DEBUG in figures:
        yield (
            f"'{KERNELS[DEBUG].title}' searched for cycles {figures[DEBUG].searches:,} times since boot, "
            "once for each pair of locks that were new one inside the other"
        )
        value = ratio(figures, DEBUG)
        yield (
            f"goal for '{about.debug}': x{about.goal} at most; inline {_times(value)}: "
            f"{'met' if value <= about.goal else 'missed'}"
        )


def page_of(measured):
    """Return the page of {half: {kernel: Measured}}."""
    made = page.Page(
        "lockdep",
        "What the lock validator costs, in instructions; see\n"
        "[docs/costs.md](../docs/costs.md#the-lock-validator).",
    )
    for half, figures in measured.items():
        made.section(HALVES[half].title)
        made.table(rows(half, figures))
        made.remarks(remarks(half, figures))
        made.table(lock_rows(figures), "A lock without contention")
        made.table(event_rows(figures), "Counted in one job")
    made.notes(NOTES)
    return made


def run(real_time, quick, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    halves = list(HALVES) if real_time else ["spinning"]
    kernels = list(COMPARED) if quick else list(KERNELS)
    wanted = {(half, kernel): preset_of(kernel, half) for half in halves for kernel in kernels}
    measured = measure(page.build(wanted, yes), base.say)
    tables = {half: {key: vars(one) for key, one in figures.items()} for half, figures in measured.items()}
    return page_of(measured).publish(json_file, markdown_file, jobs=JOBS * CPUS, tables=tables)


def register(group):
    """Add the table to `./redzone bench`."""

    @group.command("lockdep", short_help="What the lock validator costs, beside the figures for Linux.")
    @click.option("--rt", "real_time", is_flag=True, help="Also real-time kernels.")
    @click.option("--quick", is_flag=True, help="Four kernels instead of eight: inline, not instrumented.")
    @page.options
    @click.pass_context
    def lockdep(context, **options):
        """Measure what the lock validator costs: a build-like mix on four CPUs, and single locks.

        Builds the same kernel without and with KASAN Generic, without and with the validator. A ratio is over
        the kernel with neither. Beside it stands what was published for Linux.

        \b
        Examples:
          ./redzone bench lockdep --quick
          ./redzone bench lockdep --rt --markdown lockdep.md

        \b
        Exit status: 0 all was measured, 2 usage or build error, 3 a kernel crashed.
        """
        context.exit(run(**options))
