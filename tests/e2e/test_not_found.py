# SPDX-License-Identifier: MIT
"""not-found.md: each bug of the table is found, or not found, in each mode as it says; and `run -v`."""

import json
from pathlib import Path

import pytest
from redzone.run import unfound
from redzone.testing.needs import first

CLEAN = '#include <stdio.h>\nint main(void)\n{\n\tputs("hello");\n\treturn 0;\n}\n'


@pytest.mark.parametrize("mode", unfound.MODES)
def test_each_bug(redzone, tmp_path, mode):
    verdicts = tmp_path / "verdicts.json"
    words = ["run", "--each", "--mode", mode, "--timeout", "120", "--json", verdicts, unfound.PROGRAMS]
    redzone(*words, status=1)
    found = {
        Path(row["file"]).stem: {"ok": False, "report": True}.get(row["end"], row)
        for row in json.loads(verdicts.read_text(encoding="utf-8"))["programs"]
    }
    assert found == {bug.name: mode in bug.found for bug in unfound.BUGS}


@pytest.mark.rest
def test_stack_tagging(redzone, tmp_path):
    """--mte-stack is said to find these with hardware tags."""
    names = [bug.name for bug in unfound.BUGS if "`--mte-stack`" in bug.helps]
    assert len(names) == 3
    files = [unfound.PROGRAMS / f"{name}.c" for name in names]
    result = redzone("run", "--each", "--mode", "hw_tags", "--mte-stack", *files, status=1)
    assert result.stdout.count("\nnot ok ") == len(names), result.stdout


@first(
    2,
    ("name", "options"),
    [
        ("misaligned_volatile", ["--outline"]),
        ("leak", ["--outline"]),
        ("global_array", ["--mode", "sw_tags", "--tagged-globals"]),
        ("last_granule", ["--mode", "hw_tags", "--append", "kasan.slack=check"]),
        ("signed_overflow", ["--ubsan"]),
    ],
)
def test_what_helps(redzone, name, options):
    redzone("run", *options, unfound.PROGRAMS / f"{name}.c", status=0 if name == "leak" else 1)


def test_table():
    text = unfound.DOCUMENT.read_text(encoding="utf-8")
    table = text.partition(unfound.MARKS[0])[2].partition(unfound.MARKS[1])[0]
    assert table == unfound.table(), "PYTHONPATH=tools .venv/bin/python -m redzone.run.unfound writes it"


@pytest.mark.parametrize(
    ("mode", "options", "before"),
    [
        ("generic", [], "no KASAN report"),
        ("hw_tags", [], "no KASAN report"),
        ("generic", ["--each"], "1 program in 1 boot: 1 passed, 0 failed"),
    ],
)
def test_lines_of_a_clean_run(redzone, source, mode, options, before):
    result = redzone("run", "-v", "--mode", mode, *options, source(CLEAN), status=0)
    said = result.stderr.splitlines()
    start = said.index(f"redzone: {before}")
    assert said[start + 1 :] == [f"redzone: {line}" for line in unfound.lines(mode)]
    assert "leaks, " in said[start + 1]
    assert ("overflows of global arrays" in said[start + 2]) == (mode == "hw_tags")
    assert "docs/use/not-found.md" in said[start + 3]


def test_no_lines_otherwise(redzone, source):
    """Not without -v, not after a report, and not where nothing was checked."""
    bad = "#include <stdlib.h>\nint main(void)\n{\n\tchar *volatile p = malloc(8);\n\tp[8] = 1;\n}\n"
    for words in (
        ["run", source(CLEAN, "clean.c")],
        ["run", "-v", source(bad, "bad.c")],
        ["run", "-v", "--mode", "off", source(CLEAN, "clean.c")],
    ):
        assert "no mode reports" not in redzone(*words).stderr
