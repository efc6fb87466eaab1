# SPDX-License-Identifier: MIT
"""`./redzone bench linux`: the same work in Linux without KASAN, with its own KASAN, and with Redzone."""

from dataclasses import replace

import click
from redzone.bench.page import Page, options
from redzone.core import doctor
from redzone.kit import ports

from .host import bench, build, source

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


def run(mode, arch, cc, source_tree, config, jobs, json_file, markdown_file, yes):
    """Carry out the command. Returns the exit status."""
    build.check(arch, mode, cc)
    tree = ports.get_source(lambda: source.tree(source_tree), ("xz",), "Linux", yes)
    doctor.require([*build.tools(arch, cc), build.ARCHES[arch].machine], "measure Linux", yes)
    make = build.Make(tree, mode, arch, cc, jobs, config)
    columns = {
        PLAIN: bench.measure(replace(make, mode=build.PLAIN)),
        OWN: bench.measure(make, own=True),
        OURS: bench.measure(make),
        QUIET: bench.measure(make, append=("kasan.stacktrace=off",)),
    }
    page = Page(
        "linux", "The same work in three kernels of Linux 6.12, with the same configuration.", f"{arch}, {cc}"
    )
    page.section(mode)
    page.table(rows(mode, columns))
    page.notes(["Instructions under QEMU's -icount; (...x): to the kernel without KASAN."])
    if arch == "x86_64":
        page.notes(["The boot includes the BIOS and the unpacking of the kernel, the same in all columns."])
    return page.publish(json_file, markdown_file, mode=mode, arch=arch, columns=columns)


@click.command("linux", short_help="Linux without KASAN, with its own KASAN, and with Redzone.")
@build.options
@options
@click.pass_context
def command(context, source, **chosen):
    """Measure the same work in Linux three times: without KASAN, with its own KASAN, with Redzone.

    It builds three kernels with one configuration, boots them in QEMU and counts instructions. The first
    time takes about half an hour on two CPUs.

    \b
    Examples:
      ./redzone bench linux
      ./redzone bench linux --mode hw_tags --json linux.json

    \b
    Exit status: 0 all was measured, 2 usage or build error, or a kernel stopped.
    """
    context.exit(run(source_tree=source, **chosen))
