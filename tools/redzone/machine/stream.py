# SPDX-License-Identifier: MIT
"""What a reference kernel sends: lines of its own, lines of a program, contents of files, how it ended.

All of it is one stream of bytes, and kernel/include/kernel/host.h says how its channels are told apart.
Whoever runs in the machine can send anything, so every number is checked.
"""

from dataclasses import dataclass

from redzone.machine.console import ProgramLine

_MARK = b"\x10"
_FIRST = 0x20
_KERNEL, _PROGRAM, _CONTROL, _SAVED = 0, 1, 2, 3
# A longer line is given in parts, so that the user need not wait for its end.
MAX_LINE = 16384
_MAX_CONTROL = 256


@dataclass
class Message:
    """A line of the kernel's host_tell()."""

    word: str
    first: int
    second: int


@dataclass
class Saved:
    """Bytes of a file. number: its place in the list of files that the kernel was asked for."""

    number: int
    data: bytes


class Stream:
    """Takes the bytes as they come."""

    def __init__(self):
        self._channel = _KERNEL
        self._marked = False
        # The lines that are still open: {channel: bytes}.
        self._open = {}

    def feed(self, data):
        """Yield what @data holds, in order: a list of lines of the kernel (str) or of a program
        (ProgramLine), a Message, or Saved."""
        if self._marked:
            data = _MARK + data
            self._marked = False
        first, *parts = data.split(_MARK)
        text = [first]
        number = 0
        while number < len(parts):
            part = parts[number]
            number += 1
            if part:
                yield from self._take(b"".join(text))
                self._channel = part[0] - _FIRST
                text = [part[1:]]
            elif number < len(parts):
                # Two marks are the byte itself.
                text += (_MARK, parts[number])
                number += 1
            else:
                self._marked = True
        yield from self._take(b"".join(text))

    def part(self):
        """Return the beginning of a program's line whose end has not come, as a ProgramLine; None: there is
        none."""
        data = self._open.get(_PROGRAM)
        return self._line(_PROGRAM, data) if data else None

    def end(self):
        """Yield the lines that have no end."""
        for channel in (_KERNEL, _PROGRAM):
            if self._open.get(channel):
                yield [self._line(channel, self._open.pop(channel))]

    def _take(self, data):
        channel = self._channel
        if not data:
            return
        if channel >= _SAVED:
            yield Saved(channel - _SAVED, data)
        elif channel >= 0:
            *lines, rest = (self._open.pop(channel, b"") + data).split(b"\n")
            if channel == _CONTROL:
                self._open[channel] = rest[-_MAX_CONTROL:]
                yield from filter(None, map(self._message, lines))
                return
            if len(rest) > MAX_LINE:
                lines.append(rest)
                rest = b""
            self._open[channel] = rest
            if lines:
                yield [self._line(channel, line) for line in lines]

    @staticmethod
    def _line(channel, line):
        text = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
        return ProgramLine(text) if channel == _PROGRAM else text

    @staticmethod
    def _message(line):
        try:
            word, first, second = line.decode("ascii").split()
            return Message(word, int(first), int(second))
        except ValueError:
            return None


def decode(data):
    """Return (all lines in the bytes @data of a stream, the Message of the end or None)."""
    stream, lines, end = Stream(), [], None
    for item in [*stream.feed(data), *stream.end()]:
        if isinstance(item, list):
            lines += item
        elif isinstance(item, Message) and item.word == "end":
            end = item
    return lines, end
