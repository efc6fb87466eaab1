# SPDX-License-Identifier: MIT
"""KASAN's cost stays within its goals, and the recorded figures are those of this tree (four minutes).

Figures are instructions, so they are the same on every host: docs/costs.md.
"""

from redzone.bench import cost, page
from redzone.build.builder import KERNEL, preset_name
from redzone.core import base
from redzone.testing.runner import result

SLOW = True
MODES = ("generic",)
TOOLS = (*KERNEL, "clang-19")
INLINE, OUTLINE = "generic-inline", "generic-outline"
RECORDED = base.ROOT / "bench" / "results-arm64.json"
# Another version of the compiler or of QEMU's firmware changes figures a little.
TOLERANCE = 0.05
# Parallel work on all CPUs differs with everything that ran before.
NOT_REPEATED = ("smp.",)

# Every access of the operation is one call; the code outside its loop is the same for all.
ACCESSES = 128
OUTSIDE = 16
CHECK = 8

CHEAPER = {"memcpy_1024": 80, "memset_1024": 50}
KMALLOC = 300
TIMES = 1.5
# The shadow of each page is written twice, and a kernel without KASAN does little else than map and unmap
# the page.
VMALLOC_TIMES = 1.6
# The same operation with more objects, or on more CPUs.
GROWTH = 1.1


def _limits(figures):
    """Yield (name of the goal, figure, its bound) for @figures, {column: {operation: instructions}}."""
    none = figures["none"]
    outline = figures[OUTLINE]
    for op in ("load_8x128", "store_1x128"):
        yield f"outline-check.{op}", outline[op], none[op] + CHECK * ACCESSES + OUTSIDE
    for mode in (INLINE, OUTLINE):
        for op, more in CHEAPER.items():
            yield f"{mode}.{op}", figures[mode][op], none[op] + more
        yield f"{mode}.kmalloc_64-no-traces", figures[f"{mode}, no traces"]["kmalloc_64"], KMALLOC
        yield f"{mode}.boot", figures[mode]["boot"], none["boot"] * TIMES
        for op in cost.GROUPS["vmalloc"]:
            yield f"{mode}.{op}", figures[mode][op], none[op] * VMALLOC_TIMES
        live = [figures[mode][op] for op in cost.GROUPS["live"]]
        yield f"{mode}.live-objects", max(live), min(live) * GROWTH
        for op in ("kmalloc_64", "kmalloc_1024", "pages_0"):
            on = [figures[mode][f"smp.{op}@{cpus}"] for cpus in cost.CPUS]
            yield f"{mode}.cpus.{op}", max(on), on[0] * GROWTH
        # These take locks that all CPUs share, even without KASAN.
        for op in ("vmalloc_4k", "test_vmalloc.fix_size"):
            for cpus in cost.CPUS:
                name = f"smp.{op}@{cpus}"
                yield f"{mode}.{name}", figures[mode][name], none[name] * TIMES


def goals(figures):
    """Yield a Result for each goal."""
    for name, value, bound in _limits(figures):
        detail = "" if value <= bound else f"{value:,.0f} instructions; the goal is {bound:,.0f} at most"
        yield result(f"goal.{name}", detail)


def stale(figures, recorded):
    """Return a line for each figure that differs from the recorded one."""
    lines = []
    for column, values in figures.items():
        for op, value in values.items():
            if op.startswith(NOT_REPEATED):
                continue
            old = recorded.get(column, {}).get(op)
            if old is None or abs(value - old) > TOLERANCE * old:
                lines.append(f"{column}: {op}: {value} now, {old} recorded")
    return lines


def run(context):
    columns = cost.columns_of([INLINE, OUTLINE])
    chosen = cost.that_differ(cost.names_matching("*"), columns)
    figures = {}
    for column in columns:
        preset = preset_name(*cost.MODES[column.mode])
        image = context.build(preset, targets=[page.KERNEL])[page.KERNEL]
        figures[column.key] = cost.measure(column, image, chosen, context.note)
    yield from goals(figures)
    lines = stale(figures, cost.load(RECORDED))
    if lines:
        lines.append(
            "if that is meant: ./redzone bench --json bench/results-arm64.json, the tables, and figures.py"
        )
    yield result("recorded", lines)
