# SPDX-License-Identifier: MIT
"""bench/slab-cost.md has the figures that the KUnit suite slab_cost checks in the kernel.

With REDZONE_UPDATE_DOCS=1 in the environment the suite writes the file instead.
"""

import re

from redzone.core.base import ROOT
from redzone.testing.runner import compared, result, when

QUICK = "all"
PAGE = 4096
DOCUMENT = ROOT / "bench" / "slab-cost.md"

HEAD = """\
# Slots of slab objects, in bytes

Generic mode beside a kernel without KASAN. `./redzone test slab-cost` compares this file with
`kernel/tests/slab_cost.h`, whose rows the KUnit suite `slab_cost` checks in the running kernel;
[docs/costs.md](../docs/costs.md#slab-objects) explains them.

*Slot*: from one object to the next. *Bytes each*: a slab divided by its objects, lost bytes included.

| `kmalloc` class | slot, no KASAN | objects in pages | bytes each | slot, Generic | objects in pages \
| bytes each | factor |
|---|---|---|---|---|---|---|---|
"""
KEPT = """
Objects that keep their bytes when they are free, in caches aligned to 8 bytes:

| object | slot, no KASAN | kept | slot, Generic | kept |
|---|---|---|---|---|
"""


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


def run(context):
    tables = list(kmalloc_classes()), list(kept_objects())
    text = HEAD + "\n".join(tables[0]) + "\n" + KEPT + "\n".join(tables[1]) + "\n"
    yield compared("tables", DOCUMENT, text)
    yield result("rows", when(not all(tables), "no rows"))
