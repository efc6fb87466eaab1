# SPDX-License-Identifier: MIT
"""U-Boot fuzzed: each target makes progress from valid inputs, and the original source shows two of its CVEs.

--rounds N: inputs for each target; --seconds N: so long for each one, instead; --filter NAME: only these, of
net, fs, fit, env, efi, dtb and cves. It fetches Debian's source package the first time, and builds U-Boot
twice. A report for a valid input is a failure. The findings of a target's run are printed, and are no
failure: each may be a bug of U-Boot that docs/u-boot.md does not list.
"""

import fnmatch
import re
import shutil
import tempfile
from pathlib import Path

from redzone.runner import FAIL
from redzone.suites import _fuzz

from .host import build, fuzz, known

SLOW = True
OPTIONS = ("seconds", "rounds", "seed", "filter")
TOOLS = (*build.tools(), *fuzz.TOOLS)
ROUNDS = 400
# CVEs of the original source that are to be found; the inputs within which; after how many it looks for them.
CVES_WANTED = 2
CVES_ROUNDS = 150_000
CVES_PART = 5_000
# CPU time after which an input is a hang, in seconds. Some walk through tables of 4,294,967,295 entries.
HANG = 2
_INPUTS = re.compile(r"redzone: \d+ s, (\d+) inputs, ")


def _state(output):
    """Return the last line of the campaign that says how far it has come, and the number of its inputs."""
    lines = [line for line in output.splitlines() if _INPUTS.match(line)]
    if not lines:
        return "no input", 0
    return lines[-1].removeprefix("redzone: "), int(_INPUTS.match(lines[-1])[1])


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
        if _state(output)[1] < seeds:
            wrong.append(f"{_state(output)[1]} inputs, there are {seeds} valid ones")
        return _fuzz.result(f"{name}.valid", wrong, log)

    def progress(self, name):
        """Inputs are made from them, and some reach code that those do not."""
        context, wrong = self.context, []
        seeds = fuzz.write_seeds(name, self.folder / f"{name}.seeds")
        rounds = seeds + 1 if context.seconds else context.rounds or ROUNDS
        limit = ("--time", context.seconds) if context.seconds else ("--runs", rounds)
        status, output, log = self.fuzz.run(name, "--dir", name, "--seed", context.seed or 1, *limit)
        state, inputs = _state(output)
        context.note(f"{name}: {state}")
        for found, number in self.named(name, "patched", known.OPEN).items():
            text = f"bug {number} of docs/u-boot.md" if number else f"new: {found}/report.txt"
            context.note(f"{name}: {_title(found)}: {text}")
        if status not in (0, 1):
            wrong.append(f"exit status {status}")
        if inputs < rounds:
            wrong.append(f"{inputs} inputs, expected {rounds}")
        kept = sum(1 for _ in (self.folder / name / "corpus").glob("*"))
        if kept <= seeds:
            wrong.append(f"{kept} inputs kept, {seeds} of them valid ones: nothing reached further")
        return _fuzz.result(f"{name}.progress", wrong, log)

    def cves(self):
        """From valid disks, the original source shows two of the CVEs that the suite u-boot lists."""
        self.elf("original")
        seed, total, names, state = self.context.seed or 1, 0, [], ""
        while total < CVES_ROUNDS and len(names) < CVES_WANTED:
            words = ("--unpatched", "--dir", "cves", "--seed", seed, "--runs", CVES_PART, "--hang", HANG)
            status, output, log = self.fuzz.run("fs", *words)
            state, inputs = _state(output)
            names = sorted(set(filter(None, self.named("cves", "original", known.CVES).values())))
            total += inputs
            self.context.note(f"cves: {total} inputs: {', '.join(names) or 'none'}: {state}")
            if status not in (0, 1):
                return _fuzz.result("fs.cves", [f"exit status {status}"], log)
            seed += 1
        text = f"{', '.join(names) or 'no CVE'} within {total} inputs"
        wrong = [] if len(names) >= CVES_WANTED else [f"{text}, expected {CVES_WANTED}"]
        return _fuzz.result("fs.cves", wrong, log)


def run(context):
    patterns = (context.filter or "*").split(",")
    folder = Path(tempfile.mkdtemp(prefix="redzone-u-boot-fuzz-"))
    campaigns = _Campaigns(context, folder)
    failed = False
    for name in (*fuzz.TARGETS, "cves"):
        if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            continue
        parts = (campaigns.cves,) if name == "cves" else (campaigns.valid, campaigns.progress)
        for part in parts:
            result = part() if name == "cves" else part(name)
            failed = failed or result.status == FAIL
            yield result
    # The files that a failure names are still there to look at.
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)
