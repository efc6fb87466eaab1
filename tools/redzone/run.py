# SPDX-License-Identifier: MIT
"""`./redzone run`: check what was given, build, boot, show, and judge."""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from redzone import archive, base, builder, doctor, each, machine, module, summary, view
from redzone.base import BUILD, ROOT, Failure

EXAMPLE = ROOT / "examples" / "heap_bugs.c"


def check_sources(files):
    """Return the absolute paths of the program's @files, or raise Failure with what is wrong."""
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


def expand(files):
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


# What would end the kernel at the first report: with --each it ends the program that has the bug.
_ENDS = re.compile(r"(kasan\.fault=panic\w*|panic_on_warn(?:=(?!0$)\S*)?)$")


def say_without_effect(append):
    """Name the boot parameters of @append that --each leaves no effect."""
    words = [word for text in append for word in text.split() if _ENDS.match(word.replace("-", "_"))]
    if words:
        base.say(f"{' '.join(words)}: no effect with --each, where a report ends its program only")


def check_includes(folders):
    for name in folders:
        if not Path(name).is_dir():
            raise Failure(f"-I '{name}' is not a directory")
        builder.check_path(Path(name).resolve(), name)
        base.remember_typed(name, folder=True)
    return [Path(name).resolve() for name in folders]


def check_output(option, name, inputs):
    """Raise Failure if the file @name of @option cannot be written, or is one of the @inputs (paths)."""
    if name is None:
        return
    path = Path(name)
    for used in inputs:
        if path.exists() and path.samefile(used):
            raise Failure(f"{option} '{name}' would overwrite '{base.relative(used)}', which this run reads")
    if path.suffix in (".c", ".h") and path.exists():
        raise Failure(f"{option} '{name}' would overwrite a source file; name another file")
    if path.is_dir():
        raise Failure(f"{option} '{name}' cannot be written: it is a directory")
    if not path.absolute().parent.is_dir():
        raise Failure(f"{option} '{name}' cannot be written: its folder does not exist")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise Failure(f"{option} '{name}' cannot be written: permission denied")


class _Log:
    """The file of --log, or none. Opened by the first line: until the machine runs it is left alone."""

    def __init__(self, name):
        self._name = name
        self._file = None

    def _open(self):
        try:
            return open(self._name, "w", encoding="utf-8", errors="surrogateescape", buffering=1)
        except OSError as error:
            raise Failure(f"--log '{self._name}' cannot be written: {error.strerror}") from None

    def write(self, text):
        if self._name is None:
            return
        if self._file is None:
            self._file = self._open()
        self._file.write(text)

    def close(self):
        if self._file is not None:
            self._file.close()


def run(
    files, arch, mode, outline, cc, level, cpu, smp, mem, append, timeout, includes, defines, cflags, data,
    max_reports, icount, separate, report_file, log, no_symbolize, yes, arguments, modules=(),
):  # fmt: skip
    """Do what the options of `./redzone run` say. Returns the exit status."""
    if separate and not files:
        raise Failure("--each needs files: every one is a program of its own")
    if separate and modules:
        raise Failure("--each and --module exclude each other; give one of them")
    if report_file and not separate:
        raise Failure("--json goes with --each")
    where = "outline" if outline else "inline"
    if not builder.can_instrument(mode, where, cc):
        raise Failure("--mode sw_tags with --cc gcc: GCC has outline checks only; add --outline")
    if separate:
        files = expand(files)
        say_without_effect(append)
    sources = check_sources(files or ([] if modules else [str(EXAMPLE)]))
    module_sources = check_sources(modules)
    includes = check_includes(includes)
    pairs = [archive.parse(text) for text in data]
    for name, path in pairs:
        archive.read(path, f"--file {name}:")
    for option, name in (("--log", log), ("--json", report_file)):
        check_output(option, name, [*sources, *(path for _, path in pairs)])
    # All bugs of one run, not only the first. The user's parameters come later and so may overrule it.
    parameters = [*append] if mode == "off" else ["kasan_multi_shot", *append]
    machine.command_line(parameters, arguments)
    yes = yes or doctor.tools.assume_yes()
    needed = [f"qemu-{arch}"] + ([] if no_symbolize else ["symbolizer"])
    preset = builder.preset_name(arch, mode, where, cc)
    doctor.require([*builder.tools_of(preset), *needed], "run a program", assume_yes=yes)

    code = {"defines": list(defines), "options": [f"-O{level}"], "cflags": list(cflags)}
    target = machine.Machine(
        None,
        arch=arch,
        cpu=cpu,
        smp=smp,
        memory=mem,
        append=parameters,
        arguments=list(arguments),
        icount=icount,
        mode=mode,
        timeout=timeout,
        max_reports=None if separate else max_reports,
    )
    if separate:
        program = builder.Program(each.NAME, sources, includes, function="redzone_add_programs", **code)
        with contextlib.closing(_Log(log)) as console_log:
            status = each.run(
                program, list(files), preset, target, pairs, console_log, report_file, no_symbolize, yes
            )
            console_log.write("")
        if mode == "off":
            base.say(summary.off_text(None))
        return status
    (BUILD / "runs").mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(dir=BUILD / "runs"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        loaded = module.programs(module_sources, includes, **code)
        programs = [builder.Program("program", sources, includes, **code)] if sources else []
        kernel = "program" if sources else "redzone"
        targets = () if sources else (kernel,)
        built = builder.build(preset, targets, [*programs, *loaded], copy_to=folder, yes=yes)
        image = built[kernel]
        target.image = image.image
        module_files = module.files(loaded, built)
        pairs += module_files
        if module_files:
            parameters.insert(0, module.parameter(module_files))
        if pairs:
            target.initrd = folder / "files.cpio"
            archive.pack(pairs, target.initrd)
        symbolizer = None
        if not no_symbolize:
            symbolizer = stack.enter_context(module.Symbolizers(image.elf, module_files))
        screen = view.View(symbolizer, sources + module_sources)
        console_log = stack.enter_context(contextlib.closing(_Log(log)))

        def on_line(text, event, value):
            console_log.write(text + "\n")
            screen.line(text, event, value)
            sys.stdout.flush()

        try:
            outcome = machine.boot(target, on_line)
        finally:
            # Even a machine that was interrupted inside a report has shown what it said.
            screen.end()
            sys.stdout.flush()
        # A machine that said nothing leaves an empty file, not that of an earlier run.
        console_log.write("")
        if modules and outcome.status == base.PROGRAM_FAILED:
            outcome.message = "a module could not be loaded or unloaded; the console says why"
        summary.conclude(outcome, screen, checked=mode != "off")
        sys.stdout.flush()
    return outcome.status
