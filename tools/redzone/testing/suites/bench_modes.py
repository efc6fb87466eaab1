# SPDX-License-Identifier: MIT
"""Goals of the tag modes without traces, and of kasan=off in every mode (ten minutes).

Figures are instructions, so they are the same on every host: docs/costs.md.
"""

from redzone.bench import cost, page
from redzone.build.builder import KERNEL, preset_name
from redzone.testing.runner import result

SLOW = True
MODES = ("generic", "sw_tags", "hw_tags")
TOOLS = (*KERNEL, "clang-19")
COLUMNS = {"generic": "generic-inline", "sw_tags": "sw_tags-inline", "hw_tags": "hw_tags"}

# {mode: {operation: instructions at most}}, with kasan.stacktrace=off.
NO_TRACES = {
    "hw_tags": {
        "kmalloc_64": 200,
        "kmalloc_1024": 240,
        "kmem_cache_256": 200,
        "krealloc_64": 60,
        "pages_0": 300,
    },
    "sw_tags": {"kmalloc_64": 230},
}
# A pair of calls may cost this much more with kasan=off than in a kernel without KASAN.
OFF = 8
OFF_OPERATIONS = ("kmalloc_64", "kmem_cache_256", "pages_0")


def _limits(mode, figures):
    """Yield (name of the goal, figure, its bound). figures: {column: {operation: instructions}}."""
    column = COLUMNS[mode]
    for name, bound in NO_TRACES.get(mode, {}).items():
        yield f"{mode}.{name}-no-traces", figures[f"{column}, no traces"][name], bound
    for name in OFF_OPERATIONS:
        yield f"{mode}.{name}-off", figures[f"{column}, {cost.OFF}"][name], figures["none"][name] + OFF


def goals(mode, figures):
    """Yield a Result for each goal of @mode."""
    for name, value, bound in _limits(mode, figures):
        detail = "" if value <= bound else f"{value:,.1f} instructions; the goal is {bound:,.1f} at most"
        yield result(f"goal.{name}", detail)


def run(context):
    figures = {}
    modes = [context.mode] if context.mode else MODES
    for column in cost.columns_of([COLUMNS[mode] for mode in modes], with_off=True):
        # Traces have goals in the suite `traces`.
        if column.mode != "none" and column.traces and not column.off:
            continue
        preset = preset_name(*cost.MODES[column.mode])
        image = context.build(preset, targets=[page.KERNEL])[page.KERNEL]
        operations = {*OFF_OPERATIONS, *(name for mode in modes for name in NO_TRACES.get(mode, {}))}
        chosen = {
            group: [name for name in names if name in operations]
            for group, names in cost.GROUPS.items()
            if operations & names.keys()
        }
        figures[column.key] = cost.measure(column, image, chosen, context.note)
    for mode in modes:
        yield from goals(mode, figures)
