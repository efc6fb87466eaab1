# SPDX-License-Identifier: MIT
"""The tables in docs/slab-cost.md have the figures that the KUnit suite slab_cost checks in the kernel."""

import re

from redzone.base import ROOT
from redzone.runner import FAIL, PASS, Result

QUICK = "all"
PAGE = 4096


def rows_of(macro):
    """Return the numbers in each row of kernel/tests/slab_cost.h that uses @macro."""
    text = (ROOT / "kernel" / "tests" / "slab_cost.h").read_text(encoding="utf-8")
    rows = re.findall(rf"^{macro}\(([\d, ]+)\)$", text, re.MULTILINE)
    return [list(map(int, row.split(","))) for row in rows]


def kmalloc_classes():
    """Return the lines of the table of size classes."""
    for size, slot, objects, pages, kasan_slot, kasan_objects, kasan_pages in rows_of("SLAB_COST"):
        each = round(pages * PAGE / objects)
        kasan_each = round(kasan_pages * PAGE / kasan_objects)
        yield (
            f"| {size} | {slot} | {objects} in {pages} | {each} | {kasan_slot} "
            f"| {kasan_objects} in {kasan_pages} | {kasan_each} | {kasan_each / each:.2f} |"
        )


def kept_objects():
    """Return the lines of the table of objects that keep their bytes."""
    for row in rows_of("SLAB_COST_KEPT"):
        yield "| " + " | ".join(map(str, row)) + " |"


def compare(name, rows, shown):
    if rows and rows == shown:
        return Result(name, PASS)
    wrong = [row for row in rows if row not in shown] + [row for row in shown if row not in rows]
    return Result(name, FAIL, "\n".join(wrong) or "no rows")


def run(context):
    lines = (ROOT / "docs" / "slab-cost.md").read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if re.match(r"\| \d+ \| \d+ \| \d+ in ", line)]
    yield compare("table", list(kmalloc_classes()), shown)
    shown = [line for line in lines if re.fullmatch(r"(\| \d+ ){5}\|", line)]
    yield compare("kept", list(kept_objects()), shown)
