# SPDX-License-Identifier: MIT
"""`./redzone fuzz`: planted bugs are found from nothing, and no misbehaviour of a target ends it.

Targets with planted bugs are in tests/fuzz. Random numbers begin with a fixed seed, and limits are numbers of
inputs, so a busy machine needs longer and finds the same.
"""

import os
import re
import signal

from redzone.core import process
from redzone.core.base import ROOT
from redzone.testing import processes
from redzone.testing.runner import SKIP, Result, result, when
from redzone.testing.suites import _fuzz

SLOW = True
TOOLS = _fuzz.TOOLS


def _parser(fuzz):
    """From an empty corpus: both bugs, each with an input that repeats it; a second run finds nothing new."""
    arguments = (_fuzz.HERE / "parser.c", "--dir", "toy", "--runs", _fuzz.RUNS, "--seed", 1, "--max-len", 32)
    wrong, _, log = fuzz.ends(1, *arguments)
    titles = fuzz.titles("toy")
    wrong += _fuzz.missing(titles, _fuzz.PARSER)
    yield result("parser.found", wrong, log)

    wrong = _fuzz.kept_badly(titles)
    for title, folder in titles.items():
        again, line = fuzz.repeat(folder)
        kind = title.removeprefix("KASAN: ").split()[0]
        if again.returncode != 1 or f"BUG: KASAN: {kind} in " not in again.stdout:
            wrong.append(f"'{title}' is not repeated by: {line}")
    yield result("parser.repeated", wrong, log)

    before = len(list((fuzz.folder / "toy" / "corpus").iterdir()))
    wrong, _, log = fuzz.ends(1, *arguments[:3], "--runs", 2000, "--seed", 2, "--max-len", 32)
    wrong += when(fuzz.titles("toy") != titles, "the second run has other findings")
    if before < 3 or len(list((fuzz.folder / "toy" / "corpus").iterdir())) < before:
        wrong.append(f"the corpus had {before} files, and has less now")
    yield result("parser.resumed", wrong, log)


def _bad(fuzz):
    """Each way to misbehave is one finding, and the inputs behind it run as well."""
    wrong, _, log = _fuzz.bad(fuzz, "bad", "--runs", 200)
    yield result("bad.findings", wrong, log)


def _killed(fuzz):
    """The emulator is killed, then Ctrl-C: the first is one line, and what was found before is kept."""
    wrong, log = _fuzz.emulators_killed(fuzz, "kill", 1)
    wrong += when(not (fuzz.folder / "kill" / "corpus").is_dir(), "no corpus")
    yield result("killed", wrong, log)


def _engine_killed(fuzz):
    """The engine is killed, and Ctrl-C comes before the command has seen that: it says so at its end."""

    def harm(running, found):
        known = found(lambda: True)
        # It sleeps, so Ctrl-C is there when it goes on.
        running.send_signal(signal.SIGSTOP)
        engines = [number for number, name in processes.below(running.pid) if name == "fuzzer"]
        for number in engines:
            os.kill(number, signal.SIGKILL)
        return when(not known or not engines, "no finding, or no engine, before the end")

    wrong, output, log = _fuzz.killed(fuzz, "engine", harm)
    wrong += when("job 0 ended with status -9\n" not in output, "nothing says that the engine was killed")
    wrong += when("it starts again" in output, "the engine was started again: Ctrl-C came too late")
    yield result("killed.engine", wrong, log)


def _stopped(fuzz):
    """A suite that is interrupted ends the command that it runs, and so the emulator. It says how many inputs
    there were."""
    command = [ROOT / "redzone", "test", "fuzz-own", "--filter", "archive", "--seconds", 3600]
    running = process.start(command, cwd=fuzz.folder)
    wrong, below = [], []
    try:
        below = (
            _fuzz.wait_for(running, lambda: _fuzz.emulators(running) and processes.below(running.pid)) or []
        )
        running.send_signal(signal.SIGINT)
    finally:
        status, output, log = fuzz.finish(running)
    wrong += when(status != 130, f"exit status {status}")
    if not re.search(r"(?m)^# archive: (\d+ s, \d+ inputs, .*|no input); \d+ inputs? in all runs$", output):
        wrong.append("nothing says how many inputs there were")
    wrong += when(not below, "no emulator before the end")
    left = processes.gone([number for number, _ in below], 60)
    wrong += [f"{name} goes on" for number, name in below if number in left]
    yield result("stopped", wrong, log)


def _jobs(fuzz):
    """Two kernels share a corpus folder with odd things in it, and both work."""
    # Which of the two reads whose inputs is not decided by the seed, so the bug is among the first ones.
    fuzz.odd_corpus("jobs", _fuzz.BUG)
    limits = (*("--jobs", 2), *("--runs", 6000), *("--seed", 1), *("--max-len", 64))
    arguments = ("--dir", "jobs", *limits)
    wrong, output, log = fuzz.ends(1, _fuzz.HERE / "parser.c", *arguments)
    wrong += _fuzz.missing(fuzz.titles("jobs"), _fuzz.PARSER[:1])
    inputs = re.findall(r" s, (\d+) inputs, ", output)
    # Each of the two has 3000, and one of them alone no more.
    wrong += when(not inputs or int(inputs[-1]) < 6000, "less than 6000 inputs")
    wrong += when("Traceback" in output, "a traceback")
    yield result("jobs", wrong, log)


def _mode_off(fuzz):
    """Without KASAN a crash is a finding, and an overwritten mailbox as well."""
    seeds = _fuzz.inputs(fuzz.folder / "off-seeds", "Null", "Mail", "Many")
    arguments = (*("--dir", "off"), *("--seeds", seeds), *("--runs", 100), *("--seed", 1), *("--max-len", 4))
    wrong, _, log = fuzz.ends(1, "--mode", "off", _fuzz.HERE / "bad.c", *arguments)
    titles = fuzz.titles("off")
    wrong += _fuzz.missing(titles, [_fuzz.BAD["Mail"]])
    if not any("NULL pointer dereference" in title for title in titles):
        wrong.append("no finding for the null pointer")
    wrong += when(any("KASAN" in title for title in titles), "a report without KASAN")
    yield result("modes.off", wrong, log)


def _run_export(fuzz, folder, *options):
    """Run an exported target as any other libFuzzer target. Return (status, output, log)."""
    return fuzz.finish(process.start([folder / "parser", *options], cwd=fuzz.folder))


def _export(fuzz):
    """The exported folder works elsewhere, without this repository, under libFuzzer's own options."""
    seeds = _fuzz.inputs(fuzz.folder / "export-seeds", "TOY1keys")
    words = fuzz.folder / "toy.dict"
    words.write_text('magic="TOY1"\n')
    arguments = ("--export", "out", "--seeds", seeds, "--dict", words, "--max-len", 32)
    wrong, _, log = fuzz.ends(0, _fuzz.HERE / "parser.c", *arguments)
    names = {path.name for path in (fuzz.folder / "out").glob("*")}
    wanted = {"parser", "parser.options", "parser.dict", "parser_seed_corpus.zip", "build.sh"}
    wrong += [f"no {name}" for name in sorted(wanted - names)]
    yield result("export.written", wrong, log)
    if wrong:
        return

    moved = fuzz.folder / "elsewhere"
    (fuzz.folder / "out").rename(moved)
    corpus, crashes = fuzz.folder / "shared", fuzz.folder / "crashes"
    corpus.mkdir()
    crashes.mkdir()
    prefix, words = f"-artifact_prefix={crashes}/", f"-dict={moved / 'parser.dict'}"
    limits = ("-max_len=32", "-runs=30000", "-seed=1", prefix)
    status, output, log = _run_export(fuzz, moved, corpus, words, "-jobs=2", "-workers=2", *limits)
    found = sorted(crashes.glob("crash-*"))
    wrong = [] if found else ["no crash"]
    wrong += when(status == 0, "exit status 0 after a crash")
    wrong += when(len(list(corpus.iterdir())) < 3, "the shared corpus does not grow")
    yield result("export.jobs", wrong, log)
    if wrong:
        return

    status, output, log = _run_export(fuzz, moved, found[0], prefix)
    wrong = [] if status else ["exit status 0"]
    wrong += when("BUG: KASAN: " not in output, "no report")
    yield result("export.reproduced", wrong, log)

    smaller = crashes / "smaller"
    arguments = ("-minimize_crash=1", "-runs=200", f"-exact_artifact_path={smaller}", "-seed=1")
    status, output, log = _run_export(fuzz, moved, *arguments, found[0])
    size = smaller.stat().st_size if smaller.exists() else found[0].stat().st_size
    wrong = [] if size <= found[0].stat().st_size else ["the input became larger"]
    wrong += when("CRASH_MIN" not in output, "libFuzzer did not minimize")
    yield result("export.minimized", wrong, log)

    merged = fuzz.folder / "merged"
    merged.mkdir()
    status, output, log = _run_export(fuzz, moved, "-merge=1", prefix, merged, corpus)
    wrong = [] if status == 0 else [f"exit status {status}"]
    if not 0 < len(list(merged.iterdir())) <= len(list(corpus.iterdir())):
        wrong.append("the merged corpus is empty or larger")
    yield result("export.merged", wrong, log)
    yield from _build_again(fuzz, moved)


def _build_again(fuzz, exported):
    """build.sh of the folder @exported makes all of it again, as OSS-Fuzz calls it, and the result works."""
    built = fuzz.folder / "built"
    environment = dict(os.environ, OUT=str(built), SRC=str(fuzz.folder), REDZONE=str(ROOT / "redzone"))
    status, output, log = fuzz.finish(process.start([exported / "build.sh"], env=environment, cwd="/"))
    wrong = [] if status == 0 else [f"exit status {status}"]
    made = {path.name for path in built.glob("*")}
    wrong += [f"no {path.name}" for path in sorted(exported.iterdir()) if path.name not in made]
    if not wrong:
        bug = fuzz.folder / "bug"
        bug.write_bytes(_fuzz.BUG)
        status, output, log = _run_export(fuzz, built, bug)
        wrong += when(status == 0 or "BUG: KASAN: " not in output, "the new executable does not find the bug")
    yield result("export.built-again", wrong, log)


# Makes a disk of so few bytes, for this process only, and runs the command on it.
SMALL_DISK = 'mount -t tmpfs -o size=4k tmpfs "$1" && shift && exec "$@"'


# The same, and in the place of the corpus's folder there is a link to nothing when the disk becomes full. The
# link goes when the command has said so, or has ended.
NO_CORPUS = """
mount -t tmpfs -o size=1m tmpfs "$1" && cd "$1" || exit 2
said=$2
shift 2
"$@" &
command=$!
runs() { kill -0 $command 2>&-; }
while runs && [ -z "$(ls corpus 2>&-)" ]; do sleep 0.1; done
until ln -sT nowhere corpus 2>&-; do rm -rf corpus; done
cat /dev/zero > ballast 2>&-
while runs && ! grep -q 'is full:' "$said"; do sleep 0.1; done
rm -f ballast corpus
wait $command
status=$?
[ -n "$(ls corpus)" ] && echo "the corpus is there again"
exit $status
"""


def _no_corpus(fuzz):
    """A full disk is said also if the corpus has no folder, and fuzzing goes on when both are back."""
    disk = fuzz.folder / "full"
    disk.mkdir()
    said = fuzz.folder / "full.log"
    small = ["unshare", "-rm", "sh", "-c", NO_CORPUS, "sh", disk, said]
    command = [*small, ROOT / "redzone", "fuzz", _fuzz.HERE / "parser.c", "--dir", disk]
    command += ["--runs", _fuzz.RUNS, "--seed", 1]
    with open(said, "w") as output:
        running = process.start(command, cwd=fuzz.folder, stdout=output)
        status, _, _ = fuzz.finish(running)
    text = said.read_text()
    log = fuzz.write_log(running.args, text)
    wrong = [] if status in (0, 1) else [f"exit status {status}"]
    wrong += when(text.count("is full:") != 1, "not one line says that the disk is full")
    if "the corpus is there again" not in text or "Traceback" in text:
        wrong.append("no corpus at the end, or a traceback")
    yield result("full-disk.no-corpus", wrong, log)


def _full_disk(fuzz):
    """On a disk without room for a finding one line says so, and fuzzing goes on."""
    disk = fuzz.folder / "small" / "findings"
    disk.mkdir(parents=True)
    seeds = _fuzz.inputs(fuzz.folder / "full-seeds", "Null", "Free")
    small = ("unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", disk)
    tried = fuzz.plain([*map(str, small), "true"])
    if tried.returncode != 0:
        yield Result("full-disk", SKIP, f"no small disk: {process.last_line(tried.stderr)}")
        return
    command = [*small, ROOT / "redzone", "fuzz", _fuzz.HERE / "bad.c", "--dir", "small", "--seeds", seeds]
    command += ["--runs", 50, "--seed", 1, "--max-len", 4]
    _, output, log = fuzz.finish(process.start(command, cwd=fuzz.folder))
    wrong = []
    if "cannot be written" not in output and "cannot be kept yet" not in output:
        wrong.append("nothing says that the disk is full")
    wrong += when("Traceback" in output, "a traceback")
    wrong += when(not re.search(r" s, (5\d|[1-9]\d\d+) inputs, ", output), "it did not go on")
    yield result("full-disk", wrong, log)
    yield from _no_corpus(fuzz)


def _modes(fuzz):
    """The same bug in the other modes, with the other compiler, and on the other machine."""
    for name, options in (
        ("outline", ("--outline",)),
        ("gcc", ("--cc", "gcc")),
        ("sw_tags", ("--mode", "sw_tags")),
        ("hw_tags", ("--mode", "hw_tags")),
        ("riscv64", ("--arch", "riscv64", "--outline")),
    ):
        reason = _fuzz.lacks(fuzz.context, name)
        if reason:
            yield Result(f"modes.{name}", SKIP, reason)
            continue
        yield result(f"modes.{name}", *_fuzz.planted(fuzz, name, *options, "--runs", 3000))


def run(context):
    ends = (_killed, _engine_killed, _stopped, _full_disk)
    with _fuzz.campaign(context, "fuzz") as fuzz:
        for part in (_parser, _bad, *ends, _jobs, _mode_off, _export, _modes):
            yield from part(fuzz)
