# SPDX-License-Identifier: MIT
"""`./redzone port xv6-riscv`: a small kernel, xv6 for RISC-V, under Generic KASAN."""

from pathlib import Path

import click
from redzone.core import base, doctor
from redzone.core.base import Failure, say
from redzone.core.options import YES, Choice, Number, check_output
from redzone.kit import ports

from .host import bugs, build, session
from .host.bugs import BUGS
from .host.source import HOME, PORT, find, source_here

USERTESTS = "usertests -q"
PASSED = "ALL TESTS PASSED"
# usertests at a load of many times the CPUs.
LONG = 7200


def _print(text):
    print(text, flush=True)


def what_is_added(image, cc):
    """Return lines that say what the build adds to xv6."""
    return [
        f"xv6's source is not changed. Added, {build.written_lines()} lines that a user writes:",
        f"  {base.relative(PORT / 'kasan.c')}    the port: wrapped functions, memory, the start",
        f"  {base.relative(PORT / 'kasan.mk')}   the runtime, and the compiler's and the linker's options",
        f"  compiler   {cc}, outline checks, stack and globals",
        f"  kernel     {base.relative(image.kernel)}",
        f"  disk       {base.relative(image.disk)}",
    ]


def ended(result):
    """Say why the Session @result ended early, if it did. Return whether it did."""
    if result.ended:
        say(f"xv6 stopped: {result.ended} (log: {base.relative(result.log)})")
    return bool(result.ended)


def _plant(image, log, echo):
    """Plant all bugs, the fatal ones in a boot each. Return the names of those whose report is wrong."""
    wrong = []
    groups = [[bug for bug in BUGS if not bug.fatal], *([bug] for bug in BUGS if bug.fatal)]
    for number, group in enumerate(groups):
        path = log.with_name(f"{log.stem}-{number}{log.suffix}") if number else log
        result = session.play(image, [bugs.command(bug) for bug in group], path, echo=echo)
        for at, bug in enumerate(group):
            reply = (
                result.replies[at + 1] if at + 1 < len(result.replies) else session.Reply(bugs.command(bug))
            )
            fault = bugs.problem(bug, reply)
            if fault:
                say(f"{bug.name}: {fault} (log: {base.relative(path)})")
                wrong.append(bug.name)
        if not group[-1].fatal and ended(result):
            break
    return wrong


def run(run_it, console, source, cc, plain, log, timeout, jobs, yes):
    """Do what the options say. Return the exit status."""
    if run_it and console:
        raise Failure("--run and --command exclude each other; give one of them")
    if run_it and plain:
        raise Failure("--run plants bugs, which needs KASAN: leave out --plain, or give --command")
    check_output("--log", log)
    fetching = () if source_here(source) else ("git",)
    folder = ports.get_source(lambda: find(source), fetching, "xv6", yes)
    doctor.require(build.tools(cc), "build xv6 and run it", yes)
    image = build.build(folder, cc, kasan=not plain, jobs=jobs)
    path = Path(log) if log else HOME / "logs" / f"{cc}.log"
    if console:
        result = session.play(image, console, path, timeout, _print)
        return ports.status_of(result.reports, ended(result))
    if not run_it:
        _print(
            "\n".join(what_is_added(image, cc))
            if not plain
            else f"plain build: {base.relative(image.kernel)}"
        )
        return base.OK
    say(f"{session.HARTS} harts, {USERTESTS}: some minutes")
    result = session.play(image, [USERTESTS], path.with_name(f"{path.stem}-usertests.log"), LONG, _print)
    if result.reports:
        say(f"{USERTESTS}: {base.plural(len(result.reports), 'KASAN report')}")
        return ports.status_of(True)
    if ended(result) or PASSED not in result.replies[-1].lines:
        say(f"{USERTESTS} has not passed (log: {base.relative(result.log)})")
        return ports.status_of(False, stopped=True)
    say(f"{USERTESTS}: passed, no report; now the bugs, one at a time")
    wrong = _plant(image, path, _print)
    if wrong:
        say(f"the port does not work: {', '.join(wrong)}")
        return ports.status_of(True, wrong=True)
    planted = sum(bug.type is not None for bug in BUGS)
    say(f"all {planted} bugs that were planted are reported")
    return ports.status_of(planted)


@click.command()
@click.option(
    "--run",
    "run_it",
    is_flag=True,
    help="Boot to the shell, run usertests, and plant bugs, which are reported.",
)
@click.option(
    "--command", "console", multiple=True, metavar="TEXT", help="Boot and type TEXT; may be repeated."
)
@click.option("--source", metavar="DIR", help="xv6's source in the folder DIR, instead of fetching it.")
@click.option(
    "--cc", type=Choice(build.COMPILERS), default="gcc", help="Compiler of the kernel. Default: gcc."
)
@click.option("--plain", is_flag=True, help="Without KASAN, for comparison.")
@click.option("--log", metavar="FILE", help="Write the console to FILE, as it came.")
@click.option(
    "--timeout",
    type=Number(float, 1, 86400, "SECONDS"),
    default=str(session.TIMEOUT),
    help=f"--command: stop when one takes longer. Default: {session.TIMEOUT}.",
)
@click.option(
    "--jobs", type=Number(int, 1, 64, "N"), default="2", help="Compile N files at once. Default: 2."
)
@YES
@click.pass_context
def command(context, **options):
    """Build xv6 for RISC-V under KASAN and boot it in QEMU on three harts.

    Not one line of xv6 is changed. Without an option it builds, and says what is added. The source is git's,
    pinned by its commit and a checksum, or a folder that is there.

    \b
    Examples:
      ./redzone port xv6-riscv --run
      ./redzone port xv6-riscv --source ~/xv6-riscv --cc clang-19 --run
      ./redzone port xv6-riscv --command ls --command "mkdir bug:page_double_free"
    """
    context.exit(run(**options))
