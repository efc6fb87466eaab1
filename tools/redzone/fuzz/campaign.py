# SPDX-License-Identifier: MIT
"""Runs the libFuzzer executables of one target until the wanted end, and takes in what they find."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from redzone import base, process
from redzone.base import Failure
from redzone.fuzz.findings import Findings

# How long a stopped process may take to end, in seconds.
STOP = 20
# Starts of a process that ends with an error, without an input in between, before that is the end.
FAILED_STARTS = 3
# Lines of a log: the first after this many seconds, each later one after twice as many, up to a limit.
FIRST_LINE, LAST_LINE = 5, 60

_STATUS = re.compile(r"^#(\d+)\s.*?\bcov: (\d+)\b.*?\bcorp: (\d+)/")
_PROGRESS = re.compile(r"^redzone: (\d+) inputs, (\d+) boots$")
_EXECUTED = re.compile(r"^stat::number_of_executed_units: +(\d+)")


@dataclass
class Options:
    """How long and how.

    seconds, runs: limits, None for none; runs: of all jobs together. seed: of the first job; the others count
    on. hang: seconds of an input. spin_us: how long each side polls before it sleeps. first: end at the first
    finding. engine: further options of libFuzzer. cover: files of kernel and runtime with coverage as well.
    leaks: objects that an input leaves over are findings.
    """

    folder: Path
    jobs: int = 1
    seconds: float | None = None
    runs: int | None = None
    seed: int | None = None
    hang: float = 5.0
    spin_us: int = 200
    first: bool = False
    seeds: list = field(default_factory=list)
    dictionary: Path | None = None
    max_len: int | None = None
    leaks: bool = False
    engine: list = field(default_factory=list)
    cover: list = field(default_factory=list)


class _Job:
    """One process, and a thread that reads its messages."""

    def __init__(self, number, command, environment):
        self.number = number
        self.command, self.environment = command, environment
        self.inputs = self.before = self.edges = self.corpus = self.failed = 0
        self.last = []
        self.done = False
        self.start()

    def start(self):
        self.process = process.start(
            self.command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self.reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self.reader.start()

    def _read(self, running):
        with running.stderr:
            for line in running.stderr:
                self._line(line.rstrip("\n"))

    def _line(self, line):
        status = _STATUS.match(line)
        progress = _PROGRESS.match(line)
        executed = _EXECUTED.match(line)
        if status:
            self.edges, self.corpus = int(status[2]), int(status[3])
            self._count(int(status[1]))
        elif progress:
            self._count(int(progress[1]))
        elif executed:
            self._count(int(executed[1]))
        elif line.startswith("redzone: finding by input "):
            pass
        else:
            self.last = [*self.last, line][-12:]
            if line.startswith("redzone: "):
                base.say(line.removeprefix("redzone: "))

    def _count(self, inputs):
        self.inputs = max(self.inputs, self.before + inputs)

    def check(self):
        """See whether the process has ended, and start it again if it should not have."""
        if self.done or self.process.poll() is None:
            return
        self.reader.join(5)
        if self.process.returncode == 0:
            self.done = True
            return
        self.failed = self.failed + 1 if self.inputs == self.before else 1
        if self.failed >= FAILED_STARTS:
            said = "\n".join(self.last[-6:])
            raise Failure(f"the libFuzzer executable ended with status {self.process.returncode}:\n{said}")
        base.say(f"job {self.number} ended with status {self.process.returncode}; it starts again")
        self.before = self.inputs
        self.start()

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)

    def end(self):
        process.end(self.process, STOP)
        self.reader.join(5)


class Campaign:
    """Fuzzes a target.Target as the Options say. repeat: see Findings."""

    def __init__(self, target, options, repeat):
        self.target, self.options = target, options
        self.corpus = options.folder / "corpus"
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.findings = Findings(options.folder / "findings", repeat)
        self.started = time.monotonic()
        self.jobs = []
        self.found = 0
        self._stuck = False
        self._terminal = sys.stderr.isatty()
        self._next_line, self._step = FIRST_LINE, FIRST_LINE

    def _command(self, number):
        options = self.options
        command = [str(self.target.executable), "-reload=1", "-print_final_stats=1"]
        command.append(f"-artifact_prefix={self.findings.new}/engine-")
        if options.seconds is not None:
            command.append(f"-max_total_time={max(1, round(options.seconds))}")
        if options.runs is not None:
            share = options.runs // options.jobs + (number < options.runs % options.jobs)
            command.append(f"-runs={share}")
        if options.seed is not None:
            command.append(f"-seed={(options.seed + number) % (1 << 32) or 1}")
        if options.max_len is not None:
            command.append(f"-max_len={options.max_len}")
        if options.dictionary is not None:
            command.append(f"-dict={options.dictionary}")
        return [*command, *options.engine, str(self.corpus), *map(str, options.seeds)]

    def _state(self):
        seconds = time.monotonic() - self.started
        inputs = sum(job.inputs for job in self.jobs)
        edges = max(job.edges for job in self.jobs)
        total = f" of {self.target.edges}" if self.target.edges else ""
        corpus = max(job.corpus for job in self.jobs)
        return (
            f"{seconds:.0f} s, {inputs} inputs, {inputs / max(seconds, 0.1):.0f} a second, "
            f"{edges}{total} edges, {corpus} in the corpus, "
            f"{base.plural(len(self.findings.known()), 'finding')}"
        )

    def _show(self, status):
        if status is not None:
            status.update(escape(self._state()[:110]))
        elif time.monotonic() - self.started >= self._next_line:
            base.say(self._state())
            self._step = min(2 * self._step, LAST_LINE)
            self._next_line += self._step

    def _take(self):
        """Judge one finding, if there is one. Return whether there was."""
        if self._stuck:
            return False
        for name in self.findings.waiting()[:1]:
            try:
                finding = self.findings.take(name, self.target)
            except OSError as error:
                # A full disk, say. The parts stay where they are, and fuzzing goes on.
                base.say(f"a finding cannot be kept yet: {error.filename}: {error.strerror}")
                self._stuck = True
                return False
            if finding is not None:
                self.found += 1
                size = base.plural(finding.size, "byte")
                print(f"{finding.title}\n  {size}, found by input {finding.number}: ", end="")
                print(f"{base.relative(finding.folder)}/input")
                print(f"  repeat: {(finding.folder / 'command').read_text().strip()}", flush=True)
            return True
        return False

    def _watch(self, status):
        while True:
            for job in self.jobs:
                job.check()
            self._show(status)
            if all(job.done for job in self.jobs) or (self.options.first and self.found):
                return
            if not self._take():
                time.sleep(0.2)

    def run(self):
        """Fuzz. Return the exit status."""
        with contextlib.ExitStack() as stack:
            status = None
            if self._terminal:
                status = stack.enter_context(Status("starting", console=Console(stderr=True), spinner="line"))
            environment = dict(os.environ, REDZONE_FUZZ_FINDINGS=str(self.findings.new.resolve()))
            try:
                for number in range(self.options.jobs):
                    self.jobs.append(_Job(number, self._command(number), environment))
                self._watch(status)
            finally:
                for job in self.jobs:
                    job.stop()
                for job in self.jobs:
                    job.end()
            self._stuck = False
            while self._take():
                self._show(status)
        base.say(self._state())
        known = self.findings.known()
        for finding in known:
            base.say(f"  {finding.title}: {base.relative(finding.folder)}")
        waiting = len(self.findings.waiting())
        if waiting:
            base.say(f"the next run takes in {base.plural(waiting, 'finding')} of {self.findings.new}")
        return base.REPORTED if known or waiting else base.OK


def scratch():
    """Return a folder for the executable of a run, which is removed by whoever asked for it."""
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=base.BUILD / "runs"))
