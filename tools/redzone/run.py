# SPDX-License-Identifier: MIT
"""`./redzone run`: check what was given, build, boot, show, and judge."""

import contextlib
import shutil
import sys
import tempfile
from pathlib import Path

from redzone import archive, base, builder, doctor, machine, symbolize, view
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
            raise Failure(f"'{name}' does not exist")
        builder.check_path(path.resolve(), name)
        if path.suffix != ".c":
            raise Failure(f"'{name}' is not a .c file; headers are found with -I, data goes in with --file")
        archive.read(path, "the source")
        if path.resolve() in sources:
            raise Failure(f"'{name}' is named twice")
        sources.append(path.resolve())
    return sources


def check_includes(folders):
    for name in folders:
        if not Path(name).is_dir():
            raise Failure(f"-I '{name}' is not a directory")
        builder.check_path(Path(name).resolve(), name)
    return [Path(name).resolve() for name in folders]


def _open_log(name):
    if name is None:
        return contextlib.nullcontext()
    try:
        return open(name, "w", encoding="utf-8", errors="surrogateescape", buffering=1)
    except OSError as error:
        raise Failure(f"--log '{name}' cannot be written: {error.strerror}") from None


def _conclude(outcome, sources, summary):
    """Say how it ended. @summary: list the reports with their source lines."""
    reports = outcome.reader.reports
    if reports and summary:
        base.say(f"{base.plural(len(reports), 'KASAN report')}:")
        for number, report in enumerate(reports, 1):
            base.say(f"  {number}. {view.headline(report, sources)}")
    elif reports:
        base.say(base.plural(len(reports), "KASAN report"))
    if outcome.message:
        base.say(outcome.message)
    if outcome.status == base.OK:
        base.say("no KASAN report")


def run(
    files, arch, mode, outline, cc, cpu, smp, mem, append, timeout, includes, defines, data,
    max_reports, icount, log, no_symbolize, yes, arguments,
):  # fmt: skip
    """Do what the options of `./redzone run` say. Returns the exit status."""
    sources = check_sources(files or [str(EXAMPLE)])
    includes = check_includes(includes)
    pairs = [archive.parse(text) for text in data]
    for name, path in pairs:
        archive.read(path, f"--file {name}:")
    # All bugs of one run, not only the first. The user's parameters come later and so may overrule it.
    parameters = [*append] if mode == "off" else ["kasan_multi_shot", *append]
    machine.command_line(parameters, arguments)
    yes = yes or doctor.tools.assume_yes()
    needed = [f"qemu-{arch}"] + ([] if no_symbolize else ["symbolizer"])
    preset = builder.preset_name(arch, mode, "outline" if outline else "inline", cc)
    doctor.require([*builder.tools_of(preset), *needed], "run a program", assume_yes=yes)

    (BUILD / "runs").mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        log_file = stack.enter_context(_open_log(log))
        folder = Path(tempfile.mkdtemp(dir=BUILD / "runs"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        program = builder.Program("program", sources, includes, list(defines))
        image = builder.build(preset, programs=[program], copy_to=folder, yes=yes)["program"]
        initrd = None
        if pairs:
            initrd = folder / "files.cpio"
            archive.pack(pairs, initrd)
        target = machine.Machine(
            image.image,
            initrd=initrd,
            arch=arch,
            cpu=cpu,
            smp=smp,
            memory=mem,
            append=parameters,
            arguments=list(arguments),
            icount=icount,
            timeout=timeout,
            max_reports=max_reports,
        )
        symbolizer = None
        if not no_symbolize:
            symbolizer = stack.enter_context(symbolize.Symbolizer(image.elf))
        screen = view.View(symbolizer, sources)

        def on_line(text, event, value):
            if log_file is not None:
                log_file.write(text + "\n")
            screen.line(text, event, value)
            sys.stdout.flush()

        outcome = machine.boot(target, on_line)
        _conclude(outcome, screen.sources, symbolizer is not None)
    return outcome.status
