# SPDX-License-Identifier: MIT
"""`./redzone fuzz --engine afl++`, and exported targets under the user's own afl-fuzz.

The targets are those of the suite fuzz. Limits are numbers of inputs or of findings, so a busy machine needs
longer and finds the same.
"""

import fcntl
import os
import re
import signal
from pathlib import Path

from redzone.core import process
from redzone.testing.runner import result, when
from redzone.testing.suites import _fuzz, fuzz_leaks

SLOW = True
TOOLS = (*_fuzz.TOOLS, "afl++")
# A campaign that waits for something ends after so many seconds without it.
LIMIT = 3600
# How this machine is set up is no part of the test, and 2 CPUs are not enough for afl-fuzz to choose its own.
MACHINE = {
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_NO_UI": "1",
}
_STATE = re.compile(r" s, (\d+) inputs, \d+ a second, (\d+) of (\d+) edges, (\d+) in the corpus, ")


def _state(output):
    """Return (inputs, edges, all edges, inputs in the corpus) of the last line that says them."""
    said = _STATE.findall(output)
    return tuple(map(int, said[-1])) if said else (0, 0, 0, 0)


def _statistics(folder):
    """Return {name: value} of an instance's fuzzer_stats."""
    try:
        text = (folder / "fuzzer_stats").read_text()
    except OSError:
        return {}
    return dict(re.findall(r"(?m)^(\w+) *: (.*)$", text))


def _left(*names):
    """Return the processes with one of @names, which are paths, in their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        found += [int(path.parent.name)] if any(name in words for name in names) else []
    return found


def _parser(fuzz):
    """From nothing: both bugs, and comparisons that reach afl-fuzz; then either engine goes on."""
    toy = fuzz.folder / "toy"
    common = (_fuzz.HERE / "parser.c", "--dir", "toy", "--max-len", 32)
    wrong, output, log = fuzz.ends(1, *common, "--engine", "afl++", "--runs", _fuzz.RUNS, "--seed", 1)
    titles = fuzz.titles("toy")
    wrong += _fuzz.missing(titles, _fuzz.PARSER) + _fuzz.kept_badly(titles)
    inputs, edges, every, kept = _state(output)
    if inputs < _fuzz.RUNS or not 5 <= edges <= every or kept < 3:
        wrong.append(f"{inputs} inputs, {edges} of {every} edges, {kept} in the corpus")
    yield result("parser.found", wrong, log)

    # Inputs that a comparison has given have that stage in their names.
    instance = toy / "sync" / "main"
    names = [path.name for path in instance.glob("queue/id:*")]
    wrong = [] if " -c 0 " in _statistics(instance).get("command_line", "") else ["no CmpLog"]
    if not any(re.search(r"op:(its|colorization)", name) for name in names):
        wrong.append("no input comes from a comparison")
    kept = {path.name for path in (toy / "corpus").iterdir()}
    if len(kept) < len(names) or any(not re.fullmatch(r"[0-9a-f]{40}", name) for name in kept):
        wrong.append("what afl-fuzz keeps is not in the corpus")
    yield result("parser.compared", wrong, log)

    # Both begin with the corpus: they know its edges after a run that is too short to find them. AFL++ runs
    # each input several times first.
    for engine, runs in (("libfuzzer", 200), ("afl++", 2000)):
        wrong, output, log = fuzz.ends(1, *common, "--engine", engine, "--runs", runs, "--seed", 2)
        wrong += when(fuzz.titles("toy") != titles, "other findings than before")
        wrong += when(_state(output)[1] < edges, f"{_state(output)[1]} edges, {edges} before")
        if not kept <= {path.name for path in (toy / "corpus").iterdir()}:
            wrong.append("the corpus has lost inputs")
        yield result(f"parser.resumed.{engine}", wrong, log)


def _other_first(fuzz):
    """afl-fuzz begins with the inputs that libFuzzer has kept."""
    common = (_fuzz.HERE / "parser.c", "--dir", "other", "--max-len", 32, "--seed", 1)
    _, output, log = fuzz.run(*common, "--runs", _fuzz.RUNS)
    edges = _state(output)[1]
    wrong, output, log = fuzz.ends(1, *common, "--engine", "afl++", "--runs", 2000)
    if not 5 <= edges <= _state(output)[1]:
        wrong.append(f"{edges} edges with libFuzzer, then {_state(output)[1]} with afl-fuzz")
    yield result("resumed-from-libfuzzer", wrong, log)


def _bad(fuzz):
    """Each way to misbehave is one finding, also as an input to begin with, and fuzzing goes on."""
    wrong, output, log = _fuzz.bad(fuzz, "bad", "--engine", "afl++", "--runs", 300)
    wrong += when(_state(output)[0] < 300, "it did not go on")
    yield result("bad.findings", wrong, log)


def _leaks(fuzz):
    """Objects that an input leaves over are findings, from nothing."""
    limits = ("--runs", 20000, "--seed", 1, "--max-len", 8)
    target = (_fuzz.HERE / "leaky.c", "--leaks", "--engine", "afl++", "--dir", "leaks")
    wrong, _, log = fuzz.ends(1, *target, *limits)
    if set(fuzz.titles("leaks")) != fuzz_leaks.TITLES:
        wrong.append(f"the findings are {sorted(fuzz.titles('leaks'))}")
    yield result("leaks", wrong, log)


def _killed(fuzz):
    """Emulators are killed, then Ctrl-C: one line says the first, and nothing stays behind."""
    # The second emulator is that of CmpLog. It starts when it is needed first, and would count as a new one.
    wrong, log = _fuzz.emulators_killed(fuzz, "kill", 2, "--engine", "afl++")
    wrong += when(_left(str(fuzz.folder / "kill")), "processes are left over")
    yield result("killed", wrong, log)


def _jobs(fuzz):
    """Two instances, the main one and a secondary one, read each other's inputs."""
    fuzz.odd_corpus("jobs", _fuzz.BUG)
    sync = fuzz.folder / "jobs" / "sync"
    limits = ("--time", LIMIT, "--seed", 1, "--max-len", 64)
    running = fuzz.start(_fuzz.HERE / "parser.c", "--engine", "afl++", "--dir", "jobs", "--jobs", 2, *limits)
    seen = [sync / "main" / ".synced" / "job1", sync / "job1" / ".synced" / "main"]

    def shared():
        # The number of the other one's inputs that were looked at, in 4 bytes.
        return all(path.exists() and path.read_bytes().strip(b"\0") for path in seen)

    wrong = []
    try:
        wrong += when(not _fuzz.wait_for(running, shared), "they do not read each other's inputs")
        running.send_signal(signal.SIGINT)
    finally:
        status, _, log = fuzz.finish(running)
    wrong += _fuzz.missing(fuzz.titles("jobs"), _fuzz.PARSER[:1])
    wrong += when(status != 130, f"exit status {status}")
    for name, option in (("main", "-M main"), ("job1", "-S job1")):
        said = _statistics(sync / name)
        if option not in said.get("command_line", "") or int(said.get("execs_done", 0)) < 1000:
            wrong.append(f"no work of {option}")
    yield result("jobs", wrong, log)


def _in_use(fuzz):
    """A folder in which another afl-fuzz works is left alone, and the line says so."""
    instance = fuzz.folder / "used" / "sync" / "main"
    (instance / "queue").mkdir(parents=True)
    (instance / "queue" / "id:000000,orig:one").write_bytes(b"TOY1")
    descriptor = os.open(instance, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        arguments = ("--engine", "afl++", "--dir", "used", "--runs", 100)
        wrong, output, log = fuzz.ends(2, _fuzz.HERE / "parser.c", *arguments)
    finally:
        os.close(descriptor)
    wrong += when("another afl-fuzz works in" not in output, "nothing says so")
    wrong += when(not list(instance.glob("queue/id:*")), "its inputs are gone")
    yield result("in-use", wrong, log)

    # Free again: its inputs come into the corpus, and the folder is used anew.
    status, output, log = fuzz.run(_fuzz.HERE / "parser.c", *arguments)
    wrong = [] if status in (0, 1) else [f"exit status {status}"]
    if b"TOY1" not in [path.read_bytes() for path in (fuzz.folder / "used" / "corpus").iterdir()]:
        wrong.append("its inputs are not in the corpus")
    yield result("taken-over", wrong, log)


def _refused(fuzz):
    """If afl-fuzz does not start, its own words are shown."""
    arguments = ("--engine", "afl++", "--dir", "refused", "--afl=-p", "--afl=frobnicate", "--runs", 100)
    wrong, output, log = fuzz.ends(2, _fuzz.HERE / "parser.c", *arguments)
    if "error: afl-fuzz ended with status 1:" not in output or "power schedule" not in output:
        wrong.append("the reason is not shown")
    yield result("refused", wrong, log)


def _afl(fuzz, *words):
    """Start a program of AFL++ as a user does."""
    environment = {**os.environ, **MACHINE}
    return process.start(words, cwd=fuzz.folder, env=environment)


def _export(fuzz):
    """The exported executable under afl-fuzz itself, in a main and a secondary instance, and its tools."""
    seeds = _fuzz.inputs(fuzz.folder / "in", "00000000")
    wrong, _, log = fuzz.ends(0, _fuzz.HERE / "parser.c", "--engine", "afl++", "--export", "out")
    moved = fuzz.folder / "elsewhere"
    (fuzz.folder / "out").rename(moved)
    yield result("export.written", wrong, log)

    sync = fuzz.folder / "sync"
    limits = ("-E", _fuzz.RUNS, "-s", 1, "-G", 32, "-i", seeds, "-o", sync)
    running = [
        _afl(fuzz, "afl-fuzz", *name, *more, *limits, "--", moved / "parser")
        for name, more in ((("-M", "a"), ("-c", "0")), (("-S", "b"), ()))
    ]
    ends = [fuzz.finish(one) for one in running]
    wrong = [f"exit status {status}" for status, _, _ in ends if status != 0]
    crashes = sorted(sync.glob("*/crashes/id:*"))
    wrong += when(not crashes, "no crash")
    for name in "ab":
        if int(_statistics(sync / name).get("execs_done", 0)) < _fuzz.RUNS:
            wrong.append(f"{name} did not run to its end")
    if not all("Persistent mode binary detected" in output for _, output, _ in ends):
        wrong.append("afl-fuzz does not see what the executable can do")
    wrong += when(not (sync / "b" / ".synced").is_dir() or _left(str(moved)), "processes are left over")
    yield result("export.afl-fuzz", wrong, ends[0][2])
    if not crashes:
        return

    # libFuzzer's interface of the same executable repeats what afl-fuzz has found.
    status, output, log = fuzz.finish(process.start([moved / "parser", crashes[0]], cwd=fuzz.folder))
    wrong = [] if status else ["exit status 0"]
    wrong += when("BUG: KASAN: " not in output, "no report")
    yield result("export.repeated", wrong, log)
    yield from _tools(fuzz, moved / "parser", seeds / "00000000", crashes[0])


def _tools(fuzz, executable, good, crash):
    """afl-showmap, which hands inputs over in files: with a fork server, and a single one without."""
    wrong = []
    for name, words, inputs in (
        ("input", (), ("-i", good.parent)),
        ("file", ("@@",), ("-i", good.parent)),
        ("alone", (good,), ()),
    ):
        made = fuzz.folder / f"map-{name}"
        command = ["afl-showmap", "-t", 120000, *inputs, "-o", made, "--", executable, *words]
        status, _, log = fuzz.finish(_afl(fuzz, *command))
        made = made / good.name if inputs else made
        # The counters begin there; those before are of crashes.
        if status != 0 or not re.match(r"0002(5[6-9]|6\d):\d", made.read_text() if made.exists() else ""):
            wrong.append(f"{name}: exit status {status}, or no map")
    command = ["afl-showmap", "-t", 120000, "-o", fuzz.folder / "map-crash", "--", executable, crash]
    status, _, log = fuzz.finish(_afl(fuzz, *command))
    if status != 2 or not re.match(
        r"000([01]\d\d|2[0-4]\d|25[0-5]):1", (fuzz.folder / "map-crash").read_text()
    ):
        wrong.append(f"exit status {status} after a crash, or no title in the map")
    yield result("export.afl-showmap", wrong, log)


def _hang(fuzz):
    """afl-fuzz's own limit ends a hanging input, not the process that has the guest."""
    seeds = _fuzz.inputs(fuzz.folder / "hang-in", "good", "Hang")
    status, _, log = fuzz.run(_fuzz.HERE / "bad.c", "--export", "hang-out")
    executable = fuzz.folder / "hang-out" / "bad"
    sync = fuzz.folder / "hang-sync"
    limits = ("-E", 2000, "-s", 1, "-G", 4, "-t", "500+", "-i", seeds, "-o", sync)
    status, output, log = fuzz.finish(_afl(fuzz, "afl-fuzz", *limits, "--", executable))
    wrong = [] if status == 0 else [f"exit status {status}"]
    wrong += when(
        not re.search(r"results in a (timeout|hang)", output), "the hang is not reported as a timeout"
    )
    wrong += when(int(_statistics(sync / "default").get("execs_done", 0)) < 2000, "it did not go on")
    wrong += when(_left(str(executable)), "processes are left over")
    yield result("export.hang", wrong, log)


def run(context):
    parts = (_parser, _other_first, _bad, _leaks, _killed, _jobs, _in_use, _refused, _export, _hang)
    with _fuzz.campaign(context, "fuzz-afl") as fuzz:
        for part in parts:
            yield from part(fuzz)
