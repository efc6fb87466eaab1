# SPDX-License-Identifier: MIT
"""`./redzone bench`: figures repeat exactly, goals hold; memory bounds on the command line."""

import json

import pytest
from redzone.bench import cost
from redzone.core.base import Failure
from redzone.testing.runner import FAIL
from redzone.testing.suites import bench as suite

QUICK = ("bench", "--modes", "generic-inline", "--ops", "mem*")


def test_sampling_and_stores_of_tags_are_for_hardware_tags():
    chosen = cost.names_matching("*")
    generic = cost.that_differ(chosen, cost.columns_of(["generic-inline"]))
    assert generic["traffic"] == ["page_traffic@1", "page_traffic_bare@1"]
    tags_only = ("traffic", "fill")
    assert {group: names for group, names in generic.items() if group not in tags_only} == {
        group: names for group, names in chosen.items() if group not in tags_only
    }
    assert "fill" not in generic
    assert cost.that_differ(chosen, cost.columns_of(["hw_tags"])) == chosen
    ten = cost.that_differ(cost.names_matching("page_traffic@10"), cost.columns_of(["none"]))
    assert ten == {"traffic": ["page_traffic@10"]}


def test_riscv64_leaves_out_what_says_nothing_there():
    chosen = cost.names_matching("*")
    columns = cost.columns_of(["generic-inline"])
    there = cost.that_differ(chosen, columns, "riscv64")
    left_out = {name for names in cost.that_differ(chosen, columns).values() for name in names}
    left_out -= {name for names in there.values() for name in names}
    assert left_out == set(cost.GROUPS["smp"])
    assert cost.that_differ(cost.names_matching("smp.vmalloc*"), columns, "riscv64") == {}


def test_riscv64_refuses_what_it_does_not_have(redzone):
    with pytest.raises(Failure, match="its kernel has the modes generic, sw_tags, off"):
        cost.presets(["hw_tags"], "riscv64")
    result = redzone("bench", "--arch", "riscv64", "--ops", "smp.*", status=2)
    assert "--arch riscv64: none of these operations is measured there" in result.stderr


@pytest.mark.parametrize("name", [name for names in cost.GROUPS.values() for name in names])
def test_operations_have_the_name_that_the_table_shows(name):
    (title,) = (names[name] for names in cost.GROUPS.values() if name in names)
    for pattern in (name, title, title[:-1] + "*"):
        assert name in [op for names in cost.names_matching(pattern).values() for op in names], pattern


def test_a_title_selects_what_it_names():
    assert cost.names_matching("kmalloc(64)+kfree") == {"memory": ["kmalloc_64"]}
    assert cost.names_matching("pages_0", "kmalloc_64") == {"memory": ["kmalloc_64", "pages_0"]}
    found = cost.names_matching("kmalloc(64)*")
    assert found["memory"] == ["kmalloc_64"]
    assert found["smp"] == [f"smp.kmalloc_64@{cpus}" for cpus in cost.CPUS]


def measured(redzone, modes, pattern):
    """Return {column: {operation: figure}} and the heading of the table."""
    result = redzone("bench", "--modes", modes, "--ops", pattern, "--json", "figures.json", status=0)
    figures = json.loads((redzone.folder / "figures.json").read_text())["figures"]
    return figures, result.stdout.splitlines()[0]


def test_two_runs_are_equal_and_meet_the_goals_of_checked_copies(redzone, tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    redzone(*QUICK, "--json", str(first), status=0)
    after = redzone(*QUICK, "--json", str(second), "--against", str(first), status=0)
    assert first.read_text() == second.read_text()
    rows = [line for line in after.stdout.splitlines() if line.startswith(("memcpy", "memset"))]
    assert len(rows) == 2
    for row in rows:
        # Compared with the first run: the kernel without KASAN, with traces, and without traces.
        assert row.split()[-3:] == ["1.00", "1.00", "1.00"]
    figures = json.loads(first.read_text())["figures"]
    assert figures["generic-inline"]["memcpy_1024"] <= figures["none"]["memcpy_1024"] + 80
    assert figures["generic-inline"]["memset_1024"] <= figures["none"]["memset_1024"] + 50


def test_pages_do_not_depend_on_what_ran_before(redzone):
    # kmalloc_8192 runs before pages_3 and leaves free memory in another shape.
    alone, after = (measured(redzone, "none", one)[0]["none"] for one in ("pages_3", "[kp][ma]*_[83]*"))
    assert list(after) == ["kmalloc_8192", "pages_3"]
    assert alone["pages_3"] == after["pages_3"]


def test_goals_of_allocations(redzone):
    figures, _ = measured(redzone, "generic-inline", "[kv]malloc_[46][4k]")
    assert figures["generic-inline, no traces"]["kmalloc_64"] <= suite.KMALLOC
    assert figures["generic-inline"]["vmalloc_4k"] <= figures["none"]["vmalloc_4k"] * suite.TIMES


@pytest.mark.parametrize(
    ("column", "operation", "value", "goal"),
    [
        ("generic-outline", "load_8x128", 1548 + 128, "outline-check.load_8x128"),
        ("generic-inline", "memcpy_1024", 320, "generic-inline.memcpy_1024"),
        ("generic-outline, no traces", "kmalloc_64", 301, "generic-outline.kmalloc_64-no-traces"),
        ("generic-inline", "boot", 21e6, "generic-inline.boot"),
        ("generic-inline", "vmalloc_4k", 2000, "generic-inline.vmalloc_4k"),
        ("generic-inline", "live.kmalloc_64@1000000", 1100, "generic-inline.live-objects"),
        ("generic-outline", "smp.kmalloc_64@8", 1000, "generic-outline.cpus.kmalloc_64"),
    ],
)
def test_the_suite_sees_what_misses_a_goal(column, operation, value, goal):
    recorded = cost.load(suite.RECORDED)
    figures = {key: dict(values) for key, values in recorded.items()}
    assert not [result.name for result in suite.goals(figures) if result.status == FAIL]
    assert not suite.stale(figures, recorded)
    figures[column][operation] = value
    assert [result.name for result in suite.goals(figures) if result.status == FAIL] == [f"goal.{goal}"]
    # A figure that is off by a twentieth or less is not stale. A figure of several CPUs never is.
    far = abs(value - recorded[column][operation]) > suite.TOLERANCE * recorded[column][operation]
    assert len(suite.stale(figures, recorded)) == (far and not operation.startswith("smp."))


def test_each_mode_is_measured_once(redzone):
    figures, heading = measured(redzone, "none,generic-inline,generic-inline", "memset*")
    assert list(figures) == ["none", "generic-inline", "generic-inline, no traces"]
    assert heading.count("no traces") == 1


def test_bad_input_is_named_before_anything_is_measured(redzone, tmp_path):
    results = {
        "text": "no json",
        "list": '{"format": 1, "figures": [1]}',
        "format": '{"format": 7, "figures": {}}',
        "number": '{"format": 1, "figures": {"none": {"memcpy_1024": "many"}}}',
    }
    for name, text in results.items():
        path = tmp_path / name
        path.write_text(text)
        result = redzone(*QUICK, "--against", str(path), status=2)
        assert f"{path} is not a result of ./redzone bench --json" in result.stderr
    other = tmp_path / "other"
    other.write_text('{"format": 1, "figures": {"none": {"pages_0": 1}}}')
    wrong = (
        (("--against", str(tmp_path / "missing")), "missing cannot be read: No such file"),
        (("--against", str(other)), "other has none of the figures that are to be measured"),
        (
            ("--ops", "kfree"),
            "no operation matches 'kfree'; there are:\n  kmalloc_64 = 'kmalloc(64)+kfree'; ",
        ),
    )
    for arguments, message in wrong:
        result = redzone("bench", "--ops", "memset*", *arguments, status=2)
        assert message in result.stderr
        assert "redzone: none:" not in result.stderr
        assert max(map(len, result.stderr.splitlines())) <= 200


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
    result = redzone("run", "--append", "kasan.quarantine_size=128K", program, status=0)
    assert result.stdout.count("kasan: quarantine full at ") == 1
    assert "quarantine full" not in redzone("run", program).stdout


STACKS = """\
#include <stdlib.h>

/* A trace of its own for each value: the calls on the way spell its bits. */
static void *spell(unsigned int value, unsigned int bits);
static __attribute__((noinline)) void *one(unsigned int value, unsigned int bits)
{
	void *p = spell(value >> 1, bits - 1);
	__asm__ volatile("");
	return p;
}
static __attribute__((noinline)) void *zero(unsigned int value, unsigned int bits)
{
	void *p = spell(value >> 1, bits - 1);
	__asm__ volatile("");
	return p;
}
static __attribute__((noinline)) void *spell(unsigned int value, unsigned int bits)
{
	void *p = bits == 0 ? malloc(8) : value & 1 ? one(value, bits) : zero(value, bits);
	__asm__ volatile("");
	return p;
}

int main(void)
{
	for (unsigned int i = 0; i < 2048; i++)
		free(spell(i, 11));
	return 0;
}
"""


def test_depot_bound_is_said_once(redzone, source):
    program = source(STACKS)
    result = redzone("run", "--append", "kasan.depot_size=64K", program, status=0)
    assert result.stdout.count("kasan: stack depot full at ") == 1
    assert "stack depot full" not in redzone("run", program).stdout


def test_wrong_sizes_name_what_is_accepted(redzone, source):
    program = source(FREES)
    result = redzone("run", "--append", "kasan.depot_size=1K kasan.quarantine_size=lots", program, status=0)
    assert 'Malformed kernel parameter kasan.depot_size="1K": expected a size' in result.stdout
    assert "from 64K to 128M" in result.stdout
    assert 'Malformed kernel parameter kasan.quarantine_size="lots": expected a size' in result.stdout


IGNORED = """\
#include <stdlib.h>

static __attribute__((noinline)) int old_parser(volatile char *p)
{
	return p[13];
}

static __attribute__((noinline)) int new_parser(volatile char *p)
{
	return p[14];
}

int main(void)
{
	volatile char *p = malloc(13);
	return old_parser(p) & 0 & new_parser(p);
}
"""


def test_reports_of_named_functions_are_ignored(redzone, source):
    program = source(IGNORED)
    result = redzone("run", "--append", "kasan.ignore=old_*", program, status=1)
    assert "BUG: KASAN: slab-out-of-bounds in new_parser" in result.stdout
    assert "BUG: KASAN: slab-out-of-bounds in old_parser" not in result.stdout
    assert "kasan: reports that have old_* in their trace are ignored" in result.stdout
    result = redzone(
        "run", "--append", "kasan.ignore=old_parser,new_parser,no_such_parser", program, status=0
    )
    assert "the kernel has no function no_such_parser (inlined, or of a module?)" in result.stdout
    assert "no function old_parser" not in result.stdout
    result = redzone("run", "--append", "kasan.ignore=old,,new", program, status=1)
    assert 'Malformed kernel parameter kasan.ignore="old,,new": expected up to 16 names' in result.stdout


FAILING = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 0; i < 100; i++) {
		char *p = malloc(100 + i);

		if (!p && argc == 1) {
			failed++;
			continue;
		}
		p[0] = 1;
		free(p);
	}
	printf("%d of 100 failed\\n", failed);
	return failed == 0;
}
"""


def test_allocations_that_fail_on_purpose(redzone, source):
    program = source(FAILING)
    redzone("run", program, status=4)
    result = redzone("run", "--append", "failslab=10", program, status=0)
    assert "10 of 100 failed" in result.stdout
    assert "FAULT_INJECTION: forcing a failure of 128 bytes (failslab, 1 so far)" in result.stdout
    # A limit; then code that does not check the result.
    result = redzone("run", "--append", "failslab=10,100,2000,1", program)
    assert "1 of 100 failed" in result.stdout
    result = redzone("run", "--append", "failslab=10", program, "--", "careless", status=1)
    assert "BUG: KASAN: null-ptr-deref in main" in result.stdout
    result = redzone("run", "--append", "failslab=10,101", "--append", "fail_page_alloc=0", program)
    for name, value in (("failslab", "10,101"), ("fail_page_alloc", "0")):
        wanted = f'Malformed kernel parameter {name}="{value}": expected interval,probability,space,times'
        assert wanted in result.stdout
