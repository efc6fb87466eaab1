# SPDX-License-Identifier: MIT
"""Draws the memory of a report: which parts there are, how wide each is drawn, and where the arrow goes.

Two pictures come from one report. The strip has the object, what lies beside it and the access, exact to the
byte but not to scale. The grid has the shadow bytes or tags as the report printed them.
"""

import dataclasses
import math
from dataclasses import dataclass, field

from redzone.core import base
from redzone.decode.explain import amount

# Kinds of parts, which are also classes in the style sheet, with their names in the drawing.
KINDS = {
    "object": "object",
    "freed": "freed object",
    "slack": "slack",
    "redzone": "redzone",
    "neighbour": "accessible",
    "gone": "freed",
    "other": "not accessible",
    "unknown": "unknown",
    "gap": "...",
}
_TAG_BITS = 56
_LOW = (1 << _TAG_BITS) - 1
_TOP = 1 << 64
# Parts in a strip, unless the object and the access alone need more.
_PARTS = 7
# A report may claim any size: what is drawn is bounded.
_ROWS = 64
_CELLS = 64


@dataclass
class Part:
    """Memory of one kind. @end: behind it. @text: what it is, in words. @value: its shadow byte, or its tag
    if @tags."""

    start: int
    end: int
    kind: str
    text: str
    value: int | None = None
    tags: bool = False

    @property
    def size(self):
        return self.end - self.start

    @property
    def label(self):
        """What it is, in a word or two. Whether a pointer may use memory with a tag depends on the
        pointer."""
        tag = self.kind == "neighbour" and self.value is not None and self.tags
        return f"tag {self.value:02x}" if tag else KINDS[self.kind]


@dataclass
class Box:
    """A Part as it is drawn, in units of the drawing. @label, @count: "" where they do not fit."""

    part: Part
    x: float
    width: float
    label: str
    count: str


@dataclass
class Strip:
    """A drawing. @left, @right: of the access; None if it is not in it. @marks: [(x, text, anchor)] below."""

    width: int
    boxes: list
    left: float | None = None
    right: float | None = None
    marks: list = field(default_factory=list)

    @property
    def middle(self):
        return (self.left + self.right) / 2


@dataclass
class Cell:
    """A cell of the grid. @words: address and meaning. @hit: the access touches it; @bad: the report marks
    it."""

    text: str
    kind: str
    words: str
    hit: bool
    bad: bool


@dataclass
class Drawing:
    """What a page shows of a report's memory. @caption: the access in words. @legend: [(kind, text, words)]
    of its cells."""

    caption: str
    parts: list
    wide: Strip | None
    narrow: Strip | None
    rows: list
    legend: list
    tags: bool
    granule: int


def hexadecimal(address):
    return f"{address:016x}" if address >> 32 else f"{address:08x}"


class _Space:
    """Addresses of one report, with pointer tags taken off where it has tags."""

    def __init__(self, report):
        memory, thing = report.memory, report.object
        self.tags = report.mode in ("sw_tags", "hw_tags") or (memory is not None and memory.kind == "tags")
        rows = [row.address for row in memory.rows if row.address is not None] if memory is not None else []
        known = rows or ([thing.start] if thing is not None and thing.start is not None else [])
        self._top = known[0] & ~_LOW if known else None

    def plain(self, address):
        """Return @address without its tag, in 64 bits, or None."""
        if address is None or not 0 <= address < _TOP:
            return None
        if not self.tags or self._top is None:
            return address
        return (address & _LOW) | self._top


def _kind(value, words, memory):
    """Return the kind of a cell by its @value and the @words that say what it means."""
    if value is None:
        return "unknown"
    if memory.kind == "shadow" and value < memory.granule:
        return "neighbour"
    words = words.lower()
    if "redzone" in words or "guard" in words:
        return "redzone"
    if "free" in words or "scope" in words or "return" in words:
        return "gone"
    if memory.kind == "tags":
        return "redzone" if "no pointer" in words or "invalid" in words else "neighbour"
    return "neighbour" if "accessible" in words and "not accessible" not in words else "other"


def _meaning(value, memory):
    """Return what a cell says, in words."""
    if value is None:
        return "not readable"
    words = memory.meanings.get(f"{value:02x}", "")
    if words:
        return words
    if memory.kind == "tags":
        return f"memory tag {value:02x}"
    if value == 0:
        return "accessible"
    if value < memory.granule:
        return f"the first {base.plural(value, 'byte')} accessible"
    return "not accessible"


def _cells(memory, space):
    """Yield (address, value, row, column) of the map."""
    for row in memory.rows[:_ROWS]:
        start = space.plain(row.address)
        if start is None:
            continue
        for column, value in enumerate(row.cells[:_CELLS]):
            yield start + column * memory.granule, value, row, column


def _of_map(memory, space):
    """Return the Parts that the map shows, neighbours of one meaning joined."""
    parts = []

    def add(start, end, kind, words, value):
        last = parts[-1] if parts else None
        if last is not None and last.end == start and last.kind == kind and last.value == value:
            last.end = end
        else:
            parts.append(Part(start, end, kind, words, value, memory.kind == "tags"))

    for start, value, _, _ in sorted(_cells(memory, space), key=lambda one: one[0]):
        end = start + memory.granule
        if parts and start < parts[-1].end:
            continue
        words = _meaning(value, memory)
        if memory.kind == "shadow" and value is not None and 0 < value < memory.granule:
            # Its first bytes are like those before it, the others like those behind it.
            add(start, start + value, "neighbour", "accessible", 0)
            parts.append(Part(start + value, end, "redzone", "the rest of a granule, not accessible", value))
        else:
            kind = _kind(value, words, memory)
            add(start, end, kind, "accessible" if value == 0 and kind == "neighbour" else words, value)
    return parts


def _put(parts, new):
    """Return @parts with the Part @new in place of what was there."""
    kept = []
    for part in parts:
        if part.end <= new.start or part.start >= new.end:
            kept.append(part)
            continue
        if part.start < new.start:
            kept.append(dataclasses.replace(part, end=new.start))
        if part.end > new.end:
            kept.append(dataclasses.replace(part, start=new.end))
    return sorted([*kept, new], key=lambda one: one.start)


def _object_words(thing):
    names = {"slab": "object", "heap": "object", "global": "variable", "page": "pages"}
    words = f"{thing.state} {names.get(thing.kind, 'memory')}".strip()
    if thing.name:
        words += f" {thing.name}"
    if thing.type:
        words += f" ({thing.type})"
    return f"{words} of cache {thing.cache}" if thing.cache else words


def _add_object(parts, report, space):
    """Return @parts with the object of the report and its slack."""
    thing = report.object
    start = space.plain(thing.start)
    if start is None or not thing.size or thing.size < 0 or start + thing.size > _TOP:
        return parts
    end = start + thing.size
    whole = start + (thing.cache_size or 0)
    if end < whole <= _TOP:
        words = "slack: of the cache's object, but not asked for"
        parts = _put(parts, Part(end, whole, "slack", words))
    # Not every kernel prints the state, but some types say it.
    known = "freed" if report.type.endswith(("use-after-free", "double-free")) else "allocated"
    kind = "freed" if (thing.state or known) == "freed" else "object"
    return _put(parts, Part(start, end, kind, _object_words(thing)))


def _access(report, space):
    """Return (first byte, behind the last byte) of the access, or None."""
    start = space.plain(report.access.address)
    if start is None:
        return None
    size = report.access.size
    return start, min(_TOP, start + max(1, size if size is not None and size > 0 else 1))


def _all_parts(report, space):
    """Return the Parts of the report in order, without holes: a Part "gap" stands for each."""
    parts = _of_map(report.memory, space) if report.memory is not None else []
    if report.object is not None:
        parts = _add_object(parts, report, space)
    access = _access(report, space)
    if parts and access is not None and not any(one.start <= access[0] < one.end for one in parts):
        behind = [one.start for one in parts if one.start > access[0]]
        granule = report.memory.granule if report.memory is not None else 8
        end = min([access[1], access[0] + granule, *behind])
        parts = _put(parts, Part(access[0], end, "unknown", "not in the report"))
    whole = []
    for part in parts:
        if whole and whole[-1].end < part.start:
            between = f"{base.plural(part.start - whole[-1].end, 'byte')} that the report does not show"
            whole.append(Part(whole[-1].end, part.start, "gap", between))
        whole.append(part)
    return whole


def _chosen(parts, access):
    """Return the @parts to draw: the object, the access, what lies beside them; gaps for what is left out."""
    main = {at for at, part in enumerate(parts) if part.kind in ("object", "freed", "slack")}
    if access is not None:
        main |= {at for at, part in enumerate(parts) if part.start <= access[0] < part.end}
    if not main:
        return []
    keep = {near for at in main for near in (at - 1, at, at + 1) if 0 <= near < len(parts)}
    low, high = min(keep), max(keep)
    while len(keep) < _PARTS and (low > 0 or high < len(parts) - 1):
        low, high = max(0, low - 1), min(len(parts) - 1, high + 1)
        keep |= {low, high}
    shown = []
    for at in range(low, high + 1):
        part = parts[at]
        if at in keep:
            shown.append(part)
        elif shown[-1].kind == "gap":
            last = shown.pop()
            shown.append(Part(last.start, part.end, "gap", "more of the memory map"))
        else:
            shown.append(Part(part.start, part.end, "gap", "more of the memory map"))
    return shown


def _count(size):
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >> bits and size % (1 << bits) == 0:
            return f"{size >> bits} {unit}"
    return f"{size} B"


def _strip(parts, access, width, letter):
    """Return the Strip of @parts, @width units wide. @letter: width of one."""
    weights = [1.0 + math.log2(1 + part.size / 4) for part in parts]
    least = min(width / len(parts), 5.5 * letter)
    free = width - least * len(parts)
    total = sum(weights)
    boxes, x = [], 0.0
    for part, weight in zip(parts, weights, strict=True):
        wide = least + free * weight / total
        names = (part.label, part.label.split()[-1])
        label = next((name for name in names if (len(name) + 1) * letter <= wide), "")
        count = _count(part.size)
        boxes.append(Box(part, x, wide, label, count if (len(count) + 1) * letter <= wide else ""))
        x += wide
    strip = Strip(width, boxes)

    def position(address):
        for box in boxes:
            if address < box.part.end:
                inside = max(0, address - box.part.start) / box.part.size
                return box.x + box.width * inside
        return float(width)

    if access is not None and boxes[0].part.start <= access[0] < boxes[-1].part.end:
        left, right = position(access[0]), position(access[1])
        spare = max(0.0, 5.0 - (right - left)) / 2
        strip.left, strip.right = max(0.0, left - spare), min(float(width), right + spare)
    for box in boxes:
        if box.part.kind in ("object", "freed"):
            text = hexadecimal(box.part.start)
            room = len(text) * letter
            anchor = "start" if box.x + room <= width else "end"
            strip.marks.append((box.x if anchor == "start" else box.x + box.width, text, anchor))
    return strip


def _caption(report, space):
    """Return the access in words."""
    access, thing = report.access, report.object
    words = {"read": "Read", "write": "Write", "free": "Free", "access": "Access"}.get(access.kind, "Access")
    if access.size is not None and access.kind != "free":
        words += f" of {amount(access.size)}"
    address = space.plain(access.address)
    if address is not None:
        words += f" at {hexadecimal(address)}"
    if thing is None or thing.distance is None or thing.side not in ("inside", "left", "right"):
        return words
    bytes_ = base.plural(thing.distance, "byte")
    if thing.side == "inside":
        state = f"{thing.state} " if thing.state else ""
        return f"{words}: {bytes_} from the start of the {state}object"
    if thing.side == "left":
        return f"{words}: {bytes_} before the start of the object"
    return f"{words}: {'just' if thing.distance == 0 else bytes_} past the end of the object"


def _grid(report, parts, access, space):
    """Return the rows of the grid as [(address, is it the bad row, [Cell])], and the legend."""
    memory, rows, legend = report.memory, [], {}
    for address, value, row, column in _cells(memory, space):
        end = address + memory.granule
        own = next(
            (
                one
                for one in parts
                if one.start < end and address < one.end and one.kind in ("object", "freed", "slack")
            ),
            None,
        )
        words = _meaning(value, memory)
        kind = _kind(value, words, memory)
        if kind == "neighbour" and memory.kind == "shadow" and value:
            kind = "partial"
        legend.setdefault((value, kind), words)
        # What belongs to the object is coloured as such, unless its state says more than that.
        if own is not None and kind != "unknown" and (own.kind != "slack" or kind == "redzone"):
            kind = own.kind
        text = "--" if value is None else f"{value:02x}"
        bad = row.bad and column == memory.column
        hit = access is not None and access[0] < end and address < access[1]
        note = f"{hexadecimal(address)}: {text}, {words}"
        if own is not None:
            note += f"; {KINDS[own.kind]}"
        if bad or hit:
            note += "; accessed here"
        if column == 0:
            rows.append((hexadecimal(address), row.bad, []))
        rows[-1][2].append(Cell(text, kind, note, hit, bad))
    known = [
        (kind, "--" if value is None else f"{value:02x}", words) for (value, kind), words in legend.items()
    ]
    # Colours that say more than the value alone come last.
    used = {cell.kind for _, _, cells in rows for cell in cells}
    known.sort(key=lambda one: one[1])
    return rows, known + [(kind, "", KINDS[kind]) for kind in ("object", "freed", "slack") if kind in used]


def draw(report):
    """Return the Drawing of @report, or None if it has nothing to draw."""
    space = _Space(report)
    memory = report.memory
    if memory is not None and (memory.granule < 1 or not memory.rows):
        report = dataclasses.replace(report, memory=None)
        memory = None
    parts = _all_parts(report, space)
    if not parts:
        return None
    access = _access(report, space)
    shown = _chosen(parts, access)
    rows, legend = _grid(report, parts, access, space) if memory is not None else ([], [])
    return Drawing(
        caption=_caption(report, space),
        parts=shown,
        wide=_strip(shown, access, 960, 8.0) if shown else None,
        narrow=_strip(shown, access, 340, 6.6) if shown else None,
        rows=rows,
        legend=legend,
        tags=space.tags,
        granule=memory.granule if memory is not None else 0,
    )
