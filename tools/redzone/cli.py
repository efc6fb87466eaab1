# SPDX-License-Identifier: MIT
"""The verbs of ./redzone and their options."""

import signal
import sys

import click

from redzone.bench import cost, lockdep, page, profile, programs, rt, sampling, seconds, stackleak, traces
from redzone.build import builder
from redzone.core import base, doctor, outside, process
from redzone.core.arch import PRESET
from redzone.core.base import Failure
from redzone.core.options import (
    YES,
    Choice,
    Macro,
    Memory,
    Number,
    Pair,
    Part,
    Patterns,
    StackSize,
    Variable,
    Words,
)
from redzone.decode import command as decode
from redzone.decode.output import wanted
from redzone.elf import ksyms
from redzone.fuzz import command as fuzz
from redzone.kit import amalgamate, audit, flags, port_command, ports, size
from redzone.machine import accel, qemu
from redzone.run import again, merge, project
from redzone.verbs import clean, release, settings
from redzone.verbs import help as help_verbs

EXIT_STATUSES = """\b
Exit status:
  0  no KASAN report and the program returned 0
  1  KASAN reported
  2  usage or build error
  3  the program or the kernel crashed, or hung (--timeout)
  4  the program returned non-zero, or aborted, or a --save failed
  5  the lock validator reported (--lockdep)
  130  interrupted
If several apply, the first in this order decides: KASAN report, crash, lock-validator report,
program status."""


class Order(click.Group):
    """Lists the verbs in the order in which a newcomer meets them."""

    def list_commands(self, context):
        return list(self.commands)


class Tables(Order):
    """The tables of a verb that does something without one. A port with a table.py adds one of its name."""

    def list_commands(self, context):
        return [*self.commands, *ports.names("table")]

    def get_command(self, context, name):
        return (
            ports.load(name, "table").command
            if name in ports.names("table")
            else super().get_command(context, name)
        )

    def resolve_command(self, context, args):
        names = self.list_commands(context)
        if args[0] not in names:
            raise Failure(f"there is no table '{args[0]}'; there are: {', '.join(names)}")
        return super().resolve_command(context, args)


def _with_features(function):
    """Add the options for features of the kernel, which the verb passes to builder.choose_features()."""
    for option, text in (
        (
            "--preempt-rt",
            "Build a real-time kernel: spin locks sleep and interrupt handlers are threads.",
        ),
        ("--lockdep", "Build the kernel with lock-order checks."),
        ("--tagged-globals", "Also tag the kernel's global variables. Needs --mode sw_tags and Clang."),
        ("--mte-stack", "Also tag the kernel's stack variables. Needs --mode hw_tags and Clang."),
        ("--kstack-erase", "Erase the kernel stack on return to user mode."),
        ("--ubsan", "Also compile programs and modules with UBSan: find undefined behaviour."),
        ("--shadow-call-stack", "Build the kernel with a shadow call stack, and copy stack traces from it."),
    ):
        function = click.option(option, is_flag=True, help=text)(function)
    return function


def _choose_features(options):
    """Remove the options of _with_features() from @options, and use them."""
    builder.choose_features(**{name: options.pop(name) for name in builder.OPTION_FEATURES})


def _check_kernel(options):
    """Refuse options of a kernel that exclude each other; remove --inline and the features, and use those."""
    if options["mte_stack"] and options["mode"] != "hw_tags":
        raise Failure(
            f"--mte-stack with --mode {options['mode']}: the tags are the CPU's, so it needs --mode hw_tags"
            + ("" if options["mode"] == "off" else "; this mode checks stack variables anyway")
        )
    if options["mte_stack"] and options["cc"] == "gcc":
        raise Failure("--mte-stack with --cc gcc: GCC does not tag stack variables for MTE; use a Clang")
    if options["tagged_globals"] and options["mode"] != "sw_tags":
        why = {
            "generic": "; this mode checks global variables anyway",
            "hw_tags": ": no compiler tags global variables of a kernel for the CPU",
        }
        raise Failure(
            f"--tagged-globals with --mode {options['mode']}: it needs --mode sw_tags"
            + why.get(options["mode"], "")
        )
    if options["tagged_globals"] and options["cc"] == "gcc":
        raise Failure("--tagged-globals with --cc gcc: GCC does not tag global variables; use a Clang")
    _choose_features(options)
    inline = options.pop("inline")
    if inline and options["outline"]:
        raise Failure("--inline and --outline exclude each other; give one of them")
    if options["mode"] in builder.UNINSTRUMENTED and (inline or options["outline"]):
        who = "the CPU checks each access" if options["mode"] == "hw_tags" else "nothing is checked"
        raise Failure(
            f"--mode {options['mode']} with --{'inline' if inline else 'outline'}: {who}, "
            "the compiler adds no checks; leave it out"
        )


class _Call:
    """What this call of the command knows besides its options. program: the words after `--`."""

    def __init__(self, program, found):
        self.program, self._settings = program, found

    def settings_line(self, context):
        """Return what redzone.toml has given to the verb of @context, or None."""
        return self._settings.line(context) if self._settings is not None else None


@click.group(cls=Order, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(base.version(), prog_name="redzone", message="%(prog)s %(version)s")
def command():
    """Run C code in a real kernel under KASAN, the Kernel Address Sanitizer.

    \b
    Start here:
      ./redzone run                 a shipped example with two bugs
      ./redzone run hello.c         your own file with int main(void)
      ./redzone doctor --install    install what run needs

    Each command has its own --help.
    """


@command.command("run", epilog=EXIT_STATUSES, short_help="Run C files in a kernel under KASAN.")
@click.argument("files", nargs=-1, metavar="[FILE]... [-- ARGUMENT...]")
@page.ARCH
@click.option("--mode", type=Choice(builder.MODES), default="generic", help="KASAN mode. Default: generic.")
@click.option("--inline", is_flag=True, help="Checks inside the code: faster, bigger. The default.")
@click.option("--outline", is_flag=True, help="Checks as function calls.")
@click.option("--cc", type=Choice(builder.COMPILERS), default="clang-19", help="Compiler. Default: clang-19.")
@_with_features
@click.option(
    "-O",
    "level",
    type=Choice(("0", "1", "2", "3", "s")),
    default="2",
    help="Optimisation level for your files. Default: 2.",
)
@click.option("--cpu", default="max", metavar="MODEL", help="QEMU's CPU model. Default: max.")
@accel.OPTION
@click.option(
    "--smp",
    type=Number(int, 1, qemu.MAX_CPUS, "N"),
    default="1",
    help=f"CPUs, 1 to {qemu.MAX_CPUS}. Default: 1.",
)
@click.option("--mem", type=Memory(), default="512M", help="Memory size, such as 256M or 2G. Default: 512M.")
@click.option(
    "--stack",
    type=StackSize(),
    help="Stack size of the program, such as 256K or 64M. Default: 8M.",
)
@click.option(
    "--append", multiple=True, metavar="TEXT", help='Boot parameters: --append "kasan.fault=panic".'
)
@click.option(
    "--timeout",
    type=Number(float, 0.1, 86400, "SECONDS"),
    default="60",
    help="Stop a program after this many seconds, and show where it was stuck. Default: 60.",
)
@click.option("-I", "includes", multiple=True, metavar="DIR", help="Also look for headers in DIR.")
@click.option("-D", "defines", type=Macro(), multiple=True, help="Define a macro.")
@click.option(
    "--cflag",
    "cflags",
    multiple=True,
    metavar="OPTION",
    help="Pass OPTION to the compiler for your files, for example --cflag -std=c11.",
)
@click.option(
    "--kernel-headers",
    is_flag=True,
    help="Your files may use the kernel's own headers and functions: <kernel/slab.h>, <kasan/kasan.h>.",
)
@click.option(
    "--file",
    "data",
    type=Pair(),
    multiple=True,
    metavar="NAME=HOSTPATH",
    help='Make a file readable as fopen("NAME", "r").',
)
@click.option(
    "--stdin",
    metavar="FILE",
    help="Standard input of the program. Default: this command's own, if it is a file or a pipe.",
)
@click.option(
    "--env", type=Variable(), multiple=True, help="A variable of the program's environment, for getenv()."
)
@click.option(
    "--save",
    type=Pair(),
    multiple=True,
    help="When the program ends, copy its file NAME to HOSTPATH.",
)
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="FILE.c",
    help="Build FILE.c as a kernel module, load it before the program and unload it after.",
)
@click.option(
    "--max-reports",
    type=Number(int, 1, 100000, "N"),
    default="20",
    help="Stop the machine after N reports. Default: 20.",
)
@click.option(
    "--icount", is_flag=True, help="Use the instruction count as the clock, so that runs are reproducible."
)
@click.option(
    "--leaks",
    is_flag=True,
    help="At the end of a program, report objects that nothing points to, with their stacks.",
)
@click.option(
    "--each",
    "separate",
    is_flag=True,
    help="Every file is a program of its own. All run in one boot, with one KTAP result each.",
)
@click.option(
    "--library",
    multiple=True,
    metavar="FILE",
    help="With --each: link FILE (.c .S .o .a, or a folder of these), compiled once, to every program "
    "that uses it.",
)
@click.option(
    "--shard",
    type=Part(),
    metavar="I/N",
    help="With --each: run only part I of N. Default: taken from the environment of Bazel, GitLab, "
    "CircleCI or Buildkite.",
)
@click.option(
    "--project",
    metavar="FILE",
    help="Also build the files of this compile_commands.json, each with its own options.",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="Build only this target of --project.",
)
@click.option(
    "--warnings",
    is_flag=True,
    help="Show warnings of --project and --library, and more warnings for your own files.",
)
@click.option(
    "--json",
    "report_file",
    metavar="FILE",
    help="Also write the verdict and every bug to FILE, as JSON; with --each the verdicts.",
)
@again.options
@click.option(
    "--log", metavar="FILE", help="Also write the complete console to FILE, as the kernel printed it."
)
@click.option("--no-symbolize", is_flag=True, help="Print reports as they come, without source lines.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="After a run without a report, list the kinds of bug this mode cannot find.",
)
@wanted.options
@YES
@click.pass_context
def run_verb(context, **options):
    """Build the kernel with your C files inside, boot it, and show what KASAN finds.

    The files are ordinary C with an int main(int argc, char **argv): malloc() is the kernel's kmalloc(),
    printf() goes to the console. Without files, a shipped example with a heap overflow and a use after free
    runs.

    The optimiser may remove a bug before the code is instrumented, such as an overrun of a local array with
    constant indices at -O1 and above. Also try -O 0 or --cc gcc.

    FILE is a .c or .S file, a folder of these, or a .o or .a file for the same machine. @FILE reads further
    arguments from FILE. --project compiles a project from its compile_commands.json. Missing headers or
    functions do not stop the build; a table lists them, and the files that need them.

    With --each, every file is a program with its own main(). They run one after the other in one kernel. Each
    ends with its first report; if one crashes or hangs, the others still run.

    The first report is the one to fix. Further reports from the same place are one line each on screen;
    --log and --no-symbolize show them whole.

    A module is kernel code with module_init() and module_exit() of <kernel/module.h>; several are loaded in
    the order given, and later ones may use symbols that earlier ones define. A module can run without a
    program. Exit status 4 says that one could not be loaded, or that its init function returned non-zero.

    \b
    Examples:
      ./redzone run
      ./redzone run bug.c
      ./redzone run parser.c main.c -I include -D DEBUG=1 -- -v input
      ./redzone run --file input=crash.bin parser.c -- input
      ./redzone run --stdin input.txt --env TZ=UTC-2 --save out.txt=out.txt filter.c
      ./redzone run --module examples/module_oob.c
      ./redzone run --cc gcc --outline --smp 4 bug.c
      ./redzone run --each --json verdicts.json tests/*.c
      ./redzone run --each --library lib/ --shard 1/4 tests/
      ./redzone run --project build/compile_commands.json --target selftest
      ./redzone run --html bugs.html bug.c
      ./redzone run -q --json result.json bug.c
      ./redzone run -O 0 --cflag -std=c11 --cflag -Wno-unused bug.c
    """
    _check_kernel(options)
    given = context.get_parameter_source("max_reports")
    if options["separate"] and given is click.core.ParameterSource.COMMANDLINE:
        raise Failure("--max-reports does not go with --each: a program ends with its first report")
    timeout = context.get_parameter_source("timeout")
    if options["console"] and timeout is not click.core.ParameterSource.COMMANDLINE:
        options["timeout"] = None
    if options["verbose"] and (line := context.find_object(_Call).settings_line(context)):
        base.say(line)
    from redzone.run import command as run
    from redzone.run import job  # what `--help` does not need is loaded late

    arguments = context.obj.program if context.obj is not None else []
    context.exit(run.run(job.Options(arguments=arguments, own_stdin=True, **options)))


def run_options(words):
    """Return the options that `./redzone run` takes from the arguments @words, by the names of job.Options.

    The features of kernels stay those of this command.
    """
    options = dict(run_verb.make_context("run", list(words)).params)
    for name in (*builder.OPTION_FEATURES, "inline"):
        options.pop(name)
    return options


# How long `./redzone test` takes on two CPUs, in minutes; README.md and CONTRIBUTING.md say the same.
TEST_MINUTES = {"": 20, "--quick": 6, "--rest": 30}


@command.command(
    "test",
    short_help="Run the tests.",
    epilog="On two CPUs this takes about "
    + ", ".join(f"{minutes} minutes {option}".rstrip() for option, minutes in TEST_MINUTES.items())
    + ".",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--list", "listing", is_flag=True, help="List the suites and end.")
@click.option("--mode", type=Choice(builder.MODES), help="Only this mode, for suites that run in several.")
@click.option(
    "--cases-dir",
    metavar="DIR",
    help="Folder of the programs with known verdicts (suite cases). Default: tests/cases.",
)
@click.option(
    "--seconds",
    type=Number(int, 1, 1000000, "N"),
    help="How long to run suites without a natural end (soak: 600).",
)
@click.option(
    "--rounds",
    type=Number(int, 1, (1 << 32) - 1, "N"),
    help="How often to repeat, for suites that repeat one thing (workqueue-stress: 10000).",
)
@click.option(
    "--seed",
    type=Number(int, 0, (1 << 64) - 1, "N"),
    help="Seed of suites with random input. Default: a new one each time, which is printed.",
)
@click.option(
    "--filter",
    type=Patterns(),
    help="Only cases that match, as in 'slab*,kasan.kmalloc*', in few configurations (kunit).",
)
@_with_features
@click.option(
    "--quick",
    is_flag=True,
    help="Run the suites that --list marks with it only, and of some of them a part.",
)
@click.option(
    "--rest",
    is_flag=True,
    help="Run the tests that suites leave out by default because another test is nearly the same.",
)
@click.option(
    "--recommends",
    is_flag=True,
    help="Install QEMU with the packages that Debian recommends beside it, as desktops have them "
    "(fresh-machine).",
)
@click.option(
    "--linux",
    type=Choice(("6.12", "7")),
    help="Only this Linux. Default: 6.12 (linux); both, without 7 if it cannot be fetched (linux-kunit).",
)
@click.option(
    "--arch", metavar="ARCH", help="Only kernels of this architecture (cases, soak, linux); linux: also all."
)
@click.option(
    "--jobs", type=Number(int, 1, 64, "N"), default="2", help="Machines that run at once. Default: 2."
)
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Also show passed tests; otherwise a terminal gets only failed and skipped ones.",
)
@accel.OPTION
@YES
@click.pass_context
def test_verb(context, **options):
    """Run the tests: the suites that you name, or all except those that --list marks as slow.

    --rest runs the tests that these leave out by default. .ci/run also runs most of the slow suites.

    Results are KTAP; the last line is `N passed, N failed`, with `, N skipped` if some were. Logs are kept
    in build/logs.

    \b
    Examples:
      ./redzone test
      ./redzone test --quick
      ./redzone test kunit cases
      ./redzone test kunit --rest
      ./redzone test kunit --mode generic --filter 'slab*,kasan.kmalloc*'
      ./redzone test linux-kunit --mode generic
      ./redzone test linux-kunit --linux 7
      ./redzone test linux --arch s390
      ./redzone test soak --seconds 60
      ./redzone test workqueue-stress --mode generic --rounds 1000
      ./redzone test fresh-machine --quick --recommends
      ./redzone test --list

    \b
    Exit status: 0 nothing failed, 1 something failed, 2 usage error.
    """
    _choose_features(options)
    from redzone.testing import runner

    context.exit(runner.run(**options))


@command.group(
    "bench",
    cls=Tables,
    invoke_without_command=True,
    subcommand_metavar="[TABLE ...]",
    short_help="Measure what KASAN costs, in instructions.",
)
@page.ARCH
@click.option(
    "--modes",
    type=Words(cost.MODES),
    default="none,generic-inline,generic-outline",
    help="What to measure, any of none,generic-inline,generic-outline,sw_tags-inline,sw_tags-outline,"
    "hw_tags; by default the first three. Always with none.",
)
@click.option(
    "--ops",
    multiple=True,
    default=("*",),
    metavar="GLOB",
    help="Only operations whose name or title in the table matches, as in 'kmalloc(64)*'.",
)
@click.option(
    "--with-off", is_flag=True, help="Each mode also with kasan=off: what it costs while it is switched off."
)
@page.JSON
@page.MARKDOWN
@click.option("--against", metavar="FILE", help="Show ratios to the figures in FILE, from --json.")
@_with_features
@YES
@click.pass_context
def bench_verb(context, **options):
    """Measure operations in the kernel with and without KASAN, in executed instructions.

    Two runs of the same kernel give the same figures, on any host. Each figure is shown next to the figure
    without KASAN; "no traces" means kasan.stacktrace=off.

    Each table listed below answers one question, and has its own options: ./redzone bench TABLE --help.

    \b
    Examples:
      ./redzone bench
      ./redzone bench --modes generic-inline --ops 'kmalloc*'
      ./redzone bench --modes hw_tags --ops 'pages*' --with-off
      ./redzone bench --arch riscv64
      ./redzone bench --json before.json
      ./redzone bench --against before.json
      ./redzone bench traces
      ./redzone bench stackleak
      ./redzone bench lockdep
      ./redzone bench sampling
      ./redzone bench time
      ./redzone bench linux
    """
    if context.invoked_subcommand is not None:
        given = [name for name in options if context.get_parameter_source(name).name == "COMMANDLINE"]
        if given:
            table = context.invoked_subcommand
            raise Failure(f"give the options of a table after its name: ./redzone bench {table} [OPTION]...")
        return
    _choose_features(options)
    context.exit(cost.run(**options))


@command.command("build", short_help="Build kernels or the runtime, without running them.")
@click.argument("presets", nargs=-1, metavar="[PRESET]...")
@click.option("--list", "listing", is_flag=True, help="List the presets and end.")
@YES
@click.pass_context
def build_verb(context, presets, listing, yes):
    """Build presets, by default arm64-generic-inline-clang, into build/PRESET.

    \b
    Examples:
      ./redzone build
      ./redzone build arm64-generic-outline-gcc runtime-riscv64-clang-full
      ./redzone build --list
    """
    known = builder.presets()
    if listing:
        width = max(map(len, known))
        for name, description in known.items():
            click.echo(f"{name:{width}}  {description}")
        return
    for name in presets:
        if builder.split_name(name)[0] not in known:
            raise Failure(f"there is no preset '{name}'; ./redzone build --list shows those that exist")
    presets = presets or (PRESET,)
    needed = [key for name in presets for key in builder.tools_of(name)]
    doctor.require(needed, f"build {', '.join(presets)}", yes)
    for name in presets:
        images = builder.build(name, targets=("redzone",) if builder.arch_of(name) else ())
        for image in images.values():
            click.echo(f"{base.relative(image.elf)}\n{base.relative(image.image)}")


@command.command(
    "doctor",
    short_help="Show which tools are installed; --install adds the missing ones.",
    context_settings={"ignore_unknown_options": True},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def doctor_verb(context, arguments):
    """Show which tools are there, and install those that are not."""
    context.exit(doctor.main(list(arguments)))


# Tables of the benchmark, and verbs, that live in modules of their own.
for _module in (traces, stackleak, lockdep, rt, programs, sampling, seconds):
    _module.register(bench_verb)
profile.register(bench_verb, _with_features, _choose_features)
for _module in (merge, flags, amalgamate, audit, ksyms, size, decode, port_command):
    _module.register(command)
fuzz.register(command, _check_kernel)
for _module in (clean, release, help_verbs):
    _module.register(command)
help_verbs.add_version(command)


def _usage_message(error):
    """Return click's complaint as one line."""
    text = error.format_message().replace("\n", " ").rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else base.COMMAND
    if isinstance(error, click.NoSuchOption) and command.endswith(" run"):
        text += "; options of your program go after --"
    return f"{text} (see {command} --help)"


# Verbs that need more than what the wheel brings along.
_OF_CLONES = ("test", "bench", "build", "port", "release")


def _check_installed(verb):
    """Raise Failure if @verb needs what this command, which comes from a wheel, does not have."""
    if verb in _OF_CLONES:
        raise Failure(
            f"'{verb}' needs a clone of the Redzone repository: clone it, change into its folder, and call "
            f"sh redzone {verb}"
        )
    if not base.BUILD.is_absolute() and verb in ("run", "fuzz", "doctor", "clean"):
        raise Failure(f"this user has no home folder: name a folder to build in with {base.PLACE}=DIR")


def _interrupt(number, frame):
    raise KeyboardInterrupt


def _split(argv):
    """Return (the words of @argv before the first `--`, those after it)."""
    at = argv.index("--") if "--" in argv else len(argv)
    return argv[:at], argv[at + 1 :]


def main(argv=None):
    """Entry of the command. Does not return."""
    argv = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # Bytes in a program's output that are not UTF-8 pass through unchanged.
        stream.reconfigure(errors="surrogateescape")
    argv, program = _split(argv)
    # An ordinary end, so that no QEMU stays behind.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        if not argv:
            argv = ["--help"]
        if base.INSTALLED:
            _check_installed(argv[0])
            for one in (command, *command.commands.values()):
                one.help, one.epilog = base.called(one.help or ""), base.called(one.epilog or "")
                one.hidden = one.name in _OF_CLONES
        if argv[0] == "run":
            argv, more = _split(project.expand(argv, "."))
            program = [*more, *program]
        path = settings.find(".") if argv[0] in command.commands else None
        found = settings.Settings(path, command) if path is not None else None
        if program and argv[0] != "run":
            raise Failure("only ./redzone run takes arguments after --")
        outside.use_plain_names()
        guard = process.Guard()
        try:
            status = command.main(
                argv,
                prog_name=base.COMMAND,
                complete_var=help_verbs.VARIABLE,
                standalone_mode=False,
                obj=_Call(program, found),
                default_map=found.defaults if found is not None else None,
            )
        finally:
            guard.release()
        clean.bound()
        sys.exit(status or base.OK)
    except click.UsageError as error:
        base.say(f"error: {_usage_message(error)}")
        sys.exit(base.USAGE)
    except click.ClickException as error:
        base.say(f"error: {error.format_message()}")
        sys.exit(base.USAGE)
    except Failure as error:
        base.say(f"error: {error}")
        if error.table is not None:
            error.table.show()
        sys.exit(error.status)
    except (click.Abort, KeyboardInterrupt):
        base.say("interrupted")
        sys.exit(base.INTERRUPTED)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            base.say(f"error: {base.explain(error)}")
            sys.exit(base.USAGE)
        # The reader of the output is gone, as in `| head`: there is nothing left to say.
        sys.stderr.close()
        sys.exit(141)
