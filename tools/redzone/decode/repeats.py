# SPDX-License-Identifier: MIT
"""Counts a report without parsing all of it, if it cannot become one of those that are kept.

The headline, the kind of access and the frames of the call trace decide the signature. They are compared as
bytes with those of earlier reports, without what differs from one report of a bug to the next: times,
addresses, tasks. If they are new, they alone are parsed.
"""

# A pattern reads better in one piece.
# ruff: noqa: E501

import functools
import itertools
import re

from redzone.decode import collect, lines, roles, signature
from redzone.decode.model import Access, Report, Stack

RULE = b"=" * 60
# A longer report is parsed as usual.
MAX_BYTES = 64 << 10
_MAX_KEYS = 4096
# What follows the call trace, whichever comes first.
_TRACE_ENDS = (
    b"llocated by task",
    b"The buggy address ",
    b"Freed by task",
    b"Memory state around",
    b"Last potent",
)
_PREFIX = re.compile(rb"(?:\[ *\d+\.\d+\](?:\[ *[CT]\d+\])? )?")
_CALLER = re.compile(rb"\]\[ *([CT]\d+)\]")
_ACCESS = re.compile(rb"(?:Read|Write|Free)(?: of size \d+)? (?:at|of) addr |Asynchronous fault")
_NAME = rb"[A-Za-z_.$][\w.$]{0,511}"
# A headline, the access below it, and a frame as Linux since 4.9 and this runtime print them. With others, the
# report is parsed as usual.
_HEAD = re.compile(
    rb"BUG: KASAN: (?P<type>[a-z][a-z -]*?) in (?P<where>%b)\+0x[0-9a-f]{1,16}/0x[0-9a-f]{1,16}(?: \[[\w.-]+\])?"
    rb"(?: at addr (?P<addr>[0-9a-f]{1,16}))?\r?\n" % _NAME
)
_BY = re.compile(
    rb"(?P<access>Read|Write|Free)(?: of size \d{1,20})?(?: (?:at|of) addr (?P<addr>[0-9a-f]{1,16}))?"
    rb" by task [^\n]{0,64}?/\d{1,10}\r?\n"
)
_FRAME = re.compile(
    rb" {0,2}(?P<unsure>\? )?(?P<name>%b)\+0x[0-9a-f]{1,16}/0x[0-9a-f]{1,16}"
    rb"(?: \[(?P<module>[\w.-]+)(?: [0-9a-f]{16,64})?\])?\r?" % _NAME
)
# So much of a key has the frames that decide most signatures.
_FIRST = 3 + 11
_PLACE = re.compile(rb"\.[A-Za-z]\w{0,4}:\d")
_MARK = re.compile(rb" ?(?:</?(?:TASK|IRQ|NMI|EOI|SOFTIRQ)>)?\s*")
_BUILD = re.compile(rb"(?:[0-9a-f]{8}){4,5}")
_PRINTK_TIME = re.compile(rb"\[ *(\d+\.\d+)\] ")
# What a report that is kept does not hold of its lines.
_NOT_KEPT = re.compile(rb"^\[ *\d+\.\d+\](?:\[ *[CT]\d+\])? |\s+$", re.M)
_CALL = re.compile(rb"Call [Tt]race:\s*?\n")
# The address and the first cells of a row of the memory map, and a tag that hardware does not have.
_ROW = re.compile(rb"([0-9a-f]{8,16}): ?[ \[]?([0-9a-f]{2}(?:[ \[\]]+(?:[0-9a-f]{2}|\.\.|--)){7,15})")
_CELL = re.compile(rb"[^ \[\]]+")
_SOFTWARE_TAG = re.compile(rb"[ \[][0-9a-e][0-9a-f][ \]\r\n]")
# The fault that follows one of these is the same access: parse these, so that it is recognised.
_FAULTS = ("null-ptr-deref", "wild-memory-access", "user-memory-access", "invalid-call")


class Repeats:
    """find() tells whether a report need only be counted; learn() takes each parsed one.

    collector: the collect.Collector that the reports go to. build_ids: of the kernel, as the reports that were
    parsed name it.
    """

    def __init__(self, collector, build_ids):
        self._collector = collector
        self._build_ids = build_ids
        self._known = {}
        self._candidate = None

    def find(self, block, number, mode):
        """Return (model.Bug, a model.Report or Outline with its type, mode and address, its time) of the report
        in the bytes @block, which begins in line @number of the log, if it need only be counted; else None.

        mode: of the kernel, "" if not known yet. The Bug is None if there are too many of them.
        """
        self._candidate = None
        end = len(block)
        for word in _TRACE_ENDS:
            at = block.find(word, 0, end)
            end = at if at >= 0 else end
        if end == len(block) or block.count(b"BUG: ") != 1 or _mixed(block):
            return None
        key = _key(block[:end], mode)
        if key is None:
            return None
        found = self._known.get(key)
        if found is not None and len(block) >= found[2]:
            return None if _shows_other_mode(block, end, mode) else (*found[:2], _time(block))
        self._candidate = key, len(block), number
        # As long as nearly each report is a new bug, an outline of it is for nothing.
        again = self._collector.full() or self._collector.log.reports > 2 * len(self._collector.log.bugs)
        outlined = None
        if mode and again and not _shows_other_mode(block, end, mode):
            outlined = self._outline(block, key, mode)
        if outlined is not None and found is None:
            self._know(key, outlined[0], outlined[1], len(block))
        return outlined

    def learn(self, report, bug):
        """@report of @bug has been parsed."""
        candidate, self._candidate = self._candidate, None
        if candidate is None or bug is None or candidate[2] != report.first_line:
            return
        whole = (
            report.kind == "kasan"
            and not (report.truncated or report.interleaved)
            and report.type not in _FAULTS
        )
        # A kernel whose mode is not known yet may have another one than this report's.
        same_mode = candidate[0][0] == report.mode
        if whole and same_mode and len(bug.reports) >= collect.KEEP:
            self._know(candidate[0], bug, report, candidate[1])

    def _know(self, key, bug, report, size):
        """Reports with the _key() @key that have @size bytes or more are @bug's, and like @report."""
        if key not in self._known and len(self._known) >= _MAX_KEYS:
            # The oldest gives way, so that a log of different bugs does not slow down what comes behind it.
            del self._known[next(iter(self._known))]
        self._known[key] = bug, report, size

    def _outline(self, block, key, mode):
        """As find(), of a call trace that is new."""
        report = outline(block, key, self._build_ids)
        if report is None or report.type in _FAULTS:
            return None
        report.mode = mode
        bug = self._collector.bug(report)
        if bug is None:
            return (None, report, report.time) if self._collector.full() else None
        smallest = bug.reports[bug.smallest] if len(bug.reports) >= collect.KEEP else None
        if smallest is None or smallest.truncated or smallest.interleaved:
            return None
        # One that is smaller than those that are kept will be kept.
        if sum(map(len, smallest.raw)) > len(_NOT_KEPT.sub(b"", block)) - len(smallest.raw):
            return None
        frames = [one.decode("utf-8", "replace").strip() for one in key[3:_FIRST]]
        what = report.kind, report.type, report.access.kind
        self._collector.places.learn(what, frames, report.signature)
        return bug, report, report.time


class Outline:
    """What decides the signature of a report of KASAN, as in a model.Report, which takes longer to make."""

    kind, title = "kasan", ""
    stack, frames = Report.stack, Report.frames

    def __init__(self, type_, where, time, access):
        self.type, self.where, self.time, self.access = type_, where, time, access
        self.mode = self.signature = ""
        self.stacks = []


def outline(block, key, build_ids=()):
    """Return the Outline of the report in the bytes @block, whose _key() is @key.

    None: it has lines of a kind that only the parser knows, or names a build that is none of @build_ids.
    """
    call = _CALL.search(block)
    title = block.find(b"BUG: ")
    head = _HEAD.match(block, title, call.start())
    by = _BY.match(block, head.end() + title, call.start()) if head else None
    if by is None or block.find(b"ault", by.end(), call.start()) >= 0:
        return None
    # Both lines have printk's prefix or none, or all lines have the same one.
    between = block[head.end() : by.start()]
    if not (_PREFIX.fullmatch(block, 0, title) and _PREFIX.fullmatch(between)):
        found = lines.alike(block.replace(b"\r\n", b"\n"), 0)
        if found is None or not found[0].text.startswith("BUG: "):
            return None
    kind = head["type"].decode()
    comm = block.find(b"Comm: ", by.end(), call.start())
    words = block[comm : block.find(b"\n", comm)].split() if comm >= 0 else ()
    builds = [word for word in words if len(word) in (32, 40) and _BUILD.fullmatch(word)]
    if kind == "tag-mismatch" or any(one.decode() not in build_ids for one in builds):
        return None
    address = by["addr"] or head["addr"]
    access = Access(by["access"].decode().lower(), None, int(address, 16) if address else None)
    report = Outline(kind, head["where"].decode(), _time(block), access)
    for count in (_FIRST, len(key)):
        frames = [_frame(one) for one in key[3:count]]
        if not frames or None in frames:
            return None
        report.stacks = [Stack(frames=frames)]
        report.signature = signature.signature(report, count >= len(key))
        if report.signature:
            break
    return report


class _Row:
    """What decides the signature of a model.Frame."""

    __slots__ = ("name", "reliable", "role")

    def __init__(self, name, reliable, role):
        self.name, self.reliable, self.role = name, reliable, role


@functools.lru_cache(8192)
def _frame(line):
    """Return the _Row of a line, None if it has another shape."""
    match = _FRAME.fullmatch(line)
    if match is None:
        return None
    unsure, name, module = match.groups()
    name = name.decode()
    return _Row(name, unsure is None, roles.find(signature.plain(name), module))


def _time(block):
    """Return the time of the first line of @block, "" if it has none."""
    match = _PRINTK_TIME.match(block)
    return match[1].decode() if match else lines.parse(block[: block.find(b"\n")]).time


def _mixed(block):
    """Are there lines of several CPUs or tasks in @block?"""
    return b"][" in block and len(set(_CALLER.findall(block))) > 1


def _shows_other_mode(block, end, mode):
    """May the report in @block, whose call trace ends at @end, show another mode than @mode?

    A log can have the reports of several kernels. True only costs time: memory.mode_of() then decides."""
    tagged = b"ointer tag: " in block
    if mode in ("", "generic"):
        if tagged or b"__hwasan_" in block or b"synchronous" in block:
            return True
        rows = list(_ROW.finditer(block, end))
        # A cell stands for 8 bytes in Generic mode, for 16 with tags.
        far = (
            int(below[1], 16) - int(row[1], 16) == 16 * len(_CELL.findall(row[2]))
            for row, below in itertools.pairwise(rows)
        )
        return bool(rows) if not mode else any(far)
    if (not tagged and b"synchronous" not in block) or b"__asan_" in block:
        return True
    return mode == "hw_tags" and bool(_SOFTWARE_TAG.search(block, block.find(b"ointer tag: ")))


def _unbroken(rows, last, prefix):
    """Is there nothing but frames and marks of the unwinder in @rows, the lines of a trace, up to the line @last?

    prefix: of the log's lines."""
    size = len(prefix)
    for row in rows[: len(rows) - rows[::-1].index(last)]:
        same = row[:size].translate(lines.DIGITS) == prefix.translate(lines.DIGITS)
        if b"+0x" not in row and not (same and _MARK.fullmatch(row, size)):
            return False
    return True


def _key(head, mode):
    """Return what two reports with the same signature have in common, of the bytes up to the end of the call
    trace: the kernel's mode, the headline, the access, and each frame. None if it is not clear where the
    trace is, or something else stands in it."""
    call = _CALL.search(head)
    first = head.find(b"\n")
    if call is None or head.find(b"+0x", first, call.start()) >= 0:
        return None
    access = _ACCESS.search(head, first, call.start())
    title = head.find(b"BUG: ")
    rows = head[call.end() :].split(b"\n")
    # A script may have put a place there; such a frame may have no address.
    placed = _PLACE.search(head, call.end())
    frames = [line for line in rows if b"+0x" in line or (placed and _PLACE.search(line))]
    if rows[: len(frames)] != frames and not _unbroken(rows, frames[-1], head[:title]):
        return None
    if title:
        # There is a prefix, of printk or of another time.
        frames = [line[line.find(b"] ") + 1 :] for line in frames]
    return (mode, head[title:first], access[0] if access else b"", *frames)
