# SPDX-License-Identifier: MIT
"""`./redzone bench time`: the runtime in a process of this machine, beside compiler-rt's ASan and HWASan.

The other tables count instructions, which does not show a cache line that CPUs share. This one takes time: of
heaps, string functions and three libraries, in 1, 2 and 4 threads. The programs run in turn, each against the
one without a sanitizer of the same turn, because the load and the clock of a machine change. A figure is the
median of these ratios with their range.
"""

import concurrent.futures
import os
import re
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

import click

from redzone.bench import page
from redzone.core import base, doctor, process
from redzone.core.base import BUILD, ROOT, Failure
from redzone.kit import amalgamate

OWN = ROOT / "bench" / "time"
PORT = ROOT / "ports" / "posix"
TOOLS = ("clang-19",)
THREADS = (1, 2, 4)
# What the runtime's program of a row takes, in nanoseconds: so many rounds are run.
LENGTH = 20e6
# CPU time of a round in several threads, to that in as many processes of one thread, which share nothing but
# the machine: flat if it is not more.
FLAT = 1.15
TIMEOUT = 120

# Those of ports/posix/CMakeLists.txt. The checker of locks, which its tests have, would be measured too.
OFFSET = "0x7fff8000"
_CONFIG = (
    "CONFIG_KASAN_GENERIC=1 CONFIG_KASAN_NR_CPUS=8 CONFIG_KASAN_SHADOW_FULL=1 _GNU_SOURCE=1 "
    "CONFIG_KASAN_SHADOW_LOW=0x1000UL CONFIG_KASAN_SHADOW_HIGH=0x7fffffffffffUL "
    f"CONFIG_KASAN_SHADOW_OFFSET={OFFSET}UL"
).split()
_INCLUDES = [f"-I{ROOT / 'include'}", f"-I{PORT}"]
_USER = [*(f"-D{one}" for one in _CONFIG), *_INCLUDES]
# The programs are compiled without the last two, as ASan's are.
_RUNTIME = [*_USER, "-std=gnu17", "-fno-strict-aliasing"]
_FRAMES = ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
# ASan ends the program at the first report. So does this one, and compilers keep nothing for code after it.
_KASAN = ["-fsanitize=kernel-address", "-fno-sanitize-recover=all"]
for _option in (
    f"mapping-offset={OFFSET} instrumentation-with-call-threshold=10000 stack=1 globals=1 use-after-scope=1 "
    "destructor-kind=none kernel-mem-intrinsic-prefix=1"
).split():
    _KASAN += ["-mllvm", f"-asan-{_option}"]


@dataclass(frozen=True)
class Sanitizer:
    """A column. compile, link: options. environment: of the program."""

    title: str
    compile: tuple = ()
    link: tuple = ()
    environment: tuple = ()


WITHOUT, OURS, ASAN, HWASAN = "without", "redzone", "asan", "hwasan"
APART = "redzone, processes"
_ALIASES = ("-fsanitize=hwaddress", "-fsanitize-hwaddress-experimental-aliasing")
SANITIZERS = {
    WITHOUT: Sanitizer("without"),
    OURS: Sanitizer("Redzone", (*_KASAN, *_FRAMES, *_USER, "-include", str(OWN / "redzone.h"))),
    # Leaks are looked for at the end, which is not measured. The quarantine is as large as that of the port's
    # heap: one of 256 MiB would never be full here, and each free() would take new pages.
    ASAN: Sanitizer(
        "ASan",
        ("-fsanitize=address", *_FRAMES),
        ("-fsanitize=address",),
        (("ASAN_OPTIONS", "detect_leaks=0:quarantine_size_mb=4"),),
    ),
    # Without LAM the CPU does not ignore a tag in a pointer. Then pages are mapped several times.
    HWASAN: Sanitizer("HWASan, aliases", (*_ALIASES, *_FRAMES), _ALIASES),
}


@dataclass(frozen=True)
class Row:
    """A program that is measured. source: in bench/time. library: absolute paths of further files."""

    name: str
    title: str
    source: str
    options: tuple = ()
    library: tuple = ()


def _heap(size):
    return Row(f"heap-{size}", f"malloc({size}) and free()", "heap.c", (f"-DSIZE={size}",))


SIZES = (16, 32, 64, 128, 256, 1024, 4096, 16384)
MICRO = (
    *map(_heap, SIZES),
    Row("deep", "malloc() and free() below 40 functions", "deep.c"),
    Row("sites", "malloc() and free() from 256 places", "sites.c"),
    Row("memory", "memcpy(), memmove(), memset()", "memory.c", ("-fno-builtin",)),
    Row("strings", "strlen(), strcpy(), strcmp(), strchr()", "strings.c", ("-fno-builtin",)),
)
LIBRARIES = {"zlib": "zlib, 16 KiB", "sqlite": "SQLite, 20 rows", "lua": "Lua, tables and strings"}
# SQLite without what all threads would share.
_OPTIONS = {
    "sqlite": ("-DSQLITE_THREADSAFE=2", "-DSQLITE_DEFAULT_MEMSTATUS=0", "-DSQLITE_OMIT_LOAD_EXTENSION=1"),
    "lua": ("-DLUA_USE_POSIX",),
}


def _library(name):
    """Return the Row of the library @name; its sources are fetched. Raise Failure if that is not possible."""
    from redzone.libraries import catalogue, recipe, speed_table

    library = {"zlib": speed_table.ZLIB, "sqlite": catalogue.SQLITE, "lua": catalogue.LUA}[name]
    try:
        library.fetch()
    except recipe.Unavailable as error:
        raise Failure(str(error)) from None
    files = tuple(library.path(one) for one in library.programs[0].library)
    options = (*_OPTIONS.get(name, ()), f"-I{library.root}")
    return Row(name, LIBRARIES[name], f"{name}.c", options, files)


# --- Programs -------------------------------------------------------------------------------------------


def _compile(folder, sources, options):
    """Compile @sources in @folder unless it has been done with the same options. Return the object files."""
    said = "\n".join(options)
    known = folder / "options"
    folder.mkdir(parents=True, exist_ok=True)
    if not known.is_file() or known.read_text(encoding="utf-8") != said:
        for old in folder.glob("*.o"):
            old.unlink()
        known.write_text(said, encoding="utf-8")
    newest = max(path.stat().st_mtime for path in _headers())
    objects = []
    for source in sources:
        target = folder / f"{source.parent.name}-{source.stem}.o"
        objects.append(target)
        if target.is_file() and target.stat().st_mtime > max(newest, source.stat().st_mtime):
            continue
        status, output = process.call(["clang-19", "-O2", *options, "-c", str(source), "-o", str(target)])
        if status != 0:
            raise Failure(f"{base.relative(source)} does not compile: {process.last_line(output)}")
    return [str(one) for one in objects]


def _headers():
    folders = (ROOT / "include", ROOT / "runtime", PORT, OWN)
    return [path for folder in folders for path in folder.rglob("*.h")]


def runtime(folder):
    """Compile the runtime and the port of processes. Return the object files."""
    runtime_objects = _compile(
        folder / "runtime",
        amalgamate.sources(),
        [*_RUNTIME, *_FRAMES, "-ffreestanding", "-fno-stack-protector"],
    )
    return runtime_objects + _compile(folder / "port", sorted(PORT.glob("*.c")), [*_RUNTIME, *_FRAMES])


def build(row, key, folder, ours):
    """Build the program of @row for the sanitizer @key. ours: the runtime's objects. Return its path."""
    sanitizer = SANITIZERS[key]
    place = folder / row.name / key
    options = ["-g1", "-w", "-pthread", *row.options, *sanitizer.compile]
    objects = _compile(place, [OWN / row.source, *row.library], options)
    objects += _compile(folder / "main", [OWN / "main.c"], ["-pthread"])
    objects += ours if key == OURS else []
    target = place / "program"
    command = ["clang-19", "-pthread", *sanitizer.link, *objects, "-lm", "-o", str(target)]
    status, output = process.call(command)
    if status != 0:
        raise Failure(f"{row.name}, {key}, is not linked: {process.last_line(output)}")
    return target


def build_all(rows, folder, ours):
    """Build the programs of all @rows, as many at a time as there are CPUs. Return {row: {key: path}}."""
    _compile(folder / "main", [OWN / "main.c"], ["-pthread"])
    pool = concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        jobs = {
            row.name: {key: pool.submit(build, row, key, folder, ours) for key in SANITIZERS} for row in rows
        }
        return {name: {key: job.result() for key, job in made.items()} for name, made in jobs.items()}
    finally:
        # After a failure, or Ctrl-C, the others are for nothing.
        pool.shutdown(cancel_futures=True)


def once(program, key, rounds, threads, counters=()):
    """Run @program. Return {"wall": ns, "cpu": ns} of a round, with the @counters of perf. Raise Failure."""
    command = [str(program), str(rounds), str(threads)]
    if counters:
        command = ["perf", "stat", "-x,", "-e", ",".join(counters), *command]
    environment = {**os.environ, **dict(SANITIZERS[key].environment), "LC_ALL": "C"}
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, env=environment
        )
    except subprocess.TimeoutExpired:
        raise Failure(f"no end after {TIMEOUT} s") from None
    if "ERROR: " in ended.stderr or "BUG: KASAN" in ended.stderr:
        raise Failure(f"it has a report: {process.last_line(ended.stderr)}")
    found = re.search(r"^time ([\d.]+) ([\d.]+)$", ended.stdout, re.M)
    if ended.returncode != 0 or not found:
        said = (ended.stderr.strip() or ended.stdout.strip() or f"status {ended.returncode}").splitlines()
        raise Failure(said[0][:200])
    figures = {"wall": float(found[1]), "cpu": float(found[2])}
    for counter in counters:
        count = re.search(rf"^(\d+),[^,]*,{counter}", ended.stderr, re.M)
        if count:
            figures[counter] = int(count[1]) / rounds / threads
    return figures


# --- Measuring ------------------------------------------------------------------------------------------

COUNTERS = ("cycles", "cache-misses")


def perf_problem():
    """Return why perf cannot count here, "" if it can."""
    try:
        ended = subprocess.run(
            ["perf", "stat", "-x,", "-e", ",".join(COUNTERS), "true"], capture_output=True, text=True
        )
    except OSError:
        return "perf is not installed"
    counted = re.findall(r"^\d+,", ended.stderr, re.M)
    if ended.returncode == 0 and len(counted) == len(COUNTERS):
        return ""
    return "the machine has no such counters, or perf may not read them"


def calibrate(program):
    """Return so many rounds that @program, the runtime's, takes LENGTH."""
    rounds = 10
    while True:
        each = once(program, OURS, rounds, 1)["cpu"]
        if each * rounds > LENGTH / 10 or rounds > 10**9:
            return max(1, int(LENGTH / each))
        rounds *= 10


def apart(program, rounds, count):
    """Run @count processes of the runtime's @program at the same time. Return the mean of their figures."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        jobs = [pool.submit(once, program, OURS, rounds, 1) for _ in range(count)]
        found = [job.result() for job in jobs]
    return {name: statistics.mean(one[name] for one in found) for name in found[0]}


def measure(row, programs, pairs, threads, counters=()):
    """Return ({threads: {sanitizer: [figures of each turn]}}, {sanitizer: why it could not run}).

    Each turn runs all @programs, {sanitizer: path}, one after the other; every second turn backwards. With
    more than one thread there is also APART: the runtime's, in as many processes."""
    try:
        rounds = calibrate(programs[OURS])
    except Failure as error:
        raise Failure(f"{row.name}, {OURS}: {error}", base.CRASHED) from None
    figures = {count: {key: [] for key in programs} for count in threads}
    wrong = {}
    for count in threads:
        for turn in range(pairs):
            for key in list(programs)[:: -1 if turn % 2 else 1]:
                # HWASan has one thread only: it takes most of the time.
                if key in wrong or (key == HWASAN and count > 1):
                    continue
                try:
                    figures[count][key].append(once(programs[key], key, rounds, count, counters))
                    if key == OURS and count > 1:
                        figures[count].setdefault(APART, []).append(apart(programs[key], rounds, count))
                except Failure as error:
                    if key in (WITHOUT, OURS):
                        raise Failure(f"{row.name}, {key}: {error}", base.CRASHED) from None
                    wrong[key] = str(error)
    return figures, wrong


def ratio(figures, over, under, what="cpu"):
    """Return (median, least, most) of @over to @under, both of the same turn; None if one did not run."""
    pairs = zip(figures[over], figures[under], strict=False)
    found = [a[what] / b[what] for a, b in pairs if b.get(what)]
    return (statistics.median(found), min(found), max(found)) if found else None


def growth(found, key, count):
    """Return how many times one thread's CPU time a round takes in @count threads of @key, or in @count
    processes for APART; None if not known.

    On a machine with other work, the time on the clock says nothing. CPU time has the spinning for a lock and
    the waiting for a cache line, but not the sleep of a thread that waits."""
    one = [turn["cpu"] for turn in found[1].get(OURS if key == APART else key, ())]
    more = [turn["cpu"] for turn in found[count].get(key, ())]
    return statistics.median(more) / statistics.median(one) if one and more else None


def _text(value):
    return f"{value[0]:.2f} ({value[1]:.2f} to {value[2]:.2f})" if value else "did not run"


def met(value):
    """Does the ratio @value to ASan meet the goal? The median decides; "close": its range has 1 in it."""
    if value is None:
        return "ASan did not run"
    word = "met" if value[0] < 1 else "not met"
    return word if value[1] >= 1 or value[2] < 1 else f"{word}, close"


def tables(rows, figures, cores):
    """Yield (title, rows of text): times to the build without, and to ASan; then what threads cost."""
    others = [key for key in SANITIZERS if key != WITHOUT]
    heading = [
        "",
        "without, ns",
        *(SANITIZERS[key].title for key in others),
        "Redzone to ASan",
        "ahead of ASan",
    ]
    table = [heading]
    for row in rows:
        one = figures[row.name][1]
        to_asan = ratio(one, OURS, ASAN)
        table.append(
            [
                row.title,
                f"{statistics.median(turn['cpu'] for turn in one[WITHOUT]):,.0f}",
                *(_text(ratio(one, key, WITHOUT)) for key in others),
                _text(to_asan),
                met(to_asan),
            ]
        )
    yield "CPU time of a round in one thread, times the build without; range of all turns", table
    more = [count for count in next(iter(figures.values())) if count > 1]
    if not more:
        return
    keys = (WITHOUT, OURS, APART, ASAN)
    titles = {**{key: SANITIZERS[key].title for key in SANITIZERS}, APART: "Redzone, processes"}
    heading = ["", *(f"{titles[key]}, {count}" for count in more for key in keys), f"flat ({FLAT})"]
    table = [heading]
    for row in rows:
        found = figures[row.name]
        grown = {(key, count): growth(found, key, count) for count in more for key in keys}
        enough = [count for count in more if count <= cores]
        flat = all(grown[OURS, count] <= FLAT * grown[APART, count] for count in enough)
        cells = (f"{one:.2f}" if one else "did not run" for one in grown.values())
        table.append([row.title, *cells, ("met" if flat else "not met") if enough else "too few CPUs"])
    yield (
        f"CPU time of a round in several threads, times that in one thread, without sleep; this machine has "
        f"{base.plural(cores, 'CPU')}. Flat: in as many threads, times that in as many processes",
        table,
    )


def counter_table(rows, figures):
    """Return rows of text: what perf has counted, of a round in one thread."""
    names = [key for key in SANITIZERS if any(figures[row.name][1][key] for row in rows)]
    table = [["", *(f"{SANITIZERS[key].title}, {name}" for key in names for name in COUNTERS)]]
    for row in rows:
        cells = []
        for key in names:
            for name in COUNTERS:
                found = [turn[name] for turn in figures[row.name][1][key] if name in turn]
                cells.append(f"{statistics.median(found):,.1f}" if found else "not counted")
        table.append([row.title, *cells])
    return table


def notes(rows, figures, wrong, problem):
    """Yield lines about the tables."""
    reached = [met(ratio(figures[row.name][1], OURS, ASAN)) for row in rows]
    good = sum(word.startswith("met") for word in reached)
    yield f"Goal: ahead of ASan in every row. Met in {good} of {len(rows)}."
    for reason in sorted(set(wrong.values())):
        names = ", ".join(sorted({f"{key} of {row}" for (row, key), why in wrong.items() if why == reason}))
        yield f"Did not run: {names}: {reason}"
    if problem:
        yield f"Cycles and cache misses were not counted: {problem}."


# --- The command ----------------------------------------------------------------------------------------


def run(pattern, pairs, threads, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    from redzone.bench.programs import chosen

    if os.uname().machine != "x86_64":
        raise Failure("the runtime runs in a process of x86_64 Linux; this machine has another CPU")
    doctor.require(TOOLS, "run the benchmark", yes)
    names = [row.name for row in MICRO] + list(LIBRARIES)
    wanted = chosen(names, pattern)
    if not wanted:
        raise Failure(f"no row matches '{pattern}'; there are: {', '.join(names)}")
    rows = [row for row in MICRO if row.name in wanted]
    rows += [_library(name) for name in LIBRARIES if name in wanted]
    folder, problem = BUILD / "bench-time", perf_problem()
    figures, wrong = {}, {}
    with base.locked(folder):
        ours = runtime(folder)
        programs = build_all(rows, folder, ours)
        for row in rows:
            counts = ", ".join(map(str, threads))
            base.say(f"{row.title}: {base.plural(pairs, 'turn')} of each, in {counts} threads")
            counters = () if problem else COUNTERS
            figures[row.name], failed = measure(row, programs[row.name], pairs, threads, counters)
            wrong |= {(row.name, key): why for key, why in failed.items()}
    cores = len(os.sched_getaffinity(0))
    shown = page.Page(
        "time",
        "What the runtime costs in a process of this machine, beside the sanitizers of Clang 19.",
        _machine(),
    )
    for title, table in tables(rows, figures, cores):
        shown.section(title)
        shown.table(table)
    if not problem:
        shown.section("Counted by perf, of a round in one thread")
        shown.table(counter_table(rows, figures))
    shown.notes(list(notes(rows, figures, wrong, problem)))
    return shown.publish(json_file, markdown_file, figures=figures, cores=cores)


def _machine():
    """Return the name of this machine's processor."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^model name\s*: (.*)$", text, re.M)
    return f"x86_64, {found[1].strip()}" if found else "x86_64"


class Threads(click.ParamType):
    """Numbers of threads, separated by commas; one thread is always among them."""

    name = "numbers"

    def convert(self, value, param, context):
        if isinstance(value, tuple):
            return value
        words = value.split(",")
        if not all(word.isdigit() and 1 <= int(word) <= 64 for word in words):
            self.fail(f"'{value}' is not a list of numbers from 1 to 64, as in 1,2,4", param, context)
        return tuple(sorted({1, *map(int, words)}))


def register(group):
    """Add the table to `./redzone bench`."""

    @group.command("time", short_help="What the runtime takes in a process here, next to ASan and HWASan.")
    @click.option("--rows", "pattern", default="*", metavar="PATTERN,...", help="Only these rows.")
    @click.option("--pairs", default=7, type=click.IntRange(1, 100), help="Turns of each row. Default: 7.")
    @click.option(
        "--threads", default="1,2,4", type=Threads(), metavar="N,...", help="Threads. Default: 1,2,4."
    )
    @page.options
    @click.pass_context
    def time_verb(context, **options):
        """Measure the time of heaps, string functions and libraries in a process of this machine.

        Each program is built without a sanitizer, with the runtime over ports/posix, and with ASan and HWASan
        of Clang 19. They run in turn, and each figure is the median of the turns with its range. Where perf
        can count, cycles and cache misses are shown too. Other work on the machine makes the ranges wider.
        zlib, SQLite and Lua are fetched once.

        \b
        Examples:
          ./redzone bench time
          ./redzone bench time --rows 'heap*' --threads 1,2

        \b
        Exit status: 0 all was measured, 2 usage or build error, 3 a program failed.
        """
        context.exit(run(**options))
