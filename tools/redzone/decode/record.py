# SPDX-License-Identifier: MIT
"""Reads a crash record, what runtime/report/record.c writes, and makes the text of its reports.

The text has the lines of ordinary reports, with addresses instead of names, so that the decoder reads it like
a log. The layout is described in docs/port/crash-record.md. A record may be damaged anywhere: what cannot be
trusted is said to be so, and all else is shown.
"""

import re
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

from redzone.core import base
from redzone.core.base import Failure
from redzone.elf.file import ElfError, File
from redzone.elf.symbols import symbols

MAGIC = 0x315A4352
ANCHOR = "kasan_record_start"
UNIT = 8
_HEADER = 8  # words
_ENTRY = 8  # bytes before the fields
_TORN, _DONE = 0x54, 0x44
_MODES = {1: "generic", 2: "sw_tags", 3: "hw_tags"}
_UBSAN, _HAS_SHADOW, _UNCLEAR, _ASYNC, _FREE, _WRITE = 128, 64, 32, 16, 2, 1
_GLOBAL, _FRAME = 16, 17
_LINE = 66 * "="
_STATES = ("", "", "allocated ", "freed ")
_LONGEST = 1 << 20


class _End(Exception):
    """There are no more fields."""


class Place(NamedTuple):
    """Where an image was: @start of kasan_record_start() in it, and its @ranges [(start, end)]."""

    start: int
    ranges: list


def place_of(paths):
    """Return the Place of the first image of @paths with the runtime in it; None: there is none."""
    for path in paths:
        try:
            file = File.open(path)
            start = next((one.value for one in symbols(file) if one.name == ANCHOR and one.section), None)
            if start is not None:
                return Place(start, [(load.address, load.address + load.size) for load in file.loads])
        except (OSError, ElfError) as error:
            raise Failure(f"cannot read '{base.relative(path)}': {error}") from None
    return None


def read(path):
    """Return the bytes of the record in the file @path, which may also have them as hex digits."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LONGEST)
    except OSError as error:
        raise Failure(f"cannot read '{path}': {error.strerror}") from None
    if _order(data):
        return data
    text = re.sub(rb"\s+", b"", data)
    if len(text) % 2 == 0 and re.fullmatch(rb"[0-9a-fA-F]+", text):
        data = bytes.fromhex(text.decode("ascii"))
    if not _order(data):
        raise Failure(f"'{path}' is not a crash record: it does not begin with RCZ1, nor with its hex digits")
    return data


def _order(data):
    """Return struct's sign for the byte order of the record @data, "" if it is none."""
    for order in "<>":
        if data[:4] == struct.pack(order + "I", MAGIC):
            return order
    return ""


class _Fields:
    """The packed fields @data of one report, in a system with pointers of @word bytes."""

    def __init__(self, data, word):
        self._data = data
        self._mask = (1 << 8 * word) - 1
        self._at = 0
        self.last = 0

    def byte(self):
        if self._at >= len(self._data):
            raise _End
        self._at += 1
        return self._data[self._at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & self._mask
            if shift > 63:
                raise _End

    def address(self):
        value = self.number()
        self.last = self.last + (value >> 1 ^ -(value & 1)) & self._mask
        return self.last

    def text(self):
        letters = [self.byte() for _ in range(self.number())]
        return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in letters)


class Record:
    """A record, read: text is that of its reports, notes what else is known of it.

    @data: its bytes. @place: the Place of the image that wrote it, or None. reports: how many it has, whole
    or torn. bad: there was a report, even if nothing of it can be read. Raises Failure.
    """

    def __init__(self, data, place=None):
        self._place = place
        self.notes, self._lines, self.reports = [], [], 0
        order = _order(data)
        if not order or len(data) < 4 * _HEADER:
            raise Failure("the crash record is shorter than its header")
        self._order = order
        words = struct.unpack_from(f"{order}{_HEADER}I", data)[1:]
        values = [word & 0xFFFF if word & 0xFFFF == ~word >> 16 & 0xFFFF else None for word in words]
        shape, size, used, begun, lost, again, _ = values
        if None in values:
            self._damaged = True
            self._note("words of its header were overwritten: how many reports there were is not known")
        self._word = {4: 4, 8: 8}.get((shape or 8) & 0xFF, 8)
        self._mode = _MODES.get((shape or 0) >> 8, "")
        end = written = len(data)
        known = used is not None and size is not None
        if known:
            end = min(used, size) * UNIT
            written = min(end, len(data))
        cut = end > len(data)
        if cut:
            self._note(f"it was cut: {len(data)} of its {end} bytes are here")
        found = self._entries(data, 4 * _HEADER, written, known and not cut)
        if begun and (begun - 1) % 255 + 1 != found and not self._damaged and not cut:
            self._note(f"the system was reset when it began to write report {begun}: nothing of it is there")
        elif begun and begun - self.reports > 0 and self._damaged:
            self._note(f"{begun} reports were written, {self.reports} of them can be read")
        if lost:
            self._note(f"it was full: {lost} further {'report' if lost == 1 else 'reports'} had no room")
        if again:
            self._note(f"places that it has were reported again {again} {'time' if again == 1 else 'times'}")
        self.text = "".join(line + "\n" for line in self._lines)
        self.bad = bool(self.reports or lost or self._damaged or begun)

    _damaged = False

    def _note(self, text):
        self.notes.append(f"crash record: {text}")

    # --- The reports ----------------------------------------------------------------------------------------

    def _head(self, data, at, end):
        """Return (state, number, bytes) of the report at @at, None if none can be there."""
        if at + _ENTRY > end:
            return None
        word = struct.unpack_from(self._order + "I", data, at)[0]
        size = (word >> 8 & 0xFFFF) * UNIT
        if word & 0xFF not in (_TORN, _DONE) or not word >> 24 or size < _ENTRY or at + size > end:
            return None
        return word & 0xFF, word >> 24, size

    def _is_right(self, data, at, size):
        state = data[at : at + 4]
        crc = struct.unpack_from(self._order + "I", data, at + 4)[0]
        return zlib.crc32(state + data[at + _ENTRY : at + size]) == crc

    def _entries(self, data, at, end, known):
        """Show all reports in @data from @at to @end. Return the number of the last one. @known: the last one
        ends there; otherwise zeroes may follow, or the rest of one that was cut."""
        last = 0
        lost_from = None
        while at < end:
            head = self._head(data, at, end)
            # A torn one has no checksum, and is the last of its boot.
            good = head and (head[0] == _TORN or self._is_right(data, at, head[2]))
            if not good:
                lost_from = at if lost_from is None else lost_from
                at += UNIT
                continue
            self._overwritten(lost_from, at)
            lost_from = None
            state, last, size = head
            self._show(data[at + _ENTRY : at + size], last, state == _TORN)
            at += size
        if known or (self._damaged and lost_from is not None and any(data[lost_from:end])):
            self._overwritten(lost_from, end)
        return last

    def _overwritten(self, start, end):
        if start is not None:
            self._damaged = True
            self._note(f"bytes {start} to {end - 1} were overwritten: what they said is left out")

    def _show(self, data, number, torn):
        """Print the report in the fields @data."""
        if torn:
            self._note(
                f"report {number} is torn: the system was reset while it was written. It has no checksum, "
                "and its end is missing"
            )
        fields = _Fields(data, self._word)
        lines, self._lines = self._lines, []
        try:
            self._report(fields)
        except _End:
            # The last field may be cut too.
            if not torn:
                self._note(f"report {number} ends too early, although its checksum is right")
        if self._lines:
            self.reports += 1
            lines += [*self._lines, _LINE]
        self._lines = lines

    def _where(self, address):
        """Return the @address in the image, as it is linked, if it lies there, else as it was."""
        if self._place is not None:
            linked = address - self._offset & (1 << 8 * self._word) - 1
            if any(start <= linked < end for start, end in self._place.ranges):
                return linked
        return address

    def _hex(self, address):
        return f"{address:0{2 * self._word}x}"

    def _trace(self, fields, title):
        """Print the trace that comes next, under @title."""
        count = fields.number()
        self._lines.append(title)
        for number in range(count):
            try:
                pc = fields.address()
            except _End:
                if not number:
                    self._lines.append(" (stack is not available)")
                raise
            self._lines.append(f" 0x{self._where(pc):x}")
        if not count:
            self._lines.append(" (stack is not available)")

    def _report(self, fields):
        kind, how = fields.text(), fields.number()
        anchor = fields.address()
        self._offset = anchor - self._place.start if self._place is not None else 0
        ip = self._where(fields.address())
        undefined = how & _UBSAN
        self._lines += [_LINE, f"{'UBSAN' if undefined else 'BUG: KASAN'}: {kind} in 0x{ip:x}"]
        at = len(self._lines)
        try:
            self._trace(fields, "Call trace:")
            fields.last = anchor
            pointer, size = fields.address(), fields.number()
            task, name, cpu, boot, tag = (
                fields.number(),
                fields.text(),
                fields.number(),
                fields.number(),
                fields.number(),
            )
        except _End:
            self._lines[at:at] = [""]
            raise
        self._lines[at:at] = [
            *([] if undefined else [self._access(how, size, self._address(pointer), f"{name}/{task}")]),
            *(
                [f"Pointer tag: [{pointer >> 56:02x}], memory tag: [{tag:02x}]"]
                if self._mode in ("sw_tags", "hw_tags") and how & _HAS_SHADOW and not undefined
                else []
            ),
            "",
            f"CPU: {cpu} PID: {task} Comm: {name}",
        ]
        if boot:
            self._note(f"report {self.reports + 1} is of boot {boot + 1} since the record was cleared")
        self._lines.append("")
        untagged = pointer | 0xFF << 56 if self._mode in ("sw_tags", "hw_tags") else pointer
        self._owner(fields, self._where(untagged))
        sentence = fields.text() if undefined else ""
        if sentence:
            self._lines.insert(2, sentence)

    def _address(self, pointer):
        return self._hex(self._where(pointer))

    def _access(self, how, size, address, task):
        if how & _ASYNC:
            return "Asynchronous fault: no details available"
        if how & _FREE:
            return f"Free of addr {address} by task {task}"
        word = "Access" if how & _UNCLEAR else "Write" if how & _WRITE else "Read"
        return f"{word}{f' of size {size}' if size else ''} at addr {address} by task {task}"

    def _owner(self, fields, addr):
        kind = fields.number()
        if kind == _GLOBAL:
            start, size, name = self._where(fields.address()), fields.number(), fields.text()
            self._lines.append("The buggy address belongs to the variable:")
            if addr >= start:
                self._lines.append(f" {name}+0x{addr - start:x}/0x{size:x}")
            else:
                self._lines.append(f" {start - addr} bytes to the left of {name}+0x0/0x{size:x}")
        elif kind == _FRAME:
            frame, function = fields.address(), self._where(fields.address())
            self._lines += [
                "The buggy address belongs to stack of another task",
                f" and is located at offset {addr - frame} in frame:",
                f" 0x{function:x}",
            ]
        elif kind:
            self._object(fields, addr)

    def _object(self, fields, addr):
        state, start, size = fields.number(), fields.address(), fields.number()
        cache_size, name = fields.number(), fields.text()
        known = []
        if state >> 3 & 1:
            known.append("Allocated")
        if state >> 4 & 1:
            known.append("Freed")
        try:
            for what in known:
                self._trace(fields, f"{what} by task {fields.number()}:")
                self._lines.append("")
        finally:
            where, distance = "inside of", addr - start
            if addr < start:
                where, distance = "to the left of", start - addr
            elif addr >= start + size:
                where, distance = "to the right of", addr - start - size
            self._lines += [
                f"The buggy address belongs to the object at {self._hex(start)}",
                f" which belongs to the cache {name} of size {cache_size}",
                f"The buggy address is located {distance} bytes {where}",
                f" {_STATES[state & 3]}{size}-byte region [{self._hex(start)}, {self._hex(start + size)})",
            ]
            if state & 4:
                self._lines.append("The metadata of this object was overwritten: what it said is left out")
            self._lines.append("")
