# SPDX-License-Identifier: MIT
"""`./redzone bench profile`: its table, its input, and that its sum is the figure of the table."""

import json

import pytest
from redzone.bench import profile
from redzone.core.base import Failure


def test_operations_have_a_name_and_a_title():
    assert profile.find("kmalloc_64") == ("memory", "kmalloc_64")
    assert profile.find("kmalloc(64)+kfree") == ("memory", "kmalloc_64")
    assert profile.find("traces.depth_16") == ("traces", "traces.depth_16")
    assert profile.find("page_traffic") == ("traffic", "page_traffic")
    assert profile.find("spin_lock + spin_unlock") == ("locks", "locks.spin_lock")
    assert profile.find("mix") == ("mix", "mix")
    with pytest.raises(Failure, match="there is no operation 'kmalloc' to profile; there are: kmalloc_64, "):
        profile.find("kmalloc")


def test_rows_are_sorted_and_add_up():
    measured = {"figure": 100.0, "rounds": 8, "functions": {"a": 20.0, "b": 84.0, "c": 0.25, "nothing": -4.0}}
    assert list(profile.rows(measured)) == [
        ["function", "instructions", "share"],
        ["b", "84.0", "83.8%"],
        ["a", "20.0", "20.0%"],
        ["nothing", "-4.0", "-4.0%"],
        ["all others", "0.2", "0.2%"],
        ["sum", "100.2", "100.0%"],
    ]
    assert profile.verdict(measured) == "the table's figure: 100.0"
    assert "differs" in profile.verdict({**measured, "figure": 104.0})


@pytest.mark.parametrize("operation", ["kmalloc_64", "traces.depth_16"])
def test_the_sum_is_the_figure_of_the_table(redzone, tmp_path, operation):
    path = tmp_path / "profile.json"
    result = redzone("bench", "profile", operation, "--json", path, status=0)
    data = json.loads(path.read_text())
    # More than the shadow of kmalloc() and kfree(), whichever functions that is.
    assert data["functions"]["kmalloc"] > 10 and data["functions"]["kfree"] > 10
    assert abs(sum(data["functions"].values()) - data["figure"]) <= 0.01 * data["figure"]
    assert "the table's figure: " in result.stdout and "differs" not in result.stdout


def test_the_mix_has_a_profile_of_its_own(redzone, tmp_path):
    path = tmp_path / "profile.json"
    redzone("bench", "profile", "mix", "--mode", "none", "--json", path, status=0)
    data = json.loads(path.read_text())
    # kernel/tests/bench/mix.h: user mode computes 448 steps of more than 1,300 instructions per job.
    assert 600_000 < data["functions"][profile.USER] < 650_000
    assert data["functions"]["find_file"] > 1000
    assert abs(sum(data["functions"].values()) - data["figure"]) <= 0.05 * data["figure"]
