# SPDX-License-Identifier: MIT
"""`./redzone bench rt`: the text of its tables, its input, the stated limits, and one kernel's figures."""

import re

import pytest
from redzone.bench import page, rt
from redzone.build import builder
from redzone.core import base
from redzone.core.base import Failure

NAMES = {0x10: "start_it", 0x20: "end_it", 0x30: "depot", 0x40: "kasan_report_lock", 0x50: "other_lock"}


class Named:
    """Stands for the names of a kernel."""

    def name(self, address):
        return NAMES[address]


def console(*extra):
    lines = ["[    0.000001] bench: clock 62500000"]
    lines += [f"[    0.1] irqsoff: {work}.off 10 2 0x10 0x20" for work in rt.WORKS]
    return [*lines, *extra]


def figures(*extra):
    return rt.parse(console(*extra), Named())


def test_a_console_is_read():
    found = figures(
        "[    0.2] irqsoff: traces.off 99 1 0x20 0x10",
        "[    0.2] irqsoff: traces.lock 20 5 0x30 0x10",
        "[    0.2] irqsoff: caches.lock 30 6 0x30 0x10",
    )
    assert found["off"]["traces"] == [[160, 2, "start_it", "end_it"], [1584, 1, "end_it", "start_it"]]
    assert found["locks"] == {"depot": [480, 11]}
    assert rt.longest(found) == [1584, 1, "end_it", "start_it"]
    assert rt.longest(found, "pages")[0] == 160


def test_figures_that_are_not_whole_are_refused():
    with pytest.raises(Failure, match="no figure for traces, quarantine"):
        rt.parse(["bench: clock 62500000"], Named())
    with pytest.raises(Failure, match="the tracer's tables are too small"):
        figures("[    0.2] irqsoff: traces: 3 periods were not recorded")
    with pytest.raises(Failure, match="a lock in 'other_lock', which has no limit"):
        figures("[    0.2] irqsoff: traces.lock 20 5 0x50 0x10")


def test_the_tables():
    plain = figures("irqsoff: traces.off 99 1 0x20 0x10")
    kasan = figures("irqsoff: traces.lock 20 5 0x30 0x10", "irqsoff: traces.lock 9999 5 0x40 0x10")
    measured = {"off": plain, "generic": kasan}
    heading, *body = rt.rows(measured)
    assert heading == ["interrupts off at most", "KASAN off", "Generic"]
    assert body[0] == ["16,384 new stack traces", "1,584", "160"]
    assert body[-1] == ["longest of all", "1,584", "160"]
    assert list(rt.lock_rows(measured)) == [
        ["a lock of KASAN held at most", "limit", "Generic"],
        ["stack depot", "1,000", "320"],
        ["a report or a notice", "-", "159,984"],
    ]
    # Each place once, the longest first.
    assert list(rt.place_rows(measured))[1:] == [
        ["KASAN off", "1,584", "end_it", "start_it", "traces"],
        ["KASAN off", "160", "start_it", "end_it", "traces"],
        ["Generic", "160", "start_it", "end_it", "traces"],
    ]
    assert rt.verdict(measured) == "limits of the locks: met"
    text = rt.page_of({"ordinary": measured, "real-time": measured}).markdown()
    assert text.count("| longest of all | 1,584 | 160 |") == 2
    assert "## Real-time kernel" in text


def test_a_limit_can_be_missed():
    measured = {"generic": figures("irqsoff: traces.lock 100 5 0x30 0x10")}
    assert rt.verdict(measured) == ("limits of the locks: missed: Generic: stack depot: 1,600, limit 1,000")


def test_the_limits_are_those_of_the_documentation():
    text = (base.ROOT / "docs" / "internals" / "realtime.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"(?m)^\| (\w[^|]*?) \| [^|]+ \| [^|]+ \| ([\d,]+|-) \|$", text))
    assert stated == {
        lock.title: "-" if lock.limit is None else f"{lock.limit:,}" for lock in rt.LOCKS.values()
    }


@pytest.mark.parametrize(("mode", "locks"), [("off", set()), ("generic", {"depot", "global_queue"})])
def test_one_kernel(mode, locks):
    preset = rt.preset_of(mode, ())
    image = builder.build(preset, targets=(page.KERNEL,))[page.KERNEL]
    measured = rt.measure_kernel(image, mode, "test")
    assert set(measured["off"]) == set(rt.WORKS)
    # Less than this is no period, more would be a tick that comes too late: 100 in a second.
    assert all(16 <= rt.longest(measured, work)[0] < 10_000_000 for work in rt.WORKS)
    assert locks <= set(measured["locks"])
    assert rt.over_limits({mode: measured}) == []


def test_a_kernel_without_the_tracer_says_so():
    preset = builder.preset_name("off", features=[])
    image = builder.build(preset, targets=(page.KERNEL,))[page.KERNEL]
    with pytest.raises(Failure, match="there is no group 'rt'"):
        rt.measure_kernel(image, "off", "test")
