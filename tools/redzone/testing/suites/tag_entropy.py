# SPDX-License-Identifier: MIT
"""How tags are spread and how well they can be guessed, from a million allocations with several seeds.

It runs the KUnit suite tag_entropy in both tag-based modes, prints its figures for bench/tag-entropy.md,
and compares the first tags of boots whose seeds are equal, different, or not given. `--rounds` is the number
of allocations in each case, `--seed` the first of three seeds.
"""

import re
from operator import itemgetter

from redzone.build.builder import KERNEL, preset_name
from redzone.machine import qemu
from redzone.testing.runner import result, when
from redzone.testing.suites import kunit

TOOLS = (*KERNEL, "clang-19")
MODES = ("sw_tags", "hw_tags")
OPTIONS = ("rounds", "seed")
SLOW = True
ROUNDS = 1000000
SEEDS = 3
TIMEOUT = 1800

FIT = re.compile(
    r"# \w+: (.+): (\d+) over (\d+): chi-square ([\d.]+), (\d+) degrees of freedom, (\d+) to (\d+) each$"
)
HITS = re.compile(r"# \w+: (.+): (\d+) of (\d+)(?:, 1 in ([\d.]+))?$")
SEQUENCE = re.compile(r"# sequence: tags in sequence:((?: [0-9a-f]{2}){32})$")


def fits(lines):
    """Return {what: (allocations, tags, chi-square, degrees of freedom, fewest, most)}."""
    found = filter(None, map(FIT.search, lines))
    return {match[1]: match.groups()[1:] for match in found}


def hits(lines):
    """Return {what: (hits, of, "one in" or None)}."""
    found = filter(None, map(HITS.search, lines))
    return {match[1]: match.groups()[1:] for match in found}


def tables(mode, seeds, consoles):
    """Return the lines of the tables for @mode. @consoles: the console's lines for each of @seeds."""
    yield f"{mode}: chi-square of {' / '.join(f'seed {seed}' for seed in seeds)}"
    yield ""
    yield "| what | allocations | values | degrees of freedom | chi-square | fewest and most of a value |"
    yield "|---|---:|---:|---:|---:|---:|"
    found = [fits(lines) for lines in consoles]
    for what, (total, values, _, freedom, _, _) in found[0].items():
        each = [one[what] for one in found]
        chi = " / ".join(row[2] for row in each)
        span = f"{min(int(row[4]) for row in each):,}, {max(int(row[5]) for row in each):,}"
        yield f"| {what} | {int(total):,} | {values} | {freedom} | {chi} | {span} |"
    yield ""
    yield "| what | right guesses | of | one in |"
    yield "|---|---:|---:|---:|"
    found = [hits(lines) for lines in consoles]
    for what in found[0]:
        right = sum(int(one[what][0]) for one in found)
        total = sum(int(one[what][1]) for one in found)
        yield f"| {what} | {right:,} | {total:,} | {f'{total / right:.2f}' if right else '-'} |"


def first_tags(lines):
    """Return the tags that the case `sequence` printed, None without them."""
    return next((match[1] for match in map(SEQUENCE.search, lines) if match), None)


def _figures(context, mode, image):
    """Boot with each seed and print the tables."""
    first = 1 if context.seed is None else context.seed
    seeds = range(first, first + SEEDS)
    consoles = []
    for seed in seeds:
        append = [
            "kunit.filter_glob=tag_entropy",
            f"kasan_test.allocations={context.rounds or ROUNDS}",
            f"random.seed={seed}",
        ]
        target = qemu.Machine(image.image, mode=mode, append=append, timeout=TIMEOUT)
        boot = kunit.boot(context, f"{mode}-seed-{seed}", target)
        yield result(f"{mode}.seed-{seed}", boot.wrong, boot.log)
        if not boot.wrong:
            consoles.append(boot.lines)
    if len(consoles) == len(seeds):
        for line in tables(mode, seeds, consoles):
            context.note(line)


def _seeds(context, mode, image):
    """Equal seeds give equal tags, others other tags; without random.seed= the machine's seed counts."""

    def boot(name, append, seed=1):
        filters = ["kunit.filter_glob=tag_entropy.sequence", *append]
        target = qemu.Machine(image.image, mode=mode, append=filters, icount=True, seed=seed, timeout=TIMEOUT)
        _, lines, _ = context.boot(f"{mode}-{name}", target)
        return first_tags(lines)

    one = boot("one", ["random.seed=1"])
    machine_one = boot("machine-one", [])
    for name, right in (
        ("printed", one and machine_one),
        ("repeated", boot("again", ["random.seed=1"], seed=2) == one),
        ("chosen", boot("two", ["random.seed=2"]) != one),
        ("machine.repeated", boot("machine-again", []) == machine_one),
        ("machine.chosen", boot("machine-two", [], seed=2) != machine_one),
    ):
        yield result(f"{mode}.{name}", when(not right, "see the logs"), context.logs)


def run(context):
    modes = [(mode,) for mode in MODES]
    ready, skipped = context.kernels(modes, lambda one: preset_name(mode=one[0]), itemgetter(0))
    yield from skipped
    for (mode,), image in ready:
        yield from _seeds(context, mode, image)
        yield from _figures(context, mode, image)
