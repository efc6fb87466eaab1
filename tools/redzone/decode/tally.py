# SPDX-License-Identifier: MIT
"""Counts the reports of a place by its `again` lines: there is one for the 2nd, 4th, 8th report and so on.

Older runtimes print one for each. A log may have several boots, each of which counts from 1, and parts of it
may be missing. The number is never higher than that of the reports.
"""

from dataclasses import dataclass

MAX_PLACES = 4096


def has_line(times):
    """Does the runtime print a line for report number @times of a place? runtime/report/repeat.c decides."""
    return not times & (times - 1)


@dataclass
class _Place:
    """last: the number in its last line, 0: there was none. whole: reports in full since then. each: the
    runtime prints a line for each report. line: the last one, if reports without one may follow it."""

    last: int = 0
    whole: int = 0
    each: bool = False
    line: object = None


class Tally:
    """Takes the reports of a log in their order."""

    def __init__(self):
        self._places = {}

    def knows(self, key):
        """Was a report of the place @key added?"""
        return key in self._places

    def add(self, key, report, others=0):
        """Set silent and at_least of @report, whose place is @key. Clear at_least of the line before it.

        others: reports in full that were added for no place, or for another one, and may be of this place."""
        if key not in self._places and len(self._places) >= MAX_PLACES:
            self._places.clear()
        place = self._places.setdefault(key, _Place())
        if not report.again:
            place.whole += 1
            return
        before = place.last + place.whole
        if report.times > before:
            report.silent = max(0, report.times - before - 1 - others)
            if place.line is not None:
                place.line.at_least = False
        elif place.whole:
            # It counts from 1 again.
            report.silent = max(0, report.times - place.whole - 1 - others)
        place.each = place.each or not has_line(report.times)
        report.at_least = not place.each
        place.line = report if report.at_least else None
        place.last, place.whole = report.times, 0
