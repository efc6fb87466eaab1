# SPDX-License-Identifier: MIT
"""`./redzone port u-boot`: U-Boot 2023.01 for QEMU's arm64 board under Generic KASAN."""

import sys
from pathlib import Path

import click
from redzone.core import base, doctor
from redzone.core.base import Failure, say
from redzone.core.options import YES, Choice, Memory, Number, check_output
from redzone.fuzz import options as fuzz_options
from redzone.kit import ports

from .host import boots, build, cost, fetch, fuzz, qemu
from .host.boots import CVES, OPEN
from .host.fetch import HOME, PORT

# The bugs that --run plants: the command, the type of its report, the stacks that the report must have.
PLANTED = (
    ("kasan heap", "slab-out-of-bounds", ("call", "allocated")),
    ("kasan uaf", "slab-use-after-free", ("call", "allocated", "freed")),
)
# Shadow, heap and image do not fit into less.
MEMORY_MIN = 128 << 20
# Options that mean something only with --fuzz.
FUZZ_ONLY = (
    *("--dir", "--time", "--runs", "--first", "--seed", "--hang", "--max-len", "--dict", "--seeds"),
    *("--engine", "--libfuzzer", "--afl"),
)
ACTIONS = ("run", "console", "ordinary", "selftest", "cost")


def what_is_added(image, cc):
    """Return lines that say what the build adds to U-Boot."""
    place = "shadow found at run time, no stack variables" if cc == "gcc" else "shadow offset from a variable"
    return [
        "U-Boot's source is not changed. Added on the command line:",
        f"  compiler   {base.relative(PORT / 'cc')}: {cc}, outline checks, {place}",
        f"  excluded   {base.relative(PORT / 'ignorelist.txt')}, and every function marked __efi_runtime",
        f"  linker     {base.relative(PORT / 'kasan.lds')} (constructors)",
        f"  --wrap     {', '.join(build.WRAPPED)}",
        f"  objects    the runtime and {base.relative(PORT)}/*.c",
        f"  options    {', '.join(f'{key}={value}' for key, value in build.KASAN_CONFIG.items())}",
        f"  image      {base.relative(image.binary)}",
        f"  symbols    {base.relative(image.elf)}",
    ]


def _status(session):
    """Say how an ordinary session ended. Return the exit status."""
    if session.reports:
        say(f"{base.plural(len(session.reports), 'KASAN report')} (log: {base.relative(session.log)})")
    if session.ended:
        say(f"U-Boot stopped: {session.ended} (log: {base.relative(session.log)})")
    return ports.status_of(session.reports, session.ended)


def _planted_problem(session):
    """Return the fault in the reports of the planted bugs, or None."""
    for at, (command, kind, stacks) in enumerate(PLANTED):
        reports = session.by_command[at + 1] if at + 1 < len(session.by_command) else []
        if [report.type for report in reports] != [kind]:
            found = ", ".join(report.type for report in reports) or "nothing"
            return f"'{command}' must be reported as {kind}; reported: {found}"
        lost = [stack for stack in stacks if not reports[0].frames(stack)]
        if lost:
            return f"the report of '{command}' has no stack '{lost[0]}'"
    return None


def _run(image, tree, log, **machine):
    """Boot to the prompt and plant two bugs."""
    commands = ["version", *(command for command, *_ in PLANTED), "kasan"] if image.kasan else ["version"]
    session = boots.play(image, tree, commands, log, echo=_print, **machine)
    _print("")
    status = _status(session)
    if image.kasan and not session.ended:
        problem = _planted_problem(session)
        if problem:
            say(f"the port does not work: {problem}")
            return ports.status_of(session.reports, wrong=True)
        say("the two bugs that were planted are reported; ./redzone port u-boot --console: type yourself")
    return status


def _console(image, tree, log, timeout, **machine):
    """Connect the user with U-Boot, a line at a time, until the input or U-Boot ends."""
    terminal = sys.stdin.isatty()

    def work(session, target):
        target.wait_prompt(timeout)
        if terminal:
            say("end with Ctrl-D")
        try:
            while True:
                text = input(qemu.PROMPT) if terminal else sys.stdin.readline()
                if not terminal and not text:
                    break
                target.command(text.rstrip("\n"), timeout)
        except EOFError:
            _print("")

    # A terminal echoes the input already.
    return _status(boots.booted(image, tree, log, work, echo=_print, echo_typed=not terminal, **machine))


def _ordinary(image, tree, log):
    session, lacking = boots.ordinary(image, tree, log, echo=_print)
    _print("")
    say(f"{base.plural(len(session.outputs), 'command')}, {base.plural(len(session.reports), 'report')}")
    for line in lacking:
        say(line)
    return _status(session) or (base.CRASHED if lacking else base.OK)


def _inputs(names, tree, kasan, cc, jobs):
    """Feed U-Boot each malicious input. Return the exit status of them all."""
    status = base.OK
    for name in names:
        session = boots.attack(name, tree, kasan=kasan, cc=cc, jobs=jobs, echo=_print)
        _print("")
        found = boots.expected(boots.input_module(name), session) or session.reports
        if found:
            say(f"{name}, {tree}: {boots.describe(found[0])}")
            status = base.REPORTED
        elif session.ended:
            say(f"{name}, {tree}: no report; U-Boot stopped: {session.ended}")
            status = status or ports.status_of(False, stopped=True)
        else:
            say(f"{name}, {tree}: no report")
    return status


def _print(text):
    print(text, flush=True)


def _chosen_inputs(words):
    """Return the names of the inputs that @words select."""
    names = []
    for word in words:
        if word not in ("all", *CVES, *OPEN):
            raise Failure(f"--input '{word}' is not accepted; accepted: all, {', '.join(CVES + OPEN)}")
        names += CVES if word == "all" else [word]
    return list(dict.fromkeys(names))


def _check(options):
    """Raise Failure if options conflict. Return the one action, or None."""
    chosen = [action for action in ACTIONS if options[action]]
    chosen += [word for word in ("command", "input", "fuzz") if options[word]]
    if len(chosen) > 1:
        raise Failure(f"--{chosen[0]} and --{chosen[1]} exclude each other; give one of them")
    action = chosen[0] if chosen else None
    if options["disk"] and action not in ("console", "command"):
        raise Failure("--disk needs --console or --command")
    for name in options["disk"]:
        if not Path(name).is_file():
            raise Failure(f"--disk '{name}' is not a file")
    if action in ("ordinary", "selftest", "cost", "input", "fuzz") and options["mem"] != "512M":
        raise Failure(f"--mem and --{action} exclude each other")
    size = int(options["mem"][:-1]) << {"K": 10, "M": 20, "G": 30}[options["mem"][-1]]
    if size < MEMORY_MIN:
        raise Failure(f"--mem {options['mem']} is not enough; U-Boot under KASAN needs {MEMORY_MIN >> 20}M")
    check_output("--log", options["log"], [Path(name) for name in options["disk"]])
    booting = action in ("run", "console", "command", "ordinary", "selftest") or options["repeat"]
    if options["log"] and not booting:
        raise Failure("--log needs a boot: --run, --console, --command, --ordinary, --selftest or --repeat")
    if action == "cost" and (options["plain"] or options["unpatched"]):
        raise Failure("--cost builds with and without KASAN, from the patched source; leave out the others")
    return action


def _check_fuzz(options, given):
    """Raise Failure if options conflict with --fuzz or need it. @given: the names of the options typed."""
    if not options["fuzz"]:
        for option in (*FUZZ_ONLY, "--repeat"):
            if option in given:
                raise Failure(f"{option} needs --fuzz")
        return
    for option in ("--plain", "--cc", "--mem"):
        if option in given:
            raise Failure(f"{option} and --fuzz exclude each other")
    if not options["repeat"]:
        return
    if not Path(options["repeat"]).is_file():
        raise Failure(f"--repeat '{options['repeat']}' is not a file")
    for option in FUZZ_ONLY:
        if option in given:
            raise Failure(f"--repeat and {option} exclude each other")


def _fuzz(options, own, tree, jobs_given):
    """Fuzz, or repeat one input. Return the exit status."""
    name, jobs = options["fuzz"], options["jobs"]
    if options["repeat"]:
        log = Path(options["log"] or HOME / "logs" / f"fuzz-{name}.log")
        session = fuzz.repeat(name, tree, options["repeat"], log, options["timeout"], _print)
        _print("")
        return _status(session)
    own["jobs"] = jobs if jobs_given else 1
    from redzone.fuzz import campaign

    chosen = fuzz_options.chosen(campaign, fuzz.default_folder(name, tree), own)
    return fuzz.run(name, tree, chosen)


def run(given=(), **options):
    """Do what the options of `./redzone port u-boot` say. @given: those typed. Returns the exit status."""
    _check_fuzz(options, given)
    own = {name: options.pop(name) for name in fuzz_options.NAMES}
    action = _check(options)
    names = _chosen_inputs(options["input"])
    tree = "original" if options["unpatched"] else "patched"
    cc, jobs, kasan = options["cc"], options["jobs"], not options["plain"]
    ports.get_source(lambda: fetch.obtain(tree), (), "U-Boot", options["yes"])
    needed = [*build.tools(cc), *(("qemu-arm64", "symbolizer") if action else ())]
    needed += (*fuzz.TOOLS, *fuzz_options.tools_of(own["engine"])) if action == "fuzz" else ()
    doctor.require(needed, "build U-Boot and run it" if action else "build U-Boot", options["yes"])
    if action == "fuzz":
        return _fuzz(options, own, tree, "--jobs" in given)
    if action == "input":
        return _inputs(names, tree, kasan, cc, jobs)
    if action == "cost":
        return cost.measure(cc, jobs)
    image = build.build(tree, kasan=kasan, cc=cc, jobs=jobs)
    log = Path(options["log"] or HOME / "logs" / f"{action}.log")
    machine = {"memory": options["mem"], "timeout": options["timeout"]}
    if action == "run":
        return _run(image, tree, log, **machine)
    if action == "console":
        disks = {"disks": options["disk"], "protect": True}
        return _console(image, tree, log, **disks, **machine)
    if action == "command":
        disks = {"disks": options["disk"], "protect": True}
        return _status(boots.play(image, tree, options["command"], log, echo=_print, **disks, **machine))
    if action == "ordinary":
        return _ordinary(image, tree, log)
    if action == "selftest":
        return _status(boots.selftest(image, tree, log, echo=_print))
    lines = what_is_added(image, cc) if kasan else [f"plain build: {base.relative(image.binary)}"]
    _print("\n".join(lines))
    return base.OK


@click.command()
@click.option("--run", is_flag=True, help="Boot to the prompt and plant two bugs, which are reported.")
@click.option("--console", is_flag=True, help="Boot and type commands yourself (or from a file: <FILE).")
@click.option("--command", multiple=True, metavar="TEXT", help="Boot and type TEXT; may be repeated.")
@click.option("--ordinary", is_flag=True, help="Type all of ports/u-boot/commands.txt: no report.")
@click.option("--selftest", is_flag=True, help="Run U-Boot's own test of its EFI implementation.")
@click.option(
    "--input",
    multiple=True,
    metavar="NAME",
    help=f"Feed the malicious input of a known bug: {', '.join(CVES)}; all; {', '.join(OPEN)}.",
)
@click.option(
    "--fuzz",
    type=Choice(fuzz.TARGETS),
    help=f"Fuzz one of: {', '.join(fuzz.TARGETS)}, as ./redzone fuzz does it.",
)
@click.option("--repeat", metavar="FILE", help="Give --fuzz this one input, and show what U-Boot prints.")
@fuzz_options.add("u-boot-TARGET.fuzz")
@click.option("--cost", is_flag=True, help="Measure size, memory and boot with and without KASAN.")
@click.option("--unpatched", is_flag=True, help="The original source, without Debian's security patches.")
@click.option("--plain", is_flag=True, help="Without KASAN, for comparison.")
@click.option(
    "--cc",
    type=Choice(build.COMPILERS),
    default="clang-19",
    help="Compiler; gcc leaves out stack variables. Default: clang-19.",
)
@click.option(
    "--disk",
    multiple=True,
    metavar="FILE",
    help="A disk image, virtio 0, 1 and so on. Is not written to.",
)
@click.option("--mem", type=Memory(), default="512M", help="Memory, 128M or more. Default: 512M.")
@click.option(
    "--timeout",
    type=Number(float, 1, 86400, "SECONDS"),
    default=str(boots.TIMEOUT),
    help=f"Stop when a command takes longer. Default: {boots.TIMEOUT}.",
)
@click.option("--log", metavar="FILE", help="Write the console to FILE, as it came.")
@click.option(
    "--jobs",
    type=Number(int, 1, 64, "N"),
    default="2",
    help="Compile N files at once; --fuzz: N machines. Default: 2; 1.",
)
@YES
@click.pass_context
def command(context, **options):
    """Fetch U-Boot's source as a Debian source package, build it under KASAN, boot it in QEMU.

    Without an option it builds, and says what it adds to U-Boot, whose own files stay unchanged. The first
    build takes about a minute on two idle CPUs.

    \b
    Examples:
      ./redzone port u-boot --run
      ./redzone port u-boot --console
      ./redzone port u-boot --input CVE-2024-57259 --unpatched
      ./redzone port u-boot --disk stick.img --command "ls virtio 0:1"
      ./redzone port u-boot --fuzz fs --time 600
    """
    typed = click.core.ParameterSource.COMMANDLINE
    given = {one.opts[0] for one in context.command.params if context.get_parameter_source(one.name) is typed}
    context.exit(run(given, **options))
