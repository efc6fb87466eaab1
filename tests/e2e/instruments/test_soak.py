# SPDX-License-Identifier: MIT
"""`./redzone test soak`: a short real run, and the verdicts on the consoles of failed runs."""

import re

import pytest
from redzone.machine import console
from redzone.testing import soak

PLANTED = """\
soak: planted uaf slab-use-after-free allocated,freed 2
soak: planted module_global global-out-of-bounds none 1
"""


def report(kind="slab-use-after-free", where="soak_bug_uaf+0x10/0x80", allocator="soak_object", freed=True):
    text = f"""\
{console.RULE}
BUG: KASAN: {kind} in {where}
Write of size 1 at addr ffff00000612a04d by task soak_planter/0/21

Call trace:
 {where}
 planter_step+0x48/0x120

Allocated by task 21:
 {allocator}+0x38/0x58
"""
    if freed:
        text += "\nFreed by task 21:\n kfree+0x30/0x120\n"
    return text + f"\n{console.RULE}\n"


MODULE = report("global-out-of-bounds", "soak_bug_module_global+0x4/0x40 [soak_bug_0]")


def judge(*reports):
    """Return ({bug: error}, [other reports]) of a console with @reports."""
    reader = console.Reader()
    seen = soak.Console()
    for line in "".join([*reports, PLANTED]).splitlines():
        reader.feed(line)
        seen.feed(line)
    reader.end()
    return soak.judge_reports(reader.reports, seen.planted)


def test_short_run(redzone):
    result = redzone("test", "soak", "--seconds", 8, "--seed", 11, status=0)
    assert "seed 11: repeat with --seconds 8 --seed 11" in result.stdout
    for name in ("ends", "planted.uaf", "planted.module_slab", "no-other-report", "no-growth.live"):
        assert re.search(rf"^ok \d+ soak\.{name}$", result.stdout, re.M), name


def test_without_kasan(redzone):
    result = redzone("test", "soak", "--mode", "off", "--seconds", 5, status=0)
    assert "soak.planted" not in result.stdout


def test_all_reported():
    errors, others = judge(report(), MODULE, report())
    assert errors == {"uaf": None, "module_global": None}
    assert others == []


@pytest.mark.parametrize(
    ("reports", "error"),
    [
        ([report()], "planted 2 times, reported 1 times"),
        ([report(), report(), report()], "planted 2 times, reported 3 times"),
        ([report(), report("double-free")], "it says double-free, not slab-use-after-free"),
        ([report(), report(freed=False)], "it has no trace 'freed'"),
        ([report(allocator="slab_step"), report()], "it was not allocated by slab_step()"),
    ],
)
def test_wrong_reports_are_named(reports, error):
    errors, _ = judge(MODULE, *reports)
    assert error in errors["uaf"]
    assert errors["module_global"] is None


CHANCE = "soak: planted stale slab-use-after-free,invalid-access none 160 missed=1/6..1/4\n"


@pytest.mark.parametrize(
    ("reported", "error"),
    [
        (160 - 33, None),
        # As many as two thirds more than expected, and as few as half: that still happens.
        (160 - 60, None),
        (160 - 13, None),
        (160, "missed 0 of 160 times; expected 26.7 to 40"),
        (40, "missed 120 of 160 times; expected 26.7 to 40"),
        (161, "planted 160 times, reported 161 times"),
    ],
)
def test_bugs_left_to_chance(reported, error):
    seen = soak.Console()
    seen.feed(CHANCE)
    assert soak.judge_chance(seen.planted["stale"], reported) == error


def test_chance_is_computed():
    assert soak.tail(10, 0, 0.5, True) == pytest.approx(1)
    assert soak.tail(10, 10, 0.5, True) == pytest.approx(1 / 1024)
    assert soak.tail(10, 1, 0.5, False) == pytest.approx(11 / 1024)


def test_one_of_several_types():
    reader, seen = console.Reader(), soak.Console()
    for line in (report("invalid-access", "soak_bug_stale+0x4/0x40") + CHANCE).splitlines():
        reader.feed(line)
        seen.feed(line)
    assert soak.fault_of(reader.reports[0], seen.planted["stale"]) is None
    assert seen.planted["stale"].missed == (1 / 6, 1 / 4)


def test_module_must_be_named():
    errors, _ = judge(report(), report(), MODULE.replace(" [soak_bug_0]", ""))
    assert errors["module_global"].endswith("no frame names a module")


def test_other_reports():
    _, others = judge(report(), report(), MODULE, report(where="slab_step+0x4/0x40"))
    assert others == ["BUG: KASAN: slab-use-after-free in slab_step+0x4/0x40"]


def test_what_the_kernel_complains_of():
    seen = soak.Console()
    for line in (
        "[    1.000000] soak: FAILED: a reader saw a node that was freed",
        "[    1.000000] WARNING: CPU: 0 PID: 1 at kernel/mm/vmalloc.c:1 vfree+0x1/0x2",
        "[    1.000000] BUG: Bad page state: pfn:00001: double free",
        "[    1.000000] BUG: KASAN: double-free in soak_bug_double_free+0x10/0x80",
        "[    1.000000] Thread soak_null/350 is killed",
    ):
        seen.feed(line)
    assert len(seen.failures) == 3
    assert seen.killed == 1


def quiet(values, key="used"):
    """Return the samples of a run: at each rest @key has the next of @values, and nothing else changes."""
    seen = soak.Console()
    for number, value in enumerate(values):
        same = {"used": 1000, "slab": 10, "live": 100, "shadow": 5, "modules": 0, "areas": 4, "traces": 900}
        memory = " ".join(f"{name}={count}" for name, count in {**same, key: value}.items())
        assert seen.feed(f"soak: quiet {number} {memory}")
    return seen.quiet


@pytest.mark.parametrize(
    ("used", "grows"),
    [
        ([100, 900, 1000, 1010, 1000, 1000, 1010, 1000, 1010, 1000], False),
        # A table that grew by one block, and an outlier.
        ([100, 900, 1000, 1000, 1000, 1016, 1016, 1016, 1016, 1016], False),
        ([100, 900, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 5000], False),
        ([1000, 1030, 1060, 1090, 1120, 1150, 1180, 1210, 1240, 1270], True),
    ],
)
def test_growth(used, grows):
    errors = soak.judge_memory(quiet(used), 600)
    assert bool(errors["used"]) == grows
    assert errors["live"] is None
    # In a short run, only those figures are judged that do not grow while the kernel warms up.
    assert set(soak.judge_memory(quiet(used), 60)) == {"live", "areas"}


@pytest.mark.parametrize(
    ("key", "values", "grows"),
    [
        # Measured: shadow that is given back at rest, shadow that was not, and traces of rare paths.
        ("shadow", [96, 96, 99, 96, 95, 97, 99, 98, 98, 98], False),
        ("shadow", [228, 230, 235, 238, 238, 240, 240, 244, 249, 250], True),
        ("traces", [681, 802, 863, 951, 989, 1025, 1127, 1194, 1211, 1226], False),
        # Every trace is stored again, at half the rate.
        ("traces", [300, 500, 700, 900, 1100, 1300, 1500, 1700, 1900, 2100], True),
    ],
)
def test_growth_of_what_kasan_keeps(key, values, grows):
    errors = soak.judge_memory(quiet(values, key), 600)
    assert bool(errors.pop(key)) == grows
    assert not any(errors.values())


LOCKS = """\
soak: lock order 2 possible circular dependency
soak: lock bad_unlock 1 bad unlock
soak: lock harmless 3 none
"""
ORDER = "BUG: lockdep: possible circular dependency in soak_lock_order+0x40/0x80\n"
UNLOCK = "BUG: lockdep: bad unlock in soak_lock_bad_unlock.llvm.1+0x40/0x80\n"


def judge_locks(*reports):
    seen = soak.Console()
    for line in "".join([*reports, LOCKS]).splitlines():
        seen.feed(line)
    assert not seen.failures
    return soak.judge_locks(seen.lock_reports, seen.locks)


def test_all_lock_bugs_reported():
    errors, others = judge_locks(ORDER, UNLOCK, ORDER)
    assert errors == {"order": None, "bad_unlock": None, "harmless": None}
    assert others == []


@pytest.mark.parametrize(
    ("reports", "name", "error"),
    [
        ([ORDER, UNLOCK], "order", "planted 2 times, reported 1 times"),
        ([ORDER, ORDER, ORDER, UNLOCK], "order", "planted 2 times, reported 3 times"),
        ([ORDER, ORDER], "bad_unlock", "planted 1 time, reported 0 times"),
        (
            [ORDER, ORDER.replace("circular dependency", "recursive locking"), UNLOCK],
            "order",
            "report 2: it says possible recursive locking, not possible circular dependency",
        ),
    ],
)
def test_lock_bug_not_reported(reports, name, error):
    errors, others = judge_locks(*reports)
    assert errors[name] == error
    assert others == []


@pytest.mark.parametrize("where", ["soak_lock_harmless", "slab_step", "soak_lock_unknown"])
def test_other_lock_report(where):
    errors, others = judge_locks(ORDER, ORDER, UNLOCK, ORDER.replace("soak_lock_order", where))
    assert others == [f"possible circular dependency in {where}"]
    assert not any(errors.values())
