# SPDX-License-Identifier: MIT
"""`./redzone bench profile OPERATION`: where the instructions of an operation are spent, by function.

QEMU logs every instruction that the measured loop runs. The benchmark marks the begin and the end of
each loop, and the machine stops there: it runs at full speed up to the loop, and the log holds nothing else.
The loop with the empty operation is logged as well and subtracted, as it is from the figure in the table. So
the sum of the functions is that figure.

The mix of `./redzone bench lockdep` runs on several CPUs and takes its time from the instructions, which the
machine cannot count while it stops. Its profile is the difference of two boots that are logged as a whole.
"""

import tempfile
import threading
from collections import Counter
from pathlib import Path

import click

from redzone.bench import cost, lockdep, page
from redzone.core import base
from redzone.core.arch import DEFAULT
from redzone.core.base import Failure
from redzone.core.options import YES, Choice
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, Functions
from redzone.machine import execlog, gdbstub, qemu

MARKS = ("bench_window_opens", "bench_window_closes")
# Instructions to log, at 90 bytes each; rounds at most. The first needs disk, the second time.
INSTRUCTIONS = 2_000_000
ROUNDS = 2048
TIMEOUT = 600
# The groups of operations that run on one CPU, and the memory that they are measured with.
MEMORY = {
    "memory": "512M",
    "vmalloc": "512M",
    "traces": "512M",
    "live": "2G",
    "traffic": "512M",
    "locks": "512M",
    "slack": "512M",
}
# Only for profiles: the figures of bench/slack-arm64.md.
_SIZES = (13, 16, 61, 64, 100, 1000, 1024, 4095, 8100, 8192, 20001, 20016)
SLACK = {f"slack.kmalloc_{size}": f"kmalloc({size})+kfree, slack" for size in _SIZES}
SLACK["slack.krealloc_61"] = "krealloc(61) in place, slack"
# The mix, and the jobs of each of its makers in the two boots. Each boot does them twice.
MIX = "mix"
MIX_JOBS = (3, 1)
USER = "user mode"
# The figure may have been measured over more rounds: what is done once in many of them is spread differently.
TOLERANCE = 0.02


def find(operation):
    """Return (group, name) of @operation, a name or a title in the table; no pattern."""
    known = {}
    groups = dict(cost.GROUPS, locks=lockdep.LOCKS, slack=SLACK)
    if operation == MIX:
        return MIX, MIX
    for group in MEMORY:
        for name, title in groups[group].items():
            name = name.partition("@")[0] if group == "traffic" else name
            known[name] = known[title] = (group, name)
            if operation in (name, title):
                return group, name
    names = ", ".join([*dict.fromkeys(name for _, name in known.values()), MIX])
    raise Failure(f"there is no operation '{operation}' to profile; there are: {names}")


def _machine(group, parameters, arch):
    """Return the options of the machine for an operation of @group."""
    return {"arch": arch, "memory": MEMORY[group], "append": list(parameters), "timeout": TIMEOUT}


def _log(stub, begin, end, folder):
    """Let the machine go from loop to loop; return the log files of both, the empty one first."""
    files = [folder / "empty", folder / "full"]
    one = "one-insn-per-tb"
    for file in files:
        stub.run_to(begin)
        # Its name before QEMU 8.1.
        if "unknown command" in stub.monitor(f"{one} on"):
            one = "singlestep"
            stub.monitor(f"{one} on")
        stub.monitor(f"logfile {file}")
        stub.monitor("log exec,nochain")
        stub.run_to(end)
        stub.monitor("log none")
        stub.monitor(f"{one} off")
    return files


def record(title, image, mode, *arguments, **machine):
    """Boot @image, which runs one operation as @arguments say; return {function: instructions of its loop}.

    Those of the empty operation are subtracted. The parameters are those of cost.run_kernel(). The machine
    does not count instructions meanwhile, because QEMU 7.2 does not go on from a breakpoint then."""
    functions = Functions(File.open(image.elf), (FUNC,))
    try:
        begin, end = (functions.find(mark)[0].address for mark in MARKS)
    except KeyError as error:
        raise Failure(f"the kernel has no function {error}") from None
    found, errors = [], []
    ended = threading.Event()
    with tempfile.TemporaryDirectory(prefix="redzone-") as name:
        folder = Path(name)

        def follow():
            try:
                with gdbstub.Stub(folder / "gdb", TIMEOUT, ended.is_set) as stub:
                    found.extend(_log(stub, begin, end, folder))
                    stub.let_go()
            except Failure as error:
                errors.append(error)
                qemu.stop_all()

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            debugged = {"icount": False, "options": gdbstub.options(folder / "gdb")}
            cost.run_kernel(title, image, mode, *arguments, **machine, **debugged)
        except Failure as error:
            # If the debugger has failed, it has stopped the machine, and this error says only that.
            raise (errors[0] if errors else error) from None
        finally:
            ended.set()
            thread.join()
        if errors:
            raise errors[0]
        empty, full = (execlog.executed(path) for path in found)
    counts = Counter()
    for sign, executed in ((1, full), (-1, empty)):
        for address, times in executed.items():
            counts[functions.name(address)] += sign * times
    return counts


def _mix_machine(parameters, arch):
    return {"arch": arch, "smp": lockdep.CPUS, "append": list(parameters), "timeout": TIMEOUT}


def _log_mix(image, mode, machine, jobs, title):
    """Return {function: instructions} of a boot that does @jobs jobs of the mix with each of its makers."""
    functions = Functions(File.open(image.elf), (FUNC,))
    counts = Counter()
    with tempfile.TemporaryDirectory(prefix="redzone-") as folder:
        path = Path(folder) / "exec"
        logged = {**machine, "options": execlog.all_options(path)}
        cost.run_kernel(title, image, cost.MODES[mode][0], f"{MIX}:{jobs}", **logged)
        for address, number in execlog.instructions(path).items():
            found = functions.at(address)
            counts[found[0] if found else USER] += number
    return counts


def measure_mix(image, mode, parameters, progress, arch):
    """Return what measure() does for the mix: of one of its jobs."""
    title = f"{mode}: {MIX}"
    progress(f"{title}: the figure of the table")
    work, machine = f"{MIX}:{lockdep.JOBS}", _mix_machine(parameters, arch)
    figure = cost.parse(cost.run_kernel(title, image, cost.MODES[mode][0], work, **machine))[MIX]
    more, fewer = MIX_JOBS
    jobs = 2 * lockdep.CPUS * (more - fewer)
    progress(f"{title}: logging {base.plural(jobs, 'job')}, {round(jobs * figure):,} instructions")
    counts = _log_mix(image, mode, machine, more, title)
    counts.subtract(_log_mix(image, mode, machine, fewer, title))
    functions = {key: value / jobs for key, value in counts.most_common() if value}
    return {"figure": figure, "rounds": jobs, "functions": functions}


def measure(image, mode, operation, parameters, progress, arch=DEFAULT):
    """Return {"figure": instructions in the table, "rounds": that were logged, "functions": {name:
    instructions of one round}} of @operation. parameters: of the boot. arch: of the kernel @image."""
    group, name = find(operation)
    if group == MIX:
        return measure_mix(image, mode, parameters, progress, arch)
    title = f"{mode}: {name}"
    progress(f"{title}: the figure of the table")
    work, machine = f"{group}:{name}", _machine(group, parameters, arch)
    lines = cost.run_kernel(title, image, cost.MODES[mode][0], work, **machine)
    figure = cost.figures_of(title, lines, [name])[name]
    rounds = int(min(max(INSTRUCTIONS / max(figure, 1), 1), ROUNDS))
    progress(f"{title}: logging {base.plural(rounds, 'round')}, {round(rounds * figure):,} instructions")
    counts = record(title, image, cost.MODES[mode][0], f"rounds:{rounds}", work, **machine)
    functions = {key: value / rounds for key, value in counts.most_common() if value}
    return {"figure": figure, "rounds": rounds, "functions": functions}


def rows(measured):
    """Yield the table as rows of text, the heading first. Less than half an instruction gets no row."""
    functions = measured["functions"]
    total = sum(functions.values())
    yield ["function", "instructions", "share"]
    rest = 0
    for name, value in sorted(functions.items(), key=lambda item: -item[1]):
        if abs(value) < 0.5:
            rest += value
        else:
            yield [name, f"{value:,.1f}", f"{value / total:.1%}"]
    if rest:
        yield ["all others", f"{rest:,.1f}", f"{rest / total:.1%}"]
    yield ["sum", f"{total:,.1f}", "100.0%"]


def verdict(measured):
    """Return a line that compares the sum with the figure of the table."""
    total, figure = sum(measured["functions"].values()), measured["figure"]
    text = f"the table's figure: {figure:,.1f}"
    if abs(total - figure) > max(TOLERANCE * figure, 1):
        text += (
            "; it differs from the sum, because it is the mean of more rounds than the "
            f"{measured['rounds']:,} that were logged"
        )
    return text


def run(arch, operation, mode, traces, append, json_file, yes):
    """Carry out the command. Returns the exit status."""
    find(operation)
    image = page.build(cost.presets([mode], arch), yes, arch)[mode]
    parameters = [*([] if traces else [cost.NO_TRACES]), *append]
    measured = measure(image, mode, operation, parameters, base.say, arch)
    page.show(rows(measured))
    print(verdict(measured))
    what = {"arch": arch, "operation": operation, "mode": mode}
    page.write_json(json_file, unit="instructions", **what, **measured)
    return base.OK


def register(group, with_features, choose_features):
    """Add the command to `./redzone bench`. The functions: those of cli.py for features of the kernel."""

    @group.command("profile", short_help="Where the instructions of an operation are spent, by function.")
    @click.argument("operation", metavar="OPERATION")
    @page.ARCH
    @click.option(
        "--mode", type=Choice(cost.MODES), default="generic-inline", help="Default: generic-inline."
    )
    @click.option("--no-traces", is_flag=True, help="With kasan.stacktrace=off.")
    @click.option("--append", multiple=True, metavar="TEXT", help="Boot parameters.")
    @page.JSON
    @with_features
    @YES
    @click.pass_context
    def profile(context, no_traces, **options):
        """Show where the instructions of one operation are spent, function by function.

        OPERATION is one of those of ./redzone bench, by its name or its title in the table, or of
        ./redzone bench lockdep. Inlined functions count for the function that contains them. The sum is the
        figure of the table.

        \b
        Examples:
          ./redzone bench profile kmalloc_64
          ./redzone bench profile 'kmalloc(64)+kfree' --mode hw_tags --no-traces
          ./redzone bench profile traces.depth_16 --shadow-call-stack
          ./redzone bench profile mix --lockdep
          ./redzone bench profile kmalloc_64 --arch riscv64

        \b
        Exit status: 0 all was measured, 2 usage or build error, 3 the kernel crashed.
        """
        choose_features(options)
        context.exit(run(traces=not no_traces, **options))
