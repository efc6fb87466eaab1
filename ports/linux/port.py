# SPDX-License-Identifier: MIT
"""`./redzone port linux`: Linux with Redzone in place of its mm/kasan."""

import re
from pathlib import Path

import click
from redzone.core import base, doctor
from redzone.core.base import Failure, say
from redzone.core.options import YES, Choice, Number, check_output
from redzone.kit import ports

from .host import apply, boot, build, source

# The result of a case on the console, after the time.
_RESULT = re.compile(r"\] +((?:not )?ok \d+ .*)")


def _print(text):
    print(text, flush=True)


def _print_result(line):
    """Print the result that the console's @line has, if there is one."""
    if match := _RESULT.search(line):
        _print(match[1])


def _check(options):
    """Raise Failure if options conflict."""
    chosen = [f"--{name}" for name in ("apply", "revert", "run") if options[name]]
    if len(chosen) > 1:
        raise Failure(f"{chosen[0]} and {chosen[1]} exclude each other; give one of them")
    if options["source"] and (options["apply"] or options["revert"]):
        raise Failure(f"--source and {chosen[0]} exclude each other; leave out --source")
    if options["source"] and options["line"] != apply.LINES[0]:
        raise Failure("--source and --linux exclude each other; leave out --linux")
    build.check(options["arch"], options["mode"], options["cc"])
    check_output("--log", options["log"])


def _run(image, log, timeout, verbose):
    """Boot, and print what Linux's KASAN suite says. Return the exit status."""
    say(f"booting Linux, which writes its console to {base.relative(log)}")
    session = boot.kunit(image, log, timeout=timeout, echo=_print if verbose else _print_result)
    for case in session.cases:
        if case.status == "fail":
            say(f"{case.name} failed:\n{case.detail}")
    totals = session.totals()
    who = "Linux's own KASAN" if image.own else "Redzone"
    text = ", ".join(f"{count} {word}" for word, count in totals.items())
    say(f"{who}, {image.make.output.name}: {text} (log: {base.relative(log)})")
    if session.ended:
        say(f"Linux stopped: {session.ended}")
    wrong = session.ended or totals["fail"] or not totals["pass"]
    return base.CRASHED if wrong else base.OK


def run(**options):
    """Do what the options of `./redzone port linux` say. Returns the exit status."""
    _check(options)
    for name, work in (("apply", apply.apply), ("revert", apply.revert)):
        if options[name]:
            _print("\n".join(work(options[name])))
            return base.OK
    mode, own, arch, compiler = (options[name] for name in ("mode", "linux_own", "arch", "cc"))
    needed = build.tools(arch, compiler)
    if options["run"]:
        needed += (build.ARCHES[arch].machine,)
    tree = ports.get_source(
        lambda: source.tree(options["source"], options["line"]), ("xz",), "Linux", options["yes"]
    )
    doctor.require(needed, "build Linux", options["yes"])

    make = build.Make(tree, mode, arch, compiler, options["jobs"], options["config"])
    image = build.build(make, own)
    if not options["run"]:
        _print(f"kernel   {base.relative(image.image)}\nsymbols  {base.relative(image.elf)}")
        return base.OK
    log = options["log"] or source.HOME / "logs" / f"{image.name}.log"
    return _run(image, Path(log), options["timeout"], options["verbose"])


@click.command()
@click.option("--run", is_flag=True, help="Boot it and run Linux's KASAN suite. Status 0: no case fails.")
@click.option("--apply", metavar="DIR", help="Put Redzone into the source tree DIR, and build nothing.")
@click.option("--revert", metavar="DIR", help="Take Redzone out of the source tree DIR again.")
@click.option(
    "--linux",
    "line",
    type=Choice(apply.LINES),
    default=apply.LINES[0],
    help=f"Which Linux. Default: {apply.LINES[0]}.",
)
@build.options
@click.option("--own", "linux_own", is_flag=True, help="With Linux's own KASAN, for comparison.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Print the whole console, and not only the result of each case."
)
@click.option(
    "--timeout",
    type=Number(float, 1, 86400, "SECONDS"),
    default=str(boot.TIMEOUT),
    help=f"Stop when the boot takes longer. Default: {boot.TIMEOUT}.",
)
@click.option("--log", metavar="FILE", help="Write the console to FILE, as it came.")
@YES
@click.pass_context
def command(context, **options):
    """Build Linux with Redzone in place of its mm/kasan, and boot it in QEMU.

    The source is a copy of Debian's, below build/. The first build of a mode takes a few minutes.

    \b
    Examples:
      ./redzone port linux --run
      ./redzone port linux --run --mode hw_tags
      ./redzone port linux --run --arch x86_64
      ./redzone port linux --apply ~/linux
    """
    context.exit(run(**options))
