# SPDX-License-Identifier: MIT
"""What the screen of `./redzone run` says about a report, and which line of a trace explains it."""

import io

import pytest
from redzone.core import base
from redzone.decode import decoder, source, terminal
from redzone.decode.model import Frame, Location, Report, Stack
from redzone.machine import console
from redzone.run import summary, view

pytestmark = pytest.mark.quick


def frames(*places):
    """Return a trace; a place is (function, path, line), or a list of these for inlined functions."""
    lists = [place if isinstance(place, list) else [place] for place in places]
    return [Frame(list_[-1][0], locations=[Location(*place) for place in list_]) for list_ in lists]


MAIN = ("main", "/u/main.c", 9)
HEADER = ("get", "/u/list.h", 3)
KERNEL = ("memcmp", str(base.ROOT / "kernel/lib/string.c"), 25)
LIBRARY = ("strlen", f"{base.BUILD}/libc/musl-1.2.5/src/string/strlen.c", 12)
COMPILERS = ("vld1q_u8", "/usr/lib/llvm-19/lib/clang/19/include/arm_neon.h", 100)


def test_own_source():
    for trace, expected in (
        ([MAIN], "main"),
        # The kernel's and the C library's functions act for their caller.
        ([KERNEL, MAIN], "main"),
        ([LIBRARY, HEADER, MAIN], "get"),
        # A header of the user's has bugs of its own, inlined or not.
        ([HEADER, MAIN], "get"),
        ([[HEADER, MAIN], MAIN], "get"),
        # Those of the compiler have none.
        ([[COMPILERS, MAIN], MAIN], "main"),
        # A named file counts wherever it is.
        ([("f", str(base.ROOT / "kernel/mine.c"), 1), MAIN], "f"),
        ([KERNEL, LIBRARY], "strlen"),
        ([KERNEL], None),
    ):
        source = summary.own_source(frames(*trace), {"/u/main.c", str(base.ROOT / "kernel/mine.c")})
        assert (source.function if source else None) == expected, trace


def test_kernel_and_library_act_for_the_program():
    """decode's words are about the program, too, wherever in the kernel or the library the access was."""
    for trace, roles, place in (
        ([KERNEL, LIBRARY, MAIN, KERNEL], ["helper", "helper", "", ""], "main"),
        ([LIBRARY, HEADER, MAIN], ["helper", "", ""], "get"),
        ([[COMPILERS, MAIN], MAIN], ["", ""], "main"),
        ([KERNEL, KERNEL], ["", ""], "memcmp"),
    ):
        stack = Stack("call", frames=frames(*trace))
        source.set_helpers(Report(stacks=[stack]))
        assert [frame.role for frame in stack.frames] == roles
        assert source.place_of(stack).function == place


REPORT = f"""\
{console.RULE}
BUG: KASAN: slab-use-after-free in take+0x58/0x7c
Read of size 4 at addr ffff00000612a040 by task main/21

Call trace:
 take+0x58/0x7c
 main+0x48/0x120
 kthread+0x54/0x64
 ret_from_fork+0xc/0x14

Freed by task 21:
 drop+0x38/0x58
 main+0x30/0x120

{console.RULE}
"""


def shown(text, end=True):
    """Return what the screen shows of the console @text, which has no image."""
    stream, reader = io.StringIO(), console.Reader()
    with view.View((), stream=stream) as screen:
        for line in text.splitlines():
            screen.line(line, *reader.feed(line))
        if end:
            screen.end()
    return stream.getvalue()


BANNER = "OpenSBI v1.6\n   ____\n  / __ \\\n\nPlatform Name : riscv-virtio,qemu\n"


def test_a_firmwares_text_is_shown_only_if_no_kernel_follows():
    kernel = "[    0.015438] Redzone reference kernel\nprogram\n"
    assert shown(BANNER + kernel) == kernel
    assert shown(BANNER) == BANNER
    # A program may print such a line too.
    assert shown(kernel + BANNER + "[    0.100000] end\n").startswith(kernel)


def test_report_is_explained_as_by_decode():
    one, stream = decoder.Decoder(), io.StringIO()
    one.feed(REPORT.encode())
    log = one.finish()
    terminal.show(log, stream=stream)
    sentences = log.bugs[0].reports[0].explanation
    assert any("The free was made by task 21 in drop()" in sentence for sentence in sentences)
    text = shown(REPORT)
    assert "\n\n" + "\n".join(sentences) + "\n\n" in text
    assert "\n".join(f"   {sentence}" for sentence in sentences) in stream.getvalue()
    assert " main+0x48/0x120\n ... 2 frames of the thread's start\n" in text
    # A frame alone is as short as these words.
    assert " drop+0x38/0x58\n main+0x30/0x120\n" in text


def test_second_report_of_a_place_is_one_line():
    again = "redzone: again: slab-use-after-free, read of 4 bytes, in take+0x58/0x7c (report 2)\n"
    assert shown(REPORT + REPORT).endswith(again)


def test_report_without_its_end():
    """What was held back is shown, as it came."""
    cut = REPORT[: REPORT.index("Freed by")]
    assert shown(cut) == cut
    # A line that is no part of a report is never held back.
    assert shown("[    0.1] one\nCall trace:\n f+0x4/0x8\n", end=False).endswith(" f+0x4/0x8\n")


def test_lines_of_a_program_are_no_part_of_a_report():
    reader = console.Reader()
    for line in REPORT.splitlines():
        assert reader.feed(console.ProgramLine(line)) == (None, None)
    assert not reader.reports and reader.last == console.RULE


def test_a_report_begins_with_the_bug_in_one_line():
    text = shown(REPORT)
    first = "redzone: bug 1: slab-use-after-free, read of 4 bytes, in take+0x58/0x7c\n"
    assert text.startswith(first + console.RULE), text


def test_long_lines_are_folded_on_a_terminal_only(monkeypatch):
    text = "  1. slab-out-of-bounds, write of 1 byte, a/folder/with/a/long/name/file.c:48 in some_function()"
    for is_terminal, lines in ((False, 1), (True, 2)):
        stream = io.StringIO()
        stream.isatty = lambda answer=is_terminal: answer
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("COLUMNS", "80")
        base.say(text, fold=True)
        shown_lines = stream.getvalue().splitlines()
        assert len(shown_lines) == lines
        assert " ".join(line.strip() for line in shown_lines) == f"redzone: {text}"
        assert not is_terminal or max(map(len, shown_lines)) <= 80


NAMES = """\
#include <stdlib.h>

struct item { struct item *next; char name[20]; };

static struct item *list_pop(struct item **head)
{
	struct item *first = *head;

	free(first);
	*head = first->next;
	return *head;
}

__attribute__((noinline)) void list_clear(struct item *item)
{
	free(item);
	item->name[1] = 0;
}

int main(void)
{
	struct item *head = calloc(1, sizeof(*head));

	list_pop(&head);
	list_clear(malloc(sizeof(*head)));
	return head != NULL;
}
"""


def test_functions_with_names_that_linux_has(redzone, source):
    """A program's own list_pop() is not a helper that is passed over, inlined or not."""
    result = redzone("run", "-q", source(NAMES), status=1)
    places = [line.strip() for line in result.stdout.splitlines() if line.startswith(" ")]
    assert places == [
        "at program.c:10 in list_pop()", "freed at program.c:9 in list_pop()",
        "at program.c:17 in list_clear()", "freed at program.c:16 in list_clear()",
    ]  # fmt: skip
