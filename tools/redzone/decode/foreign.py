# SPDX-License-Identifier: MIT
"""Makes a model.Report of the lines that another system's sanitizer prints, by its row in systems.py."""

# A pattern reads better in one piece.
# ruff: noqa: E501

import re

from redzone.decode import parse, roles, shapes, systems
from redzone.decode.frames import parse_frame
from redzone.decode.model import Frame, Location, Object, Stack, Task

# What stands in front of a row: `[KASan] =>0x4a700800: FA FA[01]FB`, `kasan_show_memory:   0x40213610: 18 36`.
_ROW = re.compile(
    r"(?:^|[\]:|]) ?(?P<row>(?:=?> ?| {2})?\s*(?:0[xX])?[0-9a-fA-F]{8,16}: ?[ \[]?(?:0x)?[0-9a-fA-F]{2}[ \[\]].*)$"
)
_CARETS = re.compile(r" *\^+ *$")


def _trace_of(words):
    """Return the kind of the trace that @words begin."""
    if "free" in words or "dealloc" in words:
        return "freed"
    return "allocated" if "alloc" in words else "call"


class Builder(parse.Builder):
    """As parse.Builder, for a match of a headline of systems.SYSTEMS."""

    def __init__(self, line, match):
        self.system = systems.BY_PATTERN[match.re]
        super().__init__(self.system.kind, line)
        self.report.title = line.text.strip()[:300]
        self.report.mode = self.system.mode
        # Most of them print no line after the last one that means something.
        self._complete = self.system.end is None
        self._cell = 3
        self._debugged = False
        self._named = None
        self._keep(line)
        self._facts(systems.facts(match))

    @property
    def hollow(self):
        return False

    def more_headline(self, kind, line, match):
        """The debugger repeats why it was entered; and a line may be a headline only if none is above."""
        if len(self.report.raw) == 1 and any(one.search(line.text) for one in self.system.lines):
            self._keep(line)
            return True
        found = systems.facts(match)
        same = found.get("addr") and self.report.access.address == int(found["addr"], 16)
        if not (same and self._debugged and systems.BY_PATTERN.get(match.re) is self.system):
            return False
        self._keep(line)
        return True

    def end(self):
        report = self.report
        report.type = report.type or "invalid-access"
        call = report.stack("call")
        frames = call.frames if call else []
        paths = [frame.locations[0].path if frame.locations else "" for frame in frames]
        ordinary = (
            one.name for one, path in zip(frames, paths, strict=True) if not roles.role(one.name, "", path)
        )
        name = next(filter(None, ordinary), "")
        address = next((frame.address for frame in frames), None)
        report.where = name or (f"{address:#x}" if address is not None else "")
        super().end()
        if report.memory:
            # The higher values mean something else on each system.
            known = {value: text for value, text in report.memory.meanings.items() if int(value, 16) < 8}
            report.memory.meanings = known
        return report

    def _take(self, text):
        for pattern in self.system.lines:
            if match := pattern.search(text):
                self._facts(systems.facts(match))
                return True
        if self.system.end is not None and self.system.end.search(text) and len(self.report.raw) > 2:
            self.ended = True
            return True
        return self._trace(text) or self._map(text)

    def _facts(self, found):
        """Put what a line says, {name: text}, into the report."""
        report, access = self.report, self.report.access
        if "type" in found:
            report.type = systems.classify(found["type"])
            access.asynchronous = access.asynchronous or found["type"] == "SEGV_MTEAERR"
            if found["type"].startswith("SEGV_"):
                report.type = ""
        if "op" in found:
            access.kind = systems.op(found["op"])
            if access.kind == "free":
                report.type = systems.classify(found["op"])
        if "size" in found:
            access.size = systems.number(found["size"])
        if "addr" in found:
            access.address = int(found["addr"], 16)
        if "stack" in found:
            kind = _trace_of(found["stack"].lower())
            if kind == "call" and report.stack("call"):
                kind = "other"
            task = Task("", int(found["task"])) if "task" in found else None
            self._open(kind, found["stack"], task)
        elif "debugger" in found:
            self._debugged = bool(report.stacks) and len(report.stacks[0].frames) > 1
            if self._debugged:
                # What it shows besides is not the report's.
                self._stack = Stack()
                if "again" in found:
                    self._open("other", found["debugger"], None)
        elif "task" in found:
            report.task = Task(found["task"], None)
        if "pc" in found:
            self._add(Frame(found["pc"], address=int(found["pc"], 16)))
        if "start" in found:
            self._describe(found)

    def _describe(self, found):
        """Describe the object of {name: text}."""
        place = Object("heap", start=int(found["start"], 16), size=systems.number(found["object"]))
        for name, side in (("into", "inside"), ("past", "right"), ("before", "left")):
            if name in found:
                place.side, place.distance = side, systems.number(found[name])
        if "free" in found.get("state", "").lower():
            self.report.type, place.state = "use-after-free", "freed"
        self.report.object = place

    def _add(self, frame):
        """Add @frame to the trace that is open."""
        if self._stack is None:
            self._stack = self.report.stack("call")
            if self._stack is None:
                self._stack = Stack("call")
                self.report.stacks.insert(0, self._stack)
        frames = self._stack.frames
        if frames and not frames[-1].name and frames[-1].address == frame.address:
            # The access's own address stands at the top of the trace as well.
            frames.pop()
        if len(frames) < parse.MAX_FRAMES:
            frames.append(frame)

    def _label(self, found):
        """A script has named an address of a list, {name: text}, or the function into which that one is inlined."""
        if "label" in found:
            frames = self.report.frames("call")
            address = int(found["address"], 16)
            self._named = next((one for one in frames if one.address == address), None)
        frame = self._named
        if frame is not None:
            frame.name = found.get("label") or found["outer"]
            place = Location(frame.name, found["file"], int(found["line"]))
            frame.locations = [*(frame.locations if "outer" in found else ()), place]

    def _trace(self, text):
        """Take a line of a trace."""
        match = self.system.frame.search(text) if self.system.frame is not None else None
        if match is None:
            if self.system.frame is not None:
                return False
            frame = parse_frame(text, None, self._stack is not None)
            if isinstance(frame, Frame):
                self._add(frame)
            return frame is not None
        found = systems.facts(match)
        if "list" in found:
            # Xtensa adds the stack pointer of each frame, `pc:sp`.
            for word in re.findall(r"(?<![\w:])(?:0x)?([0-9a-f]{6,16})", found["list"]):
                self._add(Frame(word, address=int(word, 16)))
            return True
        if "label" in found or "outer" in found:
            self._label(found)
            return True
        frame = Frame(text.strip(), found.get("name", "").strip())
        frame.address = int(found["address"], 16) if "address" in found else None
        if "offset" in found:
            frame.offset = int(found["offset"], 16)
        if self.system.kind == "mte":
            # A process: the address is the instruction's, in its file.
            frame.exact, frame.module = True, found.get("file", "").rpartition("/")[2]
            frame.build_id = found.get("build", "")
            frame.offset = int(found["decimal"]) if "decimal" in found else None
        elif "inlined" in found:
            self._pending_sources.append(
                Location(found["inlined"], found["file"], max(0, int(found["line"])))
            )
            return True
        elif "file" in found:
            frame.locations = [
                *self._pending_sources,
                Location(frame.name, found["file"], max(0, int(found["line"]))),
            ]
        self._pending_sources.clear()
        self._add(frame)
        return True

    def _map(self, text):
        """Take a line of the memory map."""
        memory = self.report.memory
        if self.system.rows != "shadow":
            return bool(self.system.rows) and _ROW.search(text) is not None
        if memory and memory.rows and _CARETS.match(text):
            row = memory.rows[-1]
            column = (text.index("^") - self._caret_from) // self._cell
            row.bad = True
            if 0 <= column < len(row.cells):
                memory.column = column
            return True
        match = _ROW.search(text)
        if match is None:
            return False
        row = match["row"]
        self._cell = 5 if row.count("0x") > 2 else 3
        plain = shapes.ROW.match(re.sub(r"(?<=[ \[\]])0x(?=[0-9a-f]{2}\b)", "", row.lower()))
        if plain is None or not self._cells(plain):
            return False
        # Of the text as it is printed, for a line of carets.
        self._caret_from = match.start("row") + row.index(":") + 2
        return True
