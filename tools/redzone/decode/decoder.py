# SPDX-License-Identifier: MIT
"""Decodes a log from beginning to end: reads it, looks frames up, explains, and compares with a baseline.

`./redzone decode`, `run` and `port` use the Decoder; it knows nothing of options or outputs.
"""

import json
import sys
from pathlib import Path

from redzone.base import Failure
from redzone.decode import explain, model, scan, source


class Decoder:
    """Takes a log with feed() (bytes) and gives the model.Log with finish(). Several logs: begin() each.

    symbols: a symbols.Symbols, or None without images. folders: where the source lies, if not where the debug
    information says.
    """

    def __init__(self, symbols=None, folders=()):
        self._symbols = symbols
        self._folders = tuple(folders)
        self._scanner = scan.Scanner()

    def begin(self, name):
        """What follows is from the log @name."""
        self._scanner.begin(name)

    def feed(self, data):
        self._scanner.feed(data)

    def finish(self):
        """Return the model.Log. The decoder is used up."""
        log = self._scanner.end()
        reports = [report for bug in log.bugs for report in bug.reports]
        symbols = self._symbols
        if symbols is not None:
            symbols.check_build_ids(self._scanner.build_ids)
            symbols.learn_offset(self._scanner.offset, reports)
            if symbols.name_frames(reports):
                self._scanner.collector.merge()
                reports = [report for bug in log.bugs for report in bug.reports]
            symbols.look_up(reports)
            log.images = symbols.used()
        trusted = symbols.names_file if symbols is not None else lambda path: False
        sources = source.Sources(self._folders, trusted)
        types = source.Types(sources)
        try:
            for report in reports:
                if symbols is not None:
                    _name_object(report, symbols, types)
                source.add_excerpts(report, sources)
                report.explanation = explain.explain(report)
        finally:
            types.close()
        for bug in log.bugs:
            _place(bug)
        if symbols is not None:
            log.notes += symbols.notes
        return log


def _name_object(report, symbols, types):
    """Say of which variable or type the object is."""
    found = report.object
    if found is None:
        return
    if found.kind == "global" and found.start is not None:
        known = symbols.variable_of(found)
        if known is not None:
            found.name, found.where = found.name or known[0], known[1]
    allocated = report.stack("allocated")
    if found.kind in ("slab", "heap", "page") and allocated is not None:
        place = source.place_of(allocated)
        image = symbols.image_with(place.path) if place is not None else None
        if image is not None:
            found.type = types.of(image, place, found.size)


def _place(bug):
    """Fill in the line of source to look at first."""
    for report in bug.reports:
        about = next((one for one in report.excerpts if one.about == "call" and one.location.line), None)
        if about is not None:
            bug.location = about.location
            return


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
    """Return the signatures in the file @path: one of --json, or lines that begin with a signature."""
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
            raise Failure(f"--baseline '{path}', line {number}: '{word[0][:40]}' is not a signature")
        found.add(word[0])
    return found


def mark_known(log, signatures):
    """Mark the bugs of @log whose signature is in @signatures."""
    for bug in log.bugs:
        bug.known = bug.signature in signatures
