# SPDX-License-Identifier: MIT
"""`./redzone run --each`: many programs in one boot, one verdict each, as KTAP and JSON.

The kernel runs them one after the other (kernel/program/each.c). A program that brings the whole machine down
counts as crashed, and the machine boots again for the rest.
"""

import contextlib
import re
import secrets
from dataclasses import dataclass, field
from functools import cached_property

from redzone.build import builder, missing
from redzone.core import base
from redzone.core.base import Failure
from redzone.decode import model
from redzone.decode.symbols import Symbols
from redzone.elf import symbols
from redzone.elf.file import File
from redzone.machine import console, qemu
from redzone.run import cache, each_build, result, summary

NAME = "programs"
# Characters of the kernel's command line for the list of the programs that are to run.
_ROOM = 1500
# Seconds added to a program's own limit, for a boot, and for ending a program that hangs.
GRACE = 60

# The kernel's lines about a program. They carry the key of this run, so a program cannot forge them.
_WORD = re.compile(r"^# each (?P<key>\w+): (?P<number>\d+) (?:begins|ends: (?P<end>.*))$")
_REPORTED = ("KASAN: ", "UBSAN: ")
_ALIAS = "redzone_each_"
# The source of the kernel's table of the programs, which redzone_add_programs() writes.
_TABLE = f"{NAME}.table.c"


@dataclass
class Verdict:
    """The result of one program.

    end: "ok", "report", "leak", "crash", "timeout", "status" (returned non-zero), "error" (did not begin)
    or "build" (there is no program). title: one line about it, "" if all is well. report: the first
    model.Report, or None. source: the place of its bug or crash, if known. messages: those of the compiler.
    missing: the calls that it made and the kernel does not have, None without any. cached: it has passed
    before, and did not run. returned: what it returned, if not 0. skipped: it is a test, and says so by its
    status.
    """

    number: int
    file: str
    end: str
    title: str = ""
    report: model.Report | None = None
    source: model.Location | None = None
    messages: list = field(default_factory=list)
    missing: str | None = None
    cached: bool = False
    returned: int | None = None
    skipped: bool = False

    def line(self):
        """Return the KTAP line; the messages follow it as KTAP's diagnostics."""
        # A number sign starts a comment in KTAP.
        file = self.file.replace("#", "\\#")
        messages = [*self.messages, *([f"calls that are not there: {self.missing}"] if self.missing else [])]
        if self.end == "ok":
            words = " (cached)" * self.cached + " # SKIP" * self.skipped
            return "\n# ".join([f"ok {self.number} {file}{words}", *messages])
        return "\n# ".join([f"not ok {self.number} {file} # {self.title}", *messages])

    def record(self, place):
        """Return its entry in the JSON file. @place: its number among all files, of all shards."""
        record = {"number": place, "file": self.file, "ok": self.end == "ok", "end": self.end}
        if self.title:
            record["title"] = self.title
        if self.messages:
            record["messages"] = self.messages
        if self.cached:
            record["cached"] = True
        if self.skipped:
            record["skipped"] = True
        if self.missing:
            record["missing"] = self.missing.split(", ")
        if self.source is not None:
            record["source"] = result.source_record(self.source)
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
        if not reason.startswith(_REPORTED) and not lost:
            self.reader.reports.clear()
        if lost:
            self._verdict("leak", reason)
        elif self.reader.reports:
            self._verdict("report", "")
        elif reason.startswith(_REPORTED):
            self._verdict("report", reason)
        elif reason == "returned 0":
            self._verdict("ok", "")
        elif reason == "crashed":
            self._verdict("crash", "")
        elif reason.startswith("no end"):
            self._verdict("timeout", reason)
        elif reason.startswith("returned"):
            returned = int(reason.split()[1])
            self._verdict("status", summary.returned_text(returned, self.reader.signal), returned)
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

    def _verdict(self, end, title, returned=None):
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
                title = "; ".join(filter(None, [f"{report.kind.upper()}: {headline}", title]))
        elif crash is not None and (end == "crash" or (end == "timeout" and crash.hang)):
            self._symbolize(crash.report)
            source = summary.crash_place(crash, self.sources)
            where = summary.crash_text(crash, self.sources)
            title = "; ".join(filter(None, [title, where])) if crash.hang else where
        verdict = Verdict(self.current, self.files[self.current - 1], end, title or end, report, source)
        verdict.missing, verdict.returned = self.reader.missing, returned
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
    result.write(path, data)


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


def boots(target, follower, log, chosen=None):
    """Boot @target until every program has had its turn, and feed the lines of the consoles to @follower and
    log(). @chosen: numbers of the programs that are to run, ascending; None: all.

    target.timeout is the time limit of each program. Returns the number of boots and the console.Reader of
    the last one.
    """
    timeout, before, count = target.timeout, target.append, len(follower.files)
    append = before
    if chosen is not None:
        append = [*before, f"each.only={cache.ranges(chosen, _ROOM)}"]
        count = chosen[-1]

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
    target.append, target.timeout = before, timeout
    return done, reader


class _Run:
    """The verdicts of the job.Job @work, which come out in the order of its files.

    Of several rounds (--count), the first that a program fails counts, else the last."""

    def __init__(self, work, log):
        self.work, self.log = work, log
        self.verdicts = []
        self.booted, self.reader = 0, None
        # By the index of the file: what is known and not said yet.
        self._waiting = {}

    def _judge(self, index, verdict):
        """Change @verdict, of the test with @index, to what the test expects."""
        test = self.work.tests[index]
        if test.fails and verdict.end in ("ok", "status"):
            passed = verdict.end == "status"
            verdict.end, verdict.title = ("ok", "") if passed else ("status", "returned 0, and is to fail")
        elif verdict.end == "status" and verdict.returned is not None and verdict.returned == test.skip:
            verdict.end, verdict.title, verdict.skipped = "ok", "", True

    def give(self, index, verdict):
        """@verdict is the one of the file with @index; say it, and those that have waited for it."""
        verdict.number = index + 1
        self._waiting[index] = verdict
        while len(self.verdicts) in self._waiting:
            verdict = self._waiting.pop(len(self.verdicts))
            self.verdicts.append(verdict)
            if not self.work.options.quiet:
                print(verdict.line(), flush=True)
            elif verdict.end != "ok":
                print(f"{verdict.file}: {verdict.title}", flush=True)

    def image(self, image, indexes, folder, passed, built):
        """Run the programs of the builder.Image @image, which are the files with @indexes.

        @passed: a cache.Passed. @built: from cache.built()."""
        work, options = self.work, self.work.options
        machine = work.machine(image, folder, indexes)
        known = cache.keys(work, machine, indexes, built) if passed.used else {}
        left = []
        for number, index in enumerate(indexes, 1):
            if known.get(index) in passed:
                self.give(index, Verdict(0, options.files[index], "ok", cached=True))
            else:
                left.append(number)
        for turn in range(1, (options.count or 1) + 1):
            if not left:
                return
            machine.turn = turn
            done = self._turn(machine, image, indexes, left, turn)
            passed.add_all(
                known[indexes[number - 1]] for number in done if known and done[number].end == "ok"
            )
            left = [number for number in left if done[number].end == "ok"]

    def _turn(self, machine, image, indexes, chosen, turn):
        """Run the programs with the numbers @chosen once. Return {number: Verdict}."""
        options, done = self.work.options, {}
        last = turn == (options.count or 1)

        def on_verdict(verdict):
            number = verdict.number
            if number not in chosen:
                return
            if self.work.tests is not None:
                self._judge(indexes[number - 1], verdict)
            done[number] = verdict
            if verdict.end != "ok" and (options.count or 1) > 1:
                verdict.title += f" (run {turn} of {options.count})"
            if verdict.end != "ok" or last:
                self.give(indexes[number - 1], verdict)

        with contextlib.ExitStack() as stack:
            known = None
            if not options.no_symbolize:
                known = stack.enter_context(ProgramSymbols([image.elf]))
            names = [options.files[index] for index in indexes]
            sources = [self.work.sources[index] for index in indexes]
            sources += self.work.parts.get("library", [])
            follower = Follower(names, sources, known, on_verdict)
            all_of_them = len(chosen) == len(indexes)
            count, self.reader = boots(
                machine, follower, lambda text: self.log.lines([text]), None if all_of_them else chosen
            )
        self.booted += count
        return done


def run(work, folder, log):
    """Build, boot and judge the job.Job @work. Return the exit status.

    folder: for the build's output. log: has lines(), and gets the consoles.
    """
    options, files = work.options, work.options.files
    program = builder.Program(
        NAME,
        work.sources,
        function="redzone_add_programs",
        **work.code,
        **work.parts,
    )
    made = []

    def look(place):
        work.note_made_of()
        made.append(cache.built(place, work.parts.get("objects", ())))

    images, rejected = each_build.build(work.preset, program, folder, spare=work.tests is not None, look=look)
    # Functions of two images may share a name and a size, and so would get each other's lines.
    work.images = [images[0][0].elf] if len(images) == 1 else []
    if len(images) > 1 and not options.no_symbolize and options.outputs().wanted():
        base.say("the decoded console has no lines of source, because there are several images")
    if not options.quiet:
        print(f"KTAP version 1\n1..{len(files)}", flush=True)
    run, interrupted = _Run(work, log), False
    for index, reject in rejected.items():
        run.give(index, Verdict(0, files[index], "build", reject.title, messages=reject.messages))
    # Whoever wants the console of every program, or a fresh result, gets it.
    wanted = options.log or options.outputs().wanted() or options.count
    passed = cache.Passed(not wanted and len(images) == 1)
    try:
        for (image, indexes), built in zip(images, made, strict=True):
            run.image(image, indexes, folder, passed, built)
    except KeyboardInterrupt:
        interrupted = True
        base.say("interrupted")
    except Failure as error:
        # The programs that ran keep their verdicts, in the file as on the screen.
        _write_json(work, run.verdicts, str(error))
        raise
    finally:
        passed.save()
    verdicts, reader = run.verdicts, run.reader
    _write_json(work, verdicts, "interrupted" if interrupted else None)
    failed = sum(verdict.end != "ok" for verdict in verdicts)
    cached = sum(verdict.cached for verdict in verdicts)
    base.say(
        f"{base.plural(len(verdicts), 'program')} in {base.plural(run.booted, 'boot')}: "
        f"{len(verdicts) - failed} passed{f' ({cached} cached)' if cached else ''}, {failed} failed"
    )
    if (options.mode == "off" and not work.ubsan) or (reader is not None and reader.kasan_off is not None):
        base.say(summary.off_text(reader))
    elif options.verbose and not failed and options.mode != "off":
        summary.say_unfound(options.mode, work.ubsan)
    if rejected:
        _missing(rejected, work.sources).show()
    return base.INTERRUPTED if interrupted else status_of({verdict.end for verdict in verdicts})
