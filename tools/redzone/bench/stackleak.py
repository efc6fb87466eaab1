# SPDX-License-Identifier: MIT
"""`./redzone bench stackleak`: what stack erasing costs, and what its specialised entry saves.

Two things are measured in kernels of several compilers, because each finds the depth of the stack in another
way: getpid in a loop, which is little more than the way into the kernel and back, and a byte that goes to
another process through one pipe and comes back through another.
"""

from dataclasses import dataclass

import click

from redzone.bench import cost, page
from redzone.build import builder
from redzone.core import base
from redzone.core.arch import DEFAULT
from redzone.core.base import Failure

FEATURE = "erase"
# {name: (title, rounds, what was published about Linux)}. Published is how much faster it is with the entry
# point that need not find out which stack it is on, in percent. kernel/tests/bench/user/ has the operations.
OPERATIONS = {
    "getpid": ("getpid", 1 << 16, 1.7),
    "pipe": ("pipe ping-pong", 1 << 12, 0.9),
}
# The boots: {name: value of stack_erasing=}; None: a kernel that is built without the option.
BASE = "base"
VARIANTS = {BASE: None, "off": "off", "generic": "generic", "on": "on"}


@dataclass(frozen=True)
class Kernel:
    """A kernel to measure; preset: (mode, where checks are, compiler)."""

    title: str
    preset: tuple


KERNELS = {
    "clang-19": Kernel("Clang 19", ("off", "inline", "clang-19")),
    "clang-22": Kernel("Clang 22", ("off", "inline", "clang-22")),
    "gcc": Kernel("GCC", ("off", "inline", "gcc")),
    "generic": Kernel("Clang 19, KASAN Generic inline", ("generic", "inline", "clang-19")),
}
NOTES = (
    "Instructions. getpid: a call, 65,536 times. pipe ping-pong: a byte to another process and back, 4,096 "
    "times.",
    "off, on: stack_erasing=, in a kernel built with it. The general entry point (stack_erasing=generic) "
    "first finds out which stack it is on.",
    "Published: how much faster Linux became with the specialised entry points.",
)


def presets(kernels):
    """Return {(kernel, whether it can erase): preset} of what is to be built."""
    return {
        (key, features == [FEATURE]): builder.preset_name(*KERNELS[key].preset, features=features)
        for key in kernels
        for features in ([], [FEATURE])
    }


def measure(images, kernels, progress):
    """Return {kernel: {variant: {operation: instructions}}}. images: {(kernel, can erase): builder.Image}."""
    arguments = [f"calls.{name}:{rounds}" for name, (_, rounds, _) in OPERATIONS.items()]
    result = {}
    for key in kernels:
        result[key] = {}
        for variant, value in VARIANTS.items():
            title = f"{KERNELS[key].title}, {variant}"
            progress(title)
            image = images[key, value is not None]
            append = [f"stack_erasing={value}"] if value else []
            lines = cost.run_kernel(title, image, KERNELS[key].preset[0], *arguments, append=append)
            if any('parameter "stack_erasing' in line for line in lines):
                raise Failure(f"{title}: the kernel was built without stack erasing", base.CRASHED)
            figures = cost.figures_of(title, lines, [f"calls.{name}" for name in OPERATIONS])
            result[key][variant] = {name: figures[f"calls.{name}"] for name in OPERATIONS}
    return result


def saved(figures, name):
    """Return how much less @name costs with the specialised entry, in percent of the general one."""
    return (1 - figures["on"][name] / figures["generic"][name]) * 100


def rows(measured):
    """Yield the table as rows of text, the heading first."""
    yield [
        "operation", "not built in", "off", "on, general entry", "on, specialised entry", "off costs",
        "on costs", "the entry saves", "published",
    ]  # fmt: skip
    for key, figures in measured.items():
        for name, (title, _, published) in OPERATIONS.items():
            values = {variant: figures[variant][name] for variant in VARIANTS}
            yield [
                f"{title}, {KERNELS[key].title}",
                *(f"{value:,.1f}" for value in values.values()),
                *(f"{(values[variant] / values[BASE] - 1) * 100:+.1f} %" for variant in ("off", "on")),
                f"{saved(figures, name):.1f} %",
                f"{published} %",
            ]


def page_of(measured):
    """Return the page of {kernel: {variant: figures}}."""
    about = "What stack erasing costs; see [docs/costs.md](../docs/costs.md#stack-erasing)."
    made = page.Page("stackleak", about, DEFAULT)
    made.table(rows(measured))
    made.notes(NOTES)
    return made


def run(quick, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    kernels = ["clang-19"] if quick else list(KERNELS)
    measured = measure(page.build(presets(kernels), yes), kernels, base.say)
    return page_of(measured).publish(json_file, markdown_file, kernels=measured)


def register(group):
    """Add the table to `./redzone bench`."""

    @group.command("stackleak", short_help="What stack erasing costs, beside what was published for Linux.")
    @click.option("--quick", is_flag=True, help="Clang 19 without KASAN only.")
    @page.options
    @click.pass_context
    def stackleak(context, **options):
        """Measure what stack erasing costs: system calls without, with it off, and with it on.

        Builds two kernels for each compiler, with and without stack erasing, and boots the second with
        stack_erasing=off, generic and on.

        \b
        Examples:
          ./redzone bench stackleak --quick
          ./redzone bench stackleak --json stackleak.json

        \b
        Exit status: 0 all was measured, 2 usage or build error, 3 a kernel crashed.
        """
        context.exit(run(**options))
