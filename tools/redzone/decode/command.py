# SPDX-License-Identifier: MIT
"""`./redzone decode`: its options, and which outputs it writes."""

import contextlib
import gc
import json
from pathlib import Path

import click

from redzone.core import base
from redzone.core.base import Failure
from redzone.decode.output import wanted


def register(group):
    """Add the verb to the command."""

    @group.command("decode", short_help="Explain any KASAN log: source lines, causes, one entry per bug.")
    @click.argument("logs", nargs=-1, metavar="[LOG|-]...")
    @click.option(
        "--elf",
        "images",
        multiple=True,
        metavar="IMAGE",
        help="The kernel, firmware or program that printed the log, with debug information. May be repeated.",
    )
    @click.option("--modules", metavar="DIR", help="Folder with the kernel's modules (.ko, .ko.debug).")
    @click.option(
        "--source",
        "folders",
        multiple=True,
        metavar="DIR",
        help="Folder of the source, if it is not where the compiler found it. May be repeated.",
    )
    @click.option(
        "--load-offset",
        "offset",
        metavar="NUMBER",
        help="The image's place in memory minus the place that it is linked for, decimal or 0x..., also "
        "negative: for a log that does not have it.",
    )
    @click.option(
        "--record",
        "records",
        multiple=True,
        metavar="FILE",
        help="A crash record: what kasan_record_read() gave after a reset, as it is or as hex digits. May be "
        "repeated.",
    )
    @click.option(
        "--allocator",
        "allocators",
        multiple=True,
        metavar="NAME",
        help="A function that allocates or frees for its callers: the bug is in them. May be repeated.",
    )
    @click.option(
        "--baseline",
        metavar="FILE",
        help="Bugs that are known: what --json wrote, or lines that begin with a signature. Only new bugs "
        "count for the exit status.",
    )
    @click.option(
        "--json", "json_file", metavar="FILE", help="Write the whole result to FILE as JSON; - for stdout."
    )
    @wanted.options
    @click.option("--all", "everything", is_flag=True, help="Show all traces in full, and known bugs.")
    @click.option("--quiet", "-q", is_flag=True, help="Show the list of bugs only.")
    @click.pass_context
    def decode_verb(context, logs, **options):
        """Find the reports of sanitizers in logs of any kernel or program, and explain them.

        A log may come from Linux 4 to 7, from this runtime, from firmware without a symbol table, or from
        user space (ASan, HWASan); with the prefixes of printk, dmesg, syslog, journalctl, logcat or
        netconsole. With --elf, each frame gets its source line. Reports of the same bug are shown once.

        \b
        Examples:
          ./redzone decode console.log --elf vmlinux --modules lib/modules
          dmesg | ./redzone decode - --elf vmlinux
          ./redzone decode serial.log --elf firmware.elf --json decoded.json
          ./redzone decode serial.log --elf pie.elf --load-offset 0x80000000
          ./redzone decode --record record.bin --elf firmware.elf
          ./redzone decode new.log --baseline decoded.json
          ./redzone decode console.log --elf vmlinux --html bugs.html

        \b
        Exit status: 0 no report (with --baseline: no new bug), 1 reports, 2 usage error,
        or no report although a line looks as if it came from a sanitizer.
        """
        context.exit(run(logs or (() if options["records"] else ("-",)), **options))


def _offset(text):
    """Return the number of --load-offset, None without it. Raises Failure."""
    if text is None:
        return None
    try:
        value = int(text, 0)
    except ValueError:
        value = 1 << 64
    if abs(value) >= 1 << 64:
        raise Failure(f"'{text}' is not accepted for --load-offset; accepted: a number, as in 0x2e00000")
    return value


def run(
    logs,
    images,
    modules,
    folders,
    offset,
    records,
    allocators,
    baseline,
    json_file,
    everything,
    quiet,
    **files,
):
    """Decode @logs and @records. Return the exit status."""
    from redzone.decode import decoder, model, record, symbols, terminal

    # What a log is made of has no cycles. Looking for some takes as long as reading.
    gc.disable()
    known = decoder.read_baseline(baseline) if baseline else set()
    if logs.count("-") > 1:
        raise Failure("standard input (-) can be read once only")
    if modules and not images:
        raise Failure("--modules also needs the kernel itself: --elf vmlinux")
    if offset is not None and not images:
        raise Failure("--load-offset also needs the image: --elf IMAGE")
    offset = _offset(offset)
    for name in logs:
        if name != "-" and (not Path(name).exists() or Path(name).is_dir()):
            # A serial line or a pipe is read like a file.
            raise Failure(f"there is no file '{name}'")
    for folder in folders:
        if not Path(folder).is_dir():
            raise Failure(f"--source '{folder}': there is no such folder")
    outputs = wanted.Outputs(**files, folders=list(folders))
    if files["github"] and json_file == "-":
        raise Failure("--github and --json - both write to stdout; give --json a file")
    outputs.check([name for name in (*logs, *records, *images) if name != "-"])
    place = record.place_of(images) if records else None
    read = [(name, record.Record(record.read(name), place)) for name in records]
    with contextlib.ExitStack() as stack:
        found = stack.enter_context(symbols.Symbols(images, modules, offset)) if images else None
        one = decoder.Decoder(found, folders, allocators)
        for name in logs:
            decoder.read_file(one, name)
        for name, found in read:
            one.begin(name)
            one.feed(found.text.encode("ascii"))
        log = one.finish()
        log.notes += [note for _, found in read for note in found.notes]
    decoder.mark_known(log, known)
    if json_file != "-":
        with outputs.plain():
            terminal.show(log, everything=everything, quiet=quiet, baseline=bool(baseline))
    if json_file:
        _write(json_file, json.dumps(model.to_json(log), indent=1) + "\n")
    outputs.write(log, baseline=bool(baseline))
    if log.suspect:
        # A CI job must not read this as "no report".
        base.say(f"no report was found, but a line looks like a sanitizer's: {log.suspect}")
        return base.USAGE
    # A report of which nothing could be read is one too.
    unread = any(found.bad and not found.reports for _, found in read)
    return base.REPORTED if log.new_bugs() or log.dropped or unread else base.OK


def _write(name, text):
    if name == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"--json '{name}' cannot be written: {error.strerror}") from None
