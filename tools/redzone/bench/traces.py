# SPDX-License-Identifier: MIT
"""`./redzone bench traces`: what stack traces cost, in the rows of the table that was published for Linux.

Each row is a way to make traces: a boot parameter, and features of the build. A row's share is what it adds
to the same kernel with kasan.stacktrace=off. Three things are measured: the boot, the boot and a number of
programs in user mode, and a pair of kmalloc() and kfree().
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import click

from redzone.bench import cost, page
from redzone.build import builder
from redzone.core import base
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, Functions
from redzone.machine import execlog

# Enough for stack traces to be seen: see docs/costs.md.
PROGRAMS = 256
OFF = "off"
# The hooks that store a trace, once for each call.
ALLOCATIONS = ("kasan_slab_alloc", "kasan_slab_alloc_init", "kasan_kmalloc_large")
FREES = ("kasan_slab_free", "kasan_slab_free_deferred", "kasan_kfree_large")
FIGURES = {"boot": "boot", "programs": f"boot, {PROGRAMS} programs", "kmalloc_64": "kmalloc(64)+kfree"}


@dataclass(frozen=True)
class Row:
    """A way to make traces. parameter: of kasan.stacktrace=. features: of the build."""

    key: str
    title: str
    parameter: str
    features: tuple = ()


ROWS = (
    Row("none", "no traces", OFF),
    Row("unwinder", "unwinder", "on"),
    Row("unsaved", "unwinder, not saved to the depot", "collect"),
    Row("scs", "shadow call stack", "on", ("scs-runtime",)),
    Row("scs-exempt", "shadow call stack, helpers exempt", "on", ("scs",)),
)
# The rows that the goals are for. The runtime is exempt unless one asks for it.
GOAL_ROW = "scs-exempt"


@dataclass(frozen=True)
class Mode:
    """A mode of KASAN. published: percent of boot time, by row, as posted for Linux in 2022. linux: percent
    of boot, by row, in instructions of Linux 6.12 measured on the same machine as ours. goal: percent."""

    title: str
    preset: tuple
    goal: float
    published: dict = field(default_factory=dict)
    linux: dict = field(default_factory=dict)


MODES = {
    "generic": Mode(
        "Generic mode, inline checks",
        ("generic", "inline"),
        3,
        {"unwinder": 43.8, "scs": 3.4},
        {"unwinder": (586 / 558 - 1) * 100},
    ),
    "sw_tags": Mode(
        "Software tags, inline checks",
        ("sw_tags", "inline"),
        5,
        {},
        {"unwinder": (508 / 473 - 1) * 100},
    ),
    "hw_tags": Mode(
        "Hardware tags",
        ("hw_tags", "inline"),
        5,
        {"unwinder": 51.0, "scs": 5.4},
        {"unwinder": (129 / 109 - 1) * 100},
    ),
}
NOT_PUBLISHED = "no figure"
NOTES = (
    'Percentages are over the same kernel with kasan.stacktrace=off; "no figure": none is known to us.',
    f"boot: from reset to the first program, 2 GiB. boot, {PROGRAMS} programs: that, and {PROGRAMS} programs "
    "in user mode from start to end.",
    "Linux, published: boot time in QEMU (2022). Linux 6.12: boot in instructions, measured like ours.",
)


def _kernels():
    """Yield (features, [boot parameter]) of the kernels of a mode that are to be booted."""
    for features in dict.fromkeys(row.features for row in ROWS):
        yield features, dict.fromkeys([OFF, *(row.parameter for row in ROWS if row.features == features)])


def key_of(features, parameter):
    """Return the key of a kernel's figures."""
    return "+".join([parameter, *features])


def presets(modes):
    """Return {(mode, features): preset} of the kernels to be built."""
    return {
        (mode, features): builder.preset_name(*MODES[mode].preset, features=list(features))
        for mode in modes
        for features, _ in _kernels()
    }


def _counts(image, mode, programs):
    """Return (allocations, frees) of a boot with @programs programs."""
    functions = Functions(File.open(image.elf), (FUNC,))
    counts = []
    with tempfile.TemporaryDirectory(prefix="redzone-") as folder:
        path = Path(folder) / "exec"
        logged = execlog.options(path, functions, ALLOCATIONS + FREES)
        machine = {"memory": "2G", "options": logged}
        cost.run_kernel(f"{mode}: counting calls", image, mode, f"programs:{programs}", **machine)
        calls = {functions.name(address): times for address, times in execlog.executed(path).items()}
    for names in (ALLOCATIONS, FREES):
        counts.append(sum(calls.get(name, 0) for name in names))
    return counts


def measure_kernel(image, mode, parameter, title):
    """Return {figure: instructions} of @image with kasan.stacktrace=@parameter."""
    lines, append = [], [f"kasan.stacktrace={parameter}"]
    # Both print the time of the boot: the last one counts.
    for memory, work in (("512M", "memory:kmalloc_64"), ("2G", f"programs:{PROGRAMS}")):
        lines += cost.run_kernel(title, image, mode, work, memory=memory, append=append)
    return cost.figures_of(title, lines, FIGURES)


def measure(images, modes, progress):
    """Return {mode: {"figures": {kernel: {figure: instructions}}, "calls": {figure: (allocations, frees)}}}.

    images: {(mode, features): builder.Image}.
    """
    result = {}
    for mode in modes:
        figures = {}
        for features, parameters in _kernels():
            for parameter in parameters:
                name = key_of(features, parameter)
                progress(f"{mode}: {name}")
                figures[name] = measure_kernel(
                    images[mode, features], mode, parameter, f"{mode}: kasan.stacktrace={name}"
                )
        progress(f"{mode}: counting allocations")
        calls = {
            figure: _counts(images[mode, ()], mode, programs)
            for figure, programs in (("boot", 0), ("programs", PROGRAMS))
        }
        result[mode] = {"figures": figures, "calls": calls}
    return result


def share(figures, row, figure):
    """Return what @row adds to @figure, in percent."""
    base_value = figures[key_of(row.features, OFF)][figure]
    return (figures[key_of(row.features, row.parameter)][figure] / base_value - 1) * 100


def _percent(value):
    return NOT_PUBLISHED if value is None else f"{value:+.1f} %"


def rows(mode, measured):
    """Yield the table of @mode as rows of text, the heading first. @measured: its part of measure()."""
    about, figures = MODES[mode], measured["figures"]
    yield [
        "stack traces", "Linux, published", "Linux 6.12", FIGURES["boot"], FIGURES["programs"],
        FIGURES["kmalloc_64"], "to no traces",
    ]  # fmt: skip
    for row in ROWS:
        of_row = figures[key_of(row.features, row.parameter)]
        of_base = figures[key_of(row.features, OFF)]
        if row.parameter == OFF:
            shown = ["0", "0"] if about.published else [NOT_PUBLISHED, "0"]
            shown += [f"{of_row[name]:,.0f}" for name in ("boot", "programs")]
        else:
            shown = [_percent(known.get(row.key)) for known in (about.published, about.linux)]
            shown += [_percent(share(figures, row, name)) for name in ("boot", "programs")]
        pair = of_row["kmalloc_64"]
        yield [row.title, *shown, f"{pair:,.0f}", f"{pair / of_base['kmalloc_64']:.2f}"]


def remarks(mode, measured):
    """Yield lines about what is in the figures of @mode, and its goal."""
    figures, calls = measured["figures"], measured["calls"]
    (allocations, frees), (more, more_frees) = calls["boot"], calls["programs"]
    yield (
        f"traces stored: {allocations + frees:,} in the boot ({allocations:,} allocations, {frees:,} frees), "
        f"{more + more_frees - allocations - frees:,} in the programs ({more - allocations:,} and "
        f"{more_frees - frees:,})"
    )
    plain, scs = figures[key_of((), OFF)], figures[key_of(("scs",), OFF)]
    yield (
        "the shadow call stack itself, without traces: "
        + ", ".join(f"{_percent((scs[name] / plain[name] - 1) * 100)} {FIGURES[name]}" for name in FIGURES)
    )
    row = next(row for row in ROWS if row.key == GOAL_ROW)
    shares = {name: share(figures, row, name) for name in ("boot", "programs")}
    met = all(value <= MODES[mode].goal for value in shares.values())
    yield (
        f"goal for '{row.title}': {MODES[mode].goal:+g} % at most; "
        + ", ".join(f"{_percent(value)} {FIGURES[name]}" for name, value in shares.items())
        + f": {'met' if met else 'missed'}"
    )


def page_of(measured):
    """Return the page of what measure() has returned."""
    made = page.Page(
        "traces",
        "What stack traces cost, in instructions; see\n"
        "[docs/costs.md](../docs/costs.md#what-stack-traces-cost).",
    )
    for mode, figures in measured.items():
        made.section(MODES[mode].title)
        made.table(rows(mode, figures))
        made.remarks(remarks(mode, figures))
    made.notes(NOTES)
    return made


def run(quick, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    modes = ["generic"] if quick else list(MODES)
    measured = measure(page.build(presets(modes), yes), modes, base.say)
    return page_of(measured).publish(json_file, markdown_file, programs=PROGRAMS, modes=measured)


def register(group):
    """Add the table to `./redzone bench`."""

    @group.command("traces", short_help="What stack traces cost, beside the figures published for Linux.")
    @click.option("--quick", is_flag=True, help="Generic mode only.")
    @page.options
    @click.pass_context
    def traces(context, **options):
        """Measure what stack traces cost: without, by the unwinder, by the shadow call stack.

        Builds three kernels of each of the three modes, and boots each with kasan.stacktrace=off and on. A
        share is over the same kernel with kasan.stacktrace=off. Beside it stands what was published for
        Linux.

        \b
        Examples:
          ./redzone bench traces --quick
          ./redzone bench traces --json traces.json

        \b
        Exit status: 0 all was measured, 2 usage or build error, 3 a kernel crashed.
        """
        context.exit(run(**options))
