# SPDX-License-Identifier: MIT
"""--console: a program that talks to somebody at a terminal."""

import io
import os
import pty
import select
import time

import pytest
from redzone.core.base import ROOT
from redzone.machine import stream
from redzone.run import view

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	char name[20];

	printf(isatty(0) ? "name? " : "not a terminal\\n");
	fflush(stdout);
	while (fgets(name, sizeof(name), stdin)) {
		volatile char *p = malloc(3);

		printf("before ");
		fflush(stdout);
		p[3] = 1;
		printf("and after %sname? ", name);
		fflush(stdout);
	}
	printf("the end");
	return 0;
}
"""


def test_prompts_are_seen_and_nothing_is_lost(redzone, source):
    """Also what a program prints after a report, in the line that it had begun before."""
    source(PROGRAM)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(redzone.folder)
        path = str(ROOT / "redzone")
        os.execve(path, [path, "run", "--console", "program.c"], redzone.environment(TERM="xterm"))
    output, until = "", time.monotonic() + 200
    # The text to type, and the output to wait for first.
    answers = [("name? ", b"Ada\n"), ("and after Ada\r\nname? ", b"Bob\n"), ("after Bob\r\nname? ", b"\x04")]
    try:
        while time.monotonic() < until and select.select([terminal], [], [], 200)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            output += data.decode("utf-8", "replace")
            if answers and output.endswith(answers[0][0]):
                os.write(terminal, answers.pop(0)[1])
    finally:
        _, status = os.waitpid(child, 0)
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 1, output
    assert not answers, output
    # The report begins a line of its own, and the program's line goes on after it.
    assert "before \r\n" in output and "\r\nand after Ada\r\n" in output
    assert [output.count(text) for text in ("and after Ada", "and after Bob", "\nname? the end\r\n")] == [
        1,
        1,
        1,
    ]
    assert "BUG: KASAN: slab-out-of-bounds in main+" in output


KERNEL = "[    1.000000] a line of the kernel"


def shown(*events):
    """Return what the screen shows of @events: text of a program, or a line of the kernel as a list."""
    out, read = io.StringIO(), stream.Stream()
    with view.View(None, stream=out) as screen:
        for event in events:
            if isinstance(event, list):
                screen.line(*event, None, None)
                continue
            for lines in read.feed(b"\x10!" + event.encode()):
                screen.program(lines)
            part = read.part()
            if part:
                screen.part(part)
        for lines in read.end():
            screen.program(lines)
    return out.getvalue()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("events", "text"),
    [
        (("na", "me? ", "Ada\n"), "name? Ada\n"),
        (("a\nb", "c\nd"), "a\nbc\nd\n"),
        (("before ", [KERNEL], "after\nnext\n"), f"before \n{KERNEL}\nafter\nnext\n"),
        (("one ", [KERNEL], "two", [KERNEL], "\n"), f"one \n{KERNEL}\ntwo\n{KERNEL}\n\n"),
        # The end of a line that is already there.
        (("x", "\n", "y"), "x\ny\n"),
    ],
)
def test_parts_of_lines(events, text):
    assert shown(*events) == text
