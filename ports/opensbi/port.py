# SPDX-License-Identifier: MIT
"""`./redzone port opensbi`: OpenSBI, the firmware of RISC-V's machine mode, under Generic KASAN."""

from pathlib import Path

import click
from redzone.core import base, doctor
from redzone.core.base import Failure, say
from redzone.core.options import YES, Choice, Number, check_output
from redzone.kit import ports

from .host import boots, build, planted
from .host.source import HOME, PORT, find

U_BOOT = ("version", "sbi", "bdinfo")


def _print(text):
    print(text, flush=True)


def what_is_added(image, cc):
    """Return lines that say what the build adds to OpenSBI."""
    folder = base.relative(PORT / "kasan")
    return [
        f"OpenSBI's files are not changed. Added as platform/generic/kasan, {build.written_lines()} lines:",
        f"  {folder}/port.c      the port: wrapped functions, memory, the start",
        f"  {folder}/layout.h    where shadow and tables are",
        f"  {folder}/objects.mk  the runtime, and the compiler's and the linker's options",
        f"  compiler   {cc}, outline checks, {'one place' if image.fixed else 'runs wherever it is loaded'}",
        f"  image      {base.relative(image.binary)}",
    ]


def checks_stack(image, cc):
    """Does @image check stack variables? GCC's code finds only a shadow whose place was compiled in."""
    return image.fixed or cc != "gcc"


def _ordinary(image, log, harts, load):
    """Boot with ordinary use only. Return what is wrong, or None."""
    session = boots.boot(image, log, boots.ORDINARY, harts, load, echo=_print)
    if session.reports:
        return f"{base.plural(len(session.reports), 'report')} in ordinary use (log: {base.relative(log)})"
    if session.ended or session.failures:
        return f"{session.ended or session.failures[0]} (log: {base.relative(log)})"
    return None


def _plant(image, stack, log, harts, load):
    """Plant all bugs, the fatal ones in a boot each. Return (reported bugs, what is wrong)."""
    session = boots.boot(image, log, boots.ALL, harts, load, echo=_print)
    found, wrong = dict(session.bugs), []
    for number, bug in enumerate(planted.BUGS):
        if bug.fatal:
            path = log.with_name(f"{log.stem}-{bug.name}{log.suffix}")
            found.update(boots.boot(image, path, number + 1, harts, load, echo=_print).bugs)
    for bug in planted.BUGS:
        fault = planted.problem(bug, found.get(bug.name), stack)
        if fault:
            wrong.append(f"{bug.name}: {fault}")
    if session.ended:
        wrong.append(f"OpenSBI stopped: {session.ended}")
    return len(planted.expected(stack)), wrong


def _costs(image, plain, log):
    """Print what the same calls cost with and without KASAN."""
    pair = [
        boots.boot(one, log.with_name(f"{log.stem}-cost-{name}{log.suffix}"), boots.COST, 1, exact=True)
        for name, one in (("kasan", image), ("plain", plain))
    ]
    say("instructions of one hart, with KASAN and without:")
    for what, count in pair[0].costs.items():
        other = pair[1].costs.get(what, 0)
        _print(f"  {what:22} {count:10} {other:10}" + (f"  {count / other:6.1f} times" if other else ""))
    sizes = [one.binary.stat().st_size for one in (image, plain)]
    _print(f"  {'bytes of the image':22} {sizes[0]:10} {sizes[1]:10}  {sizes[0] / sizes[1]:6.1f} times")


def _behind(image, log, harts):
    """Boot U-Boot after it. Return what is wrong, or None."""
    session, outputs = boots.u_boot(image, U_BOOT, log, harts, echo=_print)
    if session.reports:
        return f"{base.plural(len(session.reports), 'report')} with U-Boot (log: {base.relative(log)})"
    return session.ended if session.ended or len(outputs) < len(U_BOOT) else None


def run(run_it, given, cc, fixed, load, harts, drivers, u_boot, costs, log, jobs, yes):
    """Do what the options say. Return the exit status."""
    address = int(load, 0)
    if fixed and address != build.RAM:
        raise Failure("--fixed makes an image for the start of RAM: leave out --load")
    if fixed and u_boot:
        raise Failure("--u-boot wants the start of RAM, where a --fixed image is: leave out one of them")
    check_output("--log", log)
    folder = ports.get_source(lambda: find(given), (), "OpenSBI", yes)
    doctor.require(build.tools(cc), "build OpenSBI and run it", yes)
    image = build.build(folder, cc, fixed, drivers=drivers, jobs=jobs)
    path = Path(log) if log else HOME / "logs" / f"{cc}.log"
    if u_boot:
        fault = _behind(image, path, harts)
        say(fault or "U-Boot ran after OpenSBI; 0 reports")
        return ports.status_of(False, stopped=bool(fault), wrong=bool(fault))
    if costs:
        _costs(image, build.build(folder, cc, fixed, kasan=False, drivers=drivers, jobs=jobs), path)
        return base.OK
    if not run_it:
        _print("\n".join(what_is_added(image, cc)))
        return base.OK
    fault = _ordinary(image, path.with_name(f"{path.stem}-ordinary{path.suffix}"), harts, address)
    if fault:
        say(fault)
        return ports.status_of(True)
    say(f"ordinary use on {base.plural(harts, 'hart')}: no report; now the bugs")
    count, wrong = _plant(image, checks_stack(image, cc), path, harts, address)
    for line in wrong:
        say(line)
    if wrong:
        return ports.status_of(True, wrong=True)
    say(f"all {count} bugs that were planted are reported")
    return ports.status_of(count)


@click.command()
@click.option(
    "--run", "run_it", is_flag=True, help="Boot it: ordinary use on all harts, then planted bugs, reported."
)
@click.option("--u-boot", is_flag=True, help="Boot it far up in RAM, and then Debian's U-Boot.")
@click.option("--costs", is_flag=True, help="Count the instructions of some calls, with KASAN and without.")
@click.option(
    "--source", "given", metavar="DIR", help="OpenSBI's source in the folder DIR, instead of fetching it."
)
@click.option("--cc", type=Choice(build.COMPILERS), default="clang-19", help="Compiler. Default: clang-19.")
@click.option("--fixed", is_flag=True, help="An image for the start of RAM, instead of one for any address.")
@click.option("--load", metavar="ADDRESS", default=hex(build.RAM), help="Load it there. Default: 0x80000000.")
@click.option("--harts", type=Number(int, 1, 8, "N"), default="4", help="Harts of the machine. Default: 4.")
@click.option(
    "--drivers",
    type=Choice(("board", "all")),
    default="board",
    help="Those of QEMU's board, or all that OpenSBI has. Default: board.",
)
@click.option("--log", metavar="FILE", help="Write the console to FILE, as it came.")
@click.option(
    "--jobs", type=Number(int, 1, 64, "N"), default="2", help="Compile N files at once. Default: 2."
)
@YES
@click.pass_context
def command(context, **options):
    """Build OpenSBI under KASAN and boot it in QEMU.

    Not one file of OpenSBI is changed. Without an option it builds, and says what is added. The source is
    Debian's, pinned by a checksum, or a folder that is there.

    \b
    Examples:
      ./redzone port opensbi --run
      ./redzone port opensbi --cc gcc --fixed --run
      ./redzone port opensbi --run --load 0x88000000 --harts 1
      ./redzone port opensbi --u-boot
    """
    context.exit(run(**options))
