# SPDX-License-Identifier: MIT
"""The programs with known verdicts: every clone has them, and their index fits them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))

from redzone import runner
from redzone.base import ROOT
from redzone.suites import cases

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
