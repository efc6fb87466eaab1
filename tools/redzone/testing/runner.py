# SPDX-License-Identifier: MIT
"""`./redzone test`: runs suites, prints their results as KTAP, counts.

A suite is a module in suites/ with a function run(context) that yields Results.
suites/__init__.py lists what else it may define.
"""

import difflib
import itertools
import os
import resource
import shutil
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from redzone.build import builder
from redzone.core import base, doctor, libc_source
from redzone.core.base import LOGS, ROOT, Failure
from redzone.machine import qemu
from redzone.machine.console import Reader
from redzone.testing import suites

PASS, FAIL, SKIP = "pass", "fail", "skip"
# How many failures the summary repeats, and how many last lines of each.
FAILED_SHOWN = 20
FAILED_LINES = 8


@dataclass
class Result:
    """The result of one test. detail: why it was skipped or failed. log: file with the whole output."""

    name: str
    status: str
    detail: str = ""
    log: Path | None = None


# How many lines of what is wrong with a test are shown.
SHOWN = 20


def result(name, wrong, log=None):
    """Return the Result of the test @name. @wrong: what is wrong with it, one text or a list, of which SHOWN
    are shown."""
    wrong = wrong if isinstance(wrong, list) else [wrong or ""]
    text = "\n".join(wrong[:SHOWN] + when(len(wrong) > SHOWN, f"and {len(wrong) - SHOWN} more"))
    return Result(name, FAIL if text else PASS, text, log)


def when(bad, text):
    """Return [@text] if something is @bad, else an empty list."""
    return [text] if bad else []


def asked(variable):
    """Return whether the environment's @variable, such as REDZONE_UPDATE_DOCS, asks to write what a suite
    compares."""
    return os.environ.get(variable, "") not in ("", "0")


def rewrite(path, text):
    """Write the file @path of the tree anew, and say so."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    base.say(f"wrote {base.relative(path)}")


def compared(name, path, text):
    """Return the Result of the test @name: the document @path has the @text that it should have. With
    REDZONE_UPDATE_DOCS=1 in the environment the document gets it."""
    shown = path.read_text(encoding="utf-8")
    if shown != text and asked("REDZONE_UPDATE_DOCS"):
        rewrite(path, text)
        shown = text
    lines = difflib.unified_diff(
        shown.splitlines(), text.splitlines(), "the document", "it should be", lineterm="", n=0
    )
    hint = when(shown != text, "REDZONE_UPDATE_DOCS=1 in the environment writes it anew")
    return result(name, [*list(lines)[: SHOWN - 1], *hint])


# Locks of the folders with this command's logs, to the end of the command.
_held = []


def _own_logs(name):
    """Return an empty folder for the logs of the suite @name. Another test that runs at the same time, or has
    run this suite and goes on with others, keeps its own."""
    for number in itertools.count(1):
        folder = LOGS / (name if number == 1 else f"{name}-{number}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        held = base.lock(folder.with_name(f".{folder.name}.lock"), wait=False)
        if held is not None:
            break
    _held.append(held)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


class Context:
    """The command's options, and the means to build and boot. Each suite gets one.

    @options: those of the command, by name. jobs: machines that may run at once. yes: missing packages may be
    installed. mode: run only configurations of this mode; None: of all modes.

    Options that a suite names in its OPTIONS: seconds, rounds, seed and filter say how long, how often, which
    sequence and which cases (None: the suite's choice); quick: a part of the suite is enough; rest: only what
    the suite leaves out by default; linux: which Linux (None: all); arch: which architecture of it (None: the
    suite's choice); recommends: on machines with packages that others recommend.

    cases_dir: folder of programs with known verdicts. logs: this suite's folder for logs. not_started: {log:
    why its machine did not start}.
    """

    def __init__(self, name, cases_dir, options):
        self.suite = name
        self.jobs = options["jobs"]
        self.yes = options["yes"]
        self.cases_dir = cases_dir
        self.mode = options["mode"]
        self.seconds = options["seconds"]
        self.seed = options["seed"]
        self.rounds = options["rounds"]
        self.filter = options["filter"]
        self.quick = options["quick"]
        self.rest = options.get("rest", False)
        self.linux = options["linux"]
        self.arch = options.get("arch")
        self.recommends = options.get("recommends", False)
        self.logs = _own_logs(name)
        self.not_started = {}

    def missing(self, *keys):
        """Make sure that the tools named @keys are there. Return None, or the reason for skipping the
        test."""
        try:
            doctor.require(keys, f"run the suite {self.suite}", self.yes)
        except doctor.Missing as error:
            return str(error)
        return None

    def missing_for(self, preset):
        """Like missing(), for what building the kernel @preset needs, and a machine that boots it."""
        arch = builder.arch_of(preset)
        reason = self.missing(*builder.tools_of(preset), *([f"qemu-{arch}"] if arch else []))
        if reason is None and arch:
            reason = qemu.reason(arch, mode=preset.split("+")[0].split("-")[1])
        return reason

    def of_mode(self, configurations):
        """Return those of @configurations whose first word, the KASAN mode, is the one that was asked for."""
        return [one for one in configurations if self.mode in (None, one[0])]

    def kernels(self, configurations, preset, label, target="redzone"):
        """Build the kernels of @configurations, as of_mode() takes them.

        @preset(configuration): what to build. @label(configuration): the name for its results.
        Return ([(configuration, builder.Image of @target)], [a Result for each one that is skipped])."""
        ready, skipped = [], []
        for one in self.of_mode(configurations):
            reason = self.missing_for(preset(one))
            if reason:
                skipped.append(Result(label(one), SKIP, reason))
            else:
                ready.append((one, self.build(preset(one), targets=[target])[target]))
        return ready, skipped

    def build(self, preset, **options):
        """builder.build(), without asking and without progress lines."""
        doctor.require(builder.tools_of(preset), f"build {preset}", self.yes)
        return builder.build(preset, quiet=True, jobs=self.jobs, **options)

    def part(self, items, quick=(), rest=()):
        """Return those of @items that this run takes, as a list: with --quick those in @quick, with --rest
        those in @rest, with --mode alone all, else all but those in @rest."""
        if self.quick:
            return [item for item in items if item in quick]
        if self.mode and not self.rest:
            return list(items)
        return [item for item in items if (item in rest) == self.rest]

    def note(self, text):
        """Print something that is not a result, such as the progress of a long test."""
        print(f"# {text}", flush=True)

    def boot(self, name, target, follow=None):
        """Boot the Machine @target. Return (Outcome, console lines, log file).

        follow: called for each line, as by machine.boot(). A machine that cannot start is one that crashed
        without a line, so that the suite goes on; the runner makes one failure of its results.
        """
        log = self.logs / f"{name}.log"
        lines = []

        def on_line(text, event, value):
            lines.append(text)
            if follow is not None:
                follow(text, event, value)

        try:
            outcome = qemu.boot(target, on_line)
        except qemu.NotStarted as error:
            self.not_started[log] = str(error)
            outcome = qemu.Outcome(base.CRASHED, str(error), None, Reader(), 0.0, ended=False)
        text = "\n".join(lines) + "\n"
        if outcome.message:
            text += f"redzone: {outcome.message}\n"
        return outcome, lines, self.write_log(name, text)

    def write_log(self, name, text):
        """Write a log of this suite. Return its path."""
        log = self.logs / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        # A damaged program may print any bytes.
        log.write_text(text, encoding="utf-8", errors="surrogateescape")
        return log

    def each(self, function, items):
        """Call function(item) for all @items, some in parallel; yield the results as they come."""
        with ThreadPoolExecutor(max_workers=self.jobs) as pool:
            futures = [pool.submit(function, item) for item in items]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                for future in futures:
                    future.cancel()
                qemu.stop_all()
                raise


class Printer:
    """Prints results. In a log every result is a KTAP line; on a terminal only results other than passes."""

    def __init__(self, verbose):
        self.terminal = sys.stdout.isatty()
        self.verbose = verbose or not self.terminal
        self.number = 0
        self.counts = {PASS: 0, FAIL: 0, SKIP: 0}
        self.failed = []
        self.hints = []
        self.status = None
        if self.terminal:
            self.status = Status("", console=Console(), spinner="line")
        print("KTAP version 1", flush=True)

    def begin(self, suite, title):
        self.suite = suite
        self.before = dict(self.counts)
        self.started = time.monotonic(), cpu_seconds()
        print(f"# {suite}: {title}", flush=True)
        if self.status:
            self.status.update(f"{suite}: starting")
            self.status.start()

    def result(self, result):
        self.number += 1
        self.counts[result.status] += 1
        word = "not ok" if result.status == FAIL else "ok"
        line = f"{word} {self.number} {self.suite}.{result.name}"
        first, *rest = (result.detail or "").splitlines() or [""]
        if result.status == SKIP:
            line += f" # SKIP {first}"
            self.hints += [first] if doctor.HINT.search(first) else []
        if result.status == FAIL:
            self.failed.append((f"{self.suite}.{result.name}", [first, *rest]))
        if self.verbose or result.status != PASS:
            if self.terminal:
                color = {FAIL: "31", SKIP: "33", PASS: "32"}[result.status]
                line = f"\033[{color}m{line}\033[0m"
            print(line)
            if result.status == FAIL:
                for text in [first, *rest]:
                    print(f"# {text}")
                if result.log is not None:
                    print(f"# log: {base.relative(result.log)}")
            sys.stdout.flush()
        if self.status:
            done = self.number - sum(self.before.values())
            self.status.update(escape(f"{self.suite}: {done} done, {result.name}"[:76]))

    def end(self):
        if self.status:
            self.status.stop()
        now = {key: self.counts[key] - self.before[key] for key in self.counts}
        started, used = self.started
        seconds, cpu = time.monotonic() - started, cpu_seconds() - used
        text = f"# {self.suite}: {summary(now)} ({seconds:.0f} s, {cpu:.0f} s CPU)"
        print(text, flush=True)
        return text

    def finish(self, lines):
        """Print the plan and the summary; scripts look at the last line.

        It repeats the failures, so that the end of a log is enough.
        """
        print(f"1..{self.number}")
        if len(lines) > 1:
            print("# summary")
            for line in lines:
                print(line)
            if self.failed:
                print("# failed")
            for name, detail in self.failed[:FAILED_SHOWN]:
                print(f"# {name}")
                for text in detail[-FAILED_LINES:]:
                    print(f"#   {text}")
            if len(self.failed) > FAILED_SHOWN:
                print(f"# and {len(self.failed) - FAILED_SHOWN} more")
        if self.hints:
            command = doctor.command_of(self.hints)
            print(f"# {len(self.hints)} skipped for what can be installed: {command}")
        print(summary(self.counts), flush=True)


def cpu_seconds():
    """Return the CPU time of this process and of all its descendants that have ended and were waited for."""
    spent = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def summary(counts):
    """Return `N passed, N failed[, N skipped]`."""
    text = f"{counts[PASS]} passed, {counts[FAIL]} failed"
    return f"{text}, {counts[SKIP]} skipped" if counts[SKIP] else text


def _cases_dir(option):
    """Return the folder of the cases: from the option, from the environment, or the repository's own."""
    chosen = option or os.environ.get("REDZONE_CASES")
    if not chosen:
        return ROOT / "tests" / "cases"
    if not (Path(chosen) / "INDEX.tsv").is_file():
        raise Failure(f"the cases folder '{chosen}' has no INDEX.tsv")
    return Path(chosen).resolve()


def _choose(names, known, quick, rest):
    """Return the names of the suites that run: those in @names, or by default all that are not slow; with
    @quick or @rest those of them that have such a part."""
    for name in names:
        if name not in known:
            raise Failure(f"there is no suite '{name}'; accepted: {', '.join(known)}")
    if names:
        return [name for name in known if name in names]
    return [
        name
        for name, suite in known.items()
        if not suite.slow and (suite.quick or not quick) and ("rest" in suite.options or not rest)
    ]


def _run_suite(suite, context):
    """Yield the results of one suite. A Failure that it raises becomes a result as well."""
    reason = context.missing(*suite.tools) if suite.tools else None
    if reason:
        yield Result("all", SKIP, reason)
        return
    count = 0
    said = set()
    try:
        for result in suite.module.run(context):
            count += 1
            why = context.not_started.get(result.log)
            if why is None:
                yield result
            elif result.log not in said:
                # What the suite makes of an empty console is beside the point.
                said.add(result.log)
                yield Result(result.name, FAIL, why, result.log)
    except libc_source.Unavailable as error:
        yield Result("all", SKIP, str(error))
        return
    except (Failure, OSError) as error:
        text = base.explain(error) if isinstance(error, OSError) else str(error)
        try:
            log = context.write_log("failure", f"{text}\n")
        except OSError:
            # For the same reason, probably.
            log = None
        yield Result("all", FAIL, "\n".join(text.splitlines()[:30]), log)
        return
    except Exception as error:
        # A fault of the suite's own: what the other suites say must not be lost with it.
        text = traceback.format_exc()
        last = f"the suite ended with {type(error).__name__}: {error}"
        yield Result("all", FAIL, last, context.write_log("failure", text))
        return
    if count == 0:
        yield Result("all", FAIL, "the suite gave no result")


def _check_mode(mode, chosen, known):
    """Raise Failure unless every chosen suite has configurations of @mode."""
    for name in chosen if mode else []:
        modes = known[name].modes
        if not modes:
            able = ", ".join(other for other, suite in known.items() if suite.modes)
            raise Failure(f"the suite '{name}' does not take --mode; those that do: {able}")
        if mode not in modes:
            raise Failure(f"the suite '{name}' has no mode '{mode}'; accepted: {', '.join(modes)}")


def _check_options(options, chosen, known):
    """Raise Failure if @options has an option that none of the chosen suites takes."""
    for option, value in options.items():
        if value in (None, False):
            continue
        able = [name for name, suite in known.items() if option in suite.options]
        if not set(able) & set(chosen):
            named = ", ".join(able) or "none"
            raise Failure(f"no chosen suite takes --{option}; those that do: {named}")


def run(names, listing, verbose, cases_dir, **options):
    """Do what the options of `./redzone test` say. @options: those for Context. Return the exit status."""
    known = suites.load()
    if listing:
        width = max(map(len, known))
        for name, suite in known.items():
            notes = [suite.slow and "slow: only when named"]
            notes += [
                suite.quick and not suite.slow and f"--quick: {suite.quick}",
                "rest" in suite.options and "--rest",
            ]
            shown = "; ".join(filter(None, notes))
            print(f"{name:{width}}  {suite.title}" + (f" ({shown})" if shown else ""))
        return base.OK
    if options["quick"] and options["rest"]:
        raise Failure("--quick and --rest exclude each other")
    chosen = _choose(names, known, options["quick"], options["rest"])
    _check_mode(options["mode"], chosen, known)
    _check_options({name: options[name] for name in suites.OPTIONS}, chosen, known)
    cases = _cases_dir(cases_dir)
    printer = Printer(verbose)
    lines = []
    try:
        for name in chosen:
            printer.begin(name, known[name].title)
            # A suite without such a part runs whole.
            part = {
                "quick": options["quick"] and known[name].quick == "part",
                "rest": options["rest"] and "rest" in known[name].options,
            }
            context = Context(name, cases, options | part)
            for result in _run_suite(known[name], context):
                printer.result(result)
            lines.append(printer.end())
    finally:
        if printer.status:
            printer.status.stop()
    printer.finish(lines)
    return base.REPORTED if printer.counts[FAIL] else base.OK
