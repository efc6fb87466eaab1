# SPDX-License-Identifier: MIT
"""zlib as shipped: a round trip without a report, and CVE-2022-37434 with one.

The source comes from a crate that cargo fetches; its checksum is in tests/zlib/libz-sys.sha256.
"""

from redzone.build import builder
from redzone.core import base, crates
from redzone.core.base import ROOT, Failure
from redzone.decode import symbols
from redzone.machine import console, qemu
from redzone.testing.runner import SKIP, Result, result, when
from redzone.testing.suites import _fuzz

TOOLS = (*builder.KERNEL, "clang-19", "symbolizer", "cargo")
HERE = ROOT / "tests" / "zlib"
# The files that packing and unpacking memory needs; the gz* files need file descriptors.
FILES = [
    "adler32",
    "compress",
    "crc32",
    "deflate",
    "inffast",
    "inflate",
    "inftrees",
    "trees",
    "uncompr",
    "zutil",
]
TIMEOUT = 180
SLOW = True
MARK = "the bug is reported from here"


def _program(name, zlib):
    sources = [HERE / f"{name}.c", *(zlib / f"{file}.c" for file in FILES)]
    # The source is as shipped, so its warnings cannot be fixed here.
    return builder.Program(name, sources, includes=[zlib], options=["-w"])


def _marked_line(path):
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if MARK in text:
            return number
    raise Failure(f"{base.relative(path)} has no line with the words '{MARK}'")


def judge_round_trip(outcome, lines):
    """Return what is wrong with the console of a clean run, as a list of texts."""
    reports = outcome.reader.reports
    if reports:
        return [f"a report: {reports[0].type} in {reports[0].where}"]
    if outcome.status != base.OK:
        return [outcome.message or f"status {outcome.status}"]
    said = [console.split(line)[1] for line in lines]
    same = sum(line.endswith("bytes, same") for line in said)
    if same != 4 or "round trip: good" not in said:
        return [f"{same} of 4 round trips gave the same data"]
    return []


def judge_cve(outcome, known):
    """Return what is wrong with the console of the CVE's run, as a list of texts."""
    reports = outcome.reader.reports
    if not reports:
        return [f"no report; {outcome.message or 'the program ended well'}"]
    report = reports[0]
    wrong = when(report.type != "slab-out-of-bounds", f"type {report.type}, expected slab-out-of-bounds")
    wrong += when(report.where != "inflate", f"in {report.where}, expected inflate")
    # The unsigned 32-bit "room left" went below zero: about 4 GiB.
    size = report.access.size
    if size is None or not 0xFFFF0000 <= size <= 0xFFFFFFFF:
        wrong.append(f"size {size}, expected a little less than 2^32")
    known.look_up([report])
    program = HERE / "cve_2022_37434.c"
    locations = (location for frame in report.frames("call") for location in frame.locations)
    callers = (location for location in locations if location.path == str(program))
    caller = next(callers, None)
    line = _marked_line(program)
    if caller is None:
        wrong.append("no frame of the trace lies in the program")
    elif caller.line != line:
        wrong.append(f"called from line {caller.line}, expected {line}")
    wrong += when(report.truncated, "the report is not complete")
    return wrong


def run(context):
    try:
        zlib = _fuzz.ZLIB.crate.source()
    except crates.Unavailable as error:
        yield Result("all", SKIP, str(error))
        return
    programs = [_program("zlib_roundtrip", zlib), _program("cve_2022_37434", zlib)]
    for where in ("inline", "outline"):
        images = context.build(builder.preset_name(instrumentation=where), programs=programs)
        for program in programs:
            image = images[program.name]
            target = qemu.Machine(image.image, append=["kasan_multi_shot"], timeout=TIMEOUT)
            outcome, lines, log = context.boot(f"{where}/{program.name}", target)
            if program.name == "zlib_roundtrip":
                wrong = judge_round_trip(outcome, lines)
            else:
                with symbols.Symbols([image.elf]) as known:
                    wrong = judge_cve(outcome, known)
            yield result(f"{where}.{program.name}", wrong, log)
