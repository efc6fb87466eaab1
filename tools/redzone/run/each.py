# SPDX-License-Identifier: MIT
"""`./redzone run --each`: many programs in one boot, one verdict each, as KTAP and JSON.

The kernel runs them one after the other (kernel/program/each.c). A program that brings the whole machine down
counts as crashed, and the machine boots again for the rest.
"""

import contextlib
import json
import re
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from redzone.build import builder, missing
from redzone.core import base
from redzone.core.base import Failure
from redzone.decode import model
from redzone.decode.symbols import Symbols
from redzone.elf import symbols
from redzone.elf.file import File
from redzone.machine import console, qemu
from redzone.run import each_build, summary

NAME = "programs"
# Seconds added to a program's own limit, for a boot, and for ending a program that hangs.
GRACE = 60

# The kernel's lines about a program. They carry the key of this run, so a program cannot forge them.
_WORD = re.compile(r"^# each (?P<key>\w+): (?P<number>\d+) (?:begins|ends: (?P<end>.*))$")
_ALIAS = "redzone_each_"
# The source of the kernel's table of the programs, which redzone_add_programs() writes.
_TABLE = f"{NAME}.table.c"


@dataclass
class Verdict:
    """The result of one program.

    end: "ok", "report", "leak", "crash", "timeout", "status" (returned non-zero), "error" (did not begin)
    or "build" (there is no program). title: one line about it, "" if all is well. report: the first
    model.Report, or None. source: the place of its bug or crash, if known. messages: those of the compiler.
    missing: the calls that it made and the kernel does not have, None without any.
    """

    number: int
    file: str
    end: str
    title: str = ""
    report: model.Report | None = None
    source: model.Location | None = None
    messages: list = field(default_factory=list)
    missing: str | None = None

    def line(self):
        """Return the KTAP line; the messages follow it as KTAP's diagnostics."""
        # A number sign starts a comment in KTAP.
        file = self.file.replace("#", "\\#")
        messages = [*self.messages, *([f"calls that are not there: {self.missing}"] if self.missing else [])]
        if self.end == "ok":
            return "\n# ".join([f"ok {self.number} {file}", *messages])
        return "\n# ".join([f"not ok {self.number} {file} # {self.title}", *messages])

    def record(self, place):
        """Return its entry in the JSON file. @place: its number among all files, of all shards."""
        record = {"number": place, "file": self.file, "ok": self.end == "ok", "end": self.end}
        if self.title:
            record["title"] = self.title
        if self.messages:
            record["messages"] = self.messages
        if self.missing:
            record["missing"] = self.missing.split(", ")
        if self.source is not None:
            record["source"] = {
                "file": base.relative(self.source.path),
                "line": self.source.line or None,
                "function": self.source.function,
            }
        if self.report is not None:
            record["report"] = {
                "type": self.report.type,
                "access": self.report.access.kind or None,
                "size": summary.signed_size(self.report),
                "where": summary.printed_place(self.report),
            }
        return record


class ProgramSymbols(Symbols):
    """The Symbols of one image with programs whose functions may have the same names.

    use(): sets the number (from 0) of the program that frames come from. Names then mean functions of that
    program or the kernel, never those of another program.
    """

    _user = None

    @cached_property
    def _owners(self):
        return _owners(self.images[0].path)

    def use(self, number):
        self._user = number

    def choose(self, found):
        own = [one for one in found if self._owners.get(one.address) == self._user]
        return own or [one for one in found if one.address not in self._owners]


def _owners(elf):
    """Return {address of a function: number of its program}, from the ELF file's symbols.

    The linker groups local symbols by source file, in the order of the objects. The programs follow the table
    of them, and each has one group or more: its own files, its copy of the library's. The last one has the
    functions that were global before as well, and so one with the address of redzone_each_N.
    """
    groups, numbers = [], {}
    for name, address, _, kind, binding, _ in symbols.symbols(File.open(elf)):
        if kind == symbols.FILE:
            if name == _TABLE:
                groups.clear()
            else:
                groups.append([])
        elif name.startswith(_ALIAS):
            numbers[address] = int(name.removeprefix(_ALIAS))
        elif kind == symbols.FUNC and binding == symbols.LOCAL and groups:
            groups[-1].append(address)
    owners, waiting = {}, []
    for group in groups:
        waiting += group
        number = next((numbers[address] for address in group if address in numbers), None)
        if number is not None:
            owners.update(dict.fromkeys(waiting, number))
            waiting = []
    return owners


class Follower:
    """Reads the consoles, and calls on_verdict() when a program has ended.

    current: number of the running program, from 1, or None. done: that of the last one that has ended. key:
    for the boot parameter each.key=. @known: the ProgramSymbols of the image, or None.
    """

    def __init__(self, files, sources, known, on_verdict):
        self.key = secrets.token_hex(8)
        self.files = files
        self.sources = {str(source) for source in sources}
        self.symbols = known
        self.on_verdict = on_verdict
        self.done = 0
        self._begin(None)

    def _begin(self, number):
        self.current = number
        # The next program starts with a clean slate.
        self.reader = console.Reader()

    def line(self, text):
        """Take a console line. Return True if a program started or ended with it."""
        prefix, rest = console.split(text)
        word = _WORD.match(rest) if prefix else None
        if word and word["key"] == self.key and int(word["number"]) <= len(self.files):
            if word["end"] is None:
                self._begin(int(word["number"]))
            elif int(word["number"]) == self.current:
                self._end(word["end"])
            return True
        # A line without a timestamp comes from the program, and proves nothing.
        if self.current is not None and prefix:
            self.reader.feed(text)
        return False

    def _end(self, reason):
        # A program's output may look like a report; only the kernel knows whether it was one.
        lost = reason.startswith("leak: ")
        if not reason.startswith("KASAN: ") and not lost:
            self.reader.reports.clear()
        if lost:
            self._verdict("leak", reason)
        elif self.reader.reports:
            self._verdict("report", "")
        elif reason.startswith("KASAN: "):
            self._verdict("report", reason)
        elif reason == "returned 0":
            self._verdict("ok", "")
        elif reason == "crashed":
            self._verdict("crash", "")
        elif reason.startswith("no end"):
            self._verdict("timeout", reason)
        elif reason.startswith("returned"):
            self._verdict("status", summary.returned_text(int(reason.split()[1]), self.reader.signal))
        else:
            self._verdict("error", reason)

    def machine_died(self, outcome):
        """The machine ended before the current program did."""
        title = f"took the machine down: {outcome.message or 'no reason given'}"
        if not outcome.ended:
            title = "no end, and the kernel hangs with it"
        if self.reader.reports:
            self._verdict("report", title)
        else:
            self._verdict("crash" if outcome.ended else "timeout", title)

    def _symbolize(self, report):
        if self.symbols is not None:
            self.symbols.use(self.current - 1)
            self.symbols.look_up([report])

    def _verdict(self, end, title):
        self.reader.end()
        report = self.reader.reports[0] if self.reader.reports else None
        crash = self.reader.crash
        source = None
        if report is not None:
            self._symbolize(report)
            source = summary.own_source(summary.trace(report), self.sources)
            headline = summary.headline(report, self.sources)
            if end == "leak":
                more = len(self.reader.reports) - 1
                title = headline + (f", and {base.plural(more, 'place')} more" if more else "")
            else:
                title = "; ".join(filter(None, [f"KASAN: {headline}", title]))
        elif crash is not None and (end == "crash" or (end == "timeout" and crash.hang)):
            self._symbolize(crash.report)
            source = summary.crash_place(crash, self.sources)
            where = summary.crash_text(crash, self.sources)
            title = "; ".join(filter(None, [title, where])) if crash.hang else where
        verdict = Verdict(self.current, self.files[self.current - 1], end, title or end, report, source)
        verdict.missing = self.reader.missing
        if end == "ok":
            verdict.title = ""
        self.done = self.current
        self._begin(None)
        self.on_verdict(verdict)


def status_of(ends):
    """Return the exit status for the Verdicts' ends, a set. Reports take precedence, then crashes, then files
    that are not programs, then the values that programs returned."""
    if ends & {"report", "leak"}:
        return base.REPORTED
    if ends & {"crash", "timeout", "error"}:
        return base.CRASHED
    if "build" in ends:
        return base.USAGE
    return base.PROGRAM_FAILED if "status" in ends else base.OK


def write_json(path, programs, **more):
    """Write the file of --json. @programs: Verdicts' records. @more: further keys."""
    failed = sum(not record["ok"] for record in programs)
    data = {"passed": len(programs) - failed, "failed": failed, **more, "programs": programs}
    try:
        Path(path).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise Failure(f"--json '{path}' cannot be written: {error.strerror}") from None


def _write_json(work, verdicts, error=None):
    """Write the file of the Job @work. @error: why the other programs have no verdict."""
    if not work.options.report_file:
        return
    more = {} if error is None else {"error": error}
    if work.shard is not None:
        more["shard"] = {"index": work.shard.index, "count": work.shard.count, "total": work.total}
    records = [verdict.record(work.numbers[verdict.number - 1]) for verdict in verdicts]
    write_json(work.options.report_file, records, **more)


def _missing(rejected, sources):
    """Return the missing.Missing of the files that are not programs: {index in @sources: rejects.Reject}."""
    found = missing.Missing()
    for index, reject in rejected.items():
        file = base.relative(sources[index])
        found.add_messages(reject.messages, file)
        for name in missing.undefined_symbols(reject.messages):
            found.add("function", name, file)
    return found


def boots(target, follower, log):
    """Boot @target until every program has had its turn, and feed the lines of the consoles to @follower and
    log().

    target.timeout is the time limit of each program. Returns the number of boots and the console.Reader of
    the last one.
    """
    timeout, append, count = target.timeout, target.append, len(follower.files)

    def on_line(text, event, value):
        log(text)
        return follower.line(text)

    done, reader = 0, None
    while follower.done < count:
        first = follower.done + 1
        target.append = [*append, f"each.timeout_ms={max(1, int(timeout * 1000))}"]
        target.append += [f"each.key={follower.key}", f"each.first={first}"]
        # The limit restarts with every program. The kernel ends one that hangs; this limit is for dead
        # kernels.
        target.timeout = timeout + GRACE
        outcome = qemu.boot(target, on_line)
        done += 1
        reader = outcome.reader
        if follower.current is not None:
            follower.machine_died(outcome)
        elif follower.done < first:
            raise Failure(f"no program began: {outcome.message or 'the kernel was done'}", base.CRASHED)
    return done, reader


def run(work, folder, log):
    """Build, boot and judge the job.Job @work. Return the exit status.

    folder: for the build's output. log: has lines(), and gets the consoles.
    """
    options, files, verdicts = work.options, work.options.files, []

    def say(verdict):
        verdicts.append(verdict)
        print(verdict.line(), flush=True)

    def say_rejects(end):
        """Give verdicts, in order, to the files up to number @end that are not programs."""
        for number in range(len(verdicts) + 1, end):
            reject = rejected[number - 1]
            say(Verdict(number, files[number - 1], "build", reject.title, messages=reject.messages))

    def on_verdict(verdict):
        verdict.number = numbers[verdict.number - 1]
        say_rejects(verdict.number)
        say(verdict)

    program = builder.Program(
        NAME,
        work.sources,
        function="redzone_add_programs",
        **work.code,
        **work.parts,
    )
    images, rejected = each_build.build(work.preset, program, folder)
    # Functions of two images may share a name and a size, and so would get each other's lines.
    work.images = [images[0][0].elf] if len(images) == 1 else []
    if len(images) > 1 and not options.no_symbolize and options.outputs().wanted():
        base.say("the decoded console has no lines of source, because there are several images")
    print("KTAP version 1")
    print(f"1..{len(files)}", flush=True)
    booted, reader, interrupted = 0, None, False
    for image, built in images:
        # The kernel does not know about the files that were left out, and those of other images.
        numbers = [index + 1 for index in built]
        with contextlib.ExitStack() as stack:
            known = None
            if not options.no_symbolize:
                known = stack.enter_context(ProgramSymbols([image.elf]))
            names = [files[index] for index in built]
            sources = [work.sources[index] for index in built]
            sources += work.parts.get("library", [])
            follower = Follower(names, sources, known, on_verdict)
            try:
                count, reader = boots(work.machine(image, folder), follower, lambda text: log.lines([text]))
            except KeyboardInterrupt:
                interrupted = True
                break
            except Failure as error:
                # The programs that ran keep their verdicts, in the file as on the screen.
                _write_json(work, verdicts, str(error))
                raise
            booted += count
    if interrupted:
        base.say("interrupted")
    else:
        say_rejects(len(files) + 1)
    _write_json(work, verdicts, "interrupted" if interrupted else None)
    failed = sum(verdict.end != "ok" for verdict in verdicts)
    base.say(
        f"{base.plural(len(verdicts), 'program')} in {base.plural(booted, 'boot')}: "
        f"{len(verdicts) - failed} passed, {failed} failed"
    )
    if options.mode == "off" or (reader is not None and reader.kasan_off is not None):
        base.say(summary.off_text(reader))
    elif options.verbose and not failed:
        summary.say_unfound(options.mode)
    if rejected:
        _missing(rejected, work.sources).show()
    return base.INTERRUPTED if interrupted else status_of({verdict.end for verdict in verdicts})
