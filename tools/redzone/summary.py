# SPDX-License-Identifier: MIT
"""Sums up `./redzone run` when the machine has ended: the reports, a crash and its place, the verdict."""

import sys

from redzone import base, unfound, view

ABORTED = 134


def groups(reports, sources):
    """Return [(first report, how many)]: reports of one place are one group, in the order of the first."""
    found = {}
    for report in reports:
        found.setdefault(view.place_key(report, sources), []).append(report)
    return [(members[0], len(members)) for members in found.values()]


def say_reports(reports, sources):
    """List the @reports, one line per place."""
    different = groups(reports, sources)
    count = base.plural(len(reports), "KASAN report")
    if len(different) < len(reports):
        count += f" from {base.plural(len(different), 'place')}"
    base.say(f"{count}:")
    for number, (report, times) in enumerate(different, 1):
        again = f", {times} times" if times > 1 else ""
        base.say(f"  {number}. {view.headline(report, sources)}{again}")
    if len(different) > 1:
        base.say("later reports may be consequences of the first: fix that one first")


def crash_place(crash, sources):
    """Return the Source that explains a console.Crash: the user's, else that of the first frame, or None."""
    source = view.own_source(crash.frames, sources)
    if source is not None:
        return source
    known = [frame.sources[0] for frame in crash.frames if frame.sources]
    return known[0] if known else None


def in_program(crash, sources):
    """Did the thread that runs main() crash?"""
    return view.own_source(crash.frames, sources) is not None or any(
        frame.name == "program_thread" for frame in crash.frames
    )


def crash_text(crash, sources):
    """Return one line about a console.Crash."""
    fault = crash.text.removeprefix("Unable to handle kernel ")
    if not in_program(crash, sources):
        text = f"the kernel crashed: {crash.text}"
    elif crash.stack is not None:
        size = f"{crash.stack >> 20} MiB" if crash.stack >= 1 << 20 else f"{crash.stack >> 10} KiB"
        text = f"the program overflowed its stack ({size})"
    else:
        text = f"the program crashed: {fault}"
    source = crash_place(crash, sources)
    if source is not None:
        return f"{text}: {source.function}() at {source.at(base.relative(source.path))}"
    frame = crash.frames[0] if crash.frames else None
    return f"{text}: {frame.name}+{frame.offset:#x}" if frame is not None else text


def returned_text(status):
    """Return one line about a program that returned @status, not 0."""
    if status is None:
        return "the program returned non-zero"
    if status == ABORTED:
        return f"the program aborted: abort() or a failed assert() (status {ABORTED})"
    return f"the program returned {status}"


def off_text(reader):
    """Return one line about a kernel whose KASAN is off.

    reader: the console.Reader of a kernel with KASAN, None for one without.
    """
    text = "KASAN is off: nothing was checked"
    if reader is None or reader.kasan_off is None:
        return text
    return f"{text}; the kernel said: {reader.kasan_off}"


def say_unfound(mode):
    """Say what a run in @mode without a report does not exclude."""
    for line in unfound.lines(mode):
        base.say(line)


def conclude(outcome, screen, mode, verbose=False):
    """Say how it ended.

    screen: the View; its symbolizer is None if places are not wanted. mode: the kernel's. verbose: if nothing
    was reported, say as well what that does not exclude.
    """
    reader = outcome.reader
    if reader.reports and screen.symbolizer is not None:
        say_reports(reader.reports, screen.sources)
    elif reader.reports:
        base.say(base.plural(len(reader.reports), "KASAN report"))
    crash = reader.crash
    if outcome.status == base.CRASHED and crash is not None and outcome.ended:
        base.say(crash_text(crash, screen.sources))
        source = crash_place(crash, screen.sources)
        if source is not None:
            for text, _ in view.excerpt(source):
                print(text, file=sys.stderr)
    elif outcome.status == base.PROGRAM_FAILED and reader.returned is not None:
        base.say(returned_text(reader.returned))
    elif outcome.message:
        base.say(outcome.message)
    if reader.reports and crash is not None and crash.frames and crash.text.startswith("Unable"):
        base.say(f"after that, {crash_text(crash, screen.sources)}")
    if mode == "off" or reader.kasan_off is not None:
        base.say(off_text(reader))
    elif outcome.status == base.OK:
        base.say("no KASAN report")
        if verbose:
            say_unfound(mode)
