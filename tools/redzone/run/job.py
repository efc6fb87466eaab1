# SPDX-License-Identifier: MIT
"""Owns the options of `./redzone run`: checks them, and makes the machine that they describe."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from redzone.build import builder
from redzone.core import base
from redzone.core.base import ROOT, Failure
from redzone.core.options import check_output
from redzone.decode.output import wanted
from redzone.machine import accel, qemu
from redzone.run import cpio, host_io, inputs, project, testset

EXAMPLE = ROOT / "examples" / "heap_bugs.c"
# Options of compilers with which no object file for the machine comes out.
_NO_OBJECT = re.compile(
    r"-(?:flto(?:=.*)?|E|S|M{1,2}|emit-llvm|fsyntax-only|-target=.*|target|m(?:32|64|x32))$"
)
# Parameters that end the kernel at its first report. With --each the report ends its program instead.
_ENDS = re.compile(r"(kasan\.fault=panic\w*|panic_on_warn(?:=(?!0$)\S*)?)$")


# Seconds in which the kernel ends a program at its time limit.
GRACE = 10
_WARNINGS = ["-Wall", "-Wextra", "-Wno-unused-parameter"]
# With -fno-builtin the compiler does not know printf() by itself, and musl's headers do not say what it is.
_WARNINGS += ["-include", str(ROOT / "kernel" / "libc" / "musl" / "formats.h")]


@dataclass
class Options:
    """The options of `./redzone run`, by the names that cli.py gives them.

    level: that of optimisation. separate: --each. report_file: for --json. data: from --file, [(name, Path)].
    arguments: the program's, from after `--`. project: of a compile_commands.json, or None; targets: of it.
    library: files that all programs of --each share. shard: text of --shard, or None. env: [(name, value)].
    save: [(name, Path)]. leaks: look for them. own_stdin: without stdin, the program may have that of the
    command. pattern: of --filter.
    """

    files: list
    arch: str
    mode: str
    outline: bool
    cc: str
    level: str
    cpu: str
    smp: int
    mem: str
    append: list
    timeout: float
    includes: list
    defines: list
    cflags: list
    data: list
    modules: list
    max_reports: int
    icount: bool
    separate: bool
    report_file: str | None
    log: str | None
    no_symbolize: bool
    yes: bool
    arguments: list
    html: str | None = None
    sarif: str | None = None
    junit: str | None = None
    code_quality: str | None = None
    github: bool | None = None
    project: str | None = None
    targets: list = field(default_factory=list)
    library: list = field(default_factory=list)
    warnings: bool = False
    shard: str | None = None
    stack: str | None = None
    kernel_headers: bool = False
    stdin: str | None = None
    env: list = field(default_factory=list)
    save: list = field(default_factory=list)
    own_stdin: bool = False
    verbose: bool = False
    leaks: bool = False
    quiet: bool = False
    pattern: str | None = None
    count: int | None = None
    watch: bool = False
    tests: bool = False
    gdb: bool = False
    console: bool = False

    def outputs(self):
        """Return what other programs get of the decoded console."""
        # Whoever has not said what to do gets annotations where somebody reads them.
        github = os.environ.get("GITHUB_ACTIONS") == "true" if self.github is None else self.github
        return wanted.Outputs(self.html, self.sarif, self.junit, self.code_quality, github)


@dataclass
class Job:
    """Options that have been checked, and what follows from them.

    preset: the build's. sources, modules: absolute paths. files: the machine's, as archive.pack() takes them.
    code: what each builder.Program gets in addition to its sources. parameters: the boot's. images: the ELF
    files of what was built, for symbols. parts: more of what the program, or each of many, is made of.
    numbers: with --each, the place of each file in the list of all, which has @total. exchange: what the
    program gets besides files and gives back, from machine() on. owners: of a project's sources, {source:
    target}. result: how the run ended, for --json. tests: with --tests, the testset.Test of each source.
    made_of: the Paths of all files that the build has read.
    """

    options: Options
    preset: str
    sources: list
    modules: list
    files: list
    code: dict
    parameters: list = field(default_factory=list)
    images: list = field(default_factory=list)
    parts: dict = field(default_factory=dict)
    numbers: list = field(default_factory=list)
    total: int = 0
    shard: inputs.Shard | None = None
    exchange: host_io.Host | None = None
    owners: dict = field(default_factory=dict)
    result: dict | None = None
    tests: list | None = None
    made_of: set = field(default_factory=set)

    def note_made_of(self, _place=None):
        """Fill made_of. For builder.build()'s @look: another command that builds there forgets it."""
        sources = [*self.sources, *self.modules, *self.parts.get("library", ())]
        self.made_of |= builder.made_of(self.preset, sources)

    @property
    def ubsan(self):
        """Is the program compiled with UBSan?"""
        return "ubsan" in builder.split_name(self.preset)[1]

    @property
    def limits_itself(self):
        """Does the kernel end the program at the time limit, and say where it was?"""
        return bool(self.options.timeout and not self.options.separate)

    @property
    def grace(self):
        if not self.limits_itself:
            return 0
        # Where instructions are the time, it takes longer on a busy host.
        return GRACE + (self.options.timeout if self.options.icount else 0)

    def tools(self):
        """Return the keys of the outside tools that it needs."""
        reading = [] if self.options.no_symbolize else ["symbolizer"]
        return [*builder.tools_of(self.preset), f"qemu-{self.options.arch}", *reading]

    def machine(self, image, folder, indexes=()):
        """Return the machine that boots the builder.Image @image. @folder gets the archive of its files, and
        what the program gives back. @indexes: with --tests, of the tests in the image."""
        options = self.options
        self.exchange = host_io.Host(options, folder)
        if self.tests is not None:
            self.exchange.add_tests([self.tests[index] for index in indexes])
        more = self.exchange.files
        return qemu.Machine(
            image.image,
            initrd=cpio.pack(self.files, folder, more) if self.files or more else None,
            arch=options.arch,
            cpu=options.cpu,
            smp=options.smp,
            memory=options.mem,
            append=self.parameters,
            arguments=list(options.arguments),
            icount=options.icount,
            mode=options.mode,
            timeout=options.timeout,
            grace=self.grace,
            max_reports=None if options.separate else options.max_reports,
            host=self.exchange,
        )


def _say_without_effect(append):
    """Name the boot parameters of @append that have no effect with --each."""
    words = [word for text in append for word in text.split() if _ENDS.match(word.replace("-", "_"))]
    if words:
        base.say(f"{' '.join(words)}: no effect with --each, where a report ends its program only")


def _check_cflags(cflags):
    for option in filter(_NO_OBJECT.match, cflags):
        raise Failure(
            f"--cflag {option}: the compiler would not make an ordinary object file for this machine; "
            "leave it out"
        )


def _check_room(files, mem):
    """Raise Failure if the machine with --mem @mem has no room for @files, pairs of name and path."""
    total = sum(len(cpio.read(path, f"--file {name}:")) + len(name) + 256 for name, path in files)
    size = int(mem[:-1]) << {"K": 10, "M": 20, "G": 30}[mem[-1]]

    def room(size):
        # The emulator puts them behind the first part, and the device tree behind them.
        return size - min(size // 2, 128 << 20) - (4 << 20)

    if total > room(size):
        better = 128 << 20
        while total > room(better):
            better *= 2
        raise Failure(
            f"--file: {total / (1 << 20):.1f} MiB of files are too many for --mem {mem}, where "
            f"{room(size) >> 20} MiB have room; give --mem {better >> 20}M"
        )


def _includes(folders):
    """Return the absolute paths of the header folders @folders, or raise Failure."""
    for name in folders:
        if not Path(name).is_dir():
            raise Failure(f"-I '{name}' is not a directory")
        builder.check_path(Path(name).resolve(), name)
        base.remember_typed(name, folder=True)
    return [Path(name).resolve() for name in folders]


_ALL = (*inputs.SOURCES, *inputs.OBJECTS)


def _more(options, main):
    """Return (what builder.Program gets besides its sources, the project.Project, which may be empty).

    The sources of a project join the Inputs @main.
    """
    more, found = {"objects": main.objects}, project.Project()
    if options.project:
        found = project.read(options.project, options.targets, options.warnings)
        named = set(main.sources)
        if both := named & set(found.sources):
            raise Failure(f"'{base.relative(min(both))}' is named, and in the project as well")
        main.sources += found.sources
        # The code is somebody else's, and its warnings are not what the user came for.
        silence = [] if options.warnings else ["-w"]
        more["file_options"] = {source: [*words, *silence] for source, words in found.options.items()}
    if options.library:
        library = inputs.check(options.library, options.arch)
        if both := set(main.sources) & set(library.sources):
            raise Failure(f"'{base.relative(min(both))}' is a program and in the library")
        more |= {"objects": library.objects, "library": library.sources}
        if not options.warnings:
            more["file_options"] = {source: ["-w"] for source in library.sources}
    return more, found


def _of_tests(options):
    """Return ([testset.Test], inputs.Inputs with a source for each, what builder.Program gets besides its
    sources, the project.Project) of --tests."""
    found = project.read(options.project, (), options.warnings)
    chosen, library = testset.find(options.project, found, options.pattern)
    silence = [] if options.warnings else ["-w"]
    main = inputs.Inputs(testset.own_sources(chosen, found.options))
    words = {source: [*found.options[source], *silence] for source in (*main.sources, *library)}
    more = {"objects": [], "library": library, "file_options": words}
    return [test for test, _ in chosen], main, more, found


def check(options):
    """Return the Job that the Options @options ask for. Raise Failure if there is something wrong with them.

    Folders among the files of --each are replaced by the files in them.
    """
    if options.separate and not options.files:
        raise Failure("--each needs files: every one is a program of its own")
    if options.separate and options.modules:
        raise Failure("--each and --module exclude each other; give one of them")
    for name, given in (
        ("--library", options.library),
        ("--shard", options.shard),
        ("--filter", options.pattern),
    ):
        if given and not (options.separate or options.tests):
            raise Failure(f"{name} goes with --each")
    if options.quiet and options.no_symbolize:
        raise Failure("--quiet shows lines of source, and --no-symbolize does not; give one of them")
    if options.project and options.separate:
        raise Failure("--each and --project exclude each other; give one of them")
    if options.kernel_headers and options.separate:
        raise Failure("--kernel-headers does not go with --each")
    if options.targets and not options.project:
        raise Failure("--target goes with --project")
    for name, given in (("--gdb", options.gdb), ("--console", options.console)):
        if given and (options.separate or options.tests or options.watch or (options.count or 1) > 1):
            raise Failure(
                f"{name} is for one program in one run: not with --each, --tests, --watch or --count"
            )
    if options.console and (options.stdin or options.quiet):
        raise Failure("--console shows a program to whoever types its input: not with --stdin or --quiet")
    if options.gdb:
        # Whoever debugs has time.
        options.timeout, options.max_reports = None, None
    if options.tests and not options.project:
        raise Failure("--tests goes with --project")
    if options.tests and (options.files or options.targets or options.library):
        raise Failure(
            "--tests takes all programs from --project: name no files, and choose tests with --filter"
        )
    host_io.check(options)
    _check_cflags(options.cflags)
    builder.check_kernel(options.arch, options.mode, options.cc)
    where = "outline" if options.outline else "inline"
    if not builder.can_instrument(options.mode, where, options.cc):
        raise Failure("--mode sw_tags with --cc gcc: GCC has outline checks only; add --outline")
    shard, chosen, tests = None, [], None
    if options.tests:
        options.separate = True
    if options.separate:
        shard = inputs.shard_of(options.shard)
        if options.tests:
            everything, main, more, found = _of_tests(options)
        else:
            everything = inputs.matching(inputs.expand(options.files), options.pattern)
        chosen = (shard or inputs.Shard(1, 1, "")).mine(everything)
        total = len(everything)
        options.files = [file for _, file in chosen]
        _say_without_effect(options.append)
    if options.watch or (options.count or 1) > 1:
        # It can be read once only.
        options.own_stdin = False
    if options.tests:
        main.sources = [main.sources[number - 1] for number, _ in chosen]
        tests = options.files
        options.files = [test.name for test in tests]
    else:
        if options.project or (options.separate and not options.files):
            example = []
        else:
            example = [] if options.modules else [str(EXAMPLE)]
        kinds = (".c",) if options.separate else _ALL
        main = inputs.check(options.files or example, options.arch, kinds)
        more, found = _more(options, main)
    if options.kernel_headers:
        more["kernel"] = True
    job = Job(
        options,
        preset=builder.preset_name(options.mode, where, options.cc, arch=options.arch),
        sources=main.sources,
        modules=inputs.check(options.modules, options.arch, (".c",)).sources,
        code={"includes": _includes(options.includes), "defines": list(options.defines)},
        files=list(options.data),
        parts=more,
        owners=found.owners,
        tests=tests,
    )
    if options.separate:
        job.shard, job.total, job.numbers = shard, total, [number for number, _ in chosen]
        if shard is not None:
            base.say(
                f"part {shard.index} of {shard.count} ({shard.origin}): {len(chosen)} of "
                f"{base.plural(total, 'program')}"
            )
    for reason, count in found.left_out.items():
        base.say(f"--project: left out {base.plural(count, 'file')}: {reason}")
    more_warnings = _WARNINGS if options.warnings else []
    job.code |= {"options": [f"-O{options.level}", *more_warnings], "cflags": list(options.cflags)}
    _check_room(job.files, options.mem)
    others = (("--log", options.log), ("--json", options.report_file))
    others += tuple(("--save", path) for _, path in options.save)
    read = [*job.sources, *job.modules, *(path for _, path in job.files)]
    read += [*more.get("objects", ()), *more.get("library", ())]
    read += [options.stdin] if options.stdin else []
    for option, name in others:
        check_output(option, name, read)
    options.outputs().check(read, others)
    # Report all bugs of one run, not only the first. The user's parameters come later, and so they override
    # it.
    reports = options.mode != "off" or job.ubsan
    job.parameters = [*(["kasan_multi_shot"] if reports else []), *options.append]
    if options.separate and reports:
        # Two programs may have a bug in one library function: each gets a full report of its own.
        job.parameters.insert(0, "kasan.repeat=full")
    if options.leaks:
        job.parameters.insert(0, "program.leaks=1")
    if options.stack:
        job.parameters.insert(0, f"program.stack={options.stack}")
    if job.limits_itself:
        job.parameters.insert(0, f"program.timeout_ms={max(1, int(options.timeout * 1000))}")
    qemu.command_line(job.parameters, options.arguments)
    # A kernel is built before its machine is made, and there is no need to wait for that.
    chosen = {"cpu": options.cpu, "icount": options.icount, "mode": options.mode}
    accel.choose(qemu.Machine(Path(), arch=options.arch, **chosen), qemu.emulator)
    return job
