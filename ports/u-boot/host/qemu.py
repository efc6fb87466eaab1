# SPDX-License-Identifier: MIT
"""Runs U-Boot in QEMU, types commands, reads the answers, and names the functions in KASAN's reports.

U-Boot has no symbols at run time, and it copies itself to the top of RAM. The port prints the distance; this
module uses it to look up the frames, which are bare addresses, in the ELF file.
"""

import contextlib
import os
import re
import selectors
import signal
import subprocess
import time
from pathlib import Path

from redzone.core.base import ROOT, Failure
from redzone.decode.images import Image
from redzone.kit import ports
from redzone.machine import console

PROMPT = "=> "
_RELOCATED = re.compile(r"^KASAN: window .* relocated by 0x([0-9a-f]+)")
_FRAME = re.compile(r"^ (?:0x)?([0-9a-f]{6,16})$")
_HEADLINE = re.compile(r"^(BUG: KASAN: [a-z-]+ in )(?:0x)?([0-9a-f]{6,16})$")
_LOCATION_COLUMN = 44


class Stopped(Exception):
    """QEMU ended, or U-Boot did not answer in time."""


class Decoder:
    """Turns the console lines of one boot of @elf into lines with function names."""

    def __init__(self, elf, source=None):
        # Debian's patches make paths relative, so that they seem to lie in the build folder.
        folders = [*([source] if source else []), Path(elf).parent, ROOT]
        self._prefixes = [f"{folder}/" for folder in folders]
        self._offset = None
        self._image = Image(elf)

    def close(self):
        self._image.close()

    def _name(self, address):
        """Return (`name+0xOFFSET/0xSIZE`, list of Location) of the call or instruction before @address."""
        linked = address - self._offset
        found = self._image.functions.at(linked - 1)
        if found is None:
            return None, []
        name, offset, size = found
        return f"{name}+{offset + 1:#x}/{size:#x}", self._image.lines_at(linked - 1)

    def line(self, text):
        """Return three things: @text with names in the runtime's own format; the same followed by the source
        location; what console.Reader takes in its place, a line for each inlined function."""
        relocated = _RELOCATED.match(text)
        if relocated:
            self._offset = int(relocated[1], 16)
        if self._offset is None:
            return text, text, [text]
        headline = _HEADLINE.match(text)
        if headline:
            name, _ = self._name(int(headline[2], 16))
            named = headline[1] + name if name else text
            return named, named, [named]
        frame = _FRAME.match(text)
        if not frame:
            return text, text, [text]
        name, sources = self._name(int(frame[1], 16))
        if not name:
            return text, text, [text]
        named = f" {name}"
        if not sources:
            return named, named, [named]
        *inner, last = sources
        shown = named.ljust(_LOCATION_COLUMN - 1) + " " + self._place(last)
        if inner:
            shown += f" (inlined: {', '.join(f'{one.function}() {self._place(one)}' for one in inner)})"
        inlined = [f" {one.function} {one.path}:{one.line} [inline]" for one in inner]
        return named, shown, [*inlined, f"{named} {last.path}:{last.line}"]

    def _place(self, source):
        path = source.path
        for prefix in self._prefixes:
            path = path.removeprefix(prefix)
        return f"{path}:{source.line}" if source.line else path


class Machine:
    """One U-Boot in QEMU. Use it in a with statement.

    image: build.Image. disks: raw image files, virtio 0, 1, ... in this order; protect: nothing is written to
    them. network: a -netdev argument with id=net, "user" for QEMU's own, None for no network. extra: more
    arguments for QEMU. log: file for the raw console. echo: called with every readable line; echo_typed: also
    with the typed ones.
    """

    def __init__(
        self,
        image,
        source=None,
        memory="512M",
        disks=(),
        protect=False,
        network="user",
        extra=(),
        log=None,
        echo=None,
        echo_typed=True,
    ):
        self.reader = console.Reader()
        self.lines = []
        self.started = time.monotonic()
        self._decoder = Decoder(image.elf, source) if image.kasan else None
        self._echo = echo
        self._echo_typed = echo_typed
        self._buffer = ""
        self._typed = None
        self._log = open(log, "wb") if log else None  # noqa: SIM115
        command = ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a57", "-m", memory]
        command += ["-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot"]
        command += ["-bios", str(image.binary)]
        for number, disk in enumerate(disks):
            drive = f"if=none,file={ports.option_value(disk)},format=raw,id=disk{number}"
            command += ["-drive", drive + (",snapshot=on" if protect else "")]
            # U-Boot counts by address, and QEMU hands out the last slot first.
            command += ["-device", f"virtio-blk-device,drive=disk{number},bus=virtio-mmio-bus.{number}"]
        if network:
            netdev = "user,id=net" if network == "user" else network
            command += ["-netdev", netdev, "-device", "virtio-net-device,netdev=net"]
        else:
            command += ["-nic", "none"]
        self.command_line = [*command, *extra]
        try:
            self._process = subprocess.Popen(
                self.command_line,
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
        self.close()

    def close(self):
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self._selector.close()
        if self._decoder:
            self._decoder.close()
        if self._log:
            self._log.close()

    @property
    def reports(self):
        return self.reader.reports

    def _feed(self, text):
        named, shown, lines = self._decoder.line(text) if self._decoder else (text, text, [text])
        for one in lines:
            self.reader.feed(one)
        self.lines.append(named)
        if text == self._typed:
            # The echo of the typed text; the prompt before it has been removed.
            self._typed = None
            if not self._echo_typed:
                return named
            shown = PROMPT + shown
        if self._echo:
            self._echo(shown)
        return named

    def _receive(self, deadline):
        """Take the output that comes before @deadline. Return the complete lines; raise Stopped at the end of
        the output."""
        left = deadline - time.monotonic()
        if left <= 0 or not self._selector.select(left):
            raise Stopped("no answer in time")
        data = os.read(self._process.stdout.fileno(), 65536)
        if not data:
            if self._buffer:
                self._feed(self._buffer)
                self._buffer = ""
            raise Stopped("U-Boot ended")
        if self._log:
            self._log.write(data)
            self._log.flush()
        self._buffer += data.decode("utf-8", "surrogateescape").replace("\r", "")
        *lines, self._buffer = self._buffer.split("\n")
        return [self._feed(line) for line in lines]

    def wait_prompt(self, timeout=60):
        """Return the lines up to the next prompt. Raise Stopped if none comes within @timeout seconds."""
        deadline = time.monotonic() + timeout
        lines = []
        while not (self._buffer.endswith(PROMPT) and self._buffer.startswith(PROMPT)):
            lines += self._receive(deadline)
        return lines

    def type(self, text):
        try:
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise Stopped("U-Boot ended") from error

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
        """Read until QEMU ends or @timeout seconds have passed."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                self._receive(deadline)
        except Stopped:
            pass
