# SPDX-License-Identifier: MIT
"""`./redzone bench`: what KASAN costs, in instructions per operation.

QEMU's -icount makes the machine's clock count executed instructions, so a figure is the same in every run
and on every host. kernel/tests/bench/ measures; this module boots it in each mode, with and without stack
traces, and compares each figure with that of the kernel without KASAN.
"""

import fnmatch
import json
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from redzone.bench import page
from redzone.build import builder
from redzone.core import base
from redzone.core.arch import DEFAULT, KERNELS
from redzone.core.base import Failure
from redzone.machine import qemu

# {name: (mode of the build, where checks are)}.
MODES = {
    "none": ("off", "inline"),
    "generic-inline": ("generic", "inline"),
    "generic-outline": ("generic", "outline"),
    "sw_tags-inline": ("sw_tags", "inline"),
    "sw_tags-outline": ("sw_tags", "outline"),
    "hw_tags": ("hw_tags", "inline"),
}
COMPILER = "clang-19"
# Parameters of the boots without stack traces, and of those without KASAN.
NO_TRACES = "kasan.stacktrace=off"
OFF = "kasan=off"
# What the kernel does otherwise with a program.
WITHOUT_PROGRAM = ("kasan.page_redzone=off",)
TIMEOUT = 1800
CPUS = (1, 2, 4, 8)
TRACE_CPUS = (1, 4, 8)
# Bytes that are tagged, and how: "runtime" chooses by the size.
FILL_SIZES = tuple(16 << i for i in range(10))
FILLS = {
    "st2g": "ST2G",
    "stgm": "STGM",
    "dc_gva": "DC GVA",
    "runtime": "the runtime",
    "stz2g": "STZ2G, zeroed",
    "dc_gzva": "DC GZVA, zeroed",
    "runtime_zero": "the runtime, zeroed",
}
# Intervals of kasan.page_alloc.sample= for page traffic. Modes other than hw_tags use only one.
SAMPLES = (1, 2, 5, 10, 20, 100)

# The name of each operation in the tables. The groups are those of kernel/tests/bench/main.c.
_TRACES = {
    **{f"traces.depth_{n}": f"{n} frames: kmalloc(64)+kfree" for n in (4, 8, 16, 32)},
    "traces.sites_8192": "8,192 sites: kmalloc(64)+kfree",
    "traces.callers_8192": "8,192 callers: kmalloc(64)+kfree",
}
GROUPS = {
    "memory": {
        "kmalloc_64": "kmalloc(64)+kfree",
        "kmalloc_1024": "kmalloc(1024)+kfree",
        "kmalloc_8192": "kmalloc(8192)+kfree",
        "kmem_cache_256": "kmem_cache 256 alloc+free",
        "kzalloc_64": "kzalloc(64)+kfree",
        "kzalloc_1024": "kzalloc(1024)+kfree",
        "kzalloc_16384": "kzalloc(16384)+kfree",
        "kmem_cache_zalloc_256": "kmem_cache 256 zeroed alloc+free",
        "krealloc_64": "krealloc 64 in place",
        "memcpy_1024": "memcpy 1 KiB",
        "memset_1024": "memset 1 KiB",
        "check_4096": "check of 4 KiB",
        "load_8x128": "128 loads of 8 bytes",
        "store_1x128": "128 stores of 1 byte",
        "pages_0": "pages order 0",
        "pages_3": "pages order 3",
        "zeroed_page": "zeroed page",
    },
    "vmalloc": {
        "vmalloc_4k": "vmalloc(4K)+vfree",
        "vmalloc_16k": "vmalloc(16K)+vfree",
        "vmalloc_1m": "vmalloc(1M)+vfree",
        **{
            f"test_vmalloc.{name}": f"test_vmalloc {name}"
            for name in ("fix_size", "full_fit", "long_busy_list", "random_size", "fix_align")
        },
    },
    "boot": {"boot": "boot from reset, 2 GiB"},
    "live": {
        f"live.kmalloc_64@{n}": f"kfree+kmalloc(64), {n:,} live" for n in (1000, 10000, 100000, 1000000)
    },
    "smp": {
        f"smp.{op}@{cpus}": f"{title} on {base.plural(cpus, 'CPU')}"
        for op, title in (
            ("kmalloc_64", "kmalloc(64)+kfree"),
            ("kmalloc_1024", "kmalloc(1024)+kfree"),
            ("pages_0", "pages order 0"),
            ("pages_3", "pages order 3"),
            ("vmalloc_4k", "vmalloc(4K)+vfree"),
            ("test_vmalloc.fix_size", "test_vmalloc fix_size"),
        )
        for cpus in CPUS
    }
    | {
        f"smp.{op}@{cpus}": f"{title} on {base.plural(cpus, 'CPU')}"
        for op, title in _TRACES.items()
        for cpus in TRACE_CPUS
    },
    "traces": _TRACES,
    "fill": {
        f"fill.{op}@{size}": f"tags of {size:,} bytes by {title}"
        for op, title in FILLS.items()
        for size in FILL_SIZES
    },
    "traffic": {
        f"{op}@{sample}": f"{title}, sample={sample}"
        for op, title in (
            ("page_traffic", "page traffic with data"),
            ("page_traffic_bare", "page traffic without"),
        )
        for sample in SAMPLES
    },
}

_FIGURE = re.compile(r"bench: (?P<name>\S+) (?P<counts>\d+)(?: (?P<times>\d+))?$")


@dataclass(frozen=True)
class Column:
    """One way to run the operations. off: KASAN is built in, and switched off by kasan=off."""

    mode: str
    traces: bool
    off: bool = False

    @property
    def parameters(self):
        return [OFF] if self.off else [] if self.traces else [NO_TRACES]

    @property
    def key(self):
        if self.off:
            return f"{self.mode}, {OFF}"
        return self.mode if self.traces else f"{self.mode}, no traces"


def _every_operation():
    """Return a text for each operation: NAME = 'title', or NAME@1|2|4 for those that differ in a number."""
    found = {}
    for name, title in (one for names in GROUPS.values() for one in names.items()):
        base, _, number = name.partition("@")
        found.setdefault(base, []).append(number or f" = '{title}'")
    return [f"{base}{'@' if ones[0].isdigit() else ''}{'|'.join(ones)}" for base, ones in found.items()]


def names_matching(*patterns):
    """Return {group: [operation]} of the operations that @patterns select, by name or by title in the
    tables."""

    def matches(operation, pattern):
        return any(fnmatch.fnmatchcase(text, pattern) for text in operation)

    for pattern in patterns:
        if not any(matches(one, pattern) for names in GROUPS.values() for one in names.items()):
            lines = textwrap.fill(
                "; ".join(_every_operation()),
                100,
                initial_indent="  ",
                subsequent_indent="  ",
                break_on_hyphens=False,
            )
            raise Failure(f"no operation matches '{pattern}'; there are:\n{lines}")
    chosen = {
        group: [one[0] for one in names.items() if any(matches(one, pattern) for pattern in patterns)]
        for group, names in GROUPS.items()
    }
    return {group: names for group, names in chosen.items() if names}


def that_differ(chosen, columns, arch=DEFAULT):
    """Return @chosen without what says nothing on @arch, and, if no column's mode has hardware tags, without
    what needs them: the stores of tags, and the intervals of sampling, of which one stays."""
    unmeasured = KERNELS[arch].unmeasured
    chosen = {
        group: [name for name in names if not any(fnmatch.fnmatchcase(name, one) for one in unmeasured)]
        for group, names in chosen.items()
    }
    chosen = {group: names for group, names in chosen.items() if names}
    if any(column.mode == "hw_tags" for column in columns):
        return chosen
    shown = {}
    for group, names in chosen.items():
        if group == "fill":
            continue
        kept = {name.partition("@")[0]: name for name in reversed(names)} if group == "traffic" else {}
        shown[group] = [name for name in names if not kept or name in kept.values()]
    return shown


def columns_of(modes, with_off=False):
    """Return the columns for a list of modes. `none` always comes first, because the others are compared with
    it. with_off: also with kasan=off."""
    columns = [Column("none", True)]
    for mode in dict.fromkeys(modes):
        if mode != "none":
            columns += [Column(mode, True), Column(mode, False)]
            if with_off:
                columns.append(Column(mode, True, True))
    return columns


@dataclass(frozen=True)
class Boot:
    """One boot. sample: the interval of kasan.page_alloc.sample=."""

    cpus: int
    memory: str
    arguments: list
    sample: int = 1


def _boots(chosen):
    """Yield the Boots that measure the operations of @chosen."""
    single = [group for group in ("memory", "vmalloc", "traces") if group in chosen]
    if single:
        yield Boot(1, "512M", [f"{group}:{name}" for group in single for name in chosen[group]])
    if "fill" in chosen:
        every = len(chosen["fill"]) == len(GROUPS["fill"])
        # All their names do not fit into a kernel's command line.
        yield Boot(1, "512M", ["fill"] if every else [f"fill:{name}" for name in chosen["fill"]])
    if "live" in chosen or "boot" in chosen:
        yield Boot(1, "2G", [f"live:{name}" for name in chosen.get("live", ())])
    for cpus in CPUS:
        names = [name for name in chosen.get("smp", ()) if name.endswith(f"@{cpus}")]
        if names:
            yield Boot(cpus, "512M", [f"smp:{name[len('smp.') :].partition('@')[0]}" for name in names])
    for sample in SAMPLES:
        names = [name for name in chosen.get("traffic", ()) if name.endswith(f"@{sample}")]
        if names:
            yield Boot(1, "512M", [f"traffic:{name.partition('@')[0]}" for name in names], sample)


def parse(lines):
    """Return {operation: instructions} from a console."""
    per_count = None
    figures = {}
    for line in lines:
        match = _FIGURE.search(line)
        if not match:
            continue
        if match["name"] == "clock":
            # One instruction is one nanosecond of the machine's time.
            per_count = 1e9 / int(match["counts"])
        elif per_count and match["times"]:
            figures[match["name"]] = round(int(match["counts"]) * per_count / int(match["times"]), 1)
    return figures


def figures_of(title, lines, names):
    """Return {operation: instructions} of @names from a console. @title: for messages."""
    figures = parse(lines)
    missing = [name for name in names if name not in figures]
    if missing:
        raise Failure(f"{title}: the kernel printed no figure for {', '.join(missing)}", base.CRASHED)
    return {name: figures[name] for name in names}


def run_kernel(title, image, mode, *arguments, **options):
    """Boot a benchmark kernel, the builder.Image @image of the KASAN mode @mode; return its console's lines.

    @title: for messages. @options: of the machine."""
    lines = []
    chosen = {"icount": True, "timeout": TIMEOUT, **options}
    # The benchmark is a program, and what is measured is a kernel without one.
    chosen["append"] = [*WITHOUT_PROGRAM, *chosen.get("append", ())]
    target = qemu.Machine(image.image, mode=mode, arguments=list(arguments), **chosen)
    outcome = qemu.boot(target, lambda text, event, value: lines.append(text))
    if outcome.status != base.OK:
        tail = "\n".join(lines[-20:])
        raise Failure(f"{title}: {outcome.message or 'KASAN reported'}\n{tail}", base.CRASHED)
    refused = next((line for line in lines if "Malformed kernel parameter" in line), None)
    if refused:
        raise Failure(f"{title}: the kernel does not take a boot parameter: {refused}", base.CRASHED)
    return lines


def measure(column, image, chosen, progress, arch=DEFAULT):
    """Return {operation: instructions} of @column for @chosen, as names_matching() gives it. @progress:
    called with a line about each step. arch: of the kernel @image."""
    figures = {}
    mode = MODES[column.mode][0]
    for boot in _boots(chosen):
        progress(f"{column.key}: {base.plural(boot.cpus, 'CPU')}, {boot.memory}")
        parameters = list(column.parameters)
        if boot.sample != 1:
            parameters.append(f"kasan.page_alloc.sample={boot.sample}")
        machine = {"arch": arch, "smp": boot.cpus, "memory": boot.memory, "append": parameters}
        lines = run_kernel(column.key, image, mode, *boot.arguments, **machine)
        for name, value in parse(lines).items():
            if name.startswith("page_traffic"):
                name += f"@{boot.sample}"
            # Every boot prints its time; the table shows that of the boot with 2 GiB.
            if any(name in names for names in chosen.values()) and (name != "boot" or boot.memory == "2G"):
                figures[name] = value
    return figures


def load(path):
    """Return the figures in the file @path, from --json: {column: {operation: instructions}}."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if data["format"] != page.FORMAT:
            raise ValueError(f"format {data['format']}")
        figures = data["figures"]
        if not all(
            isinstance(value, (int, float)) for column in figures.values() for value in column.values()
        ):
            raise ValueError("a figure is not a number")
        return figures
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure(f"{path} is not a result of ./redzone bench --json ({error})") from None


def _number(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:,.1f}"


def _ratio(value, other):
    return f"{value / other:.2f}" if other else "-"


def rows(figures, columns, against=None):
    """Yield the table as rows of text, the heading first. Ratios refer to `none`, or to @against."""
    heading = ["instructions per operation", columns[0].key]
    for column in columns[1:]:
        heading += [column.key, "ratio"]
    if against is not None:
        heading += [f"{column.key}, to before" for column in columns]
    yield heading
    for names in GROUPS.values():
        for name, title in names.items():
            values = [figures.get(column.key, {}).get(name) for column in columns]
            if all(value is None for value in values):
                continue
            row = [title, _number(values[0]) if values[0] is not None else "-"]
            for value in values[1:]:
                row += ["-", "-"] if value is None else [_number(value), _ratio(value, values[0])]
            if against is not None:
                for column, value in zip(columns, values, strict=True):
                    before = against.get(column.key, {}).get(name)
                    row.append("-" if value is None or before is None else _ratio(value, before))
            yield row


def presets(modes, arch):
    """Return {mode: preset} of the kernels for @modes, keys of MODES, or raise Failure if @arch lacks one."""
    for mode in modes:
        builder.check_kernel(arch, MODES[mode][0], COMPILER)
    return {mode: builder.preset_name(*MODES[mode], compiler=COMPILER, arch=arch) for mode in modes}


def run(arch, modes, ops, with_off, json_file, against, markdown_file, yes):
    """Carry out the verb. Returns the exit status."""
    columns = columns_of(modes, with_off)
    chosen = that_differ(names_matching(*ops), columns, arch)
    if not chosen:
        raise Failure(f"--arch {arch}: none of these operations is measured there")
    before = load(against) if against else None
    if before is not None and not any(
        name in before.get(column.key, ())
        for column in columns
        for names in chosen.values()
        for name in names
    ):
        raise Failure(f"{against} has none of the figures that are to be measured")
    images = page.build(presets(dict.fromkeys(column.mode for column in columns), arch), yes, arch)
    figures = {column.key: measure(column, images[column.mode], chosen, base.say, arch) for column in columns}
    table = list(rows(figures, columns, before))
    page.show(table)
    page.write_json(json_file, unit="instructions", figures=figures)
    if markdown_file:
        Path(markdown_file).write_text(page.markdown(table), encoding="utf-8")
    return base.OK
