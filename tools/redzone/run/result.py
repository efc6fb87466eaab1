# SPDX-License-Identifier: MIT
"""The file of `./redzone run --json`: what decode makes of the console, and how the run ended.

docs/use/json.schema.json describes it, and the file of --each, whose verdicts use the same words.
"""

import json
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.decode import model
from redzone.run import summary


def write(path, data):
    """Write @data to the file @path of --json."""
    try:
        Path(path).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise Failure(f"--json '{path}' cannot be written: {error.strerror}") from None


def source_record(source):
    """Return the model.Location @source of a bug or a crash, as the files have it."""
    return {
        "file": base.relative(source.path),
        "line": source.line or None,
        "function": source.function,
    }


def _end(outcome, status):
    """Return the word for how the qemu.Outcome @outcome ended; @status: the exit status."""
    crash = outcome.reader.crash
    if status == base.CRASHED:
        hangs = not outcome.ended or (crash is not None and crash.hang)
        return "timeout" if hangs else "crash"
    if status == base.PROGRAM_FAILED:
        return "save" if outcome.status == base.OK else "status"
    return {
        base.OK: "ok",
        base.REPORTED: "report",
        base.LOCKS_REPORTED: "locks",
        base.INTERRUPTED: "interrupted",
    }[status]


def record(options, end, status, title, seconds):
    """Return what the file says about a run with the job.Options @options."""
    return {
        "ok": end == "ok",
        "end": end,
        "status": status,
        "title": title or "",
        "seconds": round(seconds, 3),
        "files": [str(file) for file in options.files],
        "arch": options.arch,
        "mode": options.mode,
        "compiler": options.cc,
    }


def of(options, outcome, screen, status):
    """Return the record of a run that ended with the qemu.Outcome @outcome. @screen: its view.View."""
    reader, source = outcome.reader, None
    title = summary.title(outcome, screen, options.timeout)
    if reader.reports:
        first = reader.reports[0]
        source = summary.own_source(summary.trace(first), screen.sources)
        title = summary.headline(first, screen.sources)
        title = title if summary.is_leak(first) else f"{first.kind.upper()}: {title}"
    elif reader.crash is not None:
        source = summary.crash_place(reader.crash, screen.sources)
    end = _end(outcome, status)
    if end == "save":
        title = "a file of --save was not saved"
    found = record(options, end, status, title, outcome.seconds)
    if source is not None:
        found["source"] = source_record(source)
    return found


def of_build(options, failure):
    """Return the record of a run that did not begin, because of the builder.BuildFailure @failure."""
    title, *messages = str(failure).splitlines()
    found = record(options, "build", failure.status, title.rstrip(":"), 0.0)
    return found | {"messages": messages}


def document(log, run):
    """Return the whole file: the model.Log @log, and @run, a record."""
    return model.to_json(log) | {"run": run}
