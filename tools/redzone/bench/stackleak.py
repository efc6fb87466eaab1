# SPDX-License-Identifier: MIT
"""`./redzone bench stackleak`: what stack erasing costs, and what its specialised entry saves.

Two things are measured in kernels of several compilers, because each finds the depth of the stack in another
way: getpid in a loop, which is little more than the way into the kernel and back, and a byte that goes to
another process through one pipe and comes back through another.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import click

from redzone.build import builder
from redzone.core import base, doctor
from redzone.core.base import Failure
from redzone.core.options import YES, check_output

FORMAT = 1
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
    from redzone.bench import cost
    from redzone.machine import qemu

    arguments = [f"calls.{name}:{rounds}" for name, (_, rounds, _) in OPERATIONS.items()]
    result = {}
    for key in kernels:
        result[key] = {}
        for variant, value in VARIANTS.items():
            title = f"{KERNELS[key].title}, {variant}"
            progress(title)
            target = qemu.Machine(
                images[key, value is not None].image,
                append=[f"stack_erasing={value}"] if value else [],
                arguments=arguments,
                icount=True,
                mode=KERNELS[key].preset[0],
                timeout=cost.TIMEOUT,
            )
            lines = cost.run_kernel(title, target)
            if any('parameter "stack_erasing' in line for line in lines):
                raise Failure(f"{title}: the kernel was built without stack erasing", base.CRASHED)
            figures = cost.parse(lines)
            missing = [name for name in OPERATIONS if f"calls.{name}" not in figures]
            if missing:
                raise Failure(f"{title}: the kernel printed no figure for {', '.join(missing)}", base.CRASHED)
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


def markdown(measured):
    """Return the table as a Markdown document."""
    from redzone.bench import cost

    return "\n".join(
        [
            "# Figures of `./redzone bench stackleak`, arm64\n",
            "What stack erasing costs; see [docs/costs.md](../docs/costs.md#stack-erasing).\n",
            cost.markdown(list(rows(measured))),
            *(f"- {line}" for line in NOTES),
            "",
        ]
    )


def run(quick, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    from redzone.bench import cost

    kernels = ["clang-19"] if quick else list(KERNELS)
    # Check now, not after minutes of measuring.
    check_output("--json", json_file)
    check_output("--markdown", markdown_file)
    wanted = presets(kernels)
    needed = [key for preset in wanted.values() for key in builder.tools_of(preset)]
    doctor.require([*needed, *cost.TOOLS], "run the benchmark", yes)
    images = {
        key: builder.build(preset, targets=(cost.KERNEL,))[cost.KERNEL] for key, preset in wanted.items()
    }
    measured = measure(images, kernels, base.say)
    cost.show(list(rows(measured)))
    for line in NOTES:
        print(line)
    if json_file:
        data = {"format": FORMAT, "unit": "instructions", "kernels": measured}
        Path(json_file).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if markdown_file:
        Path(markdown_file).write_text(markdown(measured), encoding="utf-8")
    return base.OK


def register(group):
    """Add the table to `./redzone bench`."""

    @group.command("stackleak", short_help="What stack erasing costs, beside what was published for Linux.")
    @click.option("--quick", is_flag=True, help="Clang 19 without KASAN only.")
    @click.option("--json", "json_file", metavar="FILE", help="Also write the figures to FILE.")
    @click.option("--markdown", "markdown_file", metavar="FILE", help="Also write the table to FILE.")
    @YES
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
