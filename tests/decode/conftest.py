# SPDX-License-Identifier: MIT
"""What the tests of `./redzone decode` share."""

import json

import pytest
from redzone.core import process
from redzone.core.base import ROOT
from redzone.decode import decoder, model, symbols


def decode(text, elfs=(), modules=None, folders=(), chunk=None, offset=None, allocators=()):
    """Return the model.Log of @text, str or bytes, given in pieces of @chunk bytes."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    found = symbols.Symbols(elfs, modules, offset) if elfs else None
    try:
        one = decoder.Decoder(found, folders, allocators)
        one.begin("log")
        step = chunk or max(len(data), 1)
        for at in range(0, len(data), step):
            one.feed(data[at : at + step])
        log = one.finish()
    finally:
        if found is not None:
            found.close()
    # Each log survives its JSON form.
    assert model.from_json(json.loads(json.dumps(model.to_json(log)))) == log
    return log


def reports(log):
    """Return the kept reports of the model.Log in the order of the log."""
    return sorted((one for bug in log.bugs for one in bug.reports), key=lambda one: one.first_line)


@pytest.fixture
def run_decode():
    """Return a function that runs the command, checks its exit @status, and returns its CompletedProcess."""

    def run(*arguments, status=None, **options):
        result = process.run([ROOT / "redzone", "decode", *arguments], timeout=300, **options)
        assert status in (None, result.returncode), result.stdout + result.stderr
        return result

    return run
