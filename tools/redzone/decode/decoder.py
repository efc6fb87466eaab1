# SPDX-License-Identifier: MIT
"""Decodes a log from beginning to end: reads it, looks frames up, explains, and compares with a baseline.

`./redzone decode`, `run` and `port` use the Decoder; it knows nothing of options or outputs.
"""

import json
import sys
from pathlib import Path

from redzone.base import Failure
from redzone.decode import model, scan


class Decoder:
    """Takes a log with feed() (bytes) and gives the model.Log with finish(). Several logs: begin() each.

    symbols: an images.Symbols, or None without images. folders: where the source lies, if not where the debug
    information says.
    """

    def __init__(self, symbols=None, folders=()):
        self._symbols = symbols
        self._folders = tuple(folders)
        self._scanner = scan.Scanner(symbols.name_frames if symbols else None)

    def begin(self, source):
        """What follows is from the log called @source."""
        self._scanner.begin(source)

    def feed(self, data):
        self._scanner.feed(data)

    def finish(self):
        """Return the model.Log. The decoder is used up."""
        return self._scanner.end()


def read_file(decoder, name):
    """Give the file @name ("-": standard input) to the Decoder @decoder."""
    decoder.begin(name)
    try:
        with open(name, "rb") if name != "-" else _keep(sys.stdin.buffer) as file:
            read = getattr(file, "read1", file.read)
            while data := read(scan.CHUNK):
                decoder.feed(data)
    except OSError as error:
        raise Failure(f"cannot read '{name}': {error.strerror}") from None


class _keep:
    """A file that the with statement does not close."""

    def __init__(self, file):
        self._file = file

    def __enter__(self):
        return self._file

    def __exit__(self, *ignored):
        pass


# --- Baseline --------------------------------------------------------------------------------------------


def read_baseline(path):
    """Return the signatures in the file @path: one that --json wrote, or lines that begin with a signature."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"--baseline '{path}' cannot be read: {error}") from None
    if text.lstrip()[:1] == "{":
        try:
            return {bug.signature for bug in model.from_json(json.loads(text)).bugs}
        except (ValueError, RecursionError) as error:
            raise Failure(f"--baseline '{path}' is not the JSON of ./redzone decode: {error}") from None
    found = set()
    for number, line in enumerate(text.splitlines(), 1):
        word = line.split("#")[0].split()[:1]
        if not word:
            continue
        if len(word[0]) != 16 or any(letter not in "0123456789abcdef" for letter in word[0]):
            raise Failure(
                f"--baseline '{path}', line {number}: '{word[0][:40]}' is no signature"
            )
        found.add(word[0])
    return found


def mark_known(log, signatures):
    """Mark the bugs of @log whose signature is in @signatures."""
    for bug in log.bugs:
        bug.known = bug.signature in signatures
