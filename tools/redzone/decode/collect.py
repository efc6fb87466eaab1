# SPDX-License-Identifier: MIT
"""Sorts reports into bugs, within bounds: a log of any length takes no more memory than these."""

from redzone.decode import memory, signature, tally
from redzone.decode.model import Bug, Log, TestCase

# Bugs that are told apart. More are counted only.
MAX_BUGS = 2000
# Reports that are kept of each bug: the first ones, and the smallest whole one.
KEEP = 4
# Characters and frames of the reports that are kept. Of further bugs only the essential part is.
BUDGET = 48 << 20
MAX_CASES = 20000
MAX_NAMES = 50
_FRAME_COST = 400
# Frames that an `again` line has at most: the bad access and its callers. A line this long has been cut.
_PLACE = 3
_CUT = 255
MAX_PLACES = 4096


def _cost(report):
    frames = sum(len(stack.frames) for stack in report.stacks)
    cells = sum(len(row.cells) for row in report.memory.rows) if report.memory else 0
    return sum(len(line) + 60 for line in report.raw) + frames * _FRAME_COST + cells * 8 + 2000


class Places:
    """Which bug each place is: an `again` line has fewer frames than the report that it repeats, so that its
    own signature may be another one when a helper such as strcpy() is among them."""

    def __init__(self):
        self._signatures = {}

    def learn(self, what, frames, signature):
        """A report of @what, its kind, type and kind of access, with @frames (texts) has this @signature."""
        if len(self._signatures) >= MAX_PLACES:
            self._signatures.clear()
        for count in range(1, min(len(frames), _PLACE) + 1):
            # The line may have been cut. "": more than one bug begins with these frames.
            known = self._signatures.setdefault((what, *frames[:count]), signature)
            if known != signature:
                self._signatures[what, *frames[:count]] = signature if count == _PLACE else ""

    def find(self, what, frames):
        """Return the signature of the report that an `again` line with @frames repeats, "" if unknown."""
        return self._signatures.get((what, *frames), "")


class Collector:
    """Takes reports with add(). log: the model.Log that they make."""

    def __init__(self):
        self.log = Log()
        self._bugs = {}
        self._left = BUDGET
        self.places = Places()
        self._tally = tally.Tally()
        # {signature: reports in full}; all of them, and those that only count_again() got
        self._whole, self._skipped = {}, {}
        # {signature: lines that may be followed by reports without one}
        self._open = {}

    def add(self, report):
        """Take @report. Return its Bug, None if there are too many."""
        log = self.log
        signature.set_roles(report)
        what = report.kind, report.type, report.access.kind
        place = what, [frame.text for frame in report.frames("call")]
        known = self.places.find(*place) if report.again else ""
        if report.again and len(report.title) >= _CUT:
            known = known or self.places.find(what, place[1][:-1])
        report.signature = known or signature.signature(report)
        if report.kind in ("kasan", "ubsan") and not report.again:
            self.places.learn(*place, report.signature)
        self._tell(report, *place)
        number = 1 + report.silent
        log.reports += number
        report.number = log.reports
        if report.kind == "kasan":
            self.count(log.by_mode, report.mode or "unknown", number)
        named = report.kind in ("kasan", "asan", "hwasan", "mte", "kfence")
        self.count(log.by_type, (report.type if named else report.kind) or "unknown", number)
        bug = self._bugs.get(report.signature)
        if bug is None:
            if len(log.bugs) >= MAX_BUGS:
                log.dropped += number
                return None
            bug = Bug(
                signature=report.signature,
                title=signature.title(report),
                kind=report.kind,
                type=report.type,
                function=signature.function(report),
                first_time=report.time,
                first_line=report.first_line,
            )
            self._bugs[report.signature] = bug
            log.bugs.append(bug)
        bug.count += number
        if report.at_least:
            self._open.setdefault(report.signature, []).append(report)
        # Those that a later line of their place has gone on from are no more.
        if report.again:
            rest = [one for one in self._open.get(report.signature, ()) if one.at_least]
            self._open[report.signature] = rest[-MAX_NAMES:]
            bug.at_least = bool(rest)
        bug.last_time, bug.last_line = report.time, report.last_line
        if report.mode and report.mode not in bug.modes:
            bug.modes.append(report.mode)
        self._keep(bug, report)
        return bug

    def _tell(self, report, what, frames):
        """Find out how many reports @report, of the place @what and @frames, stands for."""
        # Of a line that has been cut, the place is not known.
        if report.kind not in ("kasan", "ubsan") or (report.again and len(report.title) >= _CUT):
            report.at_least = report.again
            return
        place = (what, *frames[:_PLACE])
        others = self._skipped if self._tally.knows(place) else self._whole
        self._tally.add(place, report, others.get(report.signature, 0))
        if not report.again:
            self._whole[report.signature] = self._whole.get(report.signature, 0) + 1

    @staticmethod
    def count(table, key, number=1):
        # A hostile log has a new type in each report.
        if key in table or len(table) < MAX_BUGS:
            table[key] = table.get(key, 0) + number

    def _keep(self, bug, report):
        """Keep @report if it is one of the first, or smaller than all."""
        kept = bug.reports
        cost = _cost(report)
        if not kept and cost > self._left:
            _slim(report)
            kept.append(report)
            return
        if cost > self._left:
            return
        if len(kept) < KEEP:
            kept.append(report)
            self._left -= cost
        elif _size(report) < _size(kept[bug.smallest]):
            # The last one gives way, unless it is the smallest so far and there are others to drop.
            self._left += _cost(kept[-1]) - cost
            kept[-1] = report
        else:
            return
        bug.smallest = min(range(len(kept)), key=lambda at: _size(kept[at]))

    def bug(self, report):
        """Return the Bug of @report, whose signature is known; None if there is none yet."""
        return self._bugs.get(report.signature)

    def full(self):
        """Are there as many bugs as are told apart?"""
        return len(self.log.bugs) >= MAX_BUGS

    def count_again(self, bug, report, time, last_line):
        """Count a report of KASAN at @time, which ends in @last_line. @report: one like it. It is not kept.
        @bug: None if there are too many."""
        self.log.reports += 1
        self.count(self.log.by_mode, report.mode or "unknown")
        self.count(self.log.by_type, report.type)
        if bug is None:
            self.log.dropped += 1
            return
        bug.count += 1
        for table in (self._whole, self._skipped):
            table[bug.signature] = table.get(bug.signature, 0) + 1
        bug.last_time, bug.last_line = time, last_line
        if report.mode and report.mode not in bug.modes:
            bug.modes.append(report.mode)

    def merge(self):
        """Frames have got names: name the bugs again, and put together those that turn out to be one."""
        bugs, self.log.bugs = self.log.bugs, []
        self._bugs = {}
        for bug in bugs:
            for report in bug.reports:
                signature.set_roles(report)
                report.signature = signature.signature(report)
            if bug.reports:
                report = bug.reports[bug.smallest]
                for one in bug.reports:
                    one.signature = report.signature if one.again else one.signature
                bug.signature, bug.title = report.signature, signature.title(report)
                bug.function = signature.function(report)
            other = self._bugs.setdefault(bug.signature, bug)
            if other is bug:
                self.log.bugs.append(bug)
                continue
            other.count += bug.count
            other.at_least = other.at_least or bug.at_least
            if bug.last_line > other.last_line:
                other.last_time, other.last_line = bug.last_time, bug.last_line
            other.modes += [mode for mode in bug.modes if mode not in other.modes]
            other.cases += [name for name in bug.cases if name not in other.cases][
                : MAX_NAMES - len(other.cases)
            ]
            other.reports = (other.reports + bug.reports)[:KEEP]
            other.smallest = min(range(len(other.reports)), key=lambda at: _size(other.reports[at]))

    def set_mode(self, bug, report, mode):
        """The mode of @report turns out to be @mode."""
        table = self.log.by_mode
        number = 1 + report.silent
        table["unknown"] -= number
        if not table["unknown"]:
            del table["unknown"]
        self.count(table, mode, number)
        report.mode = mode
        memory.explain_map(report)
        if bug is not None and mode not in bug.modes:
            bug.modes.append(mode)

    def case(self, name, status, detail, reports):
        """A KTAP case has ended; @reports: [(report, its Bug)] while it ran."""
        log = self.log
        if len(log.cases) < MAX_CASES:
            log.cases.append(TestCase(name, status, detail, len(reports)))
        for report, bug in reports:
            if report is not None:
                report.case = name
            if bug is not None and name not in bug.cases and len(bug.cases) < MAX_NAMES:
                bug.cases.append(name)


def _size(report):
    """Whole reports first, then the shorter ones."""
    return report.truncated or report.interleaved or not report.raw or report.again, sum(map(len, report.raw))


def _slim(report):
    """Leave of @report what names the bug."""
    report.truncated = True
    report.raw = report.raw[:4]
    report.memory = None
    report.stacks = report.stacks[:1]
    for stack in report.stacks:
        del stack.frames[16:]
