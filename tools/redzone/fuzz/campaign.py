# SPDX-License-Identifier: MIT
"""Runs the jobs of one target until the wanted end, and takes in what they find."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from redzone.core import base, process
from redzone.core.base import Failure
from redzone.fuzz.afl import Afl
from redzone.fuzz.findings import Findings
from redzone.fuzz.libfuzzer import LibFuzzer

# How long a stopped process may take to end, in seconds.
STOP = 20
# Starts of a process that ends with an error, without an input in between, before that is the end.
FAILED_STARTS = 3
# After so many seconds a finding that could not be kept is tried again.
LATER = 10
# Bytes that a disk has left when it counts as full.
ROOM = 64 << 10
# Lines of a log: the first after this many seconds, each later one after twice as many, up to a limit.
FIRST_LINE, LAST_LINE = 5, 60

# Seconds between two looks at what the engine has on the disk.
LOOK = 2

ENGINES = {"libfuzzer": LibFuzzer, "afl++": Afl}
_PROGRESS = re.compile(r"^redzone: (\d+) inputs, (\d+) boots$")


@dataclass
class Options:
    """How long and how.

    seconds, runs: limits, None for none; runs: of all jobs together. seed: of the first job; the others count
    on. hang: seconds of an input. spin_us: how long each side polls before it sleeps. first: end at the first
    finding. engine: one of ENGINES. extra: further options of the engine. cover: files of kernel and runtime
    with coverage as well. leaks: objects that an input leaves over are findings.
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
    engine: str = "libfuzzer"
    extra: list = field(default_factory=list)
    cover: list = field(default_factory=list)


class Job:
    """One process, and a thread that reads its messages. number: from 0 on. engine: an engine.Engine."""

    def __init__(self, number, engine, environment):
        self.number, self.engine, self.environment = number, engine, environment
        self.inputs = self.before = self.edges = self.corpus = self.failed = 0
        self.boots = self.boots_before = 0
        self.starts = self.files = 0
        self.started = time.monotonic()
        # The corpus is being read: the engine runs all of it before it makes inputs.
        self.reads = True
        self.last = []
        self.done = False
        self.start()

    def start(self):
        output = self.engine.output(self.number)
        command = self.engine.command(self)
        self.starts += 1
        self.files, self.reads = 0, True
        with open(output or os.devnull, "wb") as file:
            self.process = process.start(command, env=self.environment, stdout=file, stderr=subprocess.PIPE)
        self.reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self.reader.start()

    def _read(self, running):
        with running.stderr:
            for line in running.stderr:
                self._line(line.rstrip("\n"))

    def _line(self, line):
        progress = _PROGRESS.match(line)
        if self.engine.line(self, line):
            pass
        elif progress:
            self.count(int(progress[1]))
            self.count_boots(int(progress[2]))
        elif line.startswith("redzone: finding by input "):
            pass
        else:
            self.last = [*self.last, line][-12:]
            if line.startswith("redzone: "):
                base.say(line.removeprefix("redzone: "))

    def count(self, inputs):
        """The process has had so many inputs."""
        self.inputs = max(self.inputs, self.before + inputs)

    def count_boots(self, boots):
        self.boots = self.boots_before + boots

    def check(self):
        """See whether the process has ended, and start it again if it should not have."""
        if self.done or self.process.poll() is None:
            return
        self.reader.join(5)
        if self.process.returncode == 0:
            self.engine.ended(self)
            self.done = True
            return
        self.failed = self.failed + 1 if self.inputs == self.before else 1
        status = self.process.returncode
        if self.failed >= FAILED_STARTS:
            said = "\n".join([*self.last[-6:], *self.engine.why(self.number)])
            raise Failure(f"{self.engine.title} ended with status {status}:\n{said}")
        base.say(f"job {self.number} ended with status {status}; it starts again")
        self.before, self.boots_before = self.inputs, self.boots
        self._restart()

    def _restart(self):
        # Fuzzing goes on if somebody has removed the folder.
        with contextlib.suppress(OSError):
            self.engine.corpus.mkdir(parents=True, exist_ok=True)
        self.start()

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)

    def end(self):
        """Wait for the end after stop(). Say if someone else has killed the process before."""
        try:
            status = self.process.wait(STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = 0
        self.reader.join(5)
        if status == -signal.SIGKILL:
            base.say(f"job {self.number} ended with status {status}")
        if not self.done:
            self.engine.ended(self)


class Campaign:
    """Fuzzes a target.Target as the Options say. repeat: see Findings."""

    def __init__(self, target, options, repeat):
        self.target, self.options = target, options
        self.corpus = options.folder / "corpus"
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.findings = Findings(options.folder / "findings", repeat)
        self.engine = ENGINES[options.engine](target, options, self.corpus, self.findings.new)
        self.started = time.monotonic()
        self.jobs = []
        self.found = 0
        self._known = len(self.findings.known())
        # {name of a finding that could not be kept: when to try again}
        self._later = {}
        self._room = True
        self._next_look = self.started + LOOK
        self._terminal = sys.stderr.isatty()
        self._next_line, self._step = FIRST_LINE, FIRST_LINE

    def _keys_file(self):
        return self.target.executable.with_name("known-keys")

    def _write_keys(self):
        """Tell the next process which bugs are known."""
        self._keys_file().write_text("\n".join(self.findings.keys()), encoding="utf-8")

    def _state(self):
        seconds = time.monotonic() - self.started
        inputs = sum(job.inputs for job in self.jobs)
        edges = max(job.edges for job in self.jobs)
        total = f" of {self.target.edges}" if self.target.edges else ""
        corpus = max(job.corpus for job in self.jobs)
        reading = [job for job in self.jobs if job.reads and not job.done]
        read = ""
        if reading:
            files = sum(job.files for job in reading)
            done = sum(job.inputs - job.before for job in reading)
            if files:
                read = f", reads the corpus: {done} of {files} files"
            elif not done:
                read = ", looks for the corpus's files"
        boots = sum(job.boots for job in self.jobs)
        return (
            f"{seconds:.0f} s, {inputs} inputs, {inputs / max(seconds, 0.1):.0f} a second, "
            f"{edges}{total} edges, {corpus} in the corpus, "
            f"{base.plural(self._known + self.found, 'finding')}, {base.plural(boots, 'boot')}{read}"
        )

    def _show(self, status):
        if status is not None:
            status.update(escape(self._state()[:110]))
        elif time.monotonic() - self.started >= self._next_line:
            base.say(self._state())
            self._step = min(2 * self._step, LAST_LINE)
            self._next_line += self._step

    def _look(self):
        if time.monotonic() < self._next_look:
            return
        for job in self.jobs:
            self.engine.look(job)
        self.engine.keep()
        # A large folder must not take the time of the findings.
        now = time.monotonic()
        self._next_look = now + max(LOOK, 10 * (now - self._next_look))

    def _take_one(self, name):
        """Judge the finding @name. Return False if it cannot be kept yet."""
        try:
            finding = self.findings.take(name, self.target)
        except OSError as error:
            # A full disk, say. The file stays where it is, and fuzzing goes on.
            if not self._later:
                where = error.filename or name
                base.say(f"a finding cannot be kept yet: {where}: {error.strerror}; it is tried again")
            self._later[name] = time.monotonic() + LATER
            return False
        self._later.pop(name, None)
        with contextlib.suppress(OSError):
            self._write_keys()
        if finding is not None:
            self.found += 1
            size = base.plural(finding.size, "byte")
            print(f"{finding.title}\n  {size}, found by input {finding.number}: ", end="")
            print(f"{base.relative(finding.folder)}/input")
            print(f"  repeat: {(finding.folder / 'command').read_text().strip()}", flush=True)
        return True

    def _take(self):
        """Judge one finding, if there is one. Return whether there was."""
        now = time.monotonic()
        names = [name for name in self.findings.waiting() if self._later.get(name, 0) <= now]
        return bool(names) and self._take_one(names[0])

    def _look_for_room(self):
        """Say once if the disk is full: libFuzzer itself does not.

        If the corpus's folder is gone, make it again.
        """
        with contextlib.suppress(OSError):
            self.corpus.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            # On a full disk there may be no folder of the corpus.
            disk = os.statvfs(self.options.folder)
            room = disk.f_bavail * disk.f_frsize >= ROOM
            if self._room and not room:
                base.say(f"the disk of '{self.corpus}' is full: new inputs of the corpus are not kept there")
            self._room = room

    def _watch(self, status):
        while True:
            for job in self.jobs:
                job.check()
            self._look()
            self._look_for_room()
            self._show(status)
            if all(job.done for job in self.jobs) or (self.options.first and self.found):
                return
            if not self._take():
                time.sleep(0.2)

    def run(self):
        """Fuzz. Return the exit status."""
        with contextlib.ExitStack() as stack:
            status, complete = None, False
            if self._terminal:
                status = stack.enter_context(Status("starting", console=Console(stderr=True), spinner="line"))
            self.findings.clean()
            self._write_keys()
            self.engine.prepare()
            environment = {**os.environ, **self.engine.environment()}
            environment["REDZONE_FUZZ_FINDINGS"] = str(self.findings.new.resolve())
            environment["REDZONE_FUZZ_KNOWN"] = str(self._keys_file())
            try:
                for number in range(self.options.jobs):
                    self.jobs.append(Job(number, self.engine, environment))
                self._watch(status)
                complete = True
            finally:
                for job in self.jobs:
                    job.stop()
                for job in self.jobs:
                    job.end()
                self.engine.keep(last=True)
                if self.jobs and not complete:
                    # Interrupted: the last line of the log may be a minute old.
                    base.say(self._state())
            for name in self.findings.waiting():
                self._take_one(name)
                self._show(status)
            # A disk that was filled after the last look has taken nothing in since.
            self._look_for_room()
        base.say(self._state())
        known = self.findings.known()
        for finding in known:
            base.say(f"  {finding.title}: {base.relative(finding.folder)}")
        waiting = len(self.findings.waiting())
        if waiting:
            base.say(f"the next run takes in {base.plural(waiting, 'finding')} of {self.findings.new}")
        return base.REPORTED if known or waiting else base.OK
