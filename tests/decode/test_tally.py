# SPDX-License-Identifier: MIT
"""How many reports a console tells of: the runtime prints a line for the 2nd, 4th, 8th of a place."""

import io
import re

import pytest
from conftest import decode
from redzone.decode import terminal
from test_formats import golden, only_report


@pytest.mark.parametrize(
    ("times", "count", "at_least"),
    [
        ((), 1, False),
        ((2,), 2, True),
        # Lines at powers of two: a few reports follow each without one.
        ((2, 4, 8), 8, True),
        # An older runtime prints a line each time.
        ((2, 3, 4), 4, False),
        # The beginning of the log is missing: the whole report is that of another boot, or of this place.
        ((8,), 8, True),
        # Another boot counts from 1, with its whole report and without.
        ((2, 4, 0, 2), 6, True),
        ((2, 4, 0, 2, 4, 8), 12, True),
        ((0, 2), 3, True),
        ((2, 4, 2), 5, True),
        # With kasan.repeat=full for a while, every report is whole.
        ((0, 0, 4, 8), 8, True),
    ],
)
def test_lines_at_powers_of_two(times, count, at_least):
    """Such a line stands for those since the last one, and others without a line follow it.

    0: a whole report."""
    block = only_report(golden("slab-use-after-free.log"))
    place, *callers = re.findall(r"(?m)^\[.*?\]  (\S+)$", block)
    again = (
        f"[    0.4] KASAN: slab-use-after-free in {place} again (%d times): read of size 8 at addr "
        f"ffff00001fd23028 by task main/2, called by {callers[0]} < {callers[1]}\n"
    )
    log = decode(block + "".join(again % one if one else block for one in times))
    (bug,) = log.bugs
    assert (bug.count, log.reports, log.by_mode) == (count, count, {"generic": count})
    assert log.by_type == {"slab-use-after-free": count}
    assert bug.at_least == log.at_least == at_least
    stream = io.StringIO()
    terminal.show(log, stream=stream)
    words = f"seen {count} time{'s' if count > 1 else ''}" if count > 1 else "seen once"
    assert f"{words}{' or more' if at_least else ''}, first" in stream.getvalue()


def test_lines_of_two_places_of_a_bug():
    """Each place has its own number; the whole report may name a caller in another way."""
    block = only_report(golden("slab-use-after-free.log"))
    place, first, second, *_ = re.findall(r"(?m)^\[.*?\]  (\S+)$", block)
    other = block.replace(f" {second}\n", " elsewhere+0x10/0x20\n")
    line = (
        f"[    0.4] KASAN: slab-use-after-free in {place} again (%d times): read of size 8 at addr "
        f"ffff00001fd23028 by task main/2, called by {first} < %s\n"
    )
    there = "elsewhere+0x10/0x20"
    text = block + other + line % (2, second) + line % (2, there) + line % (4, second) + line % (4, there)
    log = decode(text)
    assert log.reports == 8
    # The number in a line says how often, whether the log has the whole report or not.
    assert [bug.count for bug in decode(block + line % (2, there)).bugs] == [1, 2]
    # More than the decoder parses.
    assert decode(block * 40 + line % (64, second)).reports in range(41, 65)
