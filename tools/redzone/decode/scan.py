# SPDX-License-Identifier: MIT
"""Reads a log of any size as a stream and finds the reports in it.

Most of a log has nothing to do with reports. So it is read in large pieces, and a piece is searched for the
words with which reports begin, which the C library does fast; only lines from there to the report's end are
parsed.
"""

# A pattern reads better in one piece.
# ruff: noqa: E501

import codecs
import collections
import heapq
import re

from redzone.decode import collect, foreign, frames, lines, parse, paste, repeats, shapes, systems, whole
from redzone.decode.model import Access, Frame, Report, Stack, Task

CHUNK = 4 << 20
# Terminals on Windows write logs like that. The marks that they begin with:
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# The words that make a line worth a look. KTAP's are looked for only once the log has a KTAP line.
WORDS = (
    b"BUG: ",
    b"Sanitizer",
    b"KASAN: ",
    b"UBSAN: ",
    b"UBSan: ",
    b"runtime error: ",
    b"kernel BUG at ",
    b"Unable to handle ",
    b"Insufficient stack space",
    b"general protection fault",
    b"Internal error: ",
    b"Oops",
    b" [#",
    b"Kernel panic - ",
    b"rust_kernel: panicked",
    b"WARNING: ",
    b"buggy address",
    b"TAP version ",
    b"# Subtest: ",
    b"Linux version ",
    b"Kernel Offset: ",
    b"reference kernel ",
    b"kasan: ",
    *systems.WORDS,
)
_KTAP_WORD = b"ok "
# The beginning of most reports, one of the words; and how far ahead the next one is near.
_REPORT = b"BUG: KASAN: "
_NEAR = 4096
# Reports that are open at once: one for each CPU or task that prints.
MAX_OPEN = 64
# Lines before the log's first report that may belong to one whose beginning is missing.
_HEAD = 400
MAX_PENDING = 1000
# A fault this soon after a report of the same address is the same access.
_SAME_FAULT = 64

_RESULT = re.compile(
    r"^(?P<indent> *)(?P<not>not )?ok (?P<number>\d{1,9})(?: -)? ?(?P<name>.*?)(?: # (?P<directive>SKIP|skip)\b:? ?(?P<reason>.*?))? *$"
)
_SUBTEST = re.compile(r"^(?P<indent> *)# Subtest: (?P<name>.{1,200}?) *$")
_VERSION = re.compile(r"^ *K?TAP version \d+ *$")
_SYSTEM = re.compile(r"^(?:Linux version \S+|Redzone reference kernel).*")
# Linux adds where its image was linked, a port may not.
_OFFSET = re.compile(r"^Kernel Offset: (?P<offset>0x[0-9a-f]{1,16})(?: from 0x[0-9a-f]{1,16}|\s*$)")
# U-Boot moves itself to the top of memory; our port says by how much.
_RELOCATED = re.compile(r"^KASAN: window .* relocated by (?P<offset>0x[0-9a-f]{1,16})")
_MODE = re.compile(
    r"KernelAddressSanitizer initialized \((?P<linux>generic|sw-tags|hw-tags)|^kasan: (?P<ours>hardware|software) tags"
)
_BANNER = re.compile(r"Redzone reference kernel \S+ \([\w-]+, (?P<mode>generic|sw_tags|hw_tags)\b")
_MODES = {
    "generic": "generic",
    "sw-tags": "sw_tags",
    "hw-tags": "hw_tags",
    "software": "sw_tags",
    "hardware": "hw_tags",
}
# A title without "BUG: ", as people write it.
_TITLE = re.compile(r"KASAN: [a-z][a-z -]+(?: (?:Read|Write))? in \S")
_PANIC_OF_REPORT = re.compile(r"panic_on_warn|kasan\.fault|KASAN|kasan")


# A line that mentions a sanitizer as a word of its own, in lower case; and what says that it is not a report: messages of
# the boot, options, results of tests.
_SUSPECT_WORDS = (b"asan", b"address sanitizer", b"addresssanitizer", b"address-sanitizer")
_SUSPECT = re.compile(
    r"(?<![\w./-])(?:lib)?(?:k(?:hw)?asan|(?:hw)?asan|(?:kernel|kernel |hw)?address[ -]?sanitizer)(?![\w./=-])"
    # In a trace whose report is missing.
    r"|\b(?:kasan_report|__(?:asan|hwasan)_(?:report_|tag_mismatch))\w*\+0x",
    re.I,
)
_HARMLESS = re.compile(
    r"(?i)initiali[sz]ed|enabled|disabled|command line|reference kernel|page dumped|config|^\W*(?:not )?ok \d|# subtest"
    r"|kasan: (?:hardware|software) tags|^\W*#|tainted"
)
_ANY_SUSPECT = re.compile(b"|".join(_SUSPECT_WORDS))
# Lines of a file that are looked at more closely for it.
_MAX_SUSPECTS = 10000


class Scanner:
    """Takes pieces of a log with feed(), or single lines with line(); end() gives the model.Log.

    log: what is known so far. offset: of the kernel's addresses to its image's (KASLR), None if the log does
    not say. build_ids: of the kernel, as reports name it. on_begin: called with each model.Report when its
    first line has come; on_report: when it is finished, before it is sorted.
    """

    def __init__(self, on_report=None, on_begin=None):
        self.collector = collect.Collector()
        self.log = self.collector.log
        self.offset = None
        self.build_ids = set()
        self._on_report, self._on_begin = on_report, on_begin
        self._rest = b""
        # The bytes before the encoding is known; None: not known yet, "": bytes.
        self._start, self._encoding, self._decoder = b"", None, None
        self._number = 0
        self._open = {}
        self._ktap = False
        self._names = {}
        self._pending = []
        self._repeats = repeats.Repeats(self.collector, self.build_ids)
        self._mode = ""
        # [(report, its bug)] whose mode is not known yet.
        self._modeless = []
        self._consequence = 0
        # (kind, address, last line) of the last report of this file.
        self._last = None
        self._source = ""
        self._transport, self._prefix = paste.Transport(), paste.Prefix()
        self._skipping = False
        self._head = 0
        self._suspects = 0
        # The first line of a report that turned out to be somebody's words about one.
        self._hollow = ""
        # The last lines before the log's first report, and the lines.Line of a title without "BUG: ".
        self._above, self._titled = collections.deque(maxlen=_HEAD), 0
        # A report that has lost its beginning and its trace, which a panic may bring.
        self._waiting = None

    # --- Pieces -------------------------------------------------------------------------------------------

    def begin(self, source):
        """What follows is from another file, @source."""
        self._finish()
        self._source = source
        self.log.sources.append(source)
        self._number = 0
        self._head = 0
        self._mode = ""
        self._names.clear()
        self._last = None
        self._consequence = 0
        self._repeats = repeats.Repeats(self.collector, self.build_ids)
        self._transport, self._prefix = paste.Transport(), paste.Prefix()
        self._suspects = 0
        self._above.clear()

    def feed(self, data):
        """Take the bytes @data, which may end inside a line."""
        self.log.bytes += len(data)
        if self._encoding is None:
            self._start += data
            if len(self._start) < 2:
                return
            data, self._start = self._start, b""
            self._encoding = _UTF_16.get(data[:2], "")
            if self._encoding:
                self._decoder = codecs.getincrementaldecoder(self._encoding)("replace")
        if self._encoding:
            data = self._decoder.decode(data).encode()
        data = self._transport.split(self._rest + data)
        end = data.rfind(b"\n") + 1
        self._rest = data[end:]
        if len(self._rest) > CHUNK:
            # A line without an end: its beginning is enough.
            self._skipping = True
            self._rest = self._rest[: lines.MAX_LINE + 1]
        elif self._skipping and end:
            self._skipping = False
        self._lines(data, end)

    def _flush(self):
        """Take a last line that has no line feed."""
        self._rest += self._start
        self._encoding, self._start = None, b""
        rest, self._rest = self._rest, b""
        if rest:
            rest = self._transport.split(rest + b"\n")
            self._lines(rest, len(rest))
        if rest := self._transport.end():
            self._raw(rest)
        for line in self._prefix.end():
            self.line(line)

    def _lines(self, data, end):
        """Take the whole lines data[:end]."""
        at = 0
        if b"\\n" in data:
            data = self._transport.unescape(data[:end])
            end = len(data)
        if not self.log.suspect and not self.log.reports:
            self._suspect(data[:end])
        hits = _Hits(data, end, self._ktap)
        while at < end:
            free = not (self._open or self._prefix.holds or self._transport.holds)
            if free and self._head >= _HEAD:
                hit = hits.after(at)
                if hit < 0:
                    break
                start = data.rfind(b"\n", at, hit) + 1
                if start > at:
                    self._number += data.count(b"\n", at, start)
                    at = start
            if free:
                behind = self._whole(data, at, end)
                if behind:
                    at = behind
                    continue
            stop = data.find(b"\n", at, end)
            self._number += 1
            self._raw(data[at : min(stop, at + lines.MAX_LINE + 2)])
            at = stop + 1
            if self._ktap and not hits.ktap:
                hits = _Hits(data, end, True)
        self._number += data.count(b"\n", at, end)

    def _whole(self, data, at, end):
        """If a whole report stands at @at and nothing else, take it and return its end, else 0."""
        limit = min(end, at + repeats.MAX_BYTES)
        line_end = data.find(b"\n", at, limit)
        if line_end < 0 or data.find(_REPORT, at, line_end) < 0:
            return 0
        stop = data.find(repeats.RULE, line_end, limit)
        behind = data.find(b"\n", stop, end) + 1 if stop >= 0 else 0
        if not behind:
            return 0
        block = data[at:behind]
        found = None
        if self._mode or len(self._modeless) >= MAX_PENDING:
            # Else it is parsed, for it may show the mode, and then all of the kernel's have it.
            found = self._repeats.find(block, self._number + 1, self._mode)
        if found is None and not self._parsed(block):
            return 0
        self._number += block.count(b"\n")
        if found is None:
            return behind
        bug, report, time = found
        self.collector.count_again(bug, report, time, self._number)
        self._last = report.kind, report.access.address, self._number
        if self._ktap and len(self._pending) < MAX_PENDING:
            self._pending.append((None, bug))
        return behind

    def _parsed(self, block):
        """Take the report in the bytes @block, if it needs no look at single lines. Return False else."""
        if self._prefix.known or self._on_begin is not None:
            return False
        block = block.replace(b"\r\n", b"\n")
        builder = whole.parse(block, self._number + 1) if self._transport.plain(block) else None
        if builder is None:
            return False
        self._head += builder.lines
        self._add(builder)
        self._close(builder)
        return True

    def _suspect(self, data):
        """Find the first line of @data that looks like a sanitizer's."""
        lower = data.lower()
        if not any(word in lower for word in _SUSPECT_WORDS):
            return
        for match in _ANY_SUSPECT.finditer(lower):
            self._suspects += 1
            if self._suspects > _MAX_SUSPECTS:
                return
            start, stop = lower.rfind(b"\n", 0, match.start()) + 1, lower.find(b"\n", match.start())
            if stop - start > lines.MAX_LINE:
                # Such as a page of one line.
                start = max(start, match.start() - 100)
            text = lines.clean(data[start:stop][: lines.MAX_LINE].decode("utf-8", "replace").strip())
            if _SUSPECT.search(text) and not _HARMLESS.search(text):
                self.log.suspect = text[:300]
                return

    def _raw(self, raw):
        """Take the bytes of one line."""
        raw = self._transport.undo(raw)
        if raw is not None:
            for line in self._prefix.take(lines.parse(raw, self._number)):
                self.line(line)

    # --- Lines --------------------------------------------------------------------------------------------

    def line(self, line):
        """Take a lines.Line."""
        self._head += 1
        text = line.text
        builder = self._builder(line.caller)
        if self._open and text.startswith(whole.BOOTS):
            # The report before it was the last that this kernel printed.
            self._close_all()
            builder = None
        kind, match = parse.headline(text)
        if kind is not None and builder is not None and builder.more_headline(kind, line, match):
            return
        if kind is not None and not self._inside(builder, kind, text):
            self._begin(kind, line, match)
            return
        if builder is not None:
            if builder.feed(line):
                self._close(builder)
            elif not self._ktap or not self._result(text):
                return
            return
        if not text.strip():
            return
        self._outside(line, text)

    def _builder(self, caller):
        """Return the Builder that a line of @caller belongs to, None if there is none."""
        builder = self._open.get(caller)
        if builder is None and self._open:
            if not caller:
                # The only one, or the newest: nothing tells them apart.
                return next(reversed(self._open.values()))
            return self._open.get("")
        return builder

    @staticmethod
    def _inside(builder, kind, text):
        """Is this headline a line of the report that is open, and not one of its own?"""
        if builder is None:
            return False
        open_kind = builder.report.kind
        if kind == open_kind == "kasan":
            return False
        if open_kind == "oops":
            # "Internal error" follows "Unable to handle", and "Oops" a "BUG".
            return kind == "oops" or (
                kind == "panic" and ("atal exception" in text or "stack overflow" in text)
            )
        if open_kind in ("asan", "hwasan", "mte"):
            return kind in ("ubsan", "other") and not text.startswith("==")
        # A warning of another CPU may stand in a report; without a caller it cannot be told apart, and is lost.
        if kind in ("other", "warning") and open_kind in ("kasan", "kfence") and not builder.caller:
            builder.report.interleaved = True
            return True
        return False

    def _begin(self, kind, line, match):
        """A report begins with @line."""
        text = line.text
        last = self._last
        if last is not None and line.number - last[2] <= _SAME_FAULT:
            address = match.groupdict().get("addr")
            same = address and address != "(null)" and _same(last[1], int(address, 16))
            if (kind == "oops" and same) or (kind == "panic" and _PANIC_OF_REPORT.search(text)):
                # The report's own consequence.
                self._consequence = line.number + _SAME_FAULT
                if kind == "panic" and self._waiting is not None:
                    self._add(parse.Builder(kind, line, match))
                return
        if kind in ("oops", "panic") and line.number <= self._consequence:
            return
        if kind == "panic" and "atal exception" in text and last is not None and last[0] == "oops":
            return
        old = self._open.get(line.caller)
        if old is None and not line.caller and self._open:
            old = next(reversed(self._open.values()))
        if match.re in systems.BY_PATTERN:
            builder = foreign.Builder(line, match)
            self.log.system = self.log.system or builder.system.name
        else:
            builder = parse.Builder(kind, line, match)
        if old is not None:
            builder.shared = kind == old.report.kind == "kasan" and not old.ended and not line.caller
            self._close(old)
        self._add(builder)

    def _add(self, builder):
        if len(self._open) >= MAX_OPEN:
            self._close(next(iter(self._open.values())))
        builder.report.source = self._source
        self._open[builder.caller] = builder
        if self._on_begin is not None:
            self._on_begin(builder.report)

    def _close(self, builder):
        self._open.pop(builder.caller, None)
        report = builder.end()
        if builder.hollow and self._on_begin is None:
            self._hollow = self._hollow or report.raw[0][:300]
            return
        waiting, self._waiting = self._waiting, None
        if waiting is not None and report.kind == "panic":
            waiting.stacks = [*report.stacks, *waiting.stacks]
            report = waiting
        elif waiting is not None:
            self._done(waiting)
        if report.kind == "kasan":
            if not report.mode or (report.mode == "hw_tags" and self._mode == "sw_tags"):
                # Software tags can all look like the CPU's by chance.
                report.mode = self._mode
            else:
                self._mode = report.mode
        if builder.build_id:
            self.build_ids.add(builder.build_id)
        if builder.headless and waiting is None and report.stack("call") is None:
            self._waiting = report
            self._last = report.kind, report.access.address, report.last_line
            return
        self._done(report)

    def _close_all(self):
        for builder in list(self._open.values()):
            self._close(builder)
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._done(waiting)

    def _done(self, report):
        # First, because it tells how many reports this one stands for.
        bug = self.collector.add(report)
        if self._on_report is not None:
            self._on_report(report)
        if report.kind == "kasan" and not report.mode and len(self._modeless) < MAX_PENDING:
            self._modeless.append((report, bug))
        self._last = report.kind, report.access.address, report.last_line
        self._repeats.learn(report, bug)
        if self._ktap and len(self._pending) < MAX_PENDING:
            self._pending.append((report, bug))

    def _outside(self, line, text):
        """A line that belongs to no report."""
        again = shapes.AGAIN.match(text) if "KASAN: " in text or "UBSan: " in text else None
        if again:
            self._again(again, line)
            return
        if self._head < _HEAD:
            self._above.append(line)
        if _TITLE.match(text):
            # Somebody's words about a report, or a kind of report that decode does not know: what stands below is
            # not one that lost its beginning.
            self._titled = line.number
        if ("buggy address" in text or self._head < _HEAD) and parse.headless(text):
            if line.number - self._titled > 3 or not self._titled:
                self._headless(line)
            return
        if _VERSION.match(text):
            self._ktap = True
            return
        if self._ktap and self._result(text):
            return
        self._facts(text)

    def _headless(self, line):
        """The log begins inside a report, of which @line is the first one that only a report has. The trace above it
        is the report's."""
        above = []
        while self._above and (self._above[-1] is line or _of_trace(self._above[-1].text)):
            above.append(self._above.pop())
        above.reverse()
        builder = parse.Builder("kasan", above[0] if above else line, whole=False)
        self._add(builder)
        for one in above or [line]:
            builder.feed(one)

    def _facts(self, text):
        """A line that says something about the system."""
        system = _SYSTEM.match(text)
        if system:
            if not self.log.system:
                self.log.system = system[0][:300]
            banner = _BANNER.match(text)
            self._settle()
            self._mode = banner["mode"] if banner else ""
            return
        mode = _MODE.search(text) if "asan" in text or "AddressSanitizer" in text else None
        if mode:
            self._mode = _MODES[mode["linux"] or mode["ours"]]
        offset = _OFFSET.match(text) if text.startswith("Kernel Offset") else None
        offset = offset or _RELOCATED.match(text)
        if offset:
            self.offset = int(offset["offset"], 16)

    def _settle(self):
        """The kernel's reports end here. Those that did not show its mode have that of the others."""
        for report, bug in self._modeless if self._mode else ():
            self.collector.set_mode(bug, report, self._mode)
        self._modeless = []

    def _result(self, text):
        """Take a line of KTAP. Return False if it is none."""
        subtest = _SUBTEST.match(text)
        if subtest:
            depth = len(subtest["indent"])
            self._names = {at: name for at, name in self._names.items() if at < depth}
            self._names[depth] = subtest["name"]
            return True
        match = _RESULT.match(text)
        if match is None:
            return False
        depth = len(match["indent"])
        if any(at > depth for at in self._names):
            # The result of a whole suite: its cases have been counted.
            self._names = {at: name for at, name in self._names.items() if at <= depth}
            if not self._pending:
                return True
        above = [self._names[at] for at in sorted(self._names) if at <= depth]
        name = ".".join([*above, match["name"].strip() or match["number"]])
        skipped = (match["directive"] or "").upper() == "SKIP"
        status = "skip" if skipped else "fail" if match["not"] else "pass"
        self.collector.case(
            name[:300], status, (match["reason"] or "")[:300] if skipped else "", self._pending
        )
        self._pending = []
        return True

    def _again(self, match, line):
        """A line that stands for a whole report of a place that was reported before."""
        report = Report(
            kind=match["sanitizer"].lower(),
            type=match["type"],
            title=line.text,
            where=frames.function_of(match["where"]),
            mode=self._mode,
            source=self._source,
            time=line.time,
            first_line=line.number,
            last_line=line.number,
            again=True,
            times=int(match["times"]),
            raw=[line.text],
        )
        access = match["access"][:1].upper() + match["access"][1:]
        for shape, found in shapes.matches(access):
            if shape.name == "access" and found["id"]:
                report.access = Access(
                    found["access"].lower(), frames.number(found["size"]), frames.address(found["addr"])
                )
                report.task = Task(found["task"], int(found["id"]))
        report.access.asynchronous = access.startswith("Asynchronous fault")
        callers = match["callers"].split(" < ")[: parse.MAX_FRAMES] if match["callers"] else []
        trace = [frames.parse_frame(f" {one}") for one in (match["where"], *callers)]
        report.stacks = [Stack(frames=[frame for frame in trace if isinstance(frame, Frame)])]
        self._done(report)

    def end(self):
        """The log has no more lines. Return the model.Log."""
        self._finish()
        self.log.suspect = "" if self.log.reports else self.log.suspect or self._hollow
        return self.log

    def _finish(self):
        """A file has no more lines."""
        self._flush()
        self._close_all()
        self._settle()
        self.log.lines += self._number
        self._number = 0


def _of_trace(text):
    """Can @text be a line of a trace, or between two?"""
    return (
        not text.strip()
        or parse.parse_frame(text, [], True) not in (None, False)
        or bool(shapes.MARKER.match(text))
        or any(shape.name in ("call", "cpu", "pid") for shape, _ in shapes.matches(text))
    )


def _same(first, second):
    """Are the addresses equal, but for a tag in the top byte?"""
    return first is not None and not (first ^ second) & ~(0xFF << 56)


class _Hits:
    """Where the words are in a piece of a log, found when asked for: each word is searched for once."""

    def __init__(self, data, end, ktap):
        self._data, self._end = data, end
        self.ktap = ktap
        words = (*WORDS, _KTAP_WORD) if ktap else WORDS
        # [(place, word)], the first place first. Those that are not in the rest of the piece are left out.
        self._next = [(-1, word) for word in words]
        self._any = re.compile(b"|".join(map(re.escape, words)))
        self._report = -1

    def after(self, at):
        """Return the first place of a word at @at or behind it, -1 if there is none. @at never goes back."""
        if self._report < at:
            place = self._data.find(_REPORT, at, self._end)
            self._report = place if place >= 0 else self._end
        if self._report - at < _NEAR:
            # One search for all of them is slower for each byte, but there are few of these.
            match = self._any.search(self._data, at, min(self._report + len(_REPORT), self._end))
            return match.start() if match else -1
        places = self._next
        while places and places[0][0] < at:
            word = places[0][1]
            place = self._data.find(word, at, self._end)
            if place < 0:
                heapq.heappop(places)
            else:
                heapq.heapreplace(places, (place, word))
        return places[0][0] if places else -1
