# SPDX-License-Identifier: MIT
"""The lock validator: its machine code holds no check and asks KASAN first; runs that it reports in."""

import re

import pytest
from capstone import CS_OP_MEM, CS_OP_REG
from machine_code import functions
from redzone.core.base import ROOT
from redzone.elf.file import File
from redzone.elf.symbols import symbols

PRESETS = (
    "arm64-generic-inline-clang+lockdep",
    # The same source with other checks: a kernel each.
    pytest.param("arm64-sw_tags-inline-clang+lockdep", marks=pytest.mark.rest),
    pytest.param("arm64-hw_tags-clang+lockdep", marks=pytest.mark.rest),
)
OBJECTS = "CMakeFiles/kernel.dir/kernel"
# Functions that are handed the map of a lock, which nobody has checked.
ENTRIES = (
    "lock_take",
    "lock_take_slow",
    "lock_release",
    "lock_release_slow",
    "lock_commit",
    "lock_contended",
    "lock_acquired",
    "lock_is_held",
    "lockdep_might_lock",
    "lockdep_assert",
    "lockdep_init_map",
    "lockdep_set_class_of",
)
QUESTIONS = ("kasan_check_byte", "kasan_byte_accessible")
# What compilers add: calls, and with software tags a trap whose number also has the size of the access.
ADDED = re.compile(r"asan")
TRAPS = range(0x900, 0xA00)
RUN_STATUS = 5
CRASHED = 3


@pytest.fixture(scope="module", params=PRESETS)
def folder(request, built):
    """The folder of a kernel's objects."""
    return built(request.param) / OBJECTS


def added_checks(path):
    """Return what a compiler has added to an object to check its accesses, its stack and its variables."""
    names = [symbol.name for symbol in symbols(File.open(path))]
    found = [name for name in names if ADDED.search(name) and not name.startswith("kasan_")]
    for name, code, _ in functions(path):
        found += [
            f"{name}: {insn}" for insn in code if insn.mnemonic == "brk" and insn.operands[0].imm in TRAPS
        ]
    return found


def test_the_validator_is_not_instrumented(folder):
    """Neither accesses nor stack nor variables are; in the same kernel, those of a mutex are."""
    objects = sorted((folder / "ext" / "lockdep").glob("*.obj"))
    assert len(objects) >= 8
    assert {path.name: added_checks(path) for path in objects} == {path.name: [] for path in objects}
    if "hw_tags" not in str(folder):
        assert added_checks(folder / "module" / "core.c.obj")


def _first_use(code, targets, generic):
    """Return the first instruction that reads or writes through the first argument, None if KASAN is asked
    before."""
    lock = {"x0"}
    for insn in code:
        if insn.mnemonic in ("bl", "b") and targets.get(insn.address) in QUESTIONS:
            return None
        # Inline: an eighth of the address, to find its shadow.
        shifted = generic and insn.mnemonic == "lsr" and insn.op_str.endswith("#3")
        if shifted and insn.reg_name(insn.operands[1].reg) in lock:
            return None
        for operand in insn.operands:
            if operand.type == CS_OP_MEM and insn.reg_name(operand.mem.base) in lock:
                return insn
        written = {insn.reg_name(register) for register in insn.regs_access()[1]}
        copied = (
            insn.mnemonic == "mov"
            and insn.operands[1].type == CS_OP_REG
            and insn.reg_name(insn.operands[1].reg) in lock
        )
        lock = lock | written if copied else lock - written
    return "nobody is asked"


def test_every_entry_asks_first(folder):
    """Nothing of a lock is read or written before KASAN was asked for its memory."""
    entries = {}
    for path in (folder / "ext" / "lockdep").glob("*.obj"):
        for name, code, targets in functions(path):
            if name in ENTRIES:
                entries[name] = _first_use(code, targets, "generic" in str(folder))
    assert entries == dict.fromkeys(ENTRIES)


def test_report_of_a_module(redzone):
    """The example of lockdep.md: one report, with source lines, and the run has its own status."""
    result = redzone(
        "run", "--lockdep", "--module", redzone.root / "examples/lock_order.c", status=RUN_STATUS
    )
    assert result.stdout.count("BUG: lockdep: ") == 1
    assert "possible circular dependency in print_log+0x" in result.stdout
    assert "examples/lock_order.c:" in result.stdout
    assert "lock_order: 1 entries, balance 10" in result.stdout


def test_silent_without_the_option(redzone):
    result = redzone("run", "--module", redzone.root / "examples/lock_order.c", status=0)
    assert "lockdep" not in result.stdout


SELF_DEADLOCK = """
#include <kernel/module.h>
#include <kernel/spinlock.h>

static DEFINE_SPINLOCK(once);

static noinline void take_twice(void)
{
	spin_lock(&once);
	spin_lock(&once);
}

static int self_init(void)
{
	take_twice();
	return 0;
}

static void self_exit(void)
{
}

module_init(self_init);
module_exit(self_exit);
MODULE_LICENSE("MIT");
"""


def test_report_before_the_hang(redzone, tmp_path):
    """A real deadlock of one CPU: the report comes first, then the machine stops."""
    source = tmp_path / "self.c"
    source.write_text(SELF_DEADLOCK)
    result = redzone("run", "--lockdep", "--module", source, status=CRASHED)
    report = result.stdout.index("BUG: lockdep: possible recursive locking in take_twice+0x")
    assert report < result.stdout.index("Kernel panic - not syncing: spinlock recursion on CPU#0")
    assert result.stdout.count("BUG: lockdep: ") == 1


def test_the_sample_of_the_guide_is_a_golden_report():
    guide = (ROOT / "docs" / "internals" / "lockdep.md").read_text(encoding="utf-8")
    golden = (ROOT / "tests/golden/lockdep/circular-dependency.log").read_text(encoding="utf-8").strip()
    assert f"\n```\n{golden}\n```\n" in guide
