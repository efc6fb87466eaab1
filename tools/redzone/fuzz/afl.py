# SPDX-License-Identifier: MIT
"""AFL++: afl-fuzz drives the executable, which answers as a fork server.

Each job is an instance of afl-fuzz: the main one, and secondary ones that share a folder of instances with
it. Its new inputs come into the corpus folder, under the name that libFuzzer gives to such a file. A
campaign begins with that folder, so it does not matter which engine had the one before.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import time

from redzone.core import base, outside
from redzone.core.base import Failure
from redzone.fuzz.engine import Engine

MAIN, OTHER = "main", "job"
_OWN = re.compile(rf"{MAIN}|{OTHER}\d+")
# The executable's own line, with its edges.
_EDGES = re.compile(r"^redzone: (\d+) inputs, (\d+) boots, (\d+) edges$")
_STATISTICS = re.compile(r"^(\w+) *: (.*)$", re.MULTILINE)
_COLORS = re.compile(r"\033\[\??[0-9;]*[A-Za-z]|\033[()].")
# afl-fuzz does not start without an input. It replaces bytes rather than that it adds some.
FIRST, FIRST_SIZE = b"0", 16
# The largest input.
LARGEST = 1 << 20
# Inputs whose copying takes a while.
MANY = 5000
# Later ones want comparisons in another form. They refuse to start if the target has them in this one.
NO_CMPLOG = (4, 20)
# The executable itself looks after hangs. afl-fuzz's own limit has to be the longer one: milliseconds.
WAITING, RESERVE = 20, 120_000
# Minutes between two looks at what the other instances have found.
SYNC = 1


def _bytes_of(path, limit):
    """Return the first @limit bytes of the file @path, None if it is no file or cannot be read."""
    try:
        if not path.is_file():
            return None
        with open(path, "rb") as file:
            return file.read(limit)
    except OSError:
        return None


def _is_whole(path):
    """Return whether afl-fuzz is done with writing the file @path: it takes no second for that."""
    try:
        return time.time() - path.stat().st_mtime > 1
    except OSError:
        return False


class Afl(Engine):
    """afl-fuzz, once for each job."""

    title = "afl-fuzz"

    def __init__(self, target, options, corpus, new):
        super().__init__(target, options, corpus, new)
        self.sync = options.folder / "sync"
        self.scratch = target.executable.parent / "afl"
        self.inputs = self.scratch / "inputs"
        version = outside.version(outside.BY_KEY["afl++"])
        self.cmplog = bool(version) and version[1] < NO_CMPLOG
        if version and not self.cmplog:
            base.say(f"afl-fuzz {version[0]} takes no comparisons of this target (CmpLog); 4.10 does")
        self._taken = set()
        self._full = False

    def name(self, number):
        """Return the name of the instance @number."""
        return f"{OTHER}{number}" if number else MAIN

    def prepare(self):
        self.sync.mkdir(parents=True, exist_ok=True)
        # Inputs that a run before this one could not bring in any more.
        self.keep(last=True)
        for folder in sorted(self.sync.iterdir()):
            if folder.is_dir() and _OWN.fullmatch(folder.name):
                self._remove(folder)
        self.inputs.mkdir(parents=True)
        self._gather()

    def _remove(self, folder):
        """Remove what an instance of an earlier run has left. Its inputs are in the corpus."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        except BlockingIOError:
            raise Failure(
                f"another afl-fuzz works in '{base.relative(folder)}': end it, or name another --dir"
            ) from None
        except OSError as error:
            raise Failure(f"'{folder}' cannot be removed: {error.strerror}") from None
        finally:
            os.close(descriptor)

    def _gather(self):
        """Collect the inputs to begin with, each once, without files that afl-fuzz does not start with."""
        limit = min(self.options.max_len or LARGEST, LARGEST)
        try:
            for folder in (self.corpus, *self.options.seeds):
                paths = sorted(folder.rglob("*"))
                if len(paths) > MANY:
                    base.say(f"copying {len(paths)} inputs of {base.relative(folder)}")
                for path in paths:
                    content = _bytes_of(path, limit)
                    if content:
                        (self.inputs / hashlib.sha1(content).hexdigest()).write_bytes(content)
            if not any(self.inputs.iterdir()):
                (self.inputs / "first").write_bytes(FIRST * min(FIRST_SIZE, limit))
        except OSError as error:
            raise Failure(f"the inputs cannot be copied: {error.filename}: {error.strerror}") from None

    def command(self, job):
        options, number = self.options, job.number
        job.reads = False
        command = ["afl-fuzz", "-M" if number == 0 else "-S", self.name(number)]
        command += ["-i", str(self.inputs), "-o", str(self.sync)]
        command += ["-t", str(int(options.hang * 1000) * WAITING + RESERVE)]
        if self.cmplog:
            command += ["-c", "0"]
        if options.seconds is not None:
            command += ["-V", str(max(1, round(options.seconds)))]
        if options.runs is not None:
            command += ["-E", str(max(1, self.share(number)))]
        if options.seed is not None:
            command += ["-s", str((options.seed + number) % (1 << 32) or 1)]
        if options.max_len is not None:
            command += ["-G", str(options.max_len)]
        if options.dictionary is not None:
            command += ["-x", str(options.dictionary)]
        return [*command, *options.extra, "--", str(self.target.executable)]

    def environment(self):
        names = (
            # The executable's messages come here as well.
            *("AFL_DEBUG_CHILD", "AFL_NO_UI", "AFL_QUIET"),
            # How the machine is set up matters to programs that dump core, and one job is several processes.
            *("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "AFL_SKIP_CPUFREQ", "AFL_NO_AFFINITY"),
            # If a job has to start again.
            "AFL_AUTORESUME",
        )
        return {**dict.fromkeys(names, "1"), "AFL_SYNC_TIME": str(SYNC)}

    def output(self, number):
        return self.scratch / f"{self.name(number)}.log"

    def line(self, job, text):
        found = _EDGES.match(text)
        if found:
            job.count(int(found[1]))
            job.count_boots(int(found[2]))
            job.edges = max(job.edges, int(found[3]))
        return bool(found)

    def look(self, job):
        with contextlib.suppress(OSError), os.scandir(self.sync / self.name(job.number) / "queue") as found:
            job.corpus = sum(entry.name.startswith("id:") for entry in found)

    def ended(self, job):
        self.look(job)
        with contextlib.suppress(OSError, ValueError, KeyError):
            text = (self.sync / self.name(job.number) / "fuzzer_stats").read_text(errors="replace")
            said = dict(_STATISTICS.findall(text))
            # Each input reaches the map's first byte.
            job.edges = max(job.edges, int(said["edges_found"]) - 1)
            job.count(int(said["execs_done"]))

    def keep(self, last=False):
        for path in sorted(self.sync.glob("*/queue/id:*")):
            if path in self._taken or not (last or _is_whole(path)):
                continue
            content = _bytes_of(path, LARGEST)
            if content is None:
                continue
            place = self.corpus / hashlib.sha1(content).hexdigest()
            part = place.with_name(f".{place.name}.part")
            try:
                if not place.exists():
                    part.write_bytes(content)
                    part.replace(place)
            except OSError as error:
                part.unlink(missing_ok=True)
                if not self._full:
                    base.say(f"an input cannot be kept yet: {place}: {error.strerror}")
                self._full = True
                return
            self._taken.add(path)

    def why(self, number):
        with contextlib.suppress(OSError):
            text = _COLORS.sub("", self.output(number).read_text(errors="replace"))
            return [line.rstrip() for line in text.splitlines() if line.strip()][-8:]
        return []
