# SPDX-License-Identifier: MIT
"""`./redzone fuzz` under faults from inside and outside: nothing found is lost, and fuzzing goes on.

--rounds N: so many faults; --seed N: which ones. The target tests/fuzz/faults.c does what its inputs say: it
reports bugs of many kinds, hangs, crashes, smashes the mailbox. Meanwhile the suite kills the emulator and
the fuzzer, sends Ctrl-C, fills the disk, and damages the corpus. The target keeps a record of what it did, in
a file of the host: each bug in it must have become a finding, with a report and an input that are those of
that bug.
"""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from redzone.core import outside, process
from redzone.core.arch import DEFAULT
from redzone.testing import processes
from redzone.testing.runner import SKIP, Result, result, when
from redzone.testing.suites import _fuzz

SLOW = True
OPTIONS = ("rounds", "seed")
TOOLS = _fuzz.TOOLS
ROUNDS = 600
# Faults of one run of the command.
BATCH = 500
DISK = "256m"
TARGET = _fuzz.HERE / "faults.c"
HANG = "0.5"
# Files of a large corpus.
FILES = 20_000
# {letter of an input: how often it is chosen}. faults.c says what each one does.
WEIGHTS = {
    "r": 700, "t": 200, "m": 16, "c": 9, "x": 8, "f": 8, "w": 6, "o": 6, "h": 3, "a": 2, "M": 1, "p": 1,
}  # fmt: skip
# As in faults.c.
LEAVES = (
    *("heap_read_right", "heap_write_right", "heap_read_left", "freed_read", "freed_write"),
    *("freed_twice", "freed_inside", "stack_read", "global_read", "copied_over"),
)
CALLERS, WORDS = 8, 48
# Words of the mailbox whose wrong value the host must see. The guest itself writes the others, or they may
# have any value; the last number stands for all words.
GUARDED = (*range(16), 16, 17, 20, *range(21, 32), 35, 36, *range(41, WORDS))
UNGUARDED = {4, 41}
# The beginnings of titles, for letters that stand for one finding.
TITLES = {
    "m": "crash: the target has overwritten the fuzzer's mailbox",
    "h": "hang: no end after ",
    "p": "hang: no end after ",
    "w": "KASAN: ",
    "o": "Insufficient stack space in ",
    "f": "KASAN: double-free",
    "M": "KASAN: slab-out-of-bounds Read",
    "a": "exit: program returned 134",
}
FULL = re.compile(r"is full:|cannot be written:|cannot be kept yet:")
# Seconds after which a command that runs on has not said that the disk is full, and so long a run goes on
# after its last look at the disk.
SAID, LAST = 300, 5
KILLED = "the emulator was ended from outside"
# The emulator's record is in its folder, and each boot begins a new one. A run that makes a finding's input
# small has a folder of its own.
_EMULATOR = """\
#!/bin/sh
if [ -n "${{REDZONE_FUZZ_MINIMIZE:-}}" ]; then
    cd {folder}/minimized
elif [ -e faults.log ]; then
    mv faults.log "{folder}/records/$(date +%s.%N)"
fi
exec {emulator} "$@" -chardev null,id=record,logfile=faults.log -device virtconsole,nr=3,chardev=record
"""


def planted(data):
    """Return the bug that the input @data runs into, as the record has it; None if it is none."""
    if len(data) != 3 or chr(data[0]) not in WEIGHTS:
        return None
    letter, first, second = chr(data[0]), data[1], data[2]
    numbers = {
        "r": (first % len(LEAVES), second % CALLERS),
        "m": (first % WORDS, 0),
        "c": (first % 3, 0),
        "x": (1 + first % 16, 0),
    }
    return (letter, *numbers.get(letter, (0, 0)))


def _bugs_of(data):
    """Return all bugs of the input @data."""
    if len(data) == 3 and data[:1] == b"t":
        return {("r", 0, data[1] % CALLERS), ("s", 0, data[2] % CALLERS)}
    one = planted(data)
    return {one} if one else set()


@dataclass
class _Campaign:
    """The folder of all runs, and what happened to them from outside.

    in_flight: bugs that were being executed when a process was killed: nobody has seen them yet. executed,
    read: for record().
    """

    fuzz: _fuzz.Fuzz
    folder: Path
    random: random.Random
    seed: int
    mounted: bool = False
    runs: int = 0
    log: Path | None = None
    outside: Counter = field(default_factory=Counter)
    in_flight: set = field(default_factory=set)
    wrong: list = field(default_factory=list)
    executed: list = field(default_factory=list)
    read: set = field(default_factory=set)

    def record(self):
        """Return the bugs that were executed, in order."""
        for path in sorted((self.fuzz.folder / "records").iterdir()):
            if path.name not in self.read:
                self.read.add(path.name)
                self.executed += _record(path)
        return self.executed + _record(self.fuzz.folder / "faults.log")


def _record(path):
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    found = [re.fullmatch(r"([a-zA-Z]) (\d+) (\d+)", line) for line in lines]
    return [(one[1], int(one[2]), int(one[3])) for one in found if one]


def _environment(folder):
    """Return the environment of a run: with an emulator that says where records go."""
    for name in ("minimized", "records"):
        (folder / name).mkdir()
    emulator = folder / "emulator"
    name = shutil.which(outside.BY_KEY[f"qemu-{DEFAULT}"].command)
    emulator.write_text(_EMULATOR.format(folder=folder, emulator=name))
    emulator.chmod(0o755)
    return dict(os.environ, REDZONE_QEMU=str(emulator))


# --- Faults from outside ---------------------------------------------------------------------------


def _kill(number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def _below(running, start):
    """Return the processes below @running whose name begins with @start, and that fuzz. Others make an input
    small."""
    found = []
    for number, name in processes.below(running.pid):
        with contextlib.suppress(OSError):
            environment = Path(f"/proc/{number}/environ").read_bytes()
            if name.startswith(start) and environment and b"REDZONE_FUZZ_MINIMIZE=" not in environment:
                found.append(number)
    return found


def _kill_emulator(campaign, running):
    for number in _below(running, "qemu-system")[:1]:
        _kill(number)
        campaign.outside["emulator"] += 1


def _kill_fuzzer(campaign, running):
    for number in _below(running, "fuzzer")[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGSTOP)
        # The emulator works on one input at most, which it may begin only now.
        time.sleep(0.5)
        if processes.state(number) != "T":
            # It has ended by itself just before.
            continue
        _kill(number)
        campaign.in_flight.update(campaign.record()[-2:])
        campaign.outside["fuzzer"] += 1


def _interrupt(campaign, running):
    running.send_signal(signal.SIGINT)
    campaign.outside["Ctrl-C"] += 1


def _fill_disk(campaign, running):
    """Fill the disk until the command says that it is full, and make room again then."""
    if not campaign.mounted:
        return
    ballast = campaign.folder / "ballast"
    before = len(campaign.log.read_text(errors="replace"))
    full = []

    def said():
        return FULL.search(campaign.log.read_text(errors="replace")[before:])

    def filled():
        # The command removes files as well.
        try:
            with open(ballast, "ab", buffering=0) as file:
                while file.write(bytes(1 << 16)):
                    pass
        except OSError:
            full.append(time.monotonic())
        return said() or (full and time.monotonic() - full[0] > SAID)

    _fuzz.wait_for(running, filled)
    ballast.unlink(missing_ok=True)
    if said():
        campaign.outside["disk"] += 1
    elif full and time.monotonic() - full[0] > LAST:
        campaign.wrong.append(f"run {campaign.runs}: nothing says that the disk is full")


def _damage_corpus(campaign, running):
    corpus = campaign.folder / "corpus"
    chosen = campaign.random
    files = sorted(path for path in corpus.glob("*") if path.is_file()) if corpus.is_dir() else []
    kind = chosen.choice(("cut", "large", "unreadable", "folder", "loop", "gone", "pipe", "all"))
    victim = chosen.choice(files) if files else corpus / "new"
    fresh = corpus / f"{kind}-{campaign.outside['corpus']}"
    with contextlib.suppress(OSError):
        if kind == "cut":
            os.truncate(victim, 1)
        elif kind == "large":
            victim.write_bytes(chosen.randbytes(2 << 20))
        elif kind == "unreadable":
            victim.chmod(0)
        elif kind == "folder":
            fresh.mkdir()
            (fresh / "inner").write_bytes(b"abc")
        elif kind == "loop":
            fresh.symlink_to(fresh.name)
        elif kind == "gone":
            victim.unlink()
        elif kind == "pipe":
            os.mkfifo(fresh)
        elif kind == "all":
            shutil.rmtree(corpus)
    campaign.outside["corpus"] += 1


# {what is done: how often in a run}
_OUTSIDE = {_kill_emulator: 4, _kill_fuzzer: 1, _damage_corpus: 4, _fill_disk: 1, _interrupt: 1}


# --- Runs ------------------------------------------------------------------------------------------


def _seeds(campaign, count):
    """Make a folder with @count inputs. Return it."""
    folder = campaign.fuzz.folder / f"seeds-{campaign.runs}"
    folder.mkdir()
    letters = campaign.random.choices(list(WEIGHTS), WEIGHTS.values(), k=count)
    for number, letter in enumerate(letters):
        (folder / f"{number:05}").write_bytes(letter.encode() + campaign.random.randbytes(2))
    return folder


def _run_once(campaign, seeds, count, environment, faults):
    """Run the command over the inputs in @seeds. Return the status.

    @faults: [(after how many records, what to do)].
    """
    campaign.runs += 1
    log = campaign.log = campaign.fuzz.context.logs / f"run-{campaign.runs:03}.log"
    corpus = campaign.folder / "corpus"
    known = len(list(corpus.iterdir())) if corpus.is_dir() else 0
    arguments = [TARGET, "--dir", campaign.folder, "--seeds", seeds, "--runs", count + known + 20]
    arguments += ["--seed", campaign.seed + campaign.runs, "--hang", HANG, "--max-len", 3]
    before = len(campaign.record())
    counts = Counter()
    with open(log, "w") as output:
        running = campaign.fuzz.start(*arguments, env=environment, stdout=output)
        try:
            for after, fault in faults:
                if _fuzz.wait_for(running, lambda after=after: len(campaign.record()) - before >= after):
                    was = dict(campaign.outside)
                    fault(campaign, running)
                    counts.update({key: value - was.get(key, 0) for key, value in campaign.outside.items()})
            status = running.wait(_fuzz.TIMEOUT)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if running.poll() is None:
                running.send_signal(signal.SIGINT)
                process.end(running, _fuzz.STOP)
    _judge_run(campaign, log, status, counts)
    return status


def _judge_run(campaign, log, status, counts):
    """Look at what the command said about its faults from outside."""
    text = log.read_text(errors="replace")
    wrong = []
    wanted = (0, 1, 130) if counts["Ctrl-C"] else (0, 1)
    wrong += when(status not in wanted, f"exit status {status}")
    wrong += when("Traceback" in text, "a traceback")
    killed = text.count(KILLED)
    # The fuzzer sees it with the next input, which Ctrl-C and a killed fuzzer may prevent.
    certain = counts["emulator"] and not counts["fuzzer"] and status != 130
    if killed > counts["emulator"] or (certain and not killed):
        wrong.append(f"{killed} lines for {counts['emulator']} killed emulators")
    if len(re.findall(r"job \d+ ended with status -9\b", text)) != counts["fuzzer"]:
        wrong.append(f"not one line for each of {counts['fuzzer']} killed fuzzers")
    campaign.wrong += [f"run {campaign.runs}: {one}" for one in wrong]


def _some(campaign, count, environment):
    """A run over @count new inputs, with faults from outside; after Ctrl-C it is begun again."""
    seeds = _seeds(campaign, count)
    kinds = [kind for kind, often in _OUTSIDE.items() for _ in range(often)]
    campaign.random.shuffle(kinds)
    # A run that ends at once need not see that its disk is full.
    ends = [count // 2 if kind is _fill_disk else count for kind in kinds]
    faults = [(campaign.random.randrange(end), kind) for end, kind in zip(ends, kinds, strict=True)]
    faults.sort(key=lambda fault: fault[0])
    while _run_once(campaign, seeds, count, environment, faults) == 130:
        done = [kind for _, kind in faults].index(_interrupt) + 1
        faults = faults[done:]
    shutil.rmtree(seeds)


# --- Judgement ---------------------------------------------------------------------------------------


@dataclass
class _Found:
    """A finding. @bug: which planted one its report is about; None for a title of its own."""

    folder: Path
    title: str
    bug: tuple | None
    inputs: list


def _found(folder):
    """Return the _Found in the folder @folder, and what is wrong with them."""
    found, wrong = [], []
    for path in sorted(folder.glob("findings/*/title")):
        place = path.parent
        files = {name: place / name for name in ("original", "input", "report.txt", "console.log", "command")}
        lacks = [name for name, file in files.items() if not file.is_file()]
        if lacks:
            wrong.append(f"{place.name} has no {', '.join(lacks)}")
            continue
        title = path.read_text().strip()
        report = files["report.txt"].read_text(errors="replace")
        wrong += when(not report.strip(), f"'{title}': an empty report")
        if f"{place.name}/input" not in files["command"].read_text():
            wrong.append(f"'{title}': the command is for another input")
        leaf = re.search(r" in (\w+)", title)
        caller = re.search(r"\bcaller_([0-7]{2})\b", report)
        bug = None
        if leaf and caller and leaf[1] in LEAVES:
            bug = ("r", LEAVES.index(leaf[1]), int(caller[1], 8))
        elif leaf and caller and leaf[1] == "second_read":
            bug = ("s", 0, int(caller[1], 8))
        inputs = [files[name].read_bytes() for name in ("original", "input")]
        for data, name in zip(inputs, ("original", "input"), strict=True):
            if bug and bug not in _bugs_of(data):
                wrong.append(f"'{title}' of caller_{caller[1]}: {name} is an input of {_bugs_of(data)}")
        found.append(_Found(place, title, bug, inputs))
    return found, wrong


def _lost(executed, found):
    """Return a text for each bug of @executed that is no finding."""
    reports = {one.bug for one in found if one.bug}
    titles = [one.title for one in found]
    lost = []
    for bug in sorted(executed):
        letter, number, _ = bug
        if letter in "rs":
            good = bug in reports
        elif letter == "x":
            good = f"exit: program returned {number}" in titles
        elif letter == "c":
            good = any(chr(one.inputs[0][0]) == "c" for one in found if len(one.inputs[0]) == 3)
        elif letter == "m" and (number not in GUARDED or number in UNGUARDED):
            good = True
        else:
            good = any(title.startswith(TITLES[letter]) for title in titles)
        if not good:
            lost.append(f"{bug} was executed, and is no finding")
    return lost


def _stress(fuzz, rounds, seed):
    campaign = _Campaign(fuzz, fuzz.folder / "found", random.Random(seed), seed)
    campaign.folder.mkdir(parents=True)
    environment = _environment(fuzz.folder)
    small = fuzz.plain(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", campaign.folder])
    campaign.mounted = small.returncode == 0
    try:
        yield from _rounds(campaign, rounds, environment)
    finally:
        if campaign.mounted:
            subprocess.run(["umount", "-l", campaign.folder], check=False)
    if not campaign.mounted:
        yield Result("full-disk", SKIP, f"no small disk: {process.last_line(small.stderr)}")


def _rounds(campaign, rounds, environment):
    fuzz, started = campaign.fuzz, time.monotonic()
    while len(campaign.record()) + campaign.outside.total() < rounds:
        left = rounds - len(campaign.record()) - campaign.outside.total()
        _some(campaign, min(BATCH, max(20, left)), environment)
        inside = len(campaign.record())
        seconds = time.monotonic() - started
        fuzz.context.note(f"{inside + campaign.outside.total()} faults after {seconds:.0f} s")
        if campaign.wrong:
            break
    record = campaign.record()
    found, wrong = _found(campaign.folder)
    if campaign.mounted and not campaign.outside["disk"] and not campaign.wrong:
        campaign.wrong.append("no run has seen a full disk")
    yield result("runs", campaign.wrong)

    # Without more faults from outside, and with what was being executed when a process was killed.
    seeds = fuzz.folder / "last"
    seeds.mkdir()
    for number, (letter, first, second) in enumerate(sorted(campaign.in_flight)):
        data = bytes([ord("t"), 0, second]) if letter == "s" else bytes([ord(letter), first, second])
        (seeds / str(number)).write_bytes(data)
    lost = _lost(set(record) - campaign.in_flight, found)
    yield result("findings.kept", lost)
    yield result("findings.whole", wrong)
    before = {one.folder.name for one in found}
    _run_once(campaign, seeds, len(campaign.in_flight), environment, [])
    found, wrong = _found(campaign.folder)
    wrong += _lost(set(campaign.record()), found)
    wrong += when(not before <= {one.folder.name for one in found}, "findings of the earlier runs are gone")
    left = sorted(path.name for path in (campaign.folder / "findings" / "new").iterdir())
    # libFuzzer stores inputs that took over ten seconds, as on a busy machine. They are no findings.
    slow = [name for name in left if name.startswith("engine-slow-unit-")]
    if len(left) > len(slow):
        wrong.append(f"nobody has taken in {', '.join(name for name in left if name not in slow)}")
    yield result("second-run", wrong)

    kinds = Counter("r" if letter == "s" else letter for letter, _, _ in record)
    outside = ", ".join(f"{kind} {number}" for kind, number in sorted(campaign.outside.items()))
    fuzz.context.note(f"inside: {len(record)}: {', '.join(f'{k} {n}' for k, n in sorted(kinds.items()))}")
    fuzz.context.note(f"outside: {campaign.outside.total()}: {outside}")
    planted_bugs = len({bug for bug in record if bug[0] in "rs"})
    repeated = sum("not repeated" not in one.title for one in found)
    fuzz.context.note(
        f"{planted_bugs} bugs of reports executed; {len(found)} findings, "
        f"{repeated} repeated by their input alone"
    )
    fuzz.context.note(f"{len(slow)} inputs that libFuzzer calls slow")


def _mailbox(fuzz):
    """Each word of the mailbox that the host can check: a wrong value is seen, and the others do no harm."""
    status, _, log = fuzz.run(TARGET, "--export", "out", "--hang", 1)
    wrong = [] if status == 0 else [f"exit status {status}"]
    for word in range(WORDS if not wrong else 0):
        data = fuzz.folder / "word"
        data.write_bytes(bytes([ord("m"), word, 0]))
        command = [fuzz.folder / "out" / "faults", data]
        ended = fuzz.plain(command)
        seen = f"redzone: {TITLES['m']}" in ended.stderr
        wrong += when(seen != (ended.returncode != 0), f"word {word}: status {ended.returncode}")
        if not seen and word in GUARDED and word not in UNGUARDED:
            wrong.append(f"word {word} may have any value")
    yield result("mailbox", wrong, log)


def _large_corpus(fuzz):
    """A folder of many files: a run starts with all of them, goes on later, and they can be merged."""
    corpus = fuzz.folder / "large" / "corpus"
    corpus.mkdir(parents=True)
    for number in range(FILES):
        (corpus / f"{number:06}").write_bytes(b"TOY1" + number.to_bytes(4, "little"))
    parser = (_fuzz.HERE / "parser.c", "--seed", 1, "--max-len", 8)
    wrong = []
    for name in ("start", "second"):
        status, output, log = fuzz.run(*parser, "--dir", "large", "--runs", FILES + 1000)
        inputs = re.findall(r" s, (\d+) inputs, ", output)
        if status != 0 or not inputs or int(inputs[-1]) < FILES:
            wrong.append(f"{name}: exit status {status}, {inputs[-1:]} inputs")
    left = len(list(corpus.iterdir()))
    wrong += when(left < FILES, f"{left} of {FILES} files are left")
    yield result("large-corpus", wrong, log)

    status, _, log = fuzz.run(*parser, "--dir", "merged", "--seeds", corpus, "--libfuzzer=-merge=1")
    merged = len(list((fuzz.folder / "merged" / "corpus").iterdir()))
    wrong = [] if status == 0 and 0 < merged < 100 else [f"exit status {status}, {merged} files"]
    status, output, log = fuzz.run(*parser, "--dir", "merged", "--runs", 1000)
    if status != 0 or len(list((fuzz.folder / "merged" / "corpus").iterdir())) < merged:
        wrong.append(f"with the merged corpus: exit status {status}")
    yield result("large-corpus.merged", wrong, log)


def run(context):
    seed = context.seed or 1
    context.note(f"seed {seed}")
    with _fuzz.campaign(context, "fuzz-faults") as fuzz:
        yield from _mailbox(fuzz)
        (fuzz.folder / "faults.log").unlink(missing_ok=True)
        yield from _large_corpus(fuzz)
        yield from _stress(fuzz, context.rounds or ROUNDS, seed)
