# SPDX-License-Identifier: MIT
"""The programs with known verdicts: every clone has them, and their index fits them."""

import pytest
from redzone.core.base import ROOT
from redzone.testing import runner
from redzone.testing.suites import cases

pytestmark = pytest.mark.quick

FOLDER = ROOT / "tests" / "cases"


def test_a_clone_has_them(monkeypatch):
    """The suite takes them from the tree itself: nothing else is needed."""
    monkeypatch.delenv("REDZONE_CASES", raising=False)
    assert runner._cases_dir(None) == FOLDER
    assert len(cases.load(FOLDER)) == 107


def test_the_index_names_each_program_once():
    listed = sorted(case.path for case in cases.load(FOLDER))
    assert listed == sorted(FOLDER.glob("*.c"))


@pytest.mark.parametrize("case", cases.load(FOLDER), ids=lambda case: case.name)
def test_the_index_has_the_line_of_the_mark(case):
    lines = case.path.read_text(encoding="utf-8").splitlines()
    marked = [number for number, line in enumerate(lines, 1) if "/* BAD */" in line]
    assert lines[0].startswith("/*"), "the first line names the bug"
    if case.line is None:
        assert case.verdict == "clean" or marked
    else:
        assert marked == [case.line]
    if case.verdict == "clean":
        assert not marked


@pytest.mark.parametrize("case", cases.load(FOLDER), ids=lambda case: case.name)
def test_the_columns_of_hardware_tags(case):
    verdicts = ("caught", "missed-in-granule", "missed-untagged", "n/a", "clean")
    assert case.hw_tags in verdicts and case.mte_stack in verdicts
    assert len({case.verdict == "clean", case.hw_tags == "clean", case.mte_stack == "clean"}) == 1
    # Tags on the stack change nothing elsewhere, and take nothing away.
    if not case.verdict.startswith(("stack", "use-after-scope")):
        assert case.hw_tags == case.mte_stack
    assert case.mte_stack == "caught" or case.hw_tags != "caught"
    # Hardware has no smaller unit than a granule.
    if case.mte_stack == "caught" and case.tags != "n/a":
        assert case.tags == "caught"


def test_what_must_be_missed_with_hardware_tags():
    by_name = {case.name: case for case in cases.load(FOLDER)}
    missed = cases.for_hw_tags(by_name["stack_over_w"], stack=True)
    assert cases.compare(missed, None, "") == []
    assert cases.compare(missed, None, "crashed") == ["crashed"]
    assert cases.for_hw_tags(by_name["stack_over_w"]) is None
    assert cases.for_hw_tags(by_name["stack_over_r"]).verdict == "missed"
    assert cases.for_hw_tags(by_name["stack_over_r"], stack=True).verdict == "stack-out-of-bounds"


def test_an_index_without_the_columns_of_hardware_tags():
    old = cases.Case("stack", FOLDER / "x.c", "stack-out-of-bounds", "Write", 1, 3, "caught")
    assert cases.for_hw_tags(old, stack=True) is None
    heap = cases.Case("heap", FOLDER / "x.c", "slab-out-of-bounds", "Write", 1, 3, "caught")
    assert cases.for_hw_tags(heap) == heap.__class__(**{**heap.__dict__, "size": None})
