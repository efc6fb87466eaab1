# SPDX-License-Identifier: MIT
"""Runs `./redzone fuzz` for the suites that fuzz, in a folder of their own."""

import contextlib
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


def missing(titles, wanted):
    """Return a text for each start of a title in @wanted that none of @titles has."""
    return [f"no finding '{start}'" for start in wanted if not any(t.startswith(start) for t in titles)]


def wrong_end(status, output, word, fault):
    """Return a text for each thing that is wrong with the end of a command that got Ctrl-C.

    @status, @output: of the command. @word: what it says of @fault, which came before.
    """
    wrong = [] if status == 130 else [f"exit status {status}"]
    wrong += when(word not in output, f"nothing says that {fault}")
    return wrong


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
