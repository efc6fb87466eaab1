# SPDX-License-Identifier: MIT
"""Which part of a suite runs: --quick is in the default part, and that and --rest are all of it."""

import re

import pytest
from redzone.testing import runner, suites
from redzone.testing.suites import cases, freestanding, golden, kunit, kunit_bugs_removed, lockdep, unit


def context(quick=False, rest=False, mode=None):
    made = runner.Context.__new__(runner.Context)
    made.quick, made.rest, made.mode, made.filter = quick, rest, mode, None
    return made


IN_KUNIT = [item for item in kunit.CONFIGURATIONS if item not in kunit.MATRIX_ONLY]
# (all configurations, what --quick takes, what --rest takes).
PARTS = {
    "kunit": (IN_KUNIT, kunit.IN_QUICK, kunit.REST),
    "golden": (golden.CONFIGURATIONS, golden.IN_QUICK, golden.REST),
    "cases": (cases.TOGETHER, cases.IN_QUICK, cases.REST),
    "lockdep": (lockdep.CONFIGURATIONS, (), lockdep.REST),
    "kunit-bugs-removed": (kunit_bugs_removed.CONFIGURATIONS, (), kunit_bugs_removed.REST),
    "unit": (unit.PRESETS, unit.IN_QUICK, unit.REST),
    "freestanding": (freestanding.builder.presets(), freestanding.IN_QUICK, freestanding.REST),
}


@pytest.mark.parametrize("name", PARTS)
def test_nothing_is_in_no_part(name):
    items, quick, rest = PARTS[name]
    default = context().part(items, quick, rest)
    left_out = context(rest=True).part(items, quick, rest)
    assert sorted(map(str, default + left_out)) == sorted(map(str, items))
    # A name that no longer exists would leave a part empty.
    assert len(left_out) == len(rest)
    few = context(quick=True).part(items, quick, rest)
    assert len(few) == len(quick) and set(few) <= set(default)
    assert context(mode="generic").part(items, quick, rest) == list(items)


# Kernels that no other part of the default needs. They share code with the others, so a bug of their own
# is rare, and each takes about half a minute of CPU time to build.
ONLY_IN_REST = {
    *("clang-22", "slab", "rt", "scs+erase", "mtestack", "taggedglobals", "with_globals", "stack", "sample"),
    ("sw_tags", "outline"),
    *("asymm", ("hw_tags", "asymm")),
}


@pytest.mark.parametrize("name", ["kunit", "golden", "cases"])
def test_what_the_default_part_has(name):
    """Each mode; in Generic each kind of check, and both families of compilers in one version."""
    items, quick, rest = PARTS[name]

    def values(chosen):
        found = set()
        for mode, *words in chosen:
            checks = [word for word in words if word in ("inline", "outline", "sync", "async", "asymm")]
            found.update((mode, word) for word in checks)
            found.update(words)
        return found

    assert values(context().part(items, quick, rest)) | ONLY_IN_REST == values(items) | ONLY_IN_REST


def test_suites_by_default():
    known = suites.load()
    default = runner._choose((), known, False, False)
    quick = runner._choose((), known, True, False)
    rest = runner._choose((), known, False, True)
    assert {"style", "unit", "kunit", "golden", "cases", "e2e"} <= set(quick) < set(default)
    assert {"kunit", "golden", "cases", "porting"} <= set(rest) < set(default)
    assert not {"instruments", "traces", "fresh-machine"} & set(default)
    # A name wins, and both options take it as it is.
    assert runner._choose(("traces",), known, True, False) == ["traces"]


def test_marks_are_those_of_pytest_ini():
    text = (runner.ROOT / "pytest.ini").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^    (\w+):", text) == ["quick", "rest"]


def test_kunit_with_a_filter():
    """In few configurations, also of those that --rest has; with --rest or --quick in those of that part."""

    def chosen(**options):
        made = context(**options)
        made.filter = "slab*"
        return kunit._chosen(made, False)

    assert set(chosen()) == kunit.FILTERED & set(kunit.CONFIGURATIONS)
    assert set(chosen(rest=True)) == kunit.REST
    assert set(chosen(quick=True)) == kunit.IN_QUICK
    assert kunit._chosen(context(), True) == kunit.CONFIGURATIONS
