# SPDX-License-Identifier: MIT
"""Runs `./redzone fuzz` for the suites that fuzz, in a folder of their own."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from redzone.build.builder import KERNEL
from redzone.core import crates, mteqemu, process
from redzone.core.base import ROOT, Failure
from redzone.testing import processes
from redzone.testing.runner import when

# What the command takes, for TOOLS of a suite.
TOOLS = (*KERNEL, "clang-19", "symbolizer", "libfuzzer", "libc")
HERE = ROOT / "tests" / "fuzz"
# {first bytes of the input: what the finding's title begins with}, for bad.c.
BAD = {
    "Hang": "hang: no end after ",
    "Null": "KASAN: null-ptr-deref",
    "Exit": "exit: program returned 3",
    "Free": "KASAN: double-free",
    "Deep": "Insufficient stack space in deep",
    "Many": "KASAN: slab-out-of-bounds",
    "Mail": "crash: the target has overwritten the fuzzer's mailbox",
    # What it prints looks like a report of KASAN.
    "Fake": "Oops - trap in LLVMFuzzerTestOneInput",
}
TIMEOUT = 7200
# Inputs within which both bugs of parser.c are found, and their titles.
RUNS = 150000
PARSER = ("KASAN: slab-out-of-bounds Read", "KASAN: slab-use-after-free Read")
# The input of parser.c that meets its first bug at once.
BUG = b"TOY1keysS\7abc"
# How long the command may take to end when it is interrupted, in seconds.
STOP = 120
_INPUTS = re.compile(r"redzone: \d+ s, (\d+) inputs, ")


@dataclass(frozen=True)
class Library:
    """A library with a known bug. @harness: in tests/fuzz. @files: of the crate's source."""

    crate: crates.Crate
    harness: str
    files: tuple

    def sources(self):
        """Return the files to compile, and the folder for -I. Raise crates.Unavailable."""
        source = self.crate.source()
        return [HERE / self.harness, *(source / name for name in self.files)], source


ZLIB = Library(
    crates.Crate("libz-sys", "1.1.6", ROOT / "tests" / "zlib", "src/zlib"),
    "zlib_header.c",
    ("adler32.c", "crc32.c", "inffast.c", "inflate.c", "inftrees.c", "zutil.c"),
)
LZ4 = Library(
    crates.Crate("lz4-sys", "1.9.3", ROOT / "tests" / "lz4", "liblz4/lib"), "lz4_partial.c", ("lz4.c",)
)


class Fuzz:
    """Runs the command in @folder; logs go to the runner.Context @context. @verb: the words that fuzz.

    output: what the last command has printed, also if this process was interrupted meanwhile.
    """

    def __init__(self, context, folder, verb=("fuzz",)):
        self.context, self.folder, self.verb = context, folder, verb
        self.number = 0
        self.output = ""
        # A shell's background job ignores Ctrl-C, and so would all that it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(self, *arguments):
        """Return (status, output, log file)."""
        return self.finish(self.start(*arguments))

    def ends(self, wanted, *arguments):
        """Run the command. Return (what is wrong if its status is not @wanted, output, log file)."""
        status, output, log = self.run(*arguments)
        return when(status != wanted, f"exit status {status}"), output, log

    def start(self, *arguments, **options):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.output = ""
        return process.start([ROOT / "redzone", *self.verb, *arguments], cwd=self.folder, **options)

    def finish(self, running):
        try:
            self.output, _ = running.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.output = f"{self._interrupt(running)}no end after {TIMEOUT} s\n"
        except BaseException:
            self.output = self._interrupt(running)
            self.write_log(running.args, self.output)
            raise
        return running.returncode, self.output, self.write_log(running.args, self.output)

    @staticmethod
    def _interrupt(running):
        """End the command, which ends what it has started: only this process may get Ctrl-C. Return all that
        it has printed."""
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        try:
            return running.communicate(timeout=STOP)[0]
        except subprocess.TimeoutExpired:
            running.kill()
            return running.communicate()[0]

    def repeat(self, finding):
        """Run the command that the folder @finding has to repeat it. Return what has ended, and its line."""
        line = (finding / "command").read_text()
        ended = self.plain(line, shell=True)
        self.write_log([line], ended.stdout + ended.stderr)
        return ended, line.strip()

    def plain(self, command, **options):
        """Run another @command in the folder. Return what has ended, with its output."""
        return process.run(command, cwd=self.folder, **options)

    def odd_corpus(self, name, good):
        """Make a corpus with odd things in it, and the input @good, for a campaign in the folder @name."""
        corpus = self.folder / name / "corpus"
        corpus.mkdir(parents=True)
        (corpus / "empty").touch()
        (corpus / "large").write_bytes(b"TOY1" + bytes(2 << 20))
        (corpus / "nowhere").symlink_to(self.folder / "missing")
        (corpus / "folder").mkdir()
        (corpus / "good").write_bytes(good)

    def native(self, sources, executable, *options):
        """Build the same target with libFuzzer and ASan for this machine."""
        command = ["clang-19", "-O2", "-g", "-w", "-fsanitize=fuzzer,address", *options, *sources]
        command = [*map(str, command), "-o", str(executable)]
        made = self.plain(command)
        self.write_log(command, made.stderr)
        if made.returncode != 0:
            raise Failure(f"{executable.name} cannot be built for this machine:\n{made.stderr.strip()}")

    def write_log(self, command, output):
        self.number += 1
        return self.context.write_log(f"{self.number:02}", f"$ {shlex.join(command)}\n{output}")

    def titles(self, name):
        """Return {title: folder} of the findings in the folder @name."""
        found = (self.folder / name / "findings").glob("*/title")
        return {path.read_text().strip(): path.parent for path in found}


@contextlib.contextmanager
def campaign(context, name):
    """Give a Fuzz in a folder of its own for the suite @name. The folder goes at the end."""
    folder = Path(tempfile.mkdtemp(prefix=f"redzone-{name}-"))
    try:
        yield Fuzz(context, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def state(output):
    """Return the last line of @output that says how far fuzzing has come, and the number of its inputs."""
    lines = [line for line in output.splitlines() if _INPUTS.match(line)]
    if not lines:
        return "no input", 0
    return lines[-1].removeprefix("redzone: "), int(_INPUTS.match(lines[-1])[1])


def lacks(context, name):
    """Return why the mode, or compiler, @name cannot run here, or None."""
    if name == "hw_tags":
        return mteqemu.reason()
    return context.missing("gcc-arm64") if name == "gcc" else None


def planted(fuzz, name, *options):
    """Run @options with an input of parser.c that meets its bug. Return (what is wrong, log file)."""
    seeds = fuzz.folder / f"{name}-seeds"
    inputs(seeds, BUG.decode())
    arguments = ("--dir", name, "--seeds", seeds, "--seed", 1)
    wrong, output, log = fuzz.ends(1, HERE / "parser.c", *options, *arguments)
    titles = fuzz.titles(name)
    if not any("out-of-bounds" in title for title in titles):
        wrong.append("the bug was not found")
    # Not what the runtime only counts, because its place was reported before.
    wrong += [f"a finding that is not a bug: {title}" for title in titles if not title.startswith("KASAN: ")]
    edges = [line for line in output.splitlines() if " edges, " in line]
    wrong += when(not edges or " 0 edges" in edges[-1] or ", 0 of " in edges[-1], "no coverage")
    return wrong, log


def missing(titles, wanted):
    """Return a text for each start of a title in @wanted that none of @titles has."""
    return [f"no finding '{start}'" for start in wanted if not any(t.startswith(start) for t in titles)]


def kept_badly(titles):
    """Return what is wrong with the findings @titles, as Fuzz.titles() gives them: inputs and reports."""
    wrong = []
    for title, folder in titles.items():
        kind = title.removeprefix("KASAN: ").split()[0]
        if (folder / "input").stat().st_size > (folder / "original").stat().st_size:
            wrong.append(f"'{title}': the input became larger")
        if f"BUG: KASAN: {kind}" not in (folder / "console.log").read_text(errors="replace"):
            wrong.append(f"'{title}': no report in console.log")
    return wrong


def bad(fuzz, name, *options):
    """Fuzz bad.c in the folder @name, with all that it does among the seeds. Return (wrong, output, log)."""
    seeds = inputs(fuzz.folder / f"{name}-seeds", *BAD)
    limits = ("--seeds", seeds, "--seed", 1, "--hang", 1, "--max-len", 4)
    wrong, output, log = fuzz.ends(1, HERE / "bad.c", "--dir", name, *limits, *options)
    return wrong + missing(fuzz.titles(name), BAD.values()), output, log


def killed(fuzz, name, harm, *options):
    """Fuzz bad.c in the folder @name until there is a finding; then call harm(running, found), and end it by
    Ctrl-C. It returns what is wrong, and so does this, with the output and the log file.

    found(condition): wait until there is a finding and condition() gives something.
    """
    seeds = inputs(fuzz.folder / f"{name}-seeds", "Null")
    findings = fuzz.folder / name / "findings"
    running = fuzz.start(HERE / "bad.c", "--dir", name, "--seeds", seeds, "--seed", 1, *options)

    def found(condition):
        return wait_for(running, lambda: list(findings.glob("*/title")) and condition())

    wrong = []
    try:
        wrong += harm(running, found)
        running.send_signal(signal.SIGINT)
        running.send_signal(signal.SIGCONT)
    finally:
        status, output, log = fuzz.finish(running)
    wrong += when(status != 130, f"exit status {status}") + missing(fuzz.titles(name), [BAD["Null"]])
    return wrong + when("Traceback" in output, "a traceback"), output, log


def emulators_killed(fuzz, name, count, *options):
    """killed(), where the harm is that @count emulators are killed, as many as there are. Others start."""

    def harm(running, found):
        known = set(found(lambda: len(emulators(running)) >= count and emulators(running)) or ())
        wrong = when(not known, "no finding, or not all emulators, before the end")
        for number in known:
            os.kill(number, signal.SIGKILL)
        other = wait_for(running, lambda: set(emulators(running)) - known)
        return wrong + when(not other, "no other emulator started")

    wrong, output, log = killed(fuzz, name, harm, *options)
    word = "the emulator was ended from outside"
    return wrong + when(word not in output, "nothing says that the emulator was ended"), log


def inputs(folder, *texts):
    """Make a folder of inputs, as --seeds takes them."""
    folder.mkdir(parents=True)
    for text in texts:
        (folder / text).write_bytes(text.encode())
    return folder


def wait_for(running, condition):
    """Wait until condition() gives something, and return that; None if @running ends before."""
    while running.poll() is None:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    return None


def emulators(running):
    """Return the numbers of the emulators that the process @running has started."""
    return processes.machines(running.pid)
