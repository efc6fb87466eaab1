# SPDX-License-Identifier: MIT
"""`./redzone bench programs`: what it costs to run an ordinary program in the kernel, next to ASan here.

Four programs that compute: libdeflate, cJSON, SHA-256, and Mbed TLS's self-test. Each is compiled for this
machine and for the kernel in each mode. The figures are seconds of CPU time, the least of several runs that
alternate, and for the kernels also instructions, counted by QEMU. An empty program shows what QEMU and the
boot take.
"""

import fnmatch
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from redzone.bench import page
from redzone.build import builder
from redzone.core import base, doctor, process
from redzone.core.base import ROOT, Failure

OWN = ROOT / "bench" / "programs"
HOST = "host"
ASAN = "host ASan"
HOSTS = {HOST: (), ASAN: ("-fsanitize=address",)}
# For the columns that show what small copies cost as calls: kernel/sanitizer/include/string.h.
AS_CALLS = ("-DREDZONE_STRING_H",)
# Without the ends of misaligned accesses: runtime/ubsan/alignment.c.
ALIGNED_ONLY = ("-fno-sanitize=alignment",)


@dataclass(frozen=True)
class Column:
    """A kernel: @mode, @where and the builder's @features choose it. cflags: of the programs. append: boot
    parameters."""

    mode: str
    where: str = "inline"
    cflags: tuple = ()
    features: tuple = ()
    append: tuple = ()

    @property
    def preset(self):
        return builder.preset_name(self.mode, self.where, features=self.features)


COLUMNS = {
    "off": Column("off"),
    "off, ubsan": Column("off", features=("ubsan",)),
    "off, copies called": Column("off", cflags=AS_CALLS),
    "generic inline": Column("generic"),
    "generic inline, ubsan": Column("generic", features=("ubsan",)),
    "generic inline, copies called": Column("generic", cflags=AS_CALLS),
    "generic inline, aligned only": Column("generic", cflags=ALIGNED_ONLY),
    "generic inline, no page redzones": Column("generic", append=("kasan.page_redzone=off",)),
    "generic inline, all page redzones": Column("generic", append=("kasan.page_redzone=all",)),
    "generic outline": Column("generic", "outline"),
    "sw_tags": Column("sw_tags"),
    "sw_tags, aligned only": Column("sw_tags", cflags=ALIGNED_ONLY),
    "hw_tags": Column("hw_tags"),
}
_TIME = re.compile(r"^\[ *(\d+)\.(\d+)\] reboot: System halted", re.MULTILINE)
TIMEOUT = 1800


@dataclass(frozen=True)
class Speed:
    """A program. sources: absolute paths. says: a text of its output."""

    name: str
    title: str
    sources: list
    includes: list
    defines: list
    arguments: list
    says: str


def chosen(names, patterns):
    """Return those of @names that one of @patterns, separated by commas, selects."""
    return [name for name in names if any(fnmatch.fnmatch(name, part) for part in patterns.split(","))]


def _programs():
    """Return the Speeds; the libraries they need are fetched. Raise Failure if that is not possible."""
    from redzone.libraries import catalogue, recipe, speed_table

    for library in (speed_table.LIBDEFLATE, catalogue.CJSON, catalogue.MBEDTLS):
        try:
            library.fetch()
        except recipe.Unavailable as error:
            raise Failure(str(error)) from None
    deflate, cjson, tls = (
        speed_table.LIBDEFLATE.root,
        catalogue.CJSON.root,
        catalogue.MBEDTLS.root,
    )
    selftest = catalogue.MBEDTLS.programs[0]
    paths = [catalogue.MBEDTLS.path(name) for name in (*selftest.sources, *selftest.library)]
    macros = ["__unix__"]
    return [
        Speed("empty", "an empty program", [OWN / "empty.c"], [], [], [], "result 0"),
        Speed(
            "libdeflate",
            "libdeflate, 30 x 200 KB",
            [
                OWN / "deflate.c",
                *sorted((deflate / "lib").glob("*.c")),
                *sorted((deflate / "lib").glob("*/*.c")),
            ],
            [deflate],
            [],
            [],
            "result 1558530",
        ),
        Speed("json", "cJSON, 20 x 81 KB", [OWN / "json.c", cjson / "cJSON.c"], [cjson], [], [], "result "),
        Speed(
            "sha256",
            "SHA-256 of 16 MiB",
            [OWN / "sha256.c", tls / "library" / "sha256.c", tls / "library" / "platform_util.c"],
            [tls / "include"],
            macros,
            [],
            "result ",
        ),
        Speed(
            "selftest",
            "Mbed TLS's self-test",
            paths,
            [tls / "include", tls / "library"],
            macros,
            list(selftest.arguments),
            selftest.says[0],
        ),
    ]


def _timed(program, what, says):
    """Run @program, a command or a machine.Machine. Return (CPU seconds, its output). Raise Failure if it
    fails or does not say @says."""
    from redzone.machine import qemu, stream

    kernel = isinstance(program, qemu.Machine)
    with tempfile.NamedTemporaryFile() as output:
        command = qemu.qemu_command(program, output.name) if kernel else program
        process_ = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process_.pid, 0)
        process_.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        data = output.read()
    text, good = data.decode("utf-8", "replace"), process_.returncode == 0
    if kernel:
        lines, end = stream.decode(data)
        text, good = "\n".join(lines), good and end is not None and end.first == base.OK
    if not good or says not in text:
        raise Failure(f"{what} failed: {process.last_line(text)}", base.CRASHED)
    return usage.ru_utime + usage.ru_stime, text


def _host_build(program, name, folder):
    """Compile @program for this machine, the column @name. Return its path."""
    target = folder / f"{program.name}-{name.replace(' ', '-')}"
    options = [*(f"-I{path}" for path in program.includes), *(f"-D{macro}" for macro in program.defines)]
    command = ["clang-19", "-O2", "-w", *HOSTS[name], *options, *map(str, program.sources)]
    status, output = process.call([*command, "-o", str(target)])
    if status != 0:
        raise Failure(f"{program.name} does not compile for this machine: {process.last_line(output)}")
    return target


def _machine(image, column, program, icount):
    from redzone.machine import qemu

    return qemu.Machine(
        image,
        mode=column.mode,
        arguments=program.arguments,
        append=list(column.append),
        icount=icount,
    )


def instructions(text):
    """Return the instructions that a machine under -icount has executed, from its console."""
    match = _TIME.search(text)
    if not match:
        raise Failure("the kernel did not say when it stopped", base.CRASHED)
    return int(match[1]) * 10**9 + int(match[2]) * 1000


def _kernels(names, programs, folder):
    """Build the kernels of the columns @names. Return {column: {program: image}}."""
    images = {}
    for number, name in enumerate(names):
        column = COLUMNS[name]
        parts = [
            builder.Program(
                f"speed-{program.name}",
                list(program.sources),
                includes=list(program.includes),
                defines=list(program.defines),
                options=["-O2", "-w"],
                cflags=list(column.cflags),
            )
            for program in programs
        ]
        place = folder / str(number)
        place.mkdir()
        built = builder.build(column.preset, (), parts, copy_to=place)
        images[name] = {program.name: built[f"speed-{program.name}"].image for program in programs}
    return images


def measure(names, programs, runs, folder):
    """Return {program: {column: {"seconds": s, "instructions": n}}}."""
    hosts = {
        name: {program.name: _host_build(program, name, folder) for program in programs} for name in HOSTS
    }
    kernels = _kernels(names, programs, folder)
    figures = {program.name: {} for program in programs}
    for program in programs:
        commands = {name: [str(built[program.name]), *program.arguments] for name, built in hosts.items()}
        for name, built in kernels.items():
            commands[name] = _machine(built[program.name], COLUMNS[name], program, False)
        base.say(f"{program.title}: {base.plural(runs, 'run')} of each of {len(commands)}")
        best = figures[program.name]
        for _ in range(runs):
            for name, command in commands.items():
                seconds, _ = _timed(command, f"{program.name}, {name}", program.says)
                known = best.setdefault(name, {"seconds": seconds})
                known["seconds"] = min(seconds, known["seconds"])
        for name, built in kernels.items():
            command = _machine(built[program.name], COLUMNS[name], program, True)
            _, text = _timed(command, f"{program.name}, {name}, -icount", program.says)
            best[name]["instructions"] = instructions(text)
    return figures


def rows(figures, titles):
    """Yield the table of seconds, with ratios to ASan on this machine; the heading first."""
    columns = list(next(iter(figures.values())))
    yield ["CPU seconds (to host ASan)", *columns]
    for name, row in figures.items():
        asan = row[ASAN]["seconds"]
        yield [
            titles[name],
            *(
                f"{row[column]['seconds']:.2f} ({row[column]['seconds'] / asan:.1f})"
                if asan
                else f"{row[column]['seconds']:.2f}"
                for column in columns
            ),
        ]


def instruction_rows(figures, titles):
    """Yield the table of executed instructions, in millions; the heading first."""
    columns = [column for column in next(iter(figures.values())) if column not in HOSTS]
    yield ["million instructions", *columns]
    for name, row in figures.items():
        yield [titles[name], *(f"{row[column]['instructions'] / 1e6:,.0f}" for column in columns)]


def run(pattern, columns, runs, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    names = chosen(COLUMNS, columns)
    if not names:
        raise Failure(f"no column matches '{columns}'; there are: {', '.join(COLUMNS)}")
    presets = [COLUMNS[name].preset for name in names]
    needed = [key for preset in presets for key in builder.tools_of(preset)]
    doctor.require([*needed, *builder.KERNEL], "run the benchmark", yes)
    every = _programs()
    wanted = chosen([program.name for program in every], pattern)
    programs = [program for program in every if program.name in wanted]
    if not programs:
        raise Failure(f"no program matches '{pattern}'; there are: {', '.join(p.name for p in every)}")
    titles = {program.name: program.title for program in programs}
    with base.scratch("speed-") as folder:
        figures = measure(names, programs, runs, folder)
    tables = [list(rows(figures, titles)), list(instruction_rows(figures, titles))]
    for table in tables:
        page.show(table)
        print()
    page.write_json(json_file, figures=figures)
    if markdown_file:
        text = "\n".join(page.markdown(table) for table in tables)
        Path(markdown_file).write_text(text, encoding="utf-8")
    return base.OK


def register(group):
    """Add the table to `./redzone bench`."""

    @group.command("programs", short_help="How long programs run, next to ASan on this machine.")
    @click.option("--programs", "pattern", default="*", metavar="PATTERN,...", help="Only these programs.")
    @click.option("--columns", default="*", metavar="PATTERN,...", help="Only these kernels.")
    @click.option("--runs", default=3, type=click.IntRange(1, 100), help="Runs of each. Default: 3.")
    @page.options
    @click.pass_context
    def programs_verb(context, **options):
        """Measure programs that compute: on this machine, with ASan, and in the kernel in each mode.

        The sources of libdeflate, cJSON and Mbed TLS are fetched once. The figures are seconds of CPU time,
        with start and boot, the least of --runs; and instructions of the machine. "copies called" compiles
        small copies, as in memcpy(&word, p, 4), as function calls; "aligned only" leaves out the checks of
        misaligned accesses; "ubsan" adds those for undefined behaviour; "no" and "all page redzones" boot
        with kasan.page_redzone=off and all.

        \b
        Examples:
          ./redzone bench programs
          ./redzone bench programs --programs libdeflate --columns 'generic*'

        \b
        Exit status: 0 all was measured, 2 usage or build error, 3 a program failed.
        """
        context.exit(run(**options))
