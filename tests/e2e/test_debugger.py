# SPDX-License-Identifier: MIT
"""--gdb: the machine waits, and the debugger has symbols, a stop at each report, and the command
`redzone`."""

import re
import shutil
import threading

import pytest
from redzone.core import mteqemu, process
from redzone.testing.needs import first

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>

struct item {
	char name[10];
	int number;
};
char table[12];

static struct item *make(void)
{
	struct item *item = malloc(sizeof(*item));

	item->number = 3;
	return item;
}

static __attribute__((noinline)) int use(struct item *item)
{
	return item->number;
}

int main(void)
{
	struct item *item = make();

	free(item);
	printf("number %d\\n", use(item));
	return table[0];
}
"""
COMMANDS = ("continue", "redzone", "redzone item", "redzone &table[3]", "redzone 0x10")
DEBUGGERS = {
    "gdb": ["gdb-multiarch", "-batch", "-x", "{}/gdb", *(word for one in COMMANDS for word in ("-ex", one)),
    "-ex", "continue"], "lldb": ["lldb-19", "-b", "-s", "{}/lldb", "-o", "continue", "-o", "frame select 10",
    *(word for one in COMMANDS[1:] for word in ("-o", one))],
}  # fmt: skip
KEPT = r"""0xffff[0-9a-f]{12} is 12 bytes inside of a freed object
  of 16 bytes at (0xffff[0-9a-f]{12}), of kmalloc-16
Allocated by task \d+:
(?:  k\w+malloc +kernel/\S+|  \w*kmalloc +kernel/\S+)
  malloc +kernel/program/heap\.c:\d+
  make +program\.c:12
  main +program\.c:25
  \.\.\. \d+ frames of the thread's start
Freed by task \d+:
  \w+ +kernel/\S+
(?:  \w+ +kernel/\S+\n)*  main +program\.c:27
  \.\.\. \d+ frames of the thread's start
Memory state, one value for each 8 bytes:
 ffff[0-9a-f]{12}: (?:[0-9a-f]{2} ?){16}
>ffff[0-9a-f]{12}: (?:[0-9a-f]{2} ?){16}
 +\^\^
"""


def debugged(redzone, program, name, *options):
    """Run @program until its end in the debugger @name. Return (what that says, the ended command)."""
    command = DEBUGGERS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is missing")
    running = redzone.start("run", "--gdb", "-O", "0", *options, program)
    guard = threading.Timer(200, running.kill)
    guard.start()
    try:
        said = ""
        while "lldb -s" not in said:
            line = running.stderr.readline()
            assert line, said
            said += line
        folder = re.search(r"lldb -s (\S+)/lldb", said)[1]
        words = [word.format(folder) for word in command]
        status, output = process.call(words, cwd=redzone.folder, timeout=150)
        assert status == 0, output
        stdout, stderr = running.communicate(timeout=60)
    finally:
        guard.cancel()
        running.kill()
    return output, stdout, stderr, running.returncode


@pytest.mark.parametrize("name", ["gdb", pytest.param("lldb", marks=pytest.mark.rest)])
def test_a_report_in_the_debugger(redzone, source, name):
    output, stdout, stderr, status = debugged(redzone, source(PROGRAM), name)
    found = re.search(KEPT, output)
    assert found, output
    assert f"{found[1]} is at the start of a freed object" in output
    assert re.search(r"^0xffff[0-9a-f]{12} belongs to the global variable table$", output, re.M), output
    assert "0x10: its owner is not known" in output
    if name == "gdb":
        # It stops in the program's own function, and the machine goes on as if nothing had been asked.
        assert re.search(r"^#\d+ .* in use \(item=0x\w+\) at .*/program\.c:20$", output, re.M), output
        assert "BUG: KASAN: slab-use-after-free in use+" in stdout
        assert "1. slab-use-after-free, read of 4 bytes, program.c:20 in use()" in stderr
        assert status == 1


TAGGED = r"""0x[0-9a-f]{16} is 12 bytes inside of a freed object
  of 16 bytes at 0xffff[0-9a-f]{12}, of kmalloc-16
Allocated by task \d+:
(?:  .*\n)*?  make +program\.c:12
  main +program\.c:25
  \.\.\. \d+ frames of the thread's start
Freed by task \d+:
(?:  .*\n)*?  main +program\.c:27
  \.\.\. \d+ frames of the thread's start
Memory state, one value for each 16 bytes:
"""


@first(1, "mode", ["sw_tags", "hw_tags"])
def test_the_tag_modes(redzone, source, mode):
    """The access is an exception there, which GDB sees through, and the stack ring has the owner."""
    if mode == "hw_tags" and (why := mteqemu.reason()):
        pytest.skip(why)
    output, stdout, _, status = debugged(redzone, source(PROGRAM), "gdb", "--mode", mode)
    assert re.search(TAGGED, output), output
    assert re.search(r"^#\d+ .* in use \(item=0x\w+\) at .*/program\.c:20$", output, re.M), output
    assert "BUG: KASAN: slab-use-after-free in use+" in stdout and status == 1


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--gdb", "--each"), "--gdb is for one program in one run"),
        (("--console", "--watch"), "--console is for one program in one run"),
        (("--console", "-q"), "not with --stdin or --quiet"),
    ],
)
def test_options_that_do_not_fit(redzone, source, words, message):
    assert message in redzone("run", *words, source("int main(void) { return 0; }"), status=2).stderr
