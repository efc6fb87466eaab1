# SPDX-License-Identifier: MIT
"""A port's system in QEMU: its console is read, typed at, and its functions named.

Such a system has no symbols at run time. Its frames are bare addresses, which are looked up in an ELF file.
"""

import contextlib
import os
import re
import selectors
import signal
import subprocess
import time
from typing import NamedTuple

from redzone.core.base import Failure
from redzone.decode.images import Image
from redzone.elf.file import File
from redzone.elf.symbols import Functions
from redzone.machine import console

_FRAME = re.compile(r"^ (0x[0-9a-f]+|[0-9a-f]{6,16})$")
_HEADLINE = re.compile(r"^(BUG: KASAN: [a-z-]+ in )(0x[0-9a-f]+|[0-9a-f]{6,16})$")
# A 32-bit processor's, which the runtime prints with 16 digits.
_SHORT = re.compile(r"^((?:Read|Write|Access|Free) (?:of )?(?:size \d+ )?(?:at )?addr )([0-9a-f]{8})( )")
_PLACE_COLUMN = 43
# The last words of a system have come whole when nothing follows for so many seconds.
QUIET = 1


class Stopped(Exception):
    """QEMU ended, or the system did not answer in time."""


class Named(NamedTuple):
    """A line of the console. text: with names, in the runtime's own format. shown: for people, with the place
    in the source. fed: what console.Reader takes in its place, with a line for each inlined function."""

    text: str
    shown: str
    fed: list


class Names:
    """Turns the console lines of the system @elf into lines with function names.

    folders: paths are shown from there. kinds: of the symbols that count, as elf.symbols.Functions takes
    them; by default all that are code. entries: an address where a function begins is that function's, not
    that of a call at the end of the one before. moved: how far the code lies from where it was linked; None
    while that is not known, and then nothing is named.
    """

    def __init__(self, elf, folders=(), kinds=None, entries=False):
        self.moved = 0
        self._prefixes = [f"{folder}/" for folder in folders]
        self._entries = entries
        self._image = Image(elf)
        self._functions = Functions(File.open(elf), kinds) if kinds else self._image.functions

    def close(self):
        self._image.close()

    def _name(self, address):
        """Return (`name+0xOFFSET/0xSIZE`, [Location]) of the call or instruction before @address."""
        # Thumb code has bit 0 set.
        address = (address & ~1) - self.moved
        found = self._functions.at(address)
        inside = address if self._entries and found and found[1] == 0 else address - 1
        found = self._functions.at(inside)
        if found is None:
            return None, []
        name, offset, size = found
        return f"{name}+{offset + address - inside:#x}/{size:#x}", self._image.lines_at(inside)

    def _place(self, location):
        path = location.path
        for prefix in self._prefixes:
            path = path.removeprefix(prefix)
        return f"{path}:{location.line}" if location.line else path

    def line(self, text):
        """Return @text as a Named."""
        wide = _SHORT.sub(lambda found: f"{found[1]}{found[2]:0>16}{found[3]}", text)
        headline, frame = _HEADLINE.match(text), _FRAME.match(text)
        if self.moved is None or not (headline or frame):
            return Named(wide, text, [wide])
        name, places = self._name(int(headline[2] if headline else frame[1], 16))
        if not name:
            return Named(text, text, [text])
        named = headline[1] + name if headline else f" {name}"
        if headline or not places:
            return Named(named, named, [named])
        *inner, last = places
        shown = f"{named:{_PLACE_COLUMN}} {self._place(last)}"
        if inner:
            shown += f" (inlined: {', '.join(f'{one.function}() {self._place(one)}' for one in inner)})"
        inlined = [f" {one.function} {one.path}:{one.line} [inline]" for one in inner]
        return Named(named, shown, [*inlined, f"{named} {last.path}:{last.line}"])


class Machine:
    """One system in QEMU. Use it in a with statement.

    who: the system's name. command: QEMU's, with the console as its standard input and output. prompt: what
    the system asks with. last_words: a pattern of the line after which nothing comes. names: Names, None to
    leave lines as they are; they are closed with the machine. log: file for the raw console. echo: called
    with every readable line; echo_typed: also with the typed ones.
    """

    def __init__(
        self, who, command, prompt="", last_words=None, names=None, log=None, echo=None, echo_typed=True
    ):
        self.reader = console.Reader()
        self.lines = []
        self.names = names
        self._who, self._prompt, self._last_words = who, prompt, last_words
        self._said = None
        self._ended = False
        self._echo, self._echo_typed = echo, echo_typed
        self._buffer = ""
        self._typed = None
        self._log = open(log, "wb") if log else None  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                list(map(str, command)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise Failure(f"cannot start QEMU: {error}") from error
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self._selector.close()
        if self.names:
            self.names.close()
        if self._log:
            self._log.close()

    @property
    def reports(self):
        return self.reader.reports

    def heard(self, event, found):
        """For a port that wants each report when it comes: what console.Reader made of a line."""

    def feed(self, text):
        """Take the line @text of the console. Return it with names."""
        named, shown, fed = self.names.line(text) if self.names else (text, text, [text])
        for one in fed:
            self.heard(*self.reader.feed(one))
        self.lines.append(named)
        if self._last_words and self._last_words.match(named):
            self._said = named
        if text == self._typed:
            # The echo of the typed text; the prompt before it has been removed.
            self._typed = None
            if not self._echo_typed:
                return named
            shown = self._prompt + shown
        if self._echo:
            self._echo(shown)
        return named

    def _receive(self, deadline):
        """Take the output that comes before @deadline. Return the complete lines; raise Stopped at the end of
        the output."""
        left = deadline - time.monotonic()
        if left <= 0 or not self._selector.select(min(left, QUIET) if self._said else left):
            raise Stopped(self._said or "no answer in time")
        data = os.read(self._process.stdout.fileno(), 65536)
        if not data:
            if self._buffer:
                self.feed(self._buffer)
                self._buffer = ""
            self._ended = True
            raise Stopped(f"{self._who} ended")
        if self._log:
            self._log.write(data)
            self._log.flush()
        self._buffer += data.decode("utf-8", "surrogateescape").replace("\r", "")
        *lines, self._buffer = self._buffer.split("\n")
        return [self.feed(line) for line in lines]

    def wait_prompt(self, timeout=60):
        """Return the lines up to the next prompt. Raise Stopped if none comes within @timeout seconds."""
        deadline = time.monotonic() + timeout
        lines = []
        while not (self._buffer.endswith(self._prompt) and self._buffer.startswith(self._prompt)):
            lines += self._receive(deadline)
        return lines

    def type(self, text):
        try:
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise Stopped(f"{self._who} ended") from error

    def command(self, text, timeout=60):
        """Run one command. Return its output lines, without the typed line."""
        self._buffer = ""
        self._typed = text
        self.type(f"{text}\n")
        lines = self.wait_prompt(timeout)
        return lines[1:] if lines and lines[0].endswith(text) else lines

    def wait_text(self, text, timeout=60):
        """Read until @text appears. Raise Stopped if it does not within @timeout seconds."""
        deadline = time.monotonic() + timeout
        while text not in self._buffer and not any(text in line for line in self._receive(deadline)):
            pass

    def wait_end(self, timeout=10):
        """Read until QEMU ends or @timeout seconds have passed. Return its status, None if it runs on."""
        deadline = time.monotonic() + timeout
        with contextlib.suppress(Stopped):
            while True:
                self._receive(deadline)
        return self._process.wait() if self._ended else None
