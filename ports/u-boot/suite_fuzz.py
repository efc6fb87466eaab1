# SPDX-License-Identifier: MIT
"""U-Boot fuzzed: each target makes progress from valid inputs, and the original source shows two of its CVEs.

--rounds N: inputs for each target; --seconds N: so long for each one, instead; --filter NAME: only these, of
net, fs, fit, env, efi, dtb, smaller and cves. It fetches Debian's source package the first time, and builds
U-Boot twice. A report for a valid input is a failure. The findings of a target's run are printed, and are no
failure: each may be a bug of U-Boot that bugs.md does not list.
"""

import fnmatch
import shutil
import signal
import tempfile
import time
from pathlib import Path

from redzone.fuzz import findings
from redzone.kit import ports
from redzone.testing import runner
from redzone.testing.suites import _fuzz

from .host import boots, build, fuzz, known

SLOW = True
OPTIONS = ("seconds", "rounds", "seed", "filter")
TOOLS = (*build.tools(), *fuzz.TOOLS)
ROUNDS = 400
# CVEs of the original source that are to be found, and the inputs within which.
CVES_WANTED = 2
CVES_ROUNDS = 150_000
# CPU time after which an input is a hang, in seconds. Some walk through tables of 4,294,967,295 entries.
HANG = 2
# Bytes of an input with much that its bug does not need, and of what may be left of it. A guest that prints a
# few reports of a place in one boot, and then none, would leave a sixteenth or more.
LARGE = 32 << 10
SMALL = 512
# How long one input may take with all its reports, and a boot, in seconds.
REPEAT = 1800


def _title(finding):
    return (finding / "title").read_text(errors="replace").strip()


class _Campaigns:
    """Runs the campaigns of the suite with the context @context."""

    def __init__(self, context, folder):
        self.context, self.folder = context, folder
        self.fuzz = _fuzz.Fuzz(context, folder, ("port", "u-boot", "--fuzz"))
        self.elves = {}

    def elf(self, tree):
        if tree not in self.elves:
            self.elves[tree] = build.build(tree, jobs=self.context.jobs, fuzz=True).elf
        return self.elves[tree]

    def named(self, place, tree, bugs):
        """Return {folder of a finding: name of its bug or None} of the campaign in the folder @place."""
        return known.of_folder(self.folder / place / "findings", self.elf(tree), bugs)

    def valid(self, name):
        """The inputs that fuzzing begins with are valid, so U-Boot has no report for them."""
        self.elf("patched")
        place = f"{name}-valid"
        seeds = fuzz.write_seeds(name, self.folder / f"{name}.seeds")
        status, output, log = self.fuzz.run(name, "--dir", place, "--libfuzzer=-runs=0")
        wrong = [f"{_title(found)}: {found}" for found in self.named(place, "patched", known.OPEN)]
        if status != 0 and not wrong:
            wrong.append(f"exit status {status}")
        if _fuzz.state(output)[1] < seeds:
            wrong.append(f"{_fuzz.state(output)[1]} inputs, there are {seeds} valid ones")
        return runner.result(f"{name}.valid", wrong, log)

    def progress(self, name):
        """Inputs are made from them, and some reach code that those do not."""
        context, wrong = self.context, []
        seeds = fuzz.write_seeds(name, self.folder / f"{name}.seeds")
        rounds = seeds + 1 if context.seconds else context.rounds or ROUNDS
        limit = ("--time", context.seconds) if context.seconds else ("--runs", rounds)
        status, output, log = self.fuzz.run(name, "--dir", name, "--seed", context.seed or 1, *limit)
        state, inputs = _fuzz.state(output)
        context.note(f"{name}: {state}")
        for found, number in self.named(name, "patched", known.OPEN).items():
            text = f"bug {number} of bugs.md" if number else f"new: {found}/report.txt"
            context.note(f"{name}: {_title(found)}: {text}")
        if status not in (0, 1):
            wrong.append(f"exit status {status}")
        if inputs < rounds:
            wrong.append(f"{inputs} inputs, expected {rounds}")
        kept = sum(1 for _ in (self.folder / name / "corpus").glob("*"))
        if kept <= seeds:
            wrong.append(f"{kept} inputs kept, {seeds} of them valid ones: nothing reached further")
        return runner.result(f"{name}.progress", wrong, log)

    def smaller(self):
        """An input is made much smaller, although its bug is a read: the same boot has it again and again."""
        self.elf("patched")
        seeds = self.folder / "smaller.seeds"
        seeds.mkdir()
        date = boots.input_module("open-fat-date").OCTOBER
        volume = boots.load_input("fat").volume({"FILE.TXT": b"contents\n"}, date=date)
        (seeds / "disk").write_bytes(ports.load("u-boot", "fuzz.seeds").parts(volume).ljust(LARGE, b"\0"))
        words = ("--dir", "smaller", "--seeds", seeds, "--libfuzzer=-runs=0")
        status, _, log = self.fuzz.run("fs", *words)
        named = self.named("smaller", "patched", known.OPEN)
        sizes = [(found / "input").stat().st_size for found, number in named.items() if number == "9"]
        wrong = [] if status == 1 else [f"exit status {status}"]
        if not sizes:
            wrong.append("bug 9 is not found")
        wrong += [f"{size} bytes are left, expected {SMALL} at most" for size in sizes if size > SMALL]
        return runner.result("fs.smaller", wrong, log)

    def _look(self, found, looked, began):
        """Add the inputs of the CVEs that are not in @looked yet to @found: {CVE: [files]}.

        The command takes in one finding after the other, for many seconds each, so those that wait count.
        """
        elf = self.elf("original")
        for path in (self.folder / "cves" / "findings" / "new").glob("*.finding"):
            if path.stem in looked:
                continue
            try:
                stored = findings.read_stored(path)
            except (OSError, ValueError):
                # It was taken in just now.
                continue
            looked.add(path.stem)
            name = known.of_stored(stored, elf, known.CVES, self.folder / "decode.log")
            if not name:
                continue
            data = self.folder / path.stem
            data.write_bytes(stored.data)
            if name not in found:
                seconds = time.monotonic() - began
                self.context.note(f"cves: {name} by input {stored.number}, after {seconds:.0f} s")
            found.setdefault(name, []).append(data)
        return len(found) >= CVES_WANTED

    def cves(self):
        """From valid disks, the original source shows two of the CVEs that the suite u-boot lists."""
        context, found, looked = self.context, {}, set()
        self.elf("original")
        log, began = self.folder / "cves.log", time.monotonic()
        words = ("--unpatched", "--dir", "cves", "--seed", context.seed or 1, "--runs", CVES_ROUNDS)
        with open(log, "w") as output:
            running = self.fuzz.start("fs", *words, "--hang", HANG, stdout=output)
            try:
                _fuzz.wait_for(running, lambda: self._look(found, looked, began))
                running.send_signal(signal.SIGINT)
            finally:
                status, _, _ = self.fuzz.finish(running)
        text = log.read_text(errors="replace")
        kept = self.fuzz.write_log(running.args, text)
        names = ", ".join(sorted(found)) or "no CVE"
        wrong = []
        if len(found) < CVES_WANTED:
            wrong.append(f"{names} within {_fuzz.state(text)[1]} inputs, expected {CVES_WANTED}")
        if status not in (0, 1, 130):
            wrong.append(f"exit status {status}")
        yield runner.result("fs.cves", wrong, kept)
        yield self._repeated(found)

    def _repeated(self, found):
        """In a fresh boot, an input alone shows the CVE that it showed before. @found: {CVE: [files]}."""
        wrong = [] if found else ["no finding"]
        log = self.context.logs / f"repeat-{self.context.seed or 1}.log"
        for name, inputs in sorted(found.items()):
            for data in inputs:
                fuzz.repeat("fs", "original", data, log, REPEAT, None, self.context.jobs)
                if name in known.of_console(log, self.elf("original"), known.CVES):
                    break
            else:
                wrong.append(f"no input alone shows {name}")
        return runner.result("fs.cves.repeated", wrong, log)

    def results(self, name):
        """Yield the results of the part @name of the suite."""
        if name == "cves":
            yield from self.cves()
        elif name == "smaller":
            yield self.smaller()
        else:
            yield self.valid(name)
            yield self.progress(name)


def run(context):
    patterns = (context.filter or "*").split(",")
    folder = Path(tempfile.mkdtemp(prefix="redzone-u-boot-fuzz-"))
    campaigns = _Campaigns(context, folder)
    failed = False
    for name in (*fuzz.TARGETS, "smaller", "cves"):
        if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            continue
        for result in campaigns.results(name):
            failed = failed or result.status == runner.FAIL
            yield result
    # The files that a failure names are still there to look at.
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)
