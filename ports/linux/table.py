# SPDX-License-Identifier: MIT
"""`./redzone bench linux`: Linux without KASAN, with its own KASAN, and with Redzone."""

import statistics
from dataclasses import replace

import click
from redzone.bench.page import Page, options
from redzone.core import doctor
from redzone.core.base import Failure, say
from redzone.core.options import Choice
from redzone.kit import ports

from .host import bench, boot, build, source

TITLES = {
    "kmalloc_64": "kmalloc(64), kfree()",
    "kmalloc_1024": "kmalloc(1024), kfree()",
    "kmalloc_8192": "kmalloc(8192), kfree()",
    "cache_256": "kmem_cache of 256 bytes",
    "memcpy_1024": "memcpy() of 1 KiB",
    "memset_1024": "memset() of 1 KiB",
    "pages_0": "one page",
    "pages_3": "eight pages",
    "vmalloc_16k": "vmalloc() of 16 KiB, vfree()",
    "vmalloc_1m": "vmalloc() of 1 MiB, vfree()",
    "fix_size": "test_vmalloc: fix_size",
    "full_fit": "test_vmalloc: full_fit",
    "long_busy_list": "test_vmalloc: long_busy_list",
    "random_size": "test_vmalloc: random_size",
    "fix_align": "test_vmalloc: fix_align",
    "boot": "boot to the first instruction of init",
    "getpid": "getpid()",
    "fork_exec_exit": "fork, exec, exit",
    "pipe_ping_pong": "one byte through a pipe, and back",
    "tmpfs_file": "a file made and removed in tmpfs",
    "loopback_mib": "a MiB over loopback",
    "memory_kib": "memory in use after boot, KiB",
    "image_kib": "the kernel in memory, KiB",
}
# The tests of Linux's lib/test_vmalloc.c. An odd number of boots has a median that one of them counted.
VMALLOC = ("fix_size", "full_fit", "long_busy_list", "random_size", "fix_align")
VMALLOC_BOOTS = 3
# What Redzone is to reach: instructions with and without traces, or a multiple of the kernel without
# KASAN. In all other rows it is to be ahead of Linux's own.
COUNTS = {
    "generic-inline": {"kmalloc_64": (650, 330)},
    "sw_tags": {"kmalloc_64": (750, 330)},
    "hw_tags": {"kmalloc_64": (650, 300)},
}
RATIOS = {
    "generic-inline": {
        "fix_size": 3.0,
        "full_fit": 2.0,
        "long_busy_list": 2.0,
        "random_size": 2.5,
        "fix_align": 2.0,
        "boot": 2.5,
    },
    "hw_tags": {"boot": 1.15},
}
PLAIN, OWN, OURS, QUIET = "no KASAN", "Linux's own", "Redzone", "Redzone, no traces"


def goal(mode, row):
    """Return the goal of @row in words."""
    if row in COUNTS.get(mode, {}):
        return " / ".join(f"{count:,}" for count in COUNTS[mode][row])
    ratio = RATIOS.get(mode, {}).get(row)
    return f"{ratio:g}x" if ratio else "ahead"


def met(mode, row, columns):
    """Is the goal of @row met by @columns, {heading: {row: count}}?"""
    ours = columns[OURS][row]
    if row in COUNTS.get(mode, {}):
        return ours <= COUNTS[mode][row][0] and columns[QUIET][row] <= COUNTS[mode][row][1]
    ratio = RATIOS.get(mode, {}).get(row)
    return ours <= (ratio * columns[PLAIN][row] if ratio else columns[OWN][row])


def rows(mode, columns):
    """Return the rows of the table, the heading first."""
    found = [("work", *columns, "goal", "met")]
    for row, title in TITLES.items():
        base = columns[PLAIN][row]
        cells = [f"{base:,}"]
        for name, counts in columns.items():
            if name != PLAIN:
                cells.append(f"{counts[row]:,} ({counts[row] / base:.2f}x)" if base else f"{counts[row]:,}")
        found.append((title, *cells, goal(mode, row), "yes" if met(mode, row, columns) else "no"))
    return found


def _measure(kernel, *append):
    """Measure all work in @kernel, the vmalloc tests in several boots. Return {row: count}."""
    counts = bench.measure(kernel, append)
    boots = [counts] + [bench.measure(kernel, append, ("vmalloc",)) for _ in range(VMALLOC_BOOTS - 1)]
    return counts | {row: statistics.median(one[row] for one in boots) for row in VMALLOC}


def _work(page, make):
    """Measure the same work in three kernels. Return {heading: {row: count}}."""
    columns = {
        PLAIN: _measure(bench.prepare(replace(make, mode=build.PLAIN))),
        OWN: _measure(bench.prepare(make, own=True)),
    }
    ours = bench.prepare(make)
    columns[OURS] = _measure(ours)
    columns[QUIET] = _measure(ours, "kasan.stacktrace=off")
    page.table(rows(make.mode, columns))
    page.notes(
        [
            "Instructions under QEMU's -icount; (...x): to the kernel without KASAN.",
            f"test_vmalloc differs from boot to boot: these are medians of {VMALLOC_BOOTS}.",
        ]
    )
    if make.arch == "x86_64":
        page.notes(["The boot includes the BIOS and the unpacking of the kernel, the same in all columns."])
    return columns


# --- The boot, on any architecture ----------------------------------------------------------------------

# The architectures that the programs in module/ are written for. They do the work of all other tables.
WORKING = ("arm64", "x86_64")


def boot_rows(counts):
    """Return the rows of the table of @counts, {kernel: instructions}, the heading first."""
    found = [("kernel", "boot", "to no KASAN")]
    return found + [(name, f"{count:,}", f"{count / counts[PLAIN]:.2f}x") for name, count in counts.items()]


def _only_boot(page, make):
    """Measure the boot of the three kernels. Return {heading: instructions}."""
    counts = {}
    for title, one, own in (
        (PLAIN, replace(make, mode=build.PLAIN), False),
        (OWN, make, True),
        (OURS, make, False),
    ):
        image = build.build(one, own)
        log = source.HOME / "logs" / f"boot-{image.name}.log"
        counts[title] = boot.instructions(image, log, ["kunit.enable=0"])
    page.table(boot_rows(counts))
    page.notes(["Instructions from reset until Linux finds no init and panics, as QEMU counts them."])
    return counts


# --- Traces: the five kernels of the table that was published in 2022 -------------------------------

# Percent of the boot, by mode and kernel. The first three kernels are one, with boot parameters.
PUBLISHED = {
    "generic-inline": {"unwinder": 43.8, "unwinder, not saved": 43.5, "shadow call stack": 3.4},
    "hw_tags": {"unwinder": 51.0, "unwinder, not saved": 47.0, "shadow call stack": 5.4},
}
PARAMETERS = {"no traces": "off", "unwinder": "on", "unwinder, not saved": "collect"}
SCS = {"shadow call stack": ("REDZONE_SCS=1",), "shadow call stack, hooks exempt": ()}
# Follow frames in spite of a shadow call stack, so that all kernels of a table have one configuration.
FRAMES = ("REDZONE_FRAMES=1",)


def trace_rows(mode, boots):
    """Return the rows of the table of @boots, {kernel: (instructions, those without traces)}, the heading
    first."""
    found = [("stack traces", "Linux, published", "boot", "to the same kernel without traces")]
    for kernel, (count, quiet) in boots.items():
        there = PUBLISHED.get(mode, {}).get(kernel)
        share = f"{(count / quiet - 1) * 100:+.1f} %"
        found.append((kernel, f"{there:+.1f} %" if there else "-", f"{count:,}", share))
    return found


def _boot(kernel, traces):
    """Return the instructions of the boot of @kernel with kasan.stacktrace=@traces."""
    return bench.measure(kernel, (f"kasan.stacktrace={traces}",), ("boot",))["boot"]


def _traces(page, make):
    """Measure the boot with each kind of traces. Return {"boots": ..., "traces": ...}."""
    has_scs = make.arch == "arm64" and make.compiler == "clang"
    scs = replace(make, more=(*make.more, build.CONFIG / "scs.config"))
    # The full configuration takes an hour to compile: once for all kernels.
    once = has_scs and make.start == build.FULL
    kernel = bench.prepare(replace(scs, variables=FRAMES) if once else make, modules=False)
    quiet = _boot(kernel, "off")
    boots = {title: (_boot(kernel, value), quiet) for title, value in PARAMETERS.items()}
    stored = bench.traces(kernel)
    for title, variables in SCS.items() if has_scs else ():
        kernel = bench.prepare(replace(scs, variables=variables), modules=False)
        boots[title] = (_boot(kernel, "on"), _boot(kernel, "off"))
    page.table(trace_rows(make.mode, boots))
    page.notes(
        [
            "boot: from reset to the first instruction of init, in instructions under QEMU's -icount.",
            f"A boot stores {stored[0]:,} traces of allocations and {stored[1]:,} of frees.",
            "Linux, published: boot time in QEMU (2022). The published patches are not in Linux 6.12.",
        ]
    )
    return {"boots": boots, "traces": stored}


# --- Sampling: hardware tags for one large page allocation in N ---------------------------------------

INTERVALS = (1, 2, 5, 10, 20)


def sample_rows(own, ours, checked):
    """Return the rows of the table of instructions for a MiB over loopback, {interval: count}; 0: no KASAN.
    @checked: {interval: share of page allocations}."""
    found = [("kasan.page_alloc.sample", "Linux's own", "Redzone", "page allocations checked")]
    for interval in INTERVALS:
        cells = [f"{counts[interval]:,} ({counts[interval] / counts[0]:.2f}x)" for counts in (own, ours)]
        found.append((str(interval), *cells, f"{checked[interval]:.0%}"))
    return found


def _sampling(page, make):
    """Measure traffic over loopback at each interval. Return {"own": ..., "redzone": ..., "checked": ...}."""
    works = ("loopback_mib", "pages")
    plain = bench.measure(bench.prepare(replace(make, mode=build.PLAIN)), works=works)["loopback_mib"]
    own, ours, checked = {0: plain}, {0: plain}, {}
    for counts, is_own in ((own, True), (ours, False)):
        kernel = bench.prepare(make, is_own)
        for interval in INTERVALS:
            found = bench.measure(kernel, (f"kasan.page_alloc.sample={interval}",), works)
            counts[interval] = found["loopback_mib"]
            if not is_own:
                checked[interval] = 1 - found["pages_skipped"] / max(found["pages_all"], 1)
    page.table(sample_rows(own, ours, checked))
    page.notes(
        [
            "Instructions for a MiB over loopback under -icount; (...x): to the kernel without KASAN.",
            "Sampling is for allocations of 8 pages or more; checked: the share of all that got tags.",
        ]
    )
    return {"own": own, "redzone": ours, "checked": checked}


# --- Time: the works of init.c, pair by pair --------------------------------------------------------------

WORKS = ("getpid", "fork_exec_exit", "pipe_ping_pong", "tmpfs_file", "loopback_mib")
PAIRS = 5


def clock_rows(rounds):
    """Return the rows of the table of @rounds, [{heading: {row: ticks}}], the heading first."""
    pairs = ((OWN, PLAIN), (OURS, PLAIN), (OURS, OWN))
    found = [("time", *(f"{one} / {other}" for one, other in pairs))]
    for work in WORKS:
        cells = []
        for one, other in pairs:
            ratios = sorted(columns[one][work] / columns[other][work] for columns in rounds)
            cells.append(f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
        found.append((TITLES[work], *cells))
    return found


def _clock(page, make):
    """Measure the time of the works, the three kernels in turn. Return {"rounds": ...}."""
    kernels = {
        PLAIN: bench.prepare(replace(make, mode=build.PLAIN)),
        OWN: bench.prepare(make, own=True),
        OURS: bench.prepare(make),
    }
    rounds = []
    for number in range(PAIRS):
        say(f"round {number + 1} of {PAIRS}")
        rounds.append(
            {title: bench.measure(kernel, works=WORKS, clock=True) for title, kernel in kernels.items()}
        )
    page.table(clock_rows(rounds))
    page.notes([f"Ratios of the machine's time in QEMU, not of instructions: the median of {PAIRS} rounds."])
    return {"rounds": rounds}


# --- The lock validator: the kernels of the table that was published in 2025 ---------------------------

# By the names of --half: title, and files of further options.
HALVES = {"ordinary": ("Ordinary kernels", ()), "rt": ("Real-time kernels", ("rt",))}
CHECK = build.CONFIG / "check_locks.h"
# What KASAN checks of the validator: variables of make, and how many times longer a build of Linux took in
# each of HALVES, with its system time.
VALIDATORS = {
    "validator instrumented": ((), ("x2.8 (x8.9)", "x6.7 (x18.7)")),
    "validator not instrumented": (("KASAN_SANITIZE_lockdep.o=n",), ("x2.3 (x7.3)", "x4.1 (x10.3)")),
    "the first byte of each lock": (
        ("KASAN_SANITIZE_lockdep.o=n", f"CFLAGS_lockdep.o=-include {CHECK}"),
        ("-", "-"),
    ),
}


LOCK_NOTES = (
    "Instructions under QEMU's -icount; mix: all works together. neither: without KASAN and PROVE_LOCKING. "
    "Without instrumentation KASAN checks no access of the validator itself.",
    "the first byte of each lock: not instrumented, with a check at each acquisition.",
    "Linux, published: the time of a parallel build of Linux on x86-64, in brackets its system time (2025).",
)


def lock_rows(number, base, kernels):
    """Return the rows of the table of the half with @number, the heading first. @base: {work: count} of the
    kernel with neither. @kernels: {(heading, validator): {work: count}}."""
    works = ("mix", *WORKS)
    found = [("kernel", "Linux, published", "mix", *(TITLES[work] for work in WORKS))]
    found.append(("neither", "x1.0 (x1.0)", *(f"{base[work]:,}" for work in works)))
    for (heading, validator), counts in kernels.items():
        there = VALIDATORS[validator][1][number] if heading == OWN else "-"
        ratios = [f"x{counts[work] / base[work]:.2f}" for work in works]
        found.append((f"{heading}, {validator}", there, *ratios))
    return found


def _lock_half(page, make, number, title, kinds):
    """Measure the kernels of one half. Return their figures."""
    files = (*make.more, *(build.CONFIG / f"{kind}.config" for kind in kinds))
    validated = replace(make, more=(*files, build.CONFIG / "lockdep.config"))

    def measure(one, own=False):
        kernel = bench.prepare(one, own, modules=False)
        return kernel, bench.measure(kernel, works=WORKS, strict=True)

    base = measure(replace(make, mode=build.PLAIN, more=files))[1]
    kernels, taken = {}, 0
    for heading in (OWN, OURS):
        for validator, (variables, _) in VALIDATORS.items():
            kernel, counts = measure(replace(validated, variables=variables), heading == OWN)
            kernels[heading, validator] = counts
            if heading == OURS and not variables:
                counted = [bench.calls(kernel, ("lock_acquire",), works) for works in (WORKS, ("boot",))]
                taken = counted[0]["lock_acquire"] - counted[1]["lock_acquire"]
    page.table(lock_rows(number, base, kernels), title)
    page.remarks([f"the mix takes {taken:,} locks"])
    names = {f"{heading}, {validator}": counts for (heading, validator), counts in kernels.items()}
    return {"neither": base, **names, "taken": taken}


def _locks(page, make, half=None):
    """Measure the works of init.c under the lock validator. @half: one of HALVES; None: both. Return {title:
    figures}."""
    halves = {
        title: _lock_half(page, make, number, title, kinds)
        for number, (name, (title, kinds)) in enumerate(HALVES.items())
        if half in (None, name)
    }
    page.notes(LOCK_NOTES)
    return halves


# --- The command ------------------------------------------------------------------------------------

TABLES = {
    "work": (_work, "The same work in three kernels of Linux 6.12, with the same configuration."),
    "boot": (_only_boot, "The boot of three kernels of Linux 6.12, with the same configuration."),
    "traces": (_traces, "What stack traces cost the boot of Linux 6.12."),
    "sampling": (_sampling, "What sampling of page allocations saves in Linux 6.12."),
    "lockdep": (_locks, "What the lock validator costs with KASAN in Linux 6.12."),
    "clock": (_clock, "The time that work takes in three kernels of Linux 6.12."),
}


def run(
    table,
    mode,
    arch,
    cc,
    source_tree,
    config,
    jobs,
    json_file,
    markdown_file,
    yes,
    half=None,
    defconfig=False,
):
    """Carry out the command. Returns the exit status."""
    build.check(arch, mode, cc)
    if table != "boot" and arch not in WORKING:
        raise Failure(f"bench linux {table} is for --arch {' or '.join(WORKING)}; bench linux boot for all")
    if defconfig and table != "traces":
        raise Failure("--defconfig is for the table traces; leave it out, or give: bench linux traces")
    if table == "sampling" and mode != "hw_tags":
        raise Failure("only hardware tags are sampled: give --mode hw_tags")
    if table == "lockdep" and mode == "hw_tags":
        raise Failure("hardware tags check the lock validator in any case: give another --mode")
    if half and table != "lockdep":
        raise Failure(f"--half is for the table lockdep; leave it out of {table}")
    tree = ports.get_source(lambda: source.tree(source_tree), ("xz",), "Linux", yes)
    doctor.require([*build.tools(arch, cc), build.ARCHES[arch].machine], "measure Linux", yes)
    measure, about = TABLES[table]
    page = Page("linux" if table == "work" else f"linux {table}", about, f"{arch}, {cc}")
    page.section(f"{mode}, defconfig" if defconfig else mode)
    chosen = {"half": half} if half else {}
    start = build.FULL if defconfig else build.SMALL
    figures = measure(page, build.Make(tree, mode, arch, cc, jobs, config, start=start), **chosen)
    return page.publish(json_file, markdown_file, mode=mode, arch=arch, **{table: figures})


@click.command("linux", short_help="Linux without KASAN, with its own KASAN, and with Redzone.")
@click.argument("table", type=click.Choice(tuple(TABLES)), default="work", metavar="[TABLE]")
@build.options
@click.option(
    "--defconfig",
    is_flag=True,
    help="traces: the architecture's defconfig in place of a small configuration. It takes over an hour.",
)
@click.option("--half", type=Choice(tuple(HALVES)), help="Of the table lockdep. Default: both halves.")
@options
@click.pass_context
def command(context, source, **chosen):
    """Measure Linux 6.12 without KASAN, with its own KASAN, and with Redzone.

    TABLE is one of:

    \b
      work      the same work in the three kernels: allocations, system calls, the boot (default)
      boot      only the boot, on any architecture
      traces    the boot with each kind of stack traces
      sampling  traffic over loopback with kasan.page_alloc.sample= (--mode hw_tags)
      lockdep   the system calls under PROVE_LOCKING, in ordinary and real-time kernels
      clock     the time of the system calls, the three kernels in turn

    It builds the kernels with one configuration, boots them in QEMU and counts instructions. The first
    time takes about half an hour on two CPUs.

    \b
    Examples:
      ./redzone bench linux
      ./redzone bench linux --mode hw_tags --json linux.json
      ./redzone bench linux traces --mode hw_tags
      ./redzone bench linux lockdep --half rt
      ./redzone bench linux boot --arch riscv

    \b
    Exit status: 0 all was measured, 2 usage or build error, or a kernel stopped.
    """
    context.exit(run(source_tree=source, **chosen))
