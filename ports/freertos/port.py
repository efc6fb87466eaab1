# SPDX-License-Identifier: MIT
"""`./redzone port freertos`: FreeRTOS V11 under Generic KASAN, on four boards of QEMU."""

import os
from pathlib import Path

import click
from redzone.core import base, doctor
from redzone.core.base import say
from redzone.core.options import YES, Choice, Number
from redzone.kit import ports
from redzone.machine import console

from .host import boots, build, planted, source


def _print(text):
    print(text, flush=True)


def _what_is_added(image):
    """Return lines that say what the build adds to FreeRTOS and to the application."""
    return [
        "FreeRTOS's source is not changed. Added to the build:",
        f"  make       {base.relative(source.PORT / 'kasan_freertos.mk')}",
        f"  header     {base.relative(source.PORT / 'kasan_freertos.h')} in FreeRTOSConfig.h",
        f"  objects    the runtime and {base.relative(source.PORT)}/*.c",
        f"  image      {base.relative(image.elf)}",
    ]


def _run(image):
    """Boot the demonstration and show the first report of each bug. Return the exit status."""
    hidden = 0
    inside = False

    def echo(line, reports):
        nonlocal hidden, inside
        # Some bugs cause many reports: the other fields of the same object.
        begins = line == console.RULE and not inside
        if begins or inside:
            inside = not inside if line == console.RULE else inside
        if (
            reports
            and not (inside and len(reports) == 0)
            and (begins or inside or line.startswith("KASAN: "))
        ):
            hidden += begins
            return
        _print(line)

    session = boots.boot(image, echo)
    if session.ended:
        say(f"the demonstration stopped: {session.ended} (log: {base.relative(session.log)})")
        return ports.status_of(session.reports, stopped=True)
    if session.reports:
        say(
            f"{base.plural(len(session.reports), 'report')} in ordinary traffic "
            f"(log: {base.relative(session.log)})"
        )
        return ports.status_of(True)
    if not image.bugs:
        say(f"{session.traffic}; 0 reports")
        return base.OK
    wrong = 0
    bugs = planted.expected(image.board, image.heap)
    for bug in bugs:
        problem = bug.problem(session.bugs.get(bug.name, []))
        if problem:
            wrong += 1
            say(f"{bug.name}: {problem}")
    say(
        f"{base.plural(len(bugs), 'bug')} planted, {len(bugs) - wrong} reported as they must be; "
        f"{hidden} further reports are in {base.relative(session.log)}"
    )
    return ports.status_of(bugs, wrong=wrong)


def run(board, given, heap, cc, traffic, action, jobs, yes):
    """Do what the options of `./redzone port freertos` say. Return the exit status."""
    has_folder = given or os.environ.get(source.VARIABLE) or source.fetched().is_dir()
    folder = ports.get_source(lambda: source.get(given), () if has_folder else ("git",), "FreeRTOS", yes)
    doctor.require(build.tools(board, cc), "build FreeRTOS and run it", yes)
    image = build.build(board, folder, heap, traffic or 2, bugs=not traffic, jobs=jobs, cc=cc)
    if action:
        return _run(image)
    _print("\n".join(_what_is_added(image)))
    return base.OK


@click.command()
@click.option(
    "--run", "action", is_flag=True, help="Boot it: ordinary traffic, then planted bugs, each decoded."
)
@click.option(
    "--source", "given", metavar="DIR", help="FreeRTOS-Kernel, instead of the pinned commit from git."
)
@click.option("--board", type=Choice(build.BOARDS), default=build.BOARDS[0], help="The machine in QEMU.")
@click.option("--heap", type=Choice(map(str, build.HEAPS)), default="4", help="FreeRTOS's heap_1 to heap_5.")
@click.option("--cc", type=Choice(build.COMPILERS), default="gcc", help="The compiler. Default: gcc.")
@click.option(
    "--traffic",
    type=Number(int, 1, 86400, "SECONDS"),
    help="No bugs, but so many seconds of the board's time of ordinary traffic.",
)
@click.option("--jobs", type=Number(int, 1, 256, "N"), default=2, help="Parallel compilations.")
@YES
@click.pass_context
def command(context, board, given, heap, cc, traffic, action, jobs, yes):
    """FreeRTOS V11 under Generic KASAN, without a change to FreeRTOS.

    Builds a demonstration of tasks and a queue. With --run it boots in QEMU, runs ordinary traffic without a
    report, then plants bugs as FreeRTOS applications have them and shows the report of each.

    \b
    Examples:
      ./redzone port freertos --run
      ./redzone port freertos --run --board riscv-virt --source ../FreeRTOS-Kernel
      ./redzone port freertos --run --traffic 600
    """
    if given:
        base.remember_typed(given, folder=True)
    context.exit(run(board, given and Path(given), int(heap), cc, traffic, action, jobs, yes))
