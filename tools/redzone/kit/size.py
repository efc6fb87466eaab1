# SPDX-License-Identifier: MIT
"""`./redzone size`: what the runtime takes of a microcontroller, measured; `./redzone budget`: what fits.

size builds bench/small for parts with 64 and 16 KiB of RAM, and boots it in QEMU's models of such boards.
Sizes are read from the images, instructions are counted under -icount. budget computes with figures that were
recorded in bench/small.json; the suite porting measures them again.
"""

import json
import re
import subprocess
from dataclasses import dataclass

import click
from rich.console import Console
from rich.table import Table

from redzone.build import builder
from redzone.core import base, doctor, process
from redzone.core.base import BUILD, ROOT, Failure
from redzone.core.options import YES, Choice, check_output
from redzone.elf.file import File
from redzone.elf.symbols import symbols

SMALL = ROOT / "bench" / "small"
RECORDED = ROOT / "bench" / "small.json"
# Bytes of code of the full layout, by GCC's -Os and Clang's -Oz: 16.5 KiB.
CODE_GOAL = 16896
COMPILERS = {"clang": "clang-19 --target={}", "gcc": "arm-none-eabi-gcc"}
LAYOUTS = ("full", "compact")


@dataclass(frozen=True)
class Part:
    """A microcontroller, as QEMU has it."""

    machine: str
    cpu: str
    target: str  # for Clang
    ram: int
    variables: tuple = ()  # of bench/small/Makefile


LARGE = Part("lm3s6965evb", "cortex-m3", "thumbv7m-none-eabi", 65536)
SMALLEST = Part(
    "microbit", "cortex-m0", "thumbv6m-none-eabi", 16384, ("POOL=3072", "QUARANTINE=512", "STACK=2048")
)
# {name in bench/small.json: (layout, part)}
MEASURED = {
    "full": ("full", LARGE),
    "compact": ("compact", LARGE),
    "full_16k": ("full", SMALLEST),
    "compact_16k": ("compact", SMALLEST),
}
COSTS = ("pair_raw", "pair_no_traces", "pair_traces", "trace_bytes")
COSTS += ("check_4", "check_4_edge", "check_64", "check_64_edge", "shadow", "heap")
REDZONE = 16  # heap.c's default, behind each object
# All that a board can do without.
OPTIONS = {
    "CONFIG_KASAN_SLAB": 0,
    "CONFIG_KASAN_IGNORE": 0,
    "CONFIG_KASAN_CALLBACKS": 0,
    "CONFIG_KASAN_START_CHECKS": 0,
    "CONFIG_KASAN_MULTI_SHOT": 1,
    "CONFIG_KASAN_DEPOT_SIZE": 2048,
    "CONFIG_KASAN_STACK_DEPTH": 8,
    "CONFIG_KASAN_WAITING_REPORTS": 0,
    "CONFIG_KASAN_REPEAT_PLACES": 8,
    "CONFIG_KASAN_CHEAP_REPEATS": 0,
}
# Tables, whose size options set; the rest of .bss is the runtime's own.
TABLES = ("first_segment", "first_entries", "places", "waiting", "kasan_windows")
# Parts of the full layout whose code is worth a line of its own: the option's other value.
PARTS = {
    "CONFIG_KASAN_SLAB": 1,
    "CONFIG_KASAN_IGNORE": 1,
    "CONFIG_KASAN_CALLBACKS": 1,
    "CONFIG_KASAN_START_CHECKS": 1,
    "CONFIG_KASAN_MULTI_SHOT": 0,
    "CONFIG_KASAN_WAITING_REPORTS": 1,
    "CONFIG_KASAN_CHEAP_REPEATS": 1,
    "CONFIG_KASAN_STACK_OBJECTS": 0,
    "CONFIG_KASAN_BUG_TYPES": 0,
}
TIMEOUT = 300
# Least RAM for variables and stacks unless --program says it, as a part of all.
PROGRAM_PART = 4


def defines(changes=()):
    """Return the make variable DEFINES with @changes to OPTIONS."""
    return " ".join(f"{name}={value}" for name, value in {**OPTIONS, **dict(changes)}.items())


def build(compiler, layout, program, part=LARGE, changes=(), extra=()):
    """Build an image of bench/small for @part. Return its path."""
    # A folder for each set of options: make knows the files that an image is made from, not the options.
    words = [
        compiler,
        layout,
        part.machine,
        *(f"{key.rpartition('_')[2].lower()}{value}" for key, value in changes),
    ]
    name = "-".join(words + [word.replace("=", "").lower() for word in extra])
    out = BUILD / "small" / name
    builder.check_make(ROOT, out)
    out.mkdir(parents=True, exist_ok=True)
    command = [
        "make",
        "-s",
        "-j2",
        "-C",
        SMALL,
        f"PROGRAM={program}",
        f"LAYOUT={layout}",
        f"CC={COMPILERS[compiler].format(part.target)}",
        f"CPU={part.cpu}",
        f"OUT={out}",
        f"RAM={part.ram}",
        f"DEFINES={defines(changes)}",
        *part.variables,
        *extra,
    ]
    process.execute(command, out / "log")
    return out / f"{program}.elf"


def boot(image, part=LARGE):
    """Boot @image on @part and return what it printed. Raise Failure unless it ends with status 0."""
    command = ["qemu-system-arm", "-M", part.machine, "-nographic", "-icount", "shift=0,sleep=off"]
    command += ["-semihosting", "-kernel", str(image)]
    try:
        result = process.run(command, stderr=subprocess.STDOUT, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as expired:
        raise Failure(f"{base.relative(image)} did not end within {TIMEOUT} seconds") from expired
    if result.returncode:
        end = result.stdout[-2000:]
        raise Failure(f"{base.relative(image)} ended with status {result.returncode}\n{end}")
    return result.stdout


def sizes(image):
    """Return {code, constants, data, bss, tables} of the runtime in @image, in bytes."""
    found = list(symbols(File.open(image)))
    at = {symbol.name: symbol.value for symbol in found if symbol.name.startswith("__")}
    tables = {symbol.name: symbol.size for symbol in found if symbol.name in TABLES}
    return {
        "code": at["__runtime_text_end"] - at["__runtime_text"],
        "constants": at["__runtime_rodata_end"] - at["__runtime_text_end"],
        "data": at["__runtime_data_end"] - at["__data_start"],
        "bss": at["__runtime_bss_end"] - at["__bss_start"],
        "tables": sum(tables.values()),
    }


def measure(compiler, name):
    """Return the figures of one compiler and one of MEASURED, as they are in bench/small.json."""
    layout, part = MEASURED[name]
    figures = sizes(build(compiler, layout, "bugs", part))
    console = boot(build(compiler, layout, "cost", part), part)
    costs = dict(re.findall(r"^cost (\w+) (\d+)", console, re.M))
    costs = {name: int(value) for name, value in costs.items()}
    # For an object of 40 bytes, which needs no rounding.
    figures["object"] = costs["room_40"] - costs["room_raw_40"] - REDZONE
    return figures | {name: costs[name] for name in COSTS}


def parts(compiler):
    """Return {option: bytes that its part takes} of code and constants in the full layout."""

    def total(changes):
        found = sizes(build(compiler, "full", "bugs", LARGE, changes))
        return found["code"] + found["constants"]

    small = total(())
    return {name: abs(total(((name, value),)) - small) for name, value in PARTS.items()}


def show(figures):
    """Print the figures of some compilers and layouts beside the goals."""
    table = Table(title="The runtime on a Cortex-M3 with 64 KiB of RAM and on a Cortex-M0 with 16, -Os")
    table.add_column("")
    for key in figures:
        table.add_column(key, justify="right")
    rows = (
        (f"code, bytes (goal {CODE_GOAL})", lambda f: f["code"]),
        ("constants, bytes", lambda f: f["constants"]),
        ("variables beyond tables (goal 2048)", lambda f: f["bss"] + f["data"] - f["tables"]),
        ("tables", lambda f: f["tables"]),
        ("heap: bytes for an object beyond its redzone (goal 32)", lambda f: f["object"]),
        ("malloc+free without KASAN, instructions", lambda f: f["pair_raw"]),
        ("malloc+free, no traces", lambda f: f["pair_no_traces"]),
        ("malloc+free, traces of 8 frames (goal 600)", lambda f: f["pair_traces"]),
        ("check of 4 bytes / beside a redzone", lambda f: f"{f['check_4']} / {f['check_4_edge']}"),
        ("check of 64 bytes / beside a redzone", lambda f: f"{f['check_64']} / {f['check_64_edge']}"),
        ("shadow, bytes", lambda f: f["shadow"]),
        ("left for the heap, bytes", lambda f: f["heap"]),
    )
    for title, value in rows:
        table.add_row(title, *(str(value(figures[key])) for key in figures))
    Console(width=160).print(table)


# --- The budget ------------------------------------------------------------------------------------------


def up(value, unit):
    """Round @value up to a multiple of @unit."""
    return -(-value // unit) * unit


@dataclass
class Plan:
    """One way to spend a part's memory. All sizes in bytes."""

    layout: str
    traces: bool
    shadow: int
    runtime: int
    depot: int
    queue: int
    quarantine: int
    program: int
    flash: int
    object: int
    trace_bytes: int


def plan(figures, layout, traces, ram, heap):
    """Return the Plan of @layout for @ram bytes of which @heap are the heap."""
    found = figures[layout]
    shadow = up(ram // 9, 8) if layout == "full" else up(-(-heap // 33), 8)
    depot = 0 if not traces else 4096 if ram >= 32768 else 2048
    queue = 1024
    runtime = found["bss"] + found["data"]
    return Plan(
        layout=layout,
        traces=traces,
        shadow=shadow,
        runtime=runtime,
        depot=depot,
        queue=queue,
        quarantine=up(heap // 8, 64),
        program=ram - heap - shadow - runtime - depot - queue,
        flash=found["code"] + found["constants"],
        object=found["object"] + REDZONE,
        trace_bytes=found["trace_bytes"],
    )


def choose(figures, ram, flash, heap, program):
    """Return the richest Plan that leaves @program bytes of RAM. Raise Failure if none does."""
    tried = []
    for layout, traces in (("full", True), ("compact", True), ("compact", False)):
        found = plan(figures, layout, traces, ram, heap)
        if found.program >= program and found.flash <= flash:
            return found
        tried.append(found)
    best = tried[-1]
    lacks = []
    if best.flash > flash:
        lacks.append(f"{best.flash - flash} bytes of flash (the runtime takes {best.flash})")
    if best.program < program:
        lacks.append(f"{program - best.program} bytes of RAM: a smaller --heap or --program would do")
    raise Failure("not even the compact shadow without traces fits; it lacks " + ", and ".join(lacks))


def advice(found, heap, typical):
    """Yield the lines that say what to set for @found, and what it buys."""
    chunk = typical + found.object + 8
    compact = found.layout == "compact"
    yield "Set (make; the other kits have the same names):"
    yield "  KASAN_OPTIMIZE := s"
    if compact:
        yield "  KASAN_STACK := 0"
        yield "  KASAN_GLOBALS := 0"
    options = dict(OPTIONS)
    options["CONFIG_KASAN_DEPOT_SIZE"] = max(found.depot, 2048)
    if compact:
        options["CONFIG_KASAN_SHADOW_COMPACT"] = 1
    yield "  KASAN_DEFINES := " + " ".join(f"{name}={value}" for name, value in options.items())
    if not found.traces:
        yield '  kasan_option("kasan.stacktrace", "off") at the start'
    yield f"  a pool of {found.depot + found.queue} bytes for kasan_port_alloc()"
    yield f"  .quarantine_max = {found.quarantine} in the heap's struct"
    where = "the heap, its start a multiple of 32" if compact else "all of RAM but the shadow"
    yield f"  one window: {where}; {found.shadow} bytes of shadow"
    yield ""
    yield "RAM, bytes:"
    yield f"  {found.shadow:7} shadow"
    yield f"  {found.runtime:7} the runtime's variables and tables"
    yield f"  {found.depot:7} traces" + ("" if found.traces else " (none)")
    yield f"  {found.queue:7} queue of the quarantine"
    yield f"  {heap:7} heap"
    yield f"  {found.program:7} left for your variables and stacks"
    yield (
        f"Flash: {found.flash} bytes for the runtime, beside what checks add to your code "
        "(measure it: -Os, outline)."
    )
    yield ""
    yield "It buys:"
    kinds = "heap" if compact else "heap, stack and global variables"
    yield f"  overflows, uses after free and bad frees: {kinds}"
    if found.traces:
        traces = found.depot // found.trace_bytes
        yield f"  {traces} different traces of eight frames, for allocations and frees"
    else:
        yield "  no allocation and free traces: reports name the object and the code that touched it"
    yield f"  {found.quarantine // (typical + found.object)} freed objects of {typical} bytes held back"
    yield f"  {heap // chunk} objects of {typical} bytes in the heap (without KASAN {heap // (typical + 8)})"


# --- The verbs -------------------------------------------------------------------------------------------


class Bytes(click.ParamType):
    """A size of a small system's memory."""

    name = "SIZE"

    def convert(self, value, param, context):
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+)([KkMm]?)", value)
        if not match:
            raise Failure(f"{param.opts[0]} '{value}'; accepted: bytes, or a number with K or M, as in 24K")
        return int(match[1]) << {"": 0, "K": 10, "M": 20}[match[2].upper()]


def recorded(compiler):
    """Return the recorded figures of @compiler: {one of MEASURED: figures}."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))[compiler]


def register(group):
    """Add the verbs to the command."""

    @group.command("size", short_help="Measure the runtime's memory use on a microcontroller.")
    @click.option("--cc", type=Choice(tuple(COMPILERS)), help="One compiler only. Default: clang and gcc.")
    @click.option("--parts", "with_parts", is_flag=True, help="Also what each option takes or saves (GCC).")
    @click.option("--json", "json_file", metavar="FILE", help="Also write the figures to FILE.")
    @YES
    @click.pass_context
    def size_verb(context, cc, with_parts, json_file, yes):
        """Build and boot small systems; print code, RAM, bytes of an object and instructions.

        \b
        Examples:
          ./redzone size
          ./redzone size --cc gcc --parts
          ./redzone size --json bench/small.json
        """
        compilers = (cc,) if cc else tuple(COMPILERS)
        check_output("--json", json_file)
        tools = ["make", "qemu-arm64", "gcc-cortexm"] + ["clang-19", "lld"] * ("clang" in compilers)
        doctor.require(tools, "measure sizes", yes)
        figures = {cc: {name: measure(cc, name) for name in MEASURED} for cc in compilers}
        show({f"{cc}, {name}": found for cc, rows in figures.items() for name, found in rows.items()})
        if with_parts:
            figures["parts"] = parts("gcc")
            for name, value in figures["parts"].items():
                click.echo(f"{value:6} bytes  {name}")
        if json_file:
            with open(json_file, "w", encoding="utf-8") as file:
                file.write(json.dumps(figures, indent=1) + "\n")

    @group.command("budget", short_help="Show what fits on a microcontroller, and what to set.")
    @click.option("--ram", type=Bytes(), required=True, help="All RAM, as in 64K.")
    @click.option("--flash", type=Bytes(), required=True, help="Flash that is free, as in 256K.")
    @click.option("--heap", type=Bytes(), required=True, help="Of the RAM: your heap.")
    @click.option("--program", type=Bytes(), help="RAM of your variables and stacks. Default: 1/4 of --ram.")
    @click.option(
        "--object", "typical", type=Bytes(), default="64", help="A typical allocation. Default: 64."
    )
    @click.option("--cc", type=Choice(tuple(COMPILERS)), default="gcc", help="Your compiler. Default: gcc.")
    def budget_verb(ram, flash, heap, program, typical, cc):
        """Compute from recorded sizes what KASAN costs on a small system, and print the best that fits.

        \b
        Examples:
          ./redzone budget --ram 64K --flash 256K --heap 24K
          ./redzone budget --ram 16K --flash 64K --heap 5K
        """
        if heap >= ram:
            raise Failure(f"--heap {heap} is not less than --ram {ram}")
        if not typical:
            raise Failure("--object 0; accepted: 1 or more bytes")
        found = choose(recorded(cc), ram, flash, heap, ram // PROGRAM_PART if program is None else program)
        for line in advice(found, heap, typical):
            click.echo(line)
