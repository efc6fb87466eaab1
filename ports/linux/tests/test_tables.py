# SPDX-License-Identifier: MIT
"""The tables of `./redzone bench linux`, from figures that are made up."""

import re
import sys
from types import SimpleNamespace

import pytest
from redzone.core.base import ROOT, Failure
from redzone.kit.ports.linux import table
from redzone.kit.ports.linux.host import bench, boot, build

pytestmark = pytest.mark.quick


def test_rows_of_a_console():
    lines = [
        "redzone-bench: boot 98765",
        "[    1.0] redzone-bench: kmalloc_64 1234",
        "noise",
        "[    1.2] Summary: fix_size_alloc_test passed: 1 failed: 0 repeat: 1 loops: 1000 avg: 12 usec",
        "[    1.2] Summary: full_fit_alloc_test passed: 0 failed: 1 repeat: 1 loops: 1000 avg: 12 usec",
    ]
    assert bench.rows(lines) == {"boot": 98765, "kmalloc_64": 1234, "fix_size": 12000}


def columns(**ours):
    """Return the columns of a table: 100 without KASAN, 1,000 with Linux's own, @ours with Redzone."""
    counts = dict.fromkeys(table.TITLES, 500) | ours
    return {
        table.PLAIN: dict.fromkeys(table.TITLES, 100),
        table.OWN: dict.fromkeys(table.TITLES, 1000),
        table.OURS: counts,
        table.QUIET: {row: count // 2 for row, count in counts.items()},
    }


@pytest.mark.parametrize(
    ("mode", "row", "count", "goal", "met"),
    [
        ("generic-inline", "kmalloc_64", 650, "650 / 330", "yes"),
        ("generic-inline", "kmalloc_64", 651, "650 / 330", "no"),
        ("hw_tags", "kmalloc_64", 650, "650 / 300", "no"),
        ("generic-inline", "boot", 250, "2.5x", "yes"),
        ("generic-inline", "boot", 251, "2.5x", "no"),
        ("sw_tags", "boot", 1000, "ahead", "yes"),
        ("sw_tags", "boot", 1001, "ahead", "no"),
    ],
)
def test_a_row_has_its_goal_beside_it(mode, row, count, goal, met):
    found = {cells[0]: cells for cells in table.rows(mode, columns(**{row: count}))}
    assert found[table.TITLES[row]][-2:] == (goal, met)
    assert found[table.TITLES[row]][3] == f"{count:,} ({count / 100:.2f}x)"


def test_all_that_is_counted_has_a_title():
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "ports/linux/module").glob("*.c"))
    counted = set(re.findall(r"\brow\(\"(\w+)\"|\{\"(\w+)\", \w+\}", code))
    counted = {name for pair in counted for name in pair if name} - {"nothing", "mix"}
    tests = {"fix_size", "full_fit", "long_busy_list", "random_size", "fix_align"}
    assert set(table.TITLES) == counted | tests | {"memory_kib", "image_kib"}


def test_the_boot_is_compared_with_the_kernel_without_kasan():
    counts = {table.PLAIN: 1000, table.OWN: 3980, table.OURS: 3150}
    assert table.boot_rows(counts)[1:] == [
        ("no KASAN", "1,000", "1.00x"),
        ("Linux's own", "3,980", "3.98x"),
        ("Redzone", "3,150", "3.15x"),
    ]


def test_only_the_boot_is_counted_on_each_architecture():
    with pytest.raises(Failure, match="bench linux work is for --arch arm64 or x86_64"):
        table.run("work", "generic-inline", "riscv", "clang", None, (), 1, None, None, False)


def test_traces_are_compared_with_the_kernel_without():
    boots = {
        "no traces": (1000, 1000),
        "unwinder": (1020, 1000),
        "shadow call stack, hooks exempt": (1005, 995),
    }
    found = table.trace_rows("hw_tags", boots)[1:]
    assert found[0] == ("no traces", "-", "1,000", "+0.0 %")
    assert found[1] == ("unwinder", "+51.0 %", "1,020", "+2.0 %")
    assert found[2] == ("shadow call stack, hooks exempt", "-", "1,005", "+1.0 %")


def test_sampling_is_compared_with_the_kernel_without_kasan():
    own = {0: 100} | dict.fromkeys(table.INTERVALS, 150)
    ours = {0: 100} | {interval: 120 - interval for interval in table.INTERVALS}
    found = table.sample_rows(own, ours, dict.fromkeys(table.INTERVALS, 0.934))[1:]
    assert len(found) == len(table.INTERVALS)
    assert found[0] == ("1", "150 (1.50x)", "119 (1.19x)", "93%")


def test_the_lock_validator_is_compared_with_the_kernel_without():
    base = dict.fromkeys(("mix", *table.WORKS), 100)
    kernels = {
        (heading, validator): dict.fromkeys(base, count)
        for heading, count in ((table.OWN, 400), (table.OURS, 250))
        for validator in table.VALIDATORS
    }
    heading, *body = table.lock_rows(1, base, kernels)
    assert heading[:4] == ("kernel", "Linux, published", "mix", "getpid()")
    assert body[0] == ("neither", "x1.0 (x1.0)", *("100",) * 6)
    assert body[1] == ("Linux's own, validator instrumented", "x6.7 (x18.7)", *("x4.00",) * 6)
    assert body[-1] == ("Redzone, the first byte of each lock", "-", *("x2.50",) * 6)


def test_one_half_of_the_lock_validators_table(monkeypatch):
    """A half keeps its own figures of those that were published."""
    halves = []
    monkeypatch.setattr(table, "_lock_half", lambda page, make, *half: halves.append(half))
    page = SimpleNamespace(notes=lambda _: None)
    table._locks(page, None)
    assert halves == [(0, "Ordinary kernels", ()), (1, "Real-time kernels", ("rt",))]
    assert [*table._locks(page, None, "rt")] == ["Real-time kernels"]
    assert halves[2:] == halves[1:2]
    with pytest.raises(Failure, match="--half is for the table lockdep"):
        table.run("work", "sw_tags", "arm64", "clang", None, (), 1, None, None, False, "rt")


def test_hardware_tags_check_the_lock_validator_in_any_case():
    with pytest.raises(Failure, match="another --mode"):
        table.run("lockdep", "hw_tags", "arm64", "clang", None, (), 1, None, None, False)


def test_full_configuration_is_for_traces():
    with pytest.raises(Failure, match="leave it out, or give: bench linux traces"):
        table.run("work", "generic-inline", "arm64", "clang", None, (), 1, None, None, False, defconfig=True)


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: possible circular locking dependency detected",
        "BUG: MAX_LOCKDEP_ENTRIES too low!",
        "turning off the locking correctness validator.",
    ],
)
def test_a_kernel_that_warns_is_not_compared(monkeypatch, tmp_path, line):
    """The validator is off after that, and costs nothing."""
    lines = ["redzone-bench: mix 1", f"[    1.0] {line}", "redzone-bench: end 0"]
    monkeypatch.setattr(bench.boot, "run", lambda *_, **__: boot.Session(tmp_path / "log", lines=lines))
    image = SimpleNamespace(name="x", make=build.Make(tmp_path, "generic-inline"))
    kernel = SimpleNamespace(image=image, initrd=tmp_path)
    assert bench.measure(kernel) == {"mix": 1}
    with pytest.raises(Failure, match=re.escape(line)):
        bench.measure(kernel, strict=True)


def test_only_hardware_tags_are_sampled():
    with pytest.raises(Failure, match="--mode hw_tags"):
        table.run("sampling", "sw_tags", "arm64", "clang", None, (), 1, None, None, False)


def test_time_is_compared_round_by_round():
    def columns(own, ours):
        return {
            table.PLAIN: dict.fromkeys(table.WORKS, 10),
            table.OWN: dict.fromkeys(table.WORKS, own),
            table.OURS: dict.fromkeys(table.WORKS, ours),
        }

    found = table.clock_rows([columns(40, 20), columns(20, 15), columns(30, 30)])
    assert found[1] == ("getpid()", "3.00 (2.00 to 4.00)", "2.00 (1.50 to 3.00)", "0.75 (0.50 to 1.00)")


def test_a_machine_that_does_not_start_ends_the_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(boot, "command", lambda *_, **__: ["false"])
    with pytest.raises(Failure, match="QEMU did not start"):
        boot.instructions(None, tmp_path / "log")


def test_a_kernel_that_ends_too_early_is_not_counted(tmp_path, monkeypatch):
    """The stand-in for QEMU prints a panic, and answers as its monitor does."""
    program = tmp_path / "machine.py"
    program.write_text(
        "import json, re, socket, sys\n"
        "print(sys.argv[1], flush=True)\n"
        "path = re.search('unix:(.*),server', ' '.join(sys.argv))[1]\n"
        "server = socket.socket(socket.AF_UNIX)\n"
        "server.bind(path)\n"
        "server.listen()\n"
        "file = server.accept()[0].makefile('rw')\n"
        "for line in file:\n"
        "    asked = json.loads(line)['execute']\n"
        "    answer = {'icount': 123} if asked == 'query-replay' else {}\n"
        "    print(json.dumps({'return': answer}), file=file, flush=True)\n"
        "    if asked == 'qmp_capabilities':\n"
        "        print(json.dumps({'event': 'STOP'}), file=file, flush=True)\n",
        encoding="utf-8",
    )

    def count(text):
        line = [sys.executable, str(program), text]
        monkeypatch.setattr(boot, "command", lambda *_, options, icount: [*line, *options])
        return boot.instructions(None, tmp_path / "log")

    assert count("[    0.5] Kernel panic - not syncing: No working init found.") == 123
    with pytest.raises(Failure, match="before init: Kernel panic - not syncing: Attempted to kill"):
        count("[    0.5] Kernel panic - not syncing: Attempted to kill the idle task!")
