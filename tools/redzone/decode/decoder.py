# SPDX-License-Identifier: MIT
"""Decodes a log from beginning to end: reads it, looks frames up, explains, and compares with a baseline.

`./redzone decode`, `run` and `port` use the Decoder; it knows nothing of options or outputs.
"""

import json
import sys
from pathlib import Path

from redzone.core.base import Failure
from redzone.decode import explain, model, roles, scan, signature, source, variables


class Explainer:
    """Fills what a model.Report leaves to images and to readers: lines, variables, types, source, sentences.

    The arguments are those of Decoder. Close it, or use it in a with statement.
    """

    def __init__(self, symbols=None, folders=()):
        self._symbols = symbols
        trusted = symbols.names_file if symbols is not None else lambda path: False
        self._sources = source.Sources(folders, trusted)
        self._types = source.Types(self._sources)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self._types.close()

    def explain(self, reports):
        """Complete @reports, all of one system."""
        if self._symbols is not None:
            self._symbols.look_up(reports)
        for report in reports:
            if self._symbols is not None:
                source.set_helpers(report)
                _name_object(report, self._symbols, self._types)
            source.add_excerpts(report, self._sources)
            report.explanation = explain.explain(report)

    def excerpt(self, location):
        """Return the model.Excerpt of the source around @location, None without its source."""
        return self._sources.excerpt("call", location)


class Decoder:
    """Takes a log with feed() (bytes) and gives the model.Log with finish(). Several logs: begin() each.

    symbols: a symbols.Symbols, or None without images. folders: where the source lies, if not where the debug
    information says. allocators: names of functions that are, beside those that are known.
    """

    def __init__(self, symbols=None, folders=(), allocators=()):
        roles.set_allocators(allocators)
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
        with Explainer(symbols, self._folders) as explainer:
            explainer.explain(reports)
        if symbols is not None:
            log.images = symbols.used()
        for bug in log.bugs:
            _place(bug)
            if symbols is not None and bug.reports:
                # The lines tell whose the functions are.
                report = bug.reports[bug.smallest]
                bug.title, bug.function = signature.title(report), signature.function(report)
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
    if found.kind == "stack" and not found.variables:
        _name_locals(report, symbols)
    allocated = report.stack("allocated")
    if found.kind in ("slab", "heap", "page") and allocated is not None:
        place = source.place_of(allocated)
        image = symbols.image_with(place.path) if place is not None else None
        if image is not None:
            found.type = types.of(image, place, found.size)


def _name_locals(report, symbols):
    """Say which variables have the memory, if the report says only where in a frame it is."""
    place = variables.in_frame(report)
    if place is None:
        return
    frame, bad, start, end = place
    found = report.object
    for one, where in symbols.locals_of(frame):
        if one.start < end and start < one.end:
            one.hit = True
            found.variables.append(one)
            found.where = found.where or where
    if found.variables:
        found.distance = bad
        report.stacks.append(model.Stack("frame", frames=[frame]))


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
