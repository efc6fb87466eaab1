# SPDX-License-Identifier: MIT
"""`./redzone test workqueue-stress`: one result for each mode, with the number of rounds."""

import re

from redzone.testing.suites import workqueue_stress


def test_short_run(redzone):
    result = redzone("test", "workqueue-stress", "--mode", "off", "--rounds", 3, "--seed", 7, status=0)
    assert "3 rounds, seed 7: repeat with --rounds 3 --seed 7" in result.stdout
    assert re.search(r"^# off: 3 rounds in \d+ s: \d+ runs of items", result.stdout, re.M)
    assert re.search(r"^ok 1 workqueue-stress\.off$", result.stdout, re.M)
    assert result.stdout.splitlines()[-1] == "1 passed, 0 failed"


def test_batches_are_added_up():
    batches = workqueue_stress.Batches()
    line = "[    1.000000]     # stress_all: 300 rounds in 1500 ms: 40 runs, 3 freed themselves, 200 holds"
    assert [batches.feed(line), batches.feed("    ok 1 rounds 1 to 300"), batches.feed(line)] == [
        False,
        False,
        True,
    ]
    assert str(batches) == "600 rounds in 3 s: 80 runs of items, threads held back 400 times"
