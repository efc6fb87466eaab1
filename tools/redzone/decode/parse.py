# SPDX-License-Identifier: MIT
"""Makes a model.Report of the lines of one report, in whatever format its sanitizer printed it."""

from redzone.decode import memory, shapes, systems
from redzone.decode.frames import address as _hex
from redzone.decode.frames import function_of, parse_frame, path_of, unhashed
from redzone.decode.frames import number as _number
from redzone.decode.model import (
    Access,
    Excerpt,
    Frame,
    Location,
    MemoryMap,
    MemoryRow,
    Object,
    Report,
    Stack,
    Task,
    Variable,
)

# Bounds for hostile logs. The longest honest report is that of page owner with four traces, about 300 lines.
MAX_LINES = 2000
MAX_STACKS = 16
MAX_FRAMES = 256
MAX_ROWS = 33
MAX_VARIABLES = 64
# A report that has had this many lines in a row that mean nothing is over.
MAX_IDLE = 60
# A report of these kinds ends with a rule or "ABORTING"; without it the log lacks something.
_ENDED = ("kasan", "kfence", "kmsan", "kcsan")
# Lines after which the account of a crash or a warning is over.
_TRACE_ONLY = ("oops", "warning", "panic", "other", "ubsan")

_SIDES = {
    "inside": "inside",
    "inside of": "inside",
    "to the left": "left",
    "to the left of": "left",
    "before": "left",
    "to the right": "right",
    "to the right of": "right",
    "after": "right",
}
_WORDS = {"Read": "read", "Write": "write", "Free": "free", "Access": "access"}
# The characters that all headlines but one begin with; most lines begin with others.
_FIRST = frozenset("BCEWUkgIOKr=")
_INSIDE = ("runtime error: ", "UBSan: ", " [#")
_UNTAGGED = (1 << 56) - 1
# Its objects are pages.
_LARGE = "kmalloc-large"
# What the groups of a shape that is about the object say, by their names.
_MEMBERS = {
    "start": _hex,
    "size": int,
    "cache": str,
    "cache_size": int,
    "state": {"allocated": "allocated", "freed": "freed", "unallocated": "freed"}.get,
    "side": _SIDES.get,
    "distance": int,
    "name": str,
    "type": str,
    "where": lambda text: path_of(text) or Location("", text),
}
_FREES = frozenset(("double-free", "invalid-free", "double-free or invalid-free"))
# Where mail programs break the line of the access.
BROKEN = (" by", " by task", " addr")
# So many lines of something else below a headline show that it stands in a text.
_ENOUGH_PROSE = 2


def headline(text):
    """Return (kind, match) if @text begins a report, else (None, None)."""
    if text[:1] in _FIRST or any(word in text for word in _INSIDE):
        for shape in shapes.HEADLINES:
            if shape.literal in text:
                match = shape.pattern.match(text)
                if match:
                    return shape.name, match
    match = systems.headline(text)
    return (systems.BY_PATTERN[match.re].kind, match) if match else (None, None)


def headless(text):
    """Is @text a line that only the inside of a KASAN report has?"""
    return any(shape.name in shapes.HEADLESS for shape, _ in shapes.matches(text))


class Builder:
    """Takes the lines of one report with feed(). The report is complete when that returns True."""

    def __init__(self, kind, line, match=None, whole=True):
        """@match: of the headline. @whole: the log has the report's beginning."""
        self.report = Report(
            kind=kind, time=line.time, first_line=line.number, last_line=line.number, truncated=not whole
        )
        self.caller = line.caller
        self.headless = not whole
        self.ended = False
        self._stack = None
        self._pending_sources = []
        self._idle = self._prose = 0
        self._expect = None
        # The first part of a line that a mail program may have broken.
        self._half = ""
        self._caret_from = 0
        # Another report was open when this one began, and nothing tells their lines apart.
        self.shared = self._complete = False
        self._traces = 0
        self._headlines, self._headline_type = 1, None
        self._cut = line.cut
        if match is not None:
            self._keep(line)
            self._headline(line.text, match.groupdict())

    # --- Its beginning and end ----------------------------------------------------------------------------

    def _headline(self, text, found):
        report = self.report
        report.title = report.title or text.strip()
        self._headline_type = found.get("type")
        report.where = function_of(found.get("where"))
        report.type = (found.get("type") or "").strip()
        report.access.address = _hex(found.get("addr"))
        if report.kind == "warning":
            report.type = "warning"
            report.cpu = _number(found.get("cpu"))
            if found.get("id"):
                report.task = Task(found.get("task") or "", int(found["id"]))
        elif report.kind == "oops" and not report.type:
            report.type = "kernel BUG"
        elif report.type == "memory leak":
            report.type = "memory-leak"
        elif report.kind == "ubsan":
            report.type = report.type.replace(" ", "-").lower() if "UBSAN" in text else report.type
        elif report.kind == "kfence":
            words = report.type.split()
            if words and words[-1] in ("read", "write"):
                report.access.kind = words.pop()
            report.type = " ".join(words)
        self._headline_place(found)
        self._half = text.rstrip() if text.rstrip().endswith((" in", " /")) else ""
        if report.kind in ("asan", "hwasan"):
            self._open("call", text, None)

    def more_headline(self, kind, line, match):
        """Take a further headline of the @kind: a script that finds inlined functions prints one for each,
        and the last one has the function that contains them. Return False if @line begins another report."""
        found = match.groupdict()
        if kind not in _ENDED or kind != self.report.kind or found.get("type") != self._headline_type:
            return False
        if len(self.report.raw) != self._headlines:
            return False
        self._headlines += 1
        self._keep(line)
        self._headline(line.text, found)
        return True

    def _headline_place(self, found):
        """UBSan and WARN name the line themselves, and scripts add it to what others name."""
        report = self.report
        where = found.get("where") or ""
        match = shapes.WHERE.match(where)
        place = path_of(found.get("file") or where) if match is None else None
        if place:
            place.function = "" if path_of(where) else report.where
            report.where = place.function
        elif match:
            place = Location(report.where, match["path"], int(match["line"]), int(match["column"] or 0))
        if place:
            report.excerpts = [Excerpt("call", place)]

    def end(self):
        """The log has no more of this report. Return it."""
        report = self.report
        self._leave()
        self._expect = None
        if report.kind in _ENDED and not (self.ended or self._complete):
            report.truncated = True
        report.truncated = report.truncated or self._cut
        if report.kind == "kasan" and report.type in _FREES:
            # Before 6.1 nothing below the headline says so.
            report.access.kind = report.access.kind or "free"
        self._join_crash()
        for stack in report.stacks:
            self._first_exact(stack)
        if report.object is not None:
            self._complete_object(report.object)
        memory.explain_map(report)
        return report

    @property
    def hollow(self):
        """Does a headline stand alone in a text, or a line like a report's? Then somebody writes about one.

        Ask after end()."""
        report, place = self.report, self.report.object
        if report.kind not in _ENDED or self._prose < _ENOUGH_PROSE:
            return False
        told = report.task or report.memory or any(stack.frames for stack in report.stacks)
        told = told or (report.access.kind and report.kind == "kasan" and report.type not in _FREES)
        return not (told or report.access.address is not None or (place and (place.start or place.name)))

    def _join_crash(self):
        """The trace of a crash begins with the instruction that the registers have named already."""
        if len(self.report.stacks) < 2:
            return
        registers, trace = (stack.frames for stack in self.report.stacks[:2])
        if len(registers) == 1 and registers[0].exact and trace and self.report.stacks[1].kind == "call":
            first, again = registers[0], trace[0]
            if (first.name, first.offset, first.size) == (again.name, again.offset, again.size):
                again.exact = True
                del self.report.stacks[0]

    def _first_exact(self, stack):
        """Say which frames stand for the instruction itself: a crash's own, and the first below ASan's."""
        if stack.frames and (
            stack.kind == "frame" or (self.report.kind in ("asan", "hwasan") and stack.kind == "call")
        ):
            # User space prints the address of the access, not of what follows.
            stack.frames[0].exact = True

    def _complete_object(self, found):
        """Say of the Object @found what the report leaves to the reader."""
        address = self.report.access.address
        if found.kind == "slab" and found.cache == _LARGE:
            found.kind = "page"
        if found.size is None:
            found.size = found.cache_size
        if found.kind == "heap" and self.report.stack("freed"):
            found.state = "freed"
        elif found.kind == "heap":
            found.state = found.state or "allocated"
        known = not found.side and None not in (found.start, found.size, address)
        if known and found.kind in ("slab", "vmalloc"):
            # The pointer may have a tag that the start does not have.
            low = _UNTAGGED if self.report.access.pointer_tag is not None else -1
            offset = (address & low) - (found.start & low)
            if offset < 0:
                found.side, found.distance = "left", -offset
            elif offset < found.size:
                found.side, found.distance = "inside", offset
            else:
                found.side, found.distance = "right", offset - found.size
        if found.kind != "stack" or self._offset is None:
            return
        offset = found.distance = self._offset
        if found.variables and not any(one.hit for one in found.variables):
            # The one that holds the address, else the nearest.
            nearest = min(found.variables, key=lambda one: max(one.start - offset, offset - one.end + 1, 0))
            nearest.hit = True

    def _keep(self, line):
        if len(self.report.raw) < MAX_LINES:
            self.report.raw.append(line.text.rstrip())
        else:
            self._cut = True
        self.report.last_line = line.number
        self._cut = self._cut or line.cut

    def feed(self, line):
        """Take the next Line. Return True if the report ends with it."""
        text = line.text
        if text[:5] == "=====" and shapes.RULE.match(text):
            self._keep(line)
            # Old kernels print one before the object as well.
            self.ended = bool(self.report.stacks or self.report.memory or self._idle > 2)
            if self.shared and self.ended:
                # It may be the other one's.
                self.shared, self.ended, self._complete = False, False, True
            return self.ended
        self._keep(line)
        if self._cut and len(self.report.raw) >= MAX_LINES:
            return True
        if text.isspace() or not text:
            return self._idle >= MAX_IDLE
        if self._take(text.rstrip()):
            self._idle = 0
            return self.ended
        self._idle += 1
        self._prose += not line.time
        return self._idle >= MAX_IDLE

    # --- One line -----------------------------------------------------------------------------------------

    def _take(self, text):
        """Put into the report what @text says. Return False if it says nothing."""
        if self._half and self._rest(text):
            return True
        # Without a dot, a row cannot be a frame with a place.
        dot = "." in text
        if (not dot and self._row(text)) or self._frame(text) or (dot and self._row(text)):
            return True
        for shape, match in shapes.matches(text):
            if shape.trace:
                self._begin_trace(shape.trace, match, text)
            elif shape.about:
                self._describe(shape.about, match)
            elif getattr(self, "_on_" + shape.name)(match, text) is False:
                continue
            return True
        if dot and (match := shapes.PLACE.match(text)):
            return self._place_below(match)
        return "<" in text and bool(shapes.MARKER.match(text))

    def _rest(self, text):
        """Is @text the rest of the line above? Then take both."""
        half, self._half = self._half, ""
        rest = text.strip(" \t>|")
        whole = f"{half} {rest}"
        kind, match = headline(whole)
        if kind == self.report.kind:
            sure = "+0x" in rest or "(" in rest or half[-1] == "/"
            if sure and shapes.FUNCTION.match(rest):
                self.report.title = ""
                self._headline(whole, match.groupdict())
                self._headlines += 1
                return True
            return False
        match = next((match for shape, match in shapes.matches(whole) if shape.name == "access"), None)
        return match is not None and self._on_access(match, whole)

    def _place_below(self, match):
        """Take the place of the line above."""
        report = self.report
        place = Location("", match["path"], int(match["line"]), int(match["column"] or 0))
        above = report.raw[-2].strip() if len(report.raw) > 1 else ""
        frame = self._stack.frames[-1] if self._stack is not None and self._stack.frames else None
        if frame is not None and frame.text == above and not frame.locations:
            place.function, frame.locations = frame.name, [place]
        elif above == report.title and not report.excerpts:
            place.function, report.excerpts = report.where, [Excerpt("call", place)]
            self._headlines += 1
        else:
            return False
        return True

    def _open(self, kind, title, task, cpu=None, time=None):
        """Begin a trace."""
        self._leave()
        self._expect = None
        report = self.report
        if kind == "call":
            self._traces += 1
            if self._traces > 1 and report.stack("call") and report.stack("call").frames:
                kind = "other"
        if len(report.stacks) >= MAX_STACKS:
            self._cut = True
            self._stack = Stack()
            return
        self._stack = Stack(kind, title.strip()[:200], task, cpu, time)
        report.stacks.append(self._stack)

    def _leave(self):
        """The trace that was open is over."""
        pending, self._pending_sources = self._pending_sources, []
        if pending and self._stack is not None and len(self._stack.frames) < MAX_FRAMES:
            # The log was cut before the function that contains these.
            self._stack.frames.append(Frame(pending[-1].function, pending[-1].function, locations=pending))
        self._stack = None

    def _frame(self, text):
        """Take a line of a trace."""
        # The trace of KMSAN and the function of a frame have no headline that would begin a Stack.
        begun = self._stack is not None or self._expect is not None
        begun = begun or (self.report.kind == "kmsan" and not self.report.stacks)
        parsed = parse_frame(text, self._pending_sources, begun)
        if parsed is None:
            return False
        return parsed is True or self._traced(parsed, text)

    def _traced(self, parsed, text):
        """Take the Frame @parsed of the line @text."""
        if self._expect is not None:
            expect, self._expect = self._expect, None
            if expect(parsed, text):
                return True
        if self._stack is None:
            # A register's line of a crash names where it was; a trace may lack its headline.
            if self.report.kind in (*_TRACE_ONLY, "kmsan", "kcsan", "kfence") or parsed.exact:
                self._open("call", "", None)
                if parsed.exact:
                    self._traces = 0
            elif not self.report.stacks:
                # 32-bit Arm has no headline for it.
                self._open("call", "", None)
            else:
                return True
        if parsed.exact and self._stack.frames:
            return True
        if len(self._stack.frames) < MAX_FRAMES:
            self._stack.frames.append(parsed)
        else:
            self._cut = True
        return True

    def _row(self, text):
        """Take a line of the memory map."""
        if ":" in text:
            match = shapes.ROW.match(text)
            if match:
                self._leave()
                return self._cells(match)
        memory_map = self.report.memory
        if (
            "^" in text
            and memory_map
            and memory_map.rows
            and memory_map.rows[-1].bad
            and shapes.CARET.match(text)
        ):
            column, rest = divmod(text.index("^") - self._caret_from, 3)
            if 0 <= column < len(memory_map.rows[-1].cells) and rest < 2:
                memory_map.column = column
            return True
        return False

    def _cells(self, match):
        report = self.report
        if report.memory is None:
            report.memory = MemoryMap()
        if len(report.memory.rows) >= MAX_ROWS:
            self._cut = True
            return True
        text = match["cells"]
        plain = text.replace("[", " ").replace("]", " ")
        if "." in plain or "-" in plain:
            cells = [None if cell in ("..", "--") else int(cell, 16) for cell in plain.split()]
        else:
            cells = list(bytes.fromhex(plain))
        bad = ">" in (match["mark"] or "") or "[" in text
        report.memory.rows.append(MemoryRow(int(match["address"], 16), cells, bad))
        self._caret_from = match.start("cells") + (text[0] in " [")
        if bad and "[" in text:
            report.memory.column = len(text[: text.index("[")].replace("]", " ").split())
        return True

    # --- What each shape means ----------------------------------------------------------------------------

    def _begin_trace(self, kind, match, text):
        """The line @text begins a trace of this @kind."""
        found = match.groupdict()
        task = Task("", int(found["task"])) if found.get("task") else None
        if found.get("thread"):
            task = Task(found["thread"], None)
        time = found.get("time")
        self._open(kind, text, task, _number(found.get("cpu")), float(time) if time else None)

    def _describe(self, kind, match):
        """Put what @match says of the object, which is of this @kind, into it."""
        self._leave()
        found = self._object("" if kind == "any" else kind)
        for name, text in match.groupdict().items():
            if text is not None:
                setattr(found, name, _MEMBERS[name](text))

    def _on_user_global(self, match, text):
        # Another one may lie near the address, too.
        if not (self.report.object and self.report.object.name):
            self._describe("global", match)

    def _object(self, kind=""):
        if self.report.object is None:
            self.report.object = Object()
        if kind and not self.report.object.kind:
            self.report.object.kind = kind
        return self.report.object

    def _on_access(self, match, text):
        report = self.report
        if report.access.kind and report.access.address is not None and report.task:
            self._mixed(report.access.address != _hex(match["addr"]))
            return True
        report.access.kind = _WORDS[match["access"]]
        report.access.size = _number(match["size"])
        if match["addr"]:
            report.access.address = _hex(match["addr"])
        if match["task"]:
            report.task = Task(match["task"].strip(), _number(match["id"]))
        elif text.endswith(BROKEN):
            self._half = text
        return True

    def _on_race(self, match, text):
        """Each of the accesses that race has a trace."""
        if self.report.kind != "kcsan":
            return False
        task = Task("", int(match["id"])) if match["id"] else None
        access = self.report.access
        if access.address is None:
            words = match["what"].split()
            access.kind = words[0] if words[0] in ("read", "write") else "access"
            access.size, access.address = int(match["size"]), _hex(match["addr"])
            self.report.task, self.report.cpu = task, int(match["cpu"])
        self._open("call", text, task, int(match["cpu"]))
        return True

    def _mixed(self, differs):
        """A line that a report has once says something else (@differs) than an earlier one."""
        if differs and self.report.kind == "kasan":
            self.report.interleaved = True

    def _on_user_access(self, match, text):
        access = self.report.access
        access.kind = match["access"].lower()
        access.size = int(match["size"])
        if match["addr"]:
            access.address = _hex(match["addr"])
        if match["ptr"]:
            access.pointer_tag, access.memory_tag = int(match["ptr"], 16), int(match["mem"], 16)
        if match["thread"]:
            self.report.task = Task(match["thread"], None)

    def _on_signal(self, match, text):
        self.report.access.kind = match["access"].lower()

    def _on_tags(self, match, text):
        self.report.access.pointer_tag = int(match["pointer"], 16)
        self.report.access.memory_tag = int(match["memory"], 16)

    def _on_async(self, match, text):
        self.report.access.asynchronous = True

    def _on_cpu(self, match, text):
        report = self.report
        if report.cpu is None:
            report.cpu = _number(match["cpu"])
        if report.task is None or not (report.task.name or report.kind == "kcsan"):
            report.task = Task(match["task"], int(match["id"]))
        self._mixed(report.task.id not in (None, int(match["id"])))
        for word in (match["version"] or "").split():
            if len(word) in (32, 40) and all(letter in "0123456789abcdef" for letter in word):
                self.build_id = word

    build_id = ""

    def _on_call(self, match, text):
        if text.startswith("stack backtrace") and self.report.kind == "kasan":
            return False
        self._open("call", text, None)
        return True

    def _on_pid(self, match, text):
        if self._stack is None or self._stack.frames:
            return False
        self._stack.task = Task("", int(match["id"]))
        return True

    def _on_object(self, match, text):
        self._leave()
        found = self._object("slab")
        self._mixed(found.start not in (None, _hex(match["start"])))
        found.start = _hex(match["start"])

    def _on_variable(self, match, text):
        self._leave()
        found = self._object("global")
        if match["name"]:
            self._global(found, match["name"], int(match["offset"], 16), int(match["size"], 16))
            return
        self._expect = lambda frame, _: self._global(found, frame.name, frame.offset, frame.size) is None

    def _global(self, found, name, offset, size):
        found.name, found.size = name, size
        address = self.report.access.address
        if address is not None and offset is not None:
            found.start = address - offset
        if size is not None and offset is not None:
            found.side, found.distance = ("inside", offset) if offset < size else ("right", offset - size)

    def _on_left_variable(self, match, text):
        found = self._object("global")
        self._expect = None
        found.name, found.size = match["name"], int(match["size"], 16)
        found.side, found.distance = "left", int(match["left"])
        if self.report.access.address is not None:
            found.start = self.report.access.address + found.distance

    def _on_defined(self, match, text):
        found = self.report.object
        if found is None or found.kind != "global":
            return False
        found.where = Location("", match["file"], _number(match["line"]) or 0)
        return True

    def _on_stack(self, match, text):
        self._leave()
        found = self._object("stack")
        groups = match.groupdict()
        if groups.get("task") is not None:
            found.name = f"{groups['task']}/{groups['id']}"
        if groups.get("offset"):
            self._frame_at(int(groups["offset"]))

    def _on_user_stack(self, match, text):
        self._leave()
        found = self._object("stack")
        found.name = match["thread"]
        self._frame_at(_number(match["offset"]))

    def _on_frame(self, match, text):
        groups = match.groupdict()
        self._object("stack")
        self._frame_at(_number(groups.get("offset")))

    def _frame_at(self, offset):
        """The next frame is the one whose variables the report lists. @offset: of the access in it."""
        self._offset = offset

        def take(frame, text):
            if len(self.report.stacks) < MAX_STACKS:
                self.report.stacks.append(Stack("frame", "", None, None, None, [frame]))
            return True

        self._leave()
        self._expect = take

    _offset = None

    def _on_frame_has(self, match, text):
        self._expect = None

    def _on_local(self, match, text):
        found = self.report.object
        if found is None or found.kind != "stack":
            return False
        if len(found.variables) < MAX_VARIABLES:
            one = Variable(match["name"], int(match["start"]), int(match["end"]), _number(match["line"]) or 0)
            found.variables.append(one)
            one.hit = bool(match["hit"])
        return True

    def _on_vmalloc(self, match, text):
        found = self._object("vmalloc")
        if found.kind != "vmalloc":
            return
        found.start = _hex(match["start"])
        found.size = int(match["pages"]) * 4096 if match["pages"] else None
        found.name = match["where"] or ""

    def _on_mapped(self, match, text):
        found = self._object("vmalloc")
        if found.kind == "vmalloc":
            found.start = _hex(match["start"])
            found.size = _hex(match["end"]) - found.start
        self._open("vmalloc", text, None)

    def _on_old_page(self, match, text):
        if self.report.kind == "kasan":
            self._object("page")

    def _on_cause(self, match, text):
        if self.report.type == "tag-mismatch":
            self.report.type = match["cause"]

    def _on_kfence_access(self, match, text):
        if self.report.kind != "kfence":
            return False
        access = self.report.access
        access.kind = match["access"] or access.kind
        access.address = unhashed(match["addr"])
        self._open("call", text, None)
        return True

    def _on_kfence_object(self, match, text):
        if self.report.kind != "kfence":
            return False
        found = self._object("slab")
        found.start, found.size, found.cache = unhashed(match["start"]), int(match["size"]), match["cache"]
        if "allocated by" in text:
            task = Task("", int(match["task"])) if match["task"] else None
            self._open("allocated", text, task, _number(match["cpu"]))
        return True

    def _on_map(self, match, text):
        self._leave()
        if self.report.memory is None:
            self.report.memory = MemoryMap()
        self._mixed(bool(self.report.memory.rows))
        if match["what"] == "Memory tags":
            self.report.memory.kind = "tags"

    def _on_fault_address(self, match, text):
        if self.report.access.address is None:
            self.report.access.address = _hex(match["addr"])

    def _on_null_range(self, match, text):
        if self.report.kind != "oops":
            return False
        self.report.access = Access(self.report.access.kind, None, _hex(match["addr"]))
        return True

    def _on_end(self, match, text):
        if self.report.kind in _ENDED:
            return False
        self.ended = True
        return True
