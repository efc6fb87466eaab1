# SPDX-License-Identifier: MIT
"""Parses a report of KASAN that stands in a log in one piece: from its headline to its rule, with no line of
another one in between, all with the same prefix. Most reports do. The Scanner reads the others line by line,
which takes three times as long because it asks of each line to what it belongs. The outcome is the same.
"""

import functools

from redzone.decode import lines, paste, shapes, systems
from redzone.decode import parse as parser
from redzone.decode.frames import simple_frame

# The first words of a kernel's log: what was open before ends.
BOOTS = ("Booting Linux ", "Linux version ", "Redzone reference kernel ")


@functools.lru_cache(4096)
def _is_inside(text):
    """Can @text be nothing but a line of the report that it stands in?"""
    return not (
        text.startswith((*BOOTS, "====="))
        or parser.headline(text)[0] is not None
        or paste.Prefix.anchor(text) > 0
        # KTAP's.
        or "ok " in text
        or "# Subtest" in text
    )


class Builder(parser.Builder):
    """As parse.Builder, for the lines.Line of a headline and all lines of its report, @texts."""

    def __init__(self, line, match, texts):
        super().__init__("kasan", line, match)
        self._texts = texts
        self.lines = len(texts)

    def take(self):
        """Take all lines. Return False if one of them may be something else than the report's."""
        take, traced, row = self._take, self._traced, self._row
        idle = 0
        for text in self._texts[1:-1]:
            if text[:1] == " " and "+0x" in text and (frame := simple_frame(text)) is not None:
                self._pending_sources.clear()
                traced(frame, text)
                idle = 0
            elif not text or text.isspace():
                continue
            elif "." not in text and row(text):
                idle = 0
            elif not _is_inside(text):
                return False
            elif take(text.rstrip()):
                idle = 0
            else:
                idle += 1
                if idle >= parser.MAX_IDLE:
                    return False
        report = self.report
        # Without either, the headline may stand in a text.
        self.ended = bool(report.stacks or report.memory)
        report.raw = [text.rstrip() for text in self._texts]
        report.last_line += self.lines - 1
        return self.ended


def parse(block, number):
    """Return the Builder of the report in the bytes @block, None if something else may stand in it.

    number: of its first line in the log."""
    found = lines.alike(block, number)
    if found is None:
        return None
    first, texts = found
    kind, match = parser.headline(first.text)
    if (
        kind != "kasan"
        or paste.Prefix.anchor(first.text) > 0
        or match.re in systems.BY_PATTERN
        or not shapes.RULE.match(texts[-1])
        or len(texts) >= parser.MAX_LINES
        or first.text.endswith(" in")
    ):
        return None
    builder = Builder(first, match, texts)
    return builder if builder.take() else None
