# SPDX-License-Identifier: MIT
"""`./redzone bench sampling`: it finds as many of the planted bugs as the formula says, at a small price."""

import json

import pytest
from redzone.bench import sampling
from redzone.core.base import Failure

MS = 300
BOOTS = 2


def boots_of(ones):
    return [sampling.Boot(**one) for one in ones]


def test_found_is_as_expected(redzone):
    arguments = ("--boots", str(BOOTS), "--ms", str(MS), "--json", "figures.json")
    result = redzone("bench", "sampling", *arguments, status=0)
    data = json.loads((redzone.folder / "figures.json").read_text())
    samples = 0
    for rate in sampling.RATES:
        boots = boots_of(data["boots"][rate.title])
        assert len(boots) == BOOTS
        due = sum(sampling.samples_due(rate, MS, boot) for boot in boots)
        number, deviation = sampling.expected(due, sampling.chance())
        assert abs(sum(boot.reports for boot in boots) - number) <= 4 * deviation, rate
        assert abs(sum(boot.sampled for boot in boots) - due) <= BOOTS + due / 20, rate
        samples += sum(boot.sampled for boot in boots)
        for kind, (_, share) in sampling.KINDS.items():
            found = [boot.kinds[kind] for boot in boots]
            for planted, sampled, reports in found:
                assert planted > sampled and reports <= sampled
                # A guard that a report has opened stays open for a while.
                assert reports >= sampled - 1 - sampled // 500 or share < 1, kind
        assert sum(boot.reports for boot in boots) == sum(
            reports for boot in boots for _, _, reports in boot.kinds.values()
        )
    assert samples > 1000
    mix = data["mix"]
    assert mix["100 ms, the default"] < mix["not built in"] * (1 + sampling.GOAL)
    assert "below 1% at the default rate" in result.stdout and ": met" in result.stdout


def test_the_chance_of_a_sample():
    """A bug in every fourth object, of seven kinds: five are always found, one half, and one a sixteenth."""
    assert sampling.chance() == pytest.approx((5 + 1 / 2 + 1 / 16) / 7 / 4)
    assert sampling.chance("free_twice") == pytest.approx(1 / 28)
    assert sampling.expected(100, 0.2) == (pytest.approx(20), pytest.approx(4))


def test_a_console_without_figures():
    with pytest.raises(Failure, match="no figures of sampling"):
        sampling.parse("x", ["bench: sampling allocations 3 sampled 2 reports 1"])
