# SPDX-License-Identifier: MIT
"""`./redzone bench`: figures repeat exactly, goals hold; memory bounds on the command line."""

import json

QUICK = ("bench", "--modes", "generic-inline", "--ops", "mem*")


def test_two_runs_are_equal(redzone, tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    before = redzone(*QUICK, "--json", str(first))
    assert before.returncode == 0, before.stderr
    after = redzone(*QUICK, "--json", str(second), "--against", str(first))
    assert after.returncode == 0, after.stderr
    assert first.read_text() == second.read_text()
    rows = [line for line in after.stdout.splitlines() if line.startswith(("memcpy", "memset"))]
    assert len(rows) == 2
    for row in rows:
        # Against the run before: the kernel without KASAN, with traces, without.
        assert row.split()[-3:] == ["1.00", "1.00", "1.00"]


def test_goals_of_checked_copies(redzone, tmp_path):
    path = tmp_path / "figures.json"
    assert redzone(*QUICK, "--json", str(path)).returncode == 0
    figures = json.loads(path.read_text())["figures"]
    assert figures["generic-inline"]["memcpy_1024"] <= figures["none"]["memcpy_1024"] + 80
    assert figures["generic-inline"]["memset_1024"] <= figures["none"]["memset_1024"] + 50


FREES = """\
#include <stdlib.h>

int main(void)
{
	for (int i = 0; i < 1000; i++)
		free(malloc(1000));
	return 0;
}
"""


def test_quarantine_bound_is_said_once(redzone, source):
    program = source(FREES)
    result = redzone("run", "--append", "kasan.quarantine_size=128K", program)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("kasan: quarantine full at ") == 1
    assert "quarantine full" not in redzone("run", program).stdout


def test_wrong_sizes_name_what_is_accepted(redzone, source):
    program = source(FREES)
    result = redzone("run", "--append", "kasan.depot_size=1K kasan.quarantine_size=lots", program)
    assert result.returncode == 0, result.stdout + result.stderr
    assert 'Malformed kernel parameter kasan.depot_size="1K": expected a size' in result.stdout
    assert "from 64K to 128M" in result.stdout
    assert 'Malformed kernel parameter kasan.quarantine_size="lots": expected a size' in result.stdout
