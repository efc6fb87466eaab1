# SPDX-License-Identifier: MIT
"""`./redzone bench lockdep`: the text of its tables, its input, and one kernel's figures."""

import pytest
from redzone.bench import lockdep, page
from redzone.bench.lockdep import Measured


def measured(job, spin, **events):
    locks = dict.fromkeys(lockdep.LOCKS, spin)
    return Measured(
        job=job, step=1000.0, steps=600.0, locks=locks, counts={"misses": 8.0}, events=events, searches=123
    )


# User mode computes 600,000 instructions per job.
FIGURES = {
    "none": measured(800_000, 20),
    "kasan": measured(1_000_000, 40),
    "validator": measured(1_100_000, 300, lockdep_acquire=500.25),
    "debug-instrumented": measured(1_600_000, 900, lockdep_acquire=501.0),
    "debug": measured(1_400_000, 400, lockdep_acquire=501.0, rtlock_slowlock=2.0),
}


def test_ratios_are_over_the_kernel_without_debugging():
    heading, *body = lockdep.rows("spinning", FIGURES)
    assert len(heading) == 8
    assert body == [
        ["non-debug", "800,000", "x1.00", "200,000", "x1.00", "x1.0", "x1.0", "x1.0"],
        ["KASAN Generic, inline", "1,000,000", "x1.25", "400,000", "x2.00", *["no figure"] * 3],
        ["validator", "1,100,000", "x1.38", "500,000", "x2.50", *["no figure"] * 3],
        [
            *("debug, inline, validator instrumented", "1,600,000", "x2.00", "1,000,000", "x5.00"),
            *("x2.8", "x8.9", "x2.0"),
        ],
        ["debug, inline", "1,400,000", "x1.75", "800,000", "x4.00", "x2.3", "x7.3", "x1.8"],
    ]


def test_real_time_kernels_have_their_own_published_figures():
    *_, instrumented, debug = lockdep.rows("rt", FIGURES)
    assert instrumented[5:] == ["x6.7", "x18.7", "x4.9"]
    assert debug[5:] == ["x4.1", "x10.3", "x4.1"]


def test_remarks_say_whether_the_goal_is_met():
    share, searches, goal = lockdep.remarks("spinning", FIGURES)
    assert "instructions: 25%; user mode computes 600,000 instructions" in share
    assert "'debug, inline' searched for cycles 123 times since boot" in searches
    assert goal == "goal for 'debug': x1.8 at most; inline x1.75: met"
    slower = dict(FIGURES, debug=measured(2_500_000, 400))
    assert list(lockdep.remarks("spinning", slower))[-1].endswith("inline x3.12: missed")
    *_, goal = lockdep.remarks("rt", slower)
    assert goal == "goal for 'RT debug': x3.0 at most; inline x3.12: missed"


def test_single_locks_and_events():
    heading, spin, *_ = lockdep.lock_rows(FIGURES)
    assert heading == ["operation", "non-debug", "validator", "KASAN Generic, inline", "debug, inline"]
    assert spin == ["spin_lock + spin_unlock", "20", "300", "40", "400"]
    assert list(lockdep.event_rows(FIGURES))[1:] == [
        ["misses", *["8.0"] * 5],
        ["lockdep_acquire", "-", "-", "500.2", "501.0", "501.0"],
        ["rtlock_slowlock", *["-"] * 4, "2.0"],
    ]


def test_the_document_has_a_section_for_each_kind_of_kernel():
    text = lockdep.page_of({"spinning": FIGURES, "rt": FIGURES}).markdown()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Ordinary kernels",
        "## Real-time kernels",
    ]
    assert "| debug, inline | 1,400,000 | x1.75 | 800,000 | x4.00 | x4.1 | x10.3 | x4.1 |" in text


def test_every_row_is_a_kernel_of_its_own():
    presets = {half: {lockdep.preset_of(key, half) for key in lockdep.KERNELS} for half in lockdep.HALVES}
    assert all(len(names) == len(lockdep.KERNELS) for names in presets.values())
    assert "arm64-generic-inline-clang+lockdep-kasan" in presets["spinning"]
    assert "arm64-generic-outline-clang+lockdep+rt" in presets["rt"]
    assert not presets["spinning"] & presets["rt"]


def test_counts_are_read_from_the_console():
    lines = [
        "[    0.1] bench: count misses 16",
        "bench: event lockdep_acquire 9",
        "bench: total cycle_checks 7",
    ]
    assert lockdep.counts_of(lines, "count") == {"misses": 16}
    assert lockdep.counts_of(lines, "event") == {"lockdep_acquire": 9}
    assert lockdep.counts_of(lines, "total") == {"cycle_checks": 7}


@pytest.fixture(scope="module")
def images():
    keys = (lockdep.BASE, lockdep.KASAN, lockdep.VALIDATOR)
    return page.build({("spinning", key): lockdep.preset_of(key, "spinning") for key in keys}, yes=False)


@pytest.fixture(scope="module")
def figures(images):
    return {
        key: lockdep.measure_kernel(image, lockdep.KERNELS[key].preset[0], key, jobs=2)
        for (_, key), image in images.items()
    }


def test_kernels_do_the_same_work(images, figures):
    none, kasan = figures[lockdep.BASE], figures[lockdep.KASAN]
    assert none.counts == kasan.counts and none.steps == kasan.steps
    # A step is the same code in user mode; ticks come on top of it.
    assert abs(none.step - kasan.step) < none.step / 100
    assert 0 < lockdep.user_of(figures) < none.job < kasan.job
    assert all(10 < none.locks[name] < kasan.locks[name] for name in ("locks.spin_lock", "locks.mutex_lock"))
    again = lockdep.measure_kernel(images["spinning", "none"], "off", "again", jobs=2)
    assert again == none


def test_the_validator_sees_the_locks_of_the_mix(figures):
    none, validator = figures[lockdep.BASE], figures[lockdep.VALIDATOR]
    assert none.counts == validator.counts and none.job < validator.job
    assert not none.events and none.searches == 0
    # Each of the 50 calls for files alone takes several.
    assert validator.events["lockdep_acquire"] > 200
    assert 0 < validator.events["lockdep_chain_hits"] <= validator.events["lockdep_acquire"]
    assert validator.events["lockdep_contended"] > 0 and validator.searches > 0
    assert all(none.locks[name] < validator.locks[name] for name in lockdep.LOCKS)
