# SPDX-License-Identifier: MIT
"""`./redzone run`: build, boot, show, and judge what job.py has checked."""

import contextlib
import sys

from redzone.build import builder, keep_going
from redzone.core import base, doctor
from redzone.core.base import Failure
from redzone.decode import model
from redzone.machine import console, qemu
from redzone.machine.console import ProgramLine
from redzone.run import debug, each, job, module, result, summary, view, watch


class _Log:
    """The file of --log, or none. The first line opens it, so it stays untouched until the machine runs."""

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

    def lines(self, lines):
        """Write console lines, all of the kernel's or all of a program's."""
        self.write("\n".join(lines) + "\n")

    def close(self):
        if self._file is not None:
            self._file.close()


class _Both:
    """Two _Logs: @log gets all lines, @kernel those of the kernel: what a program prints is no report.
    Empty lines take the places of the others, so that the numbers of lines are the same."""

    def __init__(self, log, kernel):
        self._log, self._kernel = log, kernel

    def lines(self, lines):
        self._log.lines(lines)
        self._kernel.lines([""] * len(lines) if isinstance(lines[0], ProgramLine) else lines)


def _build(work, folder):
    """Build the kernel of the Job @work into @folder. Return (its builder.Image, the modules' files)."""
    loaded = module.programs(work.modules, **work.code)
    made_of = work.sources or work.parts.get("objects")
    program = builder.Program("program", work.sources, **work.code, **work.parts)
    programs = [program] if made_of else []
    kernel = "program" if programs else "redzone-modules"
    targets = () if programs else (kernel,)
    if len(work.sources) > 1:
        built = keep_going.build(work.preset, [*programs, *loaded], folder, work.owners, work.note_made_of)
    else:
        everything, look = [*programs, *loaded], work.note_made_of
        built = builder.build(work.preset, targets, everything, copy_to=folder, look=look)
    return built[kernel], module.files(loaded, built)


def _boot(work, image, modules, folder, log, turn):
    """Boot the builder.Image @image with the program of the Job @work, for the time number @turn. Return the
    exit status."""
    options = work.options
    last = turn == (options.count or 1)
    shown = None if options.no_symbolize else work.images
    with view.View(shown, work.sources + work.modules, quiet=options.quiet) as screen:

        def on_line(text, event, value):
            log.lines([text])
            screen.line(text, event, value)
            sys.stdout.flush()

        def on_program(lines):
            log.lines(lines)
            screen.program(lines)
            sys.stdout.flush()

        machine, reader = work.machine(image, folder), console.Reader()
        machine.turn = turn
        if options.gdb:
            machine.options += debug.prepare(image.elf, options.mode, options.arch)
        try:
            on_part = screen.part if options.console else None
            outcome = qemu.boot(machine, on_line, on_program, reader, on_part)
        except KeyboardInterrupt:
            # What came before it is worth as much as ever.
            outcome = qemu.Outcome(base.INTERRUPTED, "interrupted", None, reader, 0.0, ended=False)
        finally:
            reader.end()
            # Show all output, even if the machine was interrupted inside a report.
            screen.end()
            sys.stdout.flush()
        if modules and outcome.status == base.PROGRAM_FAILED:
            outcome.message = "a module could not be loaded or unloaded; the console says why"
        if last or outcome.status != base.OK:
            summary.conclude(outcome, screen, options.mode, options.verbose, options.timeout, work.ubsan)
        sys.stdout.flush()
        saved = work.exchange.take()
        # Whoever asked for a file did not get what the program was to do.
        status = base.PROGRAM_FAILED if outcome.status == base.OK and not saved else outcome.status
        work.result = result.of(options, outcome, screen, status)
    return status


def _together(work, folder, log):
    """Run all files of the Job @work as one program, until it fails or --count is reached. Return the exit
    status."""
    image, modules = _build(work, folder)
    work.files += modules
    work.images = [image.elf, *(path for _, path in modules)]
    if modules:
        work.parameters.insert(0, module.parameter(modules))
    count, status = work.options.count or 1, base.OK
    for turn in range(1, count + 1):
        status = _boot(work, image, modules, folder, log, turn)
        if work.exchange is not None and turn < count:
            work.exchange.close()
        if status != base.OK:
            break
    if count > 1:
        base.say(f"failed in run {turn} of {count}" if status else f"{count} runs")
    return status


def run(options):
    """Do what the job.Options @options say. Return the exit status."""
    if options.watch:
        watch.run(options, _once)
    return _once(options)


def _once(options, on_job=lambda work: None):
    work = job.check(options)
    on_job(work)
    doctor.require(work.tools(), "run a program", options.yes)
    outputs = options.outputs()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(base.scratch())
        log = stack.enter_context(contextlib.closing(_Log(options.log)))
        kept, console = log, folder / "console.log"
        # --each writes its file itself: verdicts are known before all consoles are.
        as_json = None if options.separate else options.report_file
        if outputs.wanted() or as_json:
            kept = _Both(log, stack.enter_context(contextlib.closing(_Log(console))))
        try:
            with outputs.plain():
                status = (each.run if options.separate else _together)(work, folder, kept)
        except builder.BuildFailure as failure:
            if as_json:
                result.write(as_json, result.document(model.Log(), result.of_build(options, failure)))
            raise
        if work.exchange is not None:
            work.exchange.close()
        # A silent machine leaves an empty file, not that of an earlier run.
        log.write("")
        if outputs.wanted() or as_json:
            images = [] if options.no_symbolize else work.images
            decoded = outputs.write_console(console, images, options.log or "console")
            if as_json:
                result.write(as_json, result.document(decoded, work.result))
    return status
