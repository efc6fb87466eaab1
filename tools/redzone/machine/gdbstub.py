# SPDX-License-Identifier: MIT
"""Talks to QEMU's debugger interface (the GDB remote protocol): breakpoints, and commands for its monitor."""

import socket
import time

from redzone.core import base
from redzone.core.base import Failure


class Stub:
    """A stopped machine, started with options(path).

    Its methods raise Failure if QEMU ends, or takes longer than @timeout seconds.
    """

    def __init__(self, path, timeout, ended):
        """Connect to the socket @path. ended(): has QEMU ended?"""
        self._socket = socket.socket(socket.AF_UNIX)
        self._data = b""
        until = time.monotonic() + timeout
        while True:
            try:
                self._socket.connect(str(path))
                break
            except OSError as error:
                if ended() or time.monotonic() > until:
                    self._socket.close()
                    raise Failure(f"QEMU does not let itself be debugged: {error.strerror}") from None
                time.sleep(0.05)
        self._socket.settimeout(timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def _byte(self):
        if not self._data:
            try:
                self._data = self._socket.recv(4096)
            except TimeoutError:
                raise Failure("the debugged machine does not come to its next stop", base.CRASHED) from None
            if not self._data:
                raise Failure("the debugged machine has ended", base.CRASHED)
        byte, self._data = self._data[:1], self._data[1:]
        return byte

    def _send(self, text):
        data = text.encode()
        self._socket.sendall(b"$%s#%02x" % (data, sum(data) % 256))

    def _receive(self):
        """Return the next packet's text. Acknowledgements are dropped."""
        while self._byte() != b"$":
            pass
        data = b""
        while (byte := self._byte()) != b"#":
            data += byte
        self._byte()
        self._byte()
        self._socket.sendall(b"+")
        return data.decode("utf-8", "replace")

    def _ask(self, text):
        self._send(text)
        return self._receive()

    def _breakpoint(self, letter, address):
        answer = self._ask(f"{letter}1,{address:x},4")
        if answer != "OK":
            raise Failure(f"QEMU takes no breakpoint: {answer or 'no answer'}", base.CRASHED)

    def run_to(self, address):
        """Run until the machine comes to @address. It must not be there now."""
        self._breakpoint("Z", address)
        answer = self._ask("c")
        if not answer.startswith(("T", "S")):
            raise Failure("the debugged machine ended before its next stop", base.CRASHED)
        self._breakpoint("z", address)

    def monitor(self, command):
        """Run a command of QEMU's monitor; return its output."""
        self._send("qRcmd," + command.encode().hex())
        output = ""
        while (answer := self._receive()) != "OK":
            if not answer.startswith("O"):
                raise Failure(f"QEMU refuses '{command}': {answer or 'no answer'}", base.CRASHED)
            output += bytes.fromhex(answer[1:]).decode("utf-8", "replace")
        return output

    def let_go(self):
        """Let the machine run without more stops."""
        self._send("D")


def options(path):
    """Return QEMU's options for a machine that waits for a Stub on the socket @path."""
    return ["-S", "-gdb", f"unix:{path},server=on,wait=off"]
