# SPDX-License-Identifier: MIT
""".ci/run: a line of totals at the end, whatever happens to the commands that it runs."""

import os
import shutil

import pytest
from redzone.core import process
from redzone.core.base import ROOT


@pytest.mark.parametrize(
    ("default", "slow", "last", "status"),
    [
        (("10 passed, 0 failed", 0), ("3 passed, 0 failed", 0), "16 passed, 0 failed", 0),
        (
            ("10 passed, 0 failed, 2 skipped", 0),
            ("3 passed, 0 failed", 0),
            "16 passed, 0 failed, 2 skipped",
            0,
        ),
        (("9 passed, 1 failed", 1), ("3 passed, 0 failed", 0), "15 passed, 1 failed", 1),
        (("10 passed, 0 failed", 0), ("2 passed, 1 failed", 1), "15 passed, 1 failed", 1),
        (("redzone: error: broken", 2), ("3 passed, 0 failed", 0), "6 passed, 1 failed", 2),
        (("10 passed, 0 failed", 0), ("", 139), "13 passed, 1 failed", 139),
    ],
)
def test_totals_and_status(tmp_path, default, slow, last, status):
    result, calls = run(tmp_path, default, slow)
    assert (result.stdout.splitlines()[-1], result.returncode) == (last, status), (
        result.stdout + result.stderr
    )
    assert calls[0] == "true test --yes", "the README's command comes first, as it is"
    words = [set(call.split()) for call in calls[1:]]
    # What the first command leaves out runs here.
    assert {
        "--rest",
        "instruments",
        "traces",
        "opensbi",
        "linux-kunit",
        "libc",
        "soak",
        "linux",
    } <= set().union(*words)


def test_a_slow_machine_leaves_out_what_would_not_fit(tmp_path):
    passed = ("10 passed, 0 failed, 2 skipped", 0)
    result, calls = run(tmp_path, passed, passed, REDZONE_CI_MINUTES="5")
    assert calls[0] == "true test --yes", "the README's command runs, however long it takes"
    assert not any("instruments" in call for call in calls)
    assert "# not started, because 0 minutes have passed: ./redzone test --yes instruments" in result.stdout
    assert result.stdout.splitlines()[-1] == "22 passed, 0 failed, 5 skipped"
    assert result.returncode == 0


def run(tmp_path, default, slow, **environment):
    """Run .ci/run with a ./redzone whose default tests and soak end with the lines and statuses @default
    and @slow. Return (what ran, the calls of ./redzone)."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    fake = tmp_path / "redzone"
    fake.write_text(
        "#!/bin/sh\n"
        f'echo "$CI $*" >> {tmp_path}/calls\n'
        f'case "$*" in\n"test --yes") echo "ok 1 a"; echo "{default[0]}"; exit {default[1]} ;;\n'
        f'*soak*) echo "{slow[0]}"; exit {slow[1]} ;;\n'
        '*) echo "1 passed, 0 failed"; exit 0 ;;\nesac\n'
    )
    fake.chmod(0o755)
    result = process.run([tmp_path / ".ci" / "run"], env={**os.environ, **environment})
    return result, (tmp_path / "calls").read_text().splitlines()
