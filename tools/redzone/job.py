# SPDX-License-Identifier: MIT
"""Owns the options of `./redzone run`: checks them, and makes the machine that they describe."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from redzone import archive, base, builder, machine
from redzone.base import ROOT, Failure
from redzone.decode import output
from redzone.options import check_output

EXAMPLE = ROOT / "examples" / "heap_bugs.c"
# Parameters that end the kernel at its first report. With --each the report ends its program instead.
_ENDS = re.compile(r"(kasan\.fault=panic\w*|panic_on_warn(?:=(?!0$)\S*)?)$")


@dataclass
class Options:
    """The options of `./redzone run`, by the names that cli.py gives them.

    level: that of optimisation. separate: --each. report_file: for --json. data: from --file, [(name, Path)].
    arguments: the program's, from after `--`.
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
    github: bool = False

    def outputs(self):
        """Return what other programs get of the decoded console."""
        return output.Outputs(self.html, self.sarif, self.junit, self.github)


@dataclass
class Job:
    """Options that have been checked, and what follows from them.

    preset: the build's. sources, modules: absolute paths. files: the machine's, as archive.pack() takes them.
    code: what each builder.Program gets in addition to its sources. parameters: the boot's. images: the ELF
    files of what was built, for symbols.
    """

    options: Options
    preset: str
    sources: list
    modules: list
    files: list
    code: dict
    parameters: list = field(default_factory=list)
    images: list = field(default_factory=list)

    def tools(self):
        """Return the keys of the outside tools that it needs."""
        reading = [] if self.options.no_symbolize else ["symbolizer"]
        return [*builder.tools_of(self.preset), f"qemu-{self.options.arch}", *reading]

    def machine(self, image, folder):
        """Return the machine that boots the builder.Image @image. @folder gets the archive of its files."""
        options = self.options
        initrd = folder / "files.cpio" if self.files else None
        if initrd:
            archive.pack(self.files, initrd)
        return machine.Machine(
            image.image,
            initrd=initrd,
            arch=options.arch,
            cpu=options.cpu,
            smp=options.smp,
            memory=options.mem,
            append=self.parameters,
            arguments=list(options.arguments),
            icount=options.icount,
            mode=options.mode,
            timeout=options.timeout,
            max_reports=None if options.separate else options.max_reports,
        )


def _sources(files):
    """Return the absolute paths of the program's @files, or raise Failure, which says what is wrong."""
    sources = []
    for name in files:
        path = Path(name)
        if path.is_dir():
            raise Failure(f"'{name}' is a directory; name its .c files")
        if not path.exists():
            hint = "" if path.suffix == ".c" else "; arguments of the program go after --"
            raise Failure(f"'{name}' does not exist{hint}")
        builder.check_path(path.resolve(), name)
        if path.suffix != ".c":
            raise Failure(f"'{name}' is not a .c file; headers are found with -I, data goes in with --file")
        archive.read(path, "the source")
        if path.resolve() in sources:
            raise Failure(f"'{name}' is named twice")
        base.remember_typed(name)
        sources.append(path.resolve())
    return sources


def _expand(files):
    """Return @files with each folder's .c files, sorted, in its place."""
    names = []
    for name in files:
        if not Path(name).is_dir():
            names.append(name)
            continue
        found = sorted(str(path) for path in Path(name).iterdir() if path.suffix == ".c" and path.is_file())
        if not found:
            raise Failure(f"the folder '{name}' has no .c files")
        names += found
    return names


def _say_without_effect(append):
    """Name the boot parameters of @append that have no effect with --each."""
    words = [word for text in append for word in text.split() if _ENDS.match(word.replace("-", "_"))]
    if words:
        base.say(f"{' '.join(words)}: no effect with --each, where a report ends its program only")


def _includes(folders):
    """Return the absolute paths of the header folders @folders, or raise Failure."""
    for name in folders:
        if not Path(name).is_dir():
            raise Failure(f"-I '{name}' is not a directory")
        builder.check_path(Path(name).resolve(), name)
        base.remember_typed(name, folder=True)
    return [Path(name).resolve() for name in folders]


def check(options):
    """Return the Job that the Options @options ask for. Raise Failure if there is something wrong with them.

    Folders among the files of --each are replaced by the files in them.
    """
    if options.separate and not options.files:
        raise Failure("--each needs files: every one is a program of its own")
    if options.separate and options.modules:
        raise Failure("--each and --module exclude each other; give one of them")
    if options.report_file and not options.separate:
        raise Failure("--json goes with --each")
    where = "outline" if options.outline else "inline"
    if not builder.can_instrument(options.mode, where, options.cc):
        raise Failure("--mode sw_tags with --cc gcc: GCC has outline checks only; add --outline")
    if options.separate:
        options.files = _expand(options.files)
        _say_without_effect(options.append)
    example = [] if options.modules else [str(EXAMPLE)]
    job = Job(
        options,
        preset=builder.preset_name(options.arch, options.mode, where, options.cc),
        sources=_sources(options.files or example),
        modules=_sources(options.modules),
        code={"includes": _includes(options.includes), "defines": list(options.defines)},
        files=list(options.data),
    )
    job.code |= {"options": [f"-O{options.level}"], "cflags": list(options.cflags)}
    for name, path in job.files:
        archive.read(path, f"--file {name}:")
    others = (("--log", options.log), ("--json", options.report_file))
    inputs = [*job.sources, *job.modules, *(path for _, path in job.files)]
    for option, name in others:
        check_output(option, name, inputs)
    options.outputs().check(inputs, others)
    # Report all bugs of one run, not only the first. The user's parameters come later, and so they override
    # it.
    job.parameters = [*([] if options.mode == "off" else ["kasan_multi_shot"]), *options.append]
    if options.separate and options.mode != "off":
        # Two programs may have a bug in one library function: each gets a full report of its own.
        job.parameters.insert(0, "kasan.repeat=full")
    machine.command_line(job.parameters, options.arguments)
    return job
