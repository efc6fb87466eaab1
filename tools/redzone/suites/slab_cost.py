# SPDX-License-Identifier: MIT
"""The table of docs/slab-cost.md says what the KUnit suite slab_cost checks in the kernel."""

import re

from redzone.base import ROOT
from redzone.runner import FAIL, PASS, Result

PAGE = 4096


def expected():
    """Return the lines of the table, from the rows of kernel/tests/slab_cost.h."""
    text = (ROOT / "kernel" / "tests" / "slab_cost.h").read_text(encoding="utf-8")
    for match in re.finditer(r"^SLAB_COST\(([\d, ]+)\)$", text, re.MULTILINE):
        size, slot, objects, pages, kasan_slot, kasan_objects, kasan_pages = map(
            int, match.group(1).split(",")
        )
        each = round(pages * PAGE / objects)
        kasan_each = round(kasan_pages * PAGE / kasan_objects)
        yield (
            f"| {size} | {slot} | {objects} in {pages} | {each} | {kasan_slot} "
            f"| {kasan_objects} in {kasan_pages} | {kasan_each} | {kasan_each / each:.2f} |"
        )


def run(context):
    rows = list(expected())
    lines = (ROOT / "docs" / "slab-cost.md").read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if re.match(r"\| \d+ \| \d+ \| \d+ in ", line)]
    if rows and rows == shown:
        yield Result("table", PASS)
    else:
        wrong = [row for row in rows if row not in shown] + [row for row in shown if row not in rows]
        yield Result("table", FAIL, "\n".join(wrong) or "no rows")
