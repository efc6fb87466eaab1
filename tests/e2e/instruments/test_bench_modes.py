# SPDX-License-Identifier: MIT
"""The suite `bench-modes` sees each cost that misses its goal; `--with-off` measures kasan=off."""

import json

import pytest
from redzone.bench import cost
from redzone.testing.runner import FAIL
from redzone.testing.suites import bench_modes as suite

OPERATIONS = {*suite.OFF_OPERATIONS, *(name for bounds in suite.NO_TRACES.values() for name in bounds)}


def figures_that_meet_all():
    """Return figures of which each goal is just met."""
    figures = {"none": dict.fromkeys(OPERATIONS, 100)}
    for mode, column in suite.COLUMNS.items():
        figures[f"{column}, no traces"] = {**figures["none"], **suite.NO_TRACES.get(mode, {})}
        figures[f"{column}, {cost.OFF}"] = dict.fromkeys(OPERATIONS, 100 + suite.OFF)
    return figures


def missed(figures):
    return [
        result.name for mode in suite.MODES for result in suite.goals(mode, figures) if result.status == FAIL
    ]


def test_a_cost_at_its_bound_meets_the_goal():
    assert not missed(figures_that_meet_all())


@pytest.mark.parametrize("mode", suite.MODES)
@pytest.mark.parametrize("operation", suite.OFF_OPERATIONS)
def test_the_suite_sees_what_switched_off_kasan_costs(mode, operation):
    figures = figures_that_meet_all()
    figures[f"{suite.COLUMNS[mode]}, {cost.OFF}"][operation] += 1
    assert missed(figures) == [f"goal.{mode}.{operation}-off"]


@pytest.mark.parametrize(
    ("mode", "operation"), [(mode, name) for mode, bounds in suite.NO_TRACES.items() for name in bounds]
)
def test_the_suite_sees_what_tags_cost(mode, operation):
    figures = figures_that_meet_all()
    figures[f"{suite.COLUMNS[mode]}, no traces"][operation] += 1
    assert missed(figures) == [f"goal.{mode}.{operation}-no-traces"]


def test_with_off_adds_a_column(redzone, tmp_path):
    path = tmp_path / "figures.json"
    redzone(
        "bench", "--modes", "generic-inline", "--ops", "pages_0", "--with-off", "--json", str(path), status=0
    )
    figures = json.loads(path.read_text())["figures"]
    assert list(figures) == [
        "none",
        "generic-inline",
        "generic-inline, no traces",
        "generic-inline, kasan=off",
    ]
    none, off, on = (
        figures[key]["pages_0"] for key in ("none", "generic-inline, kasan=off", "generic-inline")
    )
    assert none < off <= none + suite.OFF < on
