# SPDX-License-Identifier: MIT
"""Sums up `./redzone run` when the machine has ended: the reports, a crash and its place, the verdict."""

import re
import signal
import sys

from redzone.core import base
from redzone.decode import terminal
from redzone.decode.explain import MISTAKES, place, position
from redzone.decode.source import PLUMBING, is_users, place_of
from redzone.machine import console
from redzone.run import unfound

ABORTED = 134
_LOST = re.compile(r"Objects that nothing points to: (\d+), of (\d+) bytes in all")
# For a report that comes late, where a source line would wrongly look like the place of the bug.
LATE = "asynchronous: the access was earlier; kasan.mode=sync shows where"


# --- Where a bug is ----------------------------------------------------------------------------------------


def own_source(frames, sources):
    """Return the first Location of the symbolized @frames whose file is in @sources (absolute paths) or is a
    header or another file of the user's.

    If none is, any file outside the kernel and the runtime counts: the C library's.
    """
    locations = [location for frame in frames for location in frame.locations]
    for location in locations:
        if location.path in sources or is_users(location.path):
            return location
    return next((one for one in locations if not one.path.startswith(PLUMBING)), None)


def printed_place(report):
    """Return where @report is as the kernel printed it, as in "fill+0x58/0x7c"."""
    first = next(iter(report.frames("call")), None)
    if first is None or first.name != report.where or first.size is None:
        return report.where
    return f"{first.name}+{first.offset:#x}/{first.size:#x}"


def is_leak(report):
    """Is @report about objects that nothing points to, and not about an access?"""
    return report.type == console.LEAK


def trace(report):
    """Return the frames of @report that say where the bug is: for a leak those of the allocation."""
    return report.frames("allocated" if is_leak(report) else "call")


def _lost(report):
    """Return how much the leak @report is about, as a part of a line."""
    found = _LOST.search("\n".join(report.raw))
    return (
        f", {base.plural(int(found[1]), 'object')} of {base.plural(int(found[2]), 'byte')}" if found else ""
    )


def place_key(report, sources):
    """Return what two reports of one bug share: the type, and the line or else the function; for a leak, the
    stack."""
    if is_leak(report):
        # The kernel reports each stack once.
        return report.type, *(frame.text for frame in trace(report))
    source = own_source(report.frames("call"), sources)
    if source is not None:
        return report.type, source.path, source.line or source.function
    return report.type, report.where


def signed_size(report):
    """Return the size as the program meant it: below zero, if as an unsigned number it exceeds memory."""
    size = report.access.size
    return size - (1 << 64) if size is not None and size >> 63 else size


def _access(report):
    """Return "write of 4 bytes", or the address that was called."""
    access, size = report.access, signed_size(report)
    if report.type == "invalid-call" and access.address is not None:
        return f"address {access.address:#x}"
    if size is None:
        return access.kind
    return f"{access.kind} of size {size}" if size < 0 else f"{access.kind} of {base.plural(size, 'byte')}"


def headline(report, sources):
    """Return one line about @report for a summary."""
    access, size = report.access, signed_size(report)
    negative = size is not None and size < 0
    # The kernel has no name of its own for a size that is negative.
    text = "negative-size-param" if negative and report.type == "out-of-bounds" else report.type
    if access.asynchronous:
        return f"{text}, noticed in {report.where}() ({LATE})" if report.where else f"{text} ({LATE})"
    if access.kind:
        text += f", {_access(report)}"
    if is_leak(report):
        text += _lost(report)
    source = own_source(trace(report), sources)
    if source is not None:
        return f"{text}, {place(source)} in {source.function}()"
    return f"{text}, in {printed_place(report)}" if report.where else text


def _origin(report):
    """Return a line about where the object of @report came from or went; else the source of the access."""
    words = [("allocated", report.stack("allocated"))]
    if MISTAKES.get(report.type) in ("freed", "double", "tags"):
        words.insert(0, ("freed", report.stack("freed")))
    for verb, stack in words:
        found = place_of(stack) if stack is not None else None
        if found is not None:
            return f"{verb} at {place(found)} in {found.function}()"
    if report.object is not None and report.object.where is not None and report.object.where.path:
        return f"declared at {place(report.object.where)}"
    lines = (line for excerpt in report.excerpts if excerpt.about == "call" for line in excerpt.lines)
    return next((line.text.strip() for line in lines if line.bad), "")


def brief(number, report, sources):
    """Return three lines about @report, bug @number: what, where, and who made or freed the object.

    The last one is left out if the report does not know."""
    what = report.type
    if report.access.asynchronous:
        what += ": noticed late (kasan.mode=sync shows where it was)"
    elif report.access.kind:
        what += f": {_access(report)}"
        where = position(report)
        what += f", {where}" if where else ""
    if is_leak(report):
        what += _lost(report)
    source = own_source(trace(report), sources)
    if source is not None:
        where = f"at {place(source)} in {source.function}()"
    else:
        where = f"in {printed_place(report)}" if report.where else ""
    margin = " " * len(f"{number}. ")
    more = [where, "" if report.access.asynchronous or is_leak(report) else _origin(report)]
    return [f"{number}. {what}", *(margin + line for line in more if line)]


# --- What is said ------------------------------------------------------------------------------------------


def groups(reports, sources):
    """Return [(first report, how many, whether there may have been more)], in the order of the first: reports
    of one place are one group."""
    found = {}
    for report in reports:
        found.setdefault(place_key(report, sources), []).append(report)
    return [
        (members[0], _number(members), any(report.at_least for report in members))
        for members in found.values()
    ]


def _number(reports):
    """Return how many reports there were, with those that had no line."""
    return sum(1 + report.silent for report in reports)


def counted(reports, different):
    """Return how many @reports there are, of which sanitizer, and from how many places: those of groups()."""
    kinds = {"KASAN report": [], "UBSan report": [], "leak": []}
    for report in reports:
        kind = "leak" if is_leak(report) else "UBSan report" if report.kind == "ubsan" else "KASAN report"
        kinds[kind].append(report)
    count = " and ".join(
        base.plural(_number(found), what, any(report.at_least for report in found))
        for what, found in kinds.items()
        if found
    )
    return count + (
        f" from {base.plural(len(different), 'place')}" if len(different) < _number(reports) else ""
    )


def say_reports(reports, sources):
    """List the @reports, one line per place."""
    different = groups(reports, sources)
    base.say(f"{counted(reports, different)}:")
    for number, (report, times, at_least) in enumerate(different, 1):
        again = f", {base.plural(times, 'time', at_least)}" if times > 1 else ""
        base.say(f"  {number}. {headline(report, sources)}{again}", fold=True)
    if len(different) > 1 and not is_leak(different[1][0]):
        base.say("later reports may be consequences of the first: fix that one first")


def crash_place(crash, sources):
    """Return the Location that explains a console.Crash: the user's, else the first frame's, or None."""
    known = (frame.locations[0] for frame in crash.frames if frame.locations)
    return own_source(crash.frames, sources) or next(known, None)


def in_program(crash, sources):
    """Did the thread that runs main() crash?"""
    return own_source(crash.frames, sources) is not None or any(
        frame.name == "program_thread" for frame in crash.frames
    )


def crash_text(crash, sources):
    """Return one line about a console.Crash."""
    fault = crash.text.removeprefix("Unable to handle kernel ")
    if crash.hang:
        text = f"the {crash.text.partition(':')[0]} was"
    elif not in_program(crash, sources):
        text = f"the kernel crashed: {crash.text}"
    elif crash.stack is not None:
        size = f"{crash.stack >> 20} MiB" if crash.stack >= 1 << 20 else f"{crash.stack >> 10} KiB"
        text = f"the program overflowed its stack ({size})"
    else:
        text = f"the program crashed: {fault}"
    source = crash_place(crash, sources)
    if crash.hang:
        return f"{text} in {source.function}() at {place(source)}" if source else ""
    if source is not None:
        return f"{text}: {source.function}() at {place(source)}"
    frame = crash.frames[0] if crash.frames else None
    return f"{text}: {frame.name}+{frame.offset:#x}" if frame is not None else text


def hang_text(timeout, crash, sources):
    """Return one line about a program that has not ended after @timeout seconds, and where it was."""
    where = crash_text(crash, sources)
    return f"no end after {timeout:g} s (--timeout)" + (f"; {where}" if where else "")


def returned_text(status, number=None):
    """Return one line about a program that returned @status, not 0. @number: of the signal that ended it, or
    None."""
    if status is None:
        return "the program returned non-zero"
    if status == ABORTED:
        return f"the program aborted: abort() or a failed assert() (status {ABORTED})"
    if number is not None:
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        return f"the program was ended by {name}, which it sent itself (status {status})"
    return f"the program returned {status}"


def off_text(reader):
    """Return one line about a kernel whose KASAN is off, and which has no UBSan.

    reader: the console.Reader of a kernel with KASAN, None for one without.
    """
    text = "KASAN is off: nothing was checked"
    if reader is None or reader.kasan_off is None:
        return text
    return f"{text}; the kernel said: {reader.kasan_off}"


def say_unfound(mode, ubsan):
    """Say what a run in @mode without a report does not exclude."""
    for line in unfound.lines(mode, ubsan):
        base.say(line, fold=True)


def title(outcome, screen, timeout=None):
    """Return one line about how it ended, apart from reports; None if there is nothing to say.

    The arguments are those of conclude()."""
    reader, crash = outcome.reader, outcome.reader.crash
    if crash is not None and screen.images is not None:
        screen.symbols.look_up([crash.report])
    if outcome.status == base.CRASHED and crash is not None and outcome.ended:
        text = crash_text(crash, screen.sources)
        return hang_text(timeout, crash, screen.sources) if crash.hang else text
    if outcome.status == base.PROGRAM_FAILED and reader.returned is not None:
        return returned_text(reader.returned, reader.signal)
    return outcome.message


def conclude(outcome, screen, mode, verbose=False, timeout=None, ubsan=False):
    """Say how it ended.

    screen: the View; without images, places are not wanted. mode: the kernel's. verbose: if nothing was
    reported, say as well what that does not exclude. timeout: that of the program, in seconds. ubsan: is it
    there?
    """
    reader = outcome.reader
    if reader.reports and screen.quiet:
        base.say(counted(reader.reports, groups(reader.reports, screen.sources)))
    elif reader.reports and screen.images is not None:
        say_reports(reader.reports, screen.sources)
    elif reader.reports:
        base.say(counted(reader.reports, reader.reports))
    crash = reader.crash
    if text := title(outcome, screen, timeout):
        base.say(text, fold=True)
    if outcome.status == base.CRASHED and crash is not None and outcome.ended and not screen.quiet:
        source = crash_place(crash, screen.sources)
        excerpt = screen.explainer.excerpt(source) if source is not None else None
        for line in excerpt.lines if excerpt is not None else ():
            print(terminal.numbered(line), file=sys.stderr)
    if reader.reports and crash is not None and crash.frames and crash.text.startswith("Unable"):
        base.say(f"after that, {crash_text(crash, screen.sources)}", fold=True)
    if reader.reports and crash is not None and crash.hang:
        base.say(hang_text(timeout, crash, screen.sources), fold=True)
    if reader.missing:
        base.say(
            f"calls that are not there, and so have failed: {reader.missing} (see docs/use/libc.md)",
            fold=True,
        )
    if reader.kasan_off is not None or (mode == "off" and not ubsan):
        base.say(off_text(reader), fold=True)
    elif outcome.status == base.OK:
        names = [*(["KASAN report"] if mode != "off" else []), *(["UBSan report"] if ubsan else [])]
        names += ["leak"] if reader.leaks == "none" else []
        base.say(", ".join(f"no {name}" for name in names))
        if verbose and mode != "off":
            say_unfound(mode, ubsan)
