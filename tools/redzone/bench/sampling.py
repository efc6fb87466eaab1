# SPDX-License-Identifier: MIT
"""`./redzone bench sampling`: how many bugs sampled heap objects find, and what sampling costs.

kernel/tests/bench/sampling.c plants bugs at random, in a kernel without a mode of KASAN. Beside what was
found stands what is to be expected. The machine's clock counts executed instructions, a billion a second, so
a boot with the same seed gives the same figures.
"""

import math
import re
from dataclasses import dataclass

import click

from redzone.bench import cost, page
from redzone.build import builder
from redzone.core import base
from redzone.core.base import Failure

MODE = "off"
PLAIN, SAMPLED = "none", "sample"
PRESETS = {
    PLAIN: builder.preset_name(MODE, "inline"),
    SAMPLED: builder.preset_name(MODE, "inline", features=["sample"]),
}
BOOTS = 20
MS = 2000
# As in kernel/tests/bench/sampling.c: one of this many objects has a bug; the largest size, the alignment.
PLANTED = 4
LARGEST = 1024
ALIGN = 8


@dataclass(frozen=True)
class Rate:
    """How often an object is sampled: each @ms milliseconds, or one allocation in @every."""

    title: str
    ms: int = 0
    every: int = 0


RATES = (
    Rate("100 ms, the default", ms=100),
    Rate("10 ms", ms=10),
    Rate("1 of 100,000 allocations", every=100_000),
    Rate("1 of 1,000 allocations", every=1000),
)
# {kind of bug: (title, share of those in sampled objects that are found)}. An object lies at the beginning of
# its page or at the end by chance. A read past the end is refused if no byte lies between the object and the
# guard: at the end, and for sizes that are multiples of the alignment. The MMU or the free finds each write.
KINDS = {
    "read_past": ("read past the end", 0.5 * (LARGEST // ALIGN) / LARGEST),
    "write_past": ("write past the end", 1.0),
    "read_before": ("read before the beginning", 0.5),
    "write_before": ("write before the beginning", 1.0),
    "write_far_past": ("write 500 bytes past the end", 1.0),
    "read_freed": ("read after free", 1.0),
    "free_twice": ("double free", 1.0),
}
# Kernels of the mix: {title: (kernel, boot parameters)}.
PRICES = {
    "not built in": (PLAIN, ()),
    "never (0)": (SAMPLED, ("kasan.sample=0",)),
    "100 ms, the default": (SAMPLED, ()),
    "10 ms": (SAMPLED, ("kasan.sample=10",)),
}
GOAL = 0.01
JOBS = 64
CPUS = 4
NOTES = (
    "expected: samples x 1/4 (the objects with a bug) x 1/7 (each kind) x the share of the kind that is "
    "found in a sampled object. By time the samples of a boot are its length over the period, by count its "
    "allocations over the interval. A sample is the next allocation, and which objects get a bug is decided "
    "without regard to samples, so a sample has a bug as often as any object.",
    "+-: the standard deviation of a number of independent chances. Boots with a report: 1 - (1 - chance "
    "that a sample finds a bug) to the power of the samples of a boot, summed over the boots.",
)
_TOTAL = re.compile(r"bench: sampling allocations (\d+) sampled (\d+) reports (\d+)$")
_KIND = re.compile(r"bench: sampling (\w+) planted (\d+) sampled (\d+) found (\d+)$")


@dataclass
class Boot:
    """Of one boot. kinds: {kind: (planted, in sampled objects, found)}."""

    allocations: int
    sampled: int
    reports: int
    kinds: dict


def parse(title, lines):
    """Return the Boot in a console."""
    total = next(filter(None, map(_TOTAL.search, lines)), None)
    kinds = {
        match[1]: tuple(map(int, match.groups()[1:])) for match in filter(None, map(_KIND.search, lines))
    }
    if not total or set(kinds) != set(KINDS):
        raise Failure(f"{title}: the kernel printed no figures of sampling", base.CRASHED)
    return Boot(*map(int, total.groups()), kinds)


def samples_due(rate, ms, boot):
    """Return how many allocations @rate samples in a boot with that many milliseconds of traffic."""
    return boot.allocations / rate.every if rate.every else ms / rate.ms


def chance(kind=None):
    """Return the chance that a sample finds a bug of @kind, or of any."""
    shares = [share for _, share in KINDS.values()] if kind is None else [KINDS[kind][1]]
    return sum(shares) / len(KINDS) / PLANTED


def expected(samples, probability):
    """Return (number found, its standard deviation)."""
    return samples * probability, math.sqrt(samples * probability * (1 - probability))


def measure(image, rate, boots, ms, progress):
    """Return the Boots of @rate."""
    result = []
    append = [f"kasan.sample={rate.ms}", "kasan_multi_shot"]
    for seed in range(1, boots + 1):
        title = f"{rate.title}, boot {seed} of {boots}"
        progress(title)
        work = f"sampling:{ms}:{seed}:{rate.every}"
        # Also decides at which end of its page each object lies.
        lines = cost.run_kernel(title, image, MODE, work, append=[*append, f"random.seed={seed}"])
        result.append(parse(title, lines))
    return result


def measure_price(images, progress):
    """Return {title: instructions of a job}."""
    result = {}
    for title, (kernel, append) in PRICES.items():
        progress(f"the mix: {title}")
        lines = cost.run_kernel(title, images[kernel], MODE, f"mix:{JOBS}", smp=CPUS, append=list(append))
        result[title] = cost.figures_of(title, lines, ("mix",))["mix"]
    return result


def rows(measured, ms):
    """Yield the table of rates, the heading first. measured: {Rate: [Boot]}."""
    yield [
        "a sample each",
        "allocations",
        "samples",
        "bugs planted",
        "found",
        "expected",
        "boots with a report",
        "expected",
    ]
    for rate, boots in measured.items():
        due = sum(samples_due(rate, ms, boot) for boot in boots)
        number, deviation = expected(due, chance())
        with_report = sum(1 - (1 - chance()) ** samples_due(rate, ms, boot) for boot in boots)
        yield [
            rate.title,
            f"{sum(boot.allocations for boot in boots):,}",
            f"{sum(boot.sampled for boot in boots):,} (due {due:,.0f})",
            f"{sum(planted for boot in boots for planted, _, _ in boot.kinds.values()):,}",
            f"{sum(boot.reports for boot in boots):,}",
            f"{number:,.0f} +- {deviation:,.0f}",
            f"{sum(boot.reports > 0 for boot in boots)} of {len(boots)}",
            f"{with_report:.1f}",
        ]


def kind_rows(measured):
    """Yield the table of kinds over all rates, the heading first."""
    yield ["bug", "in sampled objects", "found", "expected"]
    boots = [boot for ones in measured.values() for boot in ones]
    for kind, (title, share) in KINDS.items():
        sampled = sum(boot.kinds[kind][1] for boot in boots)
        number, deviation = expected(sampled, share)
        yield [
            title,
            f"{sampled:,}",
            f"{sum(boot.kinds[kind][2] for boot in boots):,}",
            f"{number:,.0f}" + (f" +- {deviation:,.0f}" if share < 1 else ""),
        ]


def price_rows(prices):
    """Yield the table of the mix, the heading first."""
    yield ["kasan.sample=", "instructions of a job", "more than not built in"]
    plain = prices["not built in"]
    for title, value in prices.items():
        yield [title, f"{value:,.0f}", f"{(value / plain - 1) * 100:+.2f} %"]


def page_of(measured, prices, ms):
    """Return the page."""
    made = page.Page(
        "sampling",
        "Bugs are planted at random, and these tables show how many of them sampled objects find; see\n"
        "[docs/port/sampling.md](../docs/port/sampling.md).",
    )
    count = len(next(iter(measured.values())))
    made.section("Found against expected")
    made.table(rows(measured, ms), f"{base.plural(count, 'boot')} of each rate, {ms:,} ms of traffic in each")
    made.table(kind_rows(measured), "By kind, in all boots together")
    made.remarks(NOTES)
    made.section("What it costs")
    made.table(price_rows(prices), "The mix of `./redzone bench lockdep` on four CPUs")
    price = prices["100 ms, the default"] / prices["not built in"] - 1
    verdict = "met" if price < GOAL else "missed"
    made.remarks([f"goal: below {GOAL:.0%} at the default rate; {price * 100:+.2f} %: {verdict}"])
    return made


def run(boots, ms, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    images = page.build(PRESETS, yes)
    measured = {rate: measure(images[SAMPLED], rate, boots, ms, base.say) for rate in RATES}
    prices = measure_price(images, base.say)
    figures = {rate.title: [vars(boot) for boot in ones] for rate, ones in measured.items()}
    return page_of(measured, prices, ms).publish(json_file, markdown_file, boots=figures, mix=prices)


def register(group):
    """Add the table to `./redzone bench`."""

    @group.command("sampling", short_help="What sampled heap objects find, and what they cost.")
    @click.option("--boots", default=BOOTS, type=click.IntRange(1, 1000), help="Of each rate. Default: 20.")
    @click.option(
        "--ms", default=MS, type=click.IntRange(100, 100_000), help="Of traffic in each boot. Default: 2000."
    )
    @page.options
    @click.pass_context
    def sampling_verb(context, **options):
        """Plant bugs in heap objects at random, and count those that sampling reports, at four rates.

        Beside each number stands what is to be expected. Then the build-like mix of `bench lockdep` runs with
        sampling and without.

        \b
        Examples:
          ./redzone bench sampling
          ./redzone bench sampling --boots 2 --ms 500

        \b
        Exit status: 0 all was measured, 2 usage or build error, 3 a kernel crashed.
        """
        context.exit(run(**options))
