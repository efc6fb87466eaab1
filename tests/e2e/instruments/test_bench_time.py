# SPDX-License-Identifier: MIT
"""`./redzone bench time`: the tables, what cannot run, and programs that are really run."""

import pytest
from redzone.bench import seconds
from redzone.core.base import Failure
from redzone.testing.needs import need

ROW = seconds.Row("heap-64", "malloc(64) and free()", "heap.c", ("-DSIZE=64",))


def turns(*cpu, wall=1.0):
    return [{"cpu": one, "wall": wall} for one in cpu]


FIGURES = {
    "heap-64": {
        1: {
            "without": turns(10, 20, 10),
            "redzone": turns(50, 80, 60),
            "asan": turns(100, 100, 90),
            "hwasan": [],
        },
        4: {
            "without": turns(10, wall=2.0),
            "redzone": turns(84, wall=2.0),
            "redzone, processes": turns(72, wall=2.0),
            "asan": turns(110, wall=2.0),
            "hwasan": [],
        },
    }
}


def test_figures_are_medians_of_the_turns():
    one = FIGURES["heap-64"][1]
    # The median of the ratios is 5; the ratio of the medians would be 6.
    assert seconds.ratio(one, "redzone", "without") == (5, 4, 6)
    assert seconds.ratio(one, "redzone", "asan") == (60 / 90, 0.5, 0.8)
    assert seconds.ratio(one, "hwasan", "without") is None


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ((0.5, 0.4, 0.9), "met"),
        ((0.9, 0.8, 1.1), "met, close"),
        ((1.1, 0.9, 1.3), "not met, close"),
        ((1.0, 1.0, 1.0), "not met"),
        ((2.0, 1.5, 3.0), "not met"),
        (None, "ASan did not run"),
    ],
)
def test_the_goal(value, word):
    assert seconds.met(value) == word


def test_tables():
    (_, table), (title, threads) = seconds.tables([ROW], FIGURES, 4)
    assert table[1] == [
        "malloc(64) and free()",
        "10",
        "5.00 (4.00 to 6.00)",
        "9.00 (5.00 to 10.00)",
        "did not run",
        "0.67 (0.50 to 0.80)",
        "met",
    ]
    assert "4 CPUs" in title
    assert threads == [
        ["", "without, 4", "Redzone, 4", "Redzone, processes, 4", "ASan, 4", "flat (1.15)"],
        ["malloc(64) and free()", "1.00", "1.40", "1.20", "1.10", "not met"],
    ]
    # Where four processes take as long, it is the machine.
    slow = {"heap-64": {**FIGURES["heap-64"], 4: {**FIGURES["heap-64"][4], seconds.APART: turns(75)}}}
    *_, (_, threads) = seconds.tables([ROW], slow, 4)
    assert threads[1][-1] == "met"
    # Four threads on two CPUs take twice as long whatever they do.
    *_, (_, threads) = seconds.tables([ROW], FIGURES, 2)
    assert threads[1][-1] == "too few CPUs"


def test_what_did_not_run_is_said_once():
    wrong = {("heap-64", "hwasan"): "FATAL: no", ("deep", "hwasan"): "FATAL: no"}
    lines = list(seconds.notes([ROW], FIGURES, wrong, "perf is not installed"))
    assert lines == [
        "Goal: ahead of ASan in every row. Met in 1 of 1.",
        "Did not run: hwasan of deep, hwasan of heap-64: FATAL: no",
        "Cycles and cache misses were not counted: perf is not installed.",
    ]


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_program_that_fails(tmp_path):
    good = script(tmp_path / "good", "echo time 1.000 100000.5")
    assert seconds.once(good, "redzone", 7, 1) == {"wall": 1, "cpu": 100000.5}
    # So many rounds take 20 ms.
    assert seconds.calibrate(good) == 199
    for text, what in (
        ("echo FATAL: no tags >&2; exit 99", "FATAL: no tags"),
        ("exit 4", "status 4"),
        ("echo 'BUG: KASAN: x in y' >&2; echo time 1.0 1.0", "it has a report"),
    ):
        bad = script(tmp_path / "bad", text)
        with pytest.raises(Failure, match=what):
            seconds.once(bad, "hwasan", 1, 1)
    programs = {"without": good, "redzone": good, "asan": good, "hwasan": script(tmp_path / "bad", "exit 4")}
    figures, wrong = seconds.measure(ROW, programs, 3, (1, 2))
    assert wrong == {"hwasan": "status 4"}
    assert {key: len(found) for key, found in figures[2].items()} == {
        "without": 3,
        "redzone": 3,
        "redzone, processes": 3,
        "asan": 3,
        "hwasan": 0,
    }
    programs["redzone"] = programs["hwasan"]
    with pytest.raises(Failure, match="heap-64, redzone: status 4"):
        seconds.measure(ROW, programs, 1, (1,))


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """The runtime's objects."""
    need("clang-19")
    return seconds.runtime(tmp_path_factory.mktemp("runtime"))


@pytest.mark.rest
def test_each_program_does_its_work(tmp_path, ours):
    """The small programs, with the runtime and without, end without a report in two threads."""
    for row in seconds.MICRO:
        if row.name.startswith("heap-") and row.name != "heap-64":
            continue
        for key in ("without", "redzone"):
            found = seconds.once(seconds.build(row, key, tmp_path, ours), key, 3000, 2)
            assert found["wall"] > 0 and found["cpu"] > 0


def test_a_bug_is_reported(tmp_path, ours):
    """The programs are checked while they are measured: one with a bug in its heap is refused."""
    source = tmp_path / "heap.c"
    text = (seconds.OWN / "heap.c").read_text(encoding="utf-8")
    source.write_text(text.replace("(*at)[SIZE - 1]", "(*at)[SIZE]"), encoding="utf-8")
    assert "[SIZE]" in source.read_text(encoding="utf-8")
    row = seconds.Row("bug", "a bug", str(source), (f"-I{seconds.OWN}",))
    program = seconds.build(row, "redzone", tmp_path, ours)
    with pytest.raises(Failure, match="it has a report"):
        seconds.once(program, "redzone", 1, 1)
