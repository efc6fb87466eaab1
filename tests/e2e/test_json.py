# SPDX-License-Identifier: MIT
"""`run -q`, and --json of run and decode: the schema in the tree describes what is really written."""

import copy
import dataclasses
import json
import os
import typing

import json_schema
import pytest
from redzone.decode import model


@pytest.mark.quick
def test_the_schema_is_that_of_the_documents():
    """REDZONE_UPDATE_DOCS=1 writes the file."""
    text = json.dumps(json_schema.make(), indent=1) + "\n"
    if os.environ.get("REDZONE_UPDATE_DOCS"):
        json_schema.PATH.write_text(text, encoding="utf-8")
    assert json_schema.PATH.read_text(encoding="utf-8") == text


def _classes(kind, found):
    """Add @kind and the model's classes that it holds to @found."""
    if dataclasses.is_dataclass(kind) and kind not in found:
        found.add(kind)
        for hint in typing.get_type_hints(kind).values():
            _classes(hint, found)
    for part in typing.get_args(kind):
        _classes(part, found)


@pytest.mark.quick
def test_the_documents_have_every_field():
    written, classes = json_schema.interfaces(), set()
    _classes(model.Log, classes)
    assert len(classes) > 10
    names = {"Memory": "MemoryMap", "SourceExcerpt": "Excerpt"}
    for kind in classes:
        name = names.get(kind.__name__, kind.__name__)
        assert list(written[name]) == [one.name for one in dataclasses.fields(kind)], name


def test_a_bug_in_three_lines_and_as_json(redzone):
    result = redzone("run", "-q", "--json", redzone.folder / "out.json", cwd=redzone.root, status=1)
    assert result.stdout.splitlines() == [
        "1. slab-out-of-bounds: write of 1 byte, just past the end of a 13-byte object",
        "   at examples/heap_bugs.c:48 in message_terminate()",
        "   allocated at examples/heap_bugs.c:28 in message_create()",
        "2. slab-use-after-free: read of 8 bytes, at the start of a 16-byte struct message",
        "   at examples/heap_bugs.c:54 in message_length()",
        "   freed at examples/heap_bugs.c:41 in message_destroy()",
    ]
    # Other tests may use the same build folder.
    said = [
        line
        for line in result.stderr.splitlines()
        if " built " not in line and not line.startswith("redzone: waiting for process")
    ]
    assert said == ["redzone: 2 KASAN reports"]
    data = json.loads((redzone.folder / "out.json").read_text())
    json_schema.check(data, "Result")
    run = data["run"]
    assert (run["ok"], run["end"], run["status"]) == (False, "report", 1)
    assert run["source"] == {"file": "examples/heap_bugs.c", "line": 48, "function": "message_terminate"}
    assert [bug["location"]["line"] for bug in data["bugs"]] == [48, 54]
    # decode reads it as a baseline, and writes the same without the run.
    log = model.from_json(data)
    json_schema.check(model.to_json(log), "Log")

    # The schema is not one that accepts anything.
    whole = json_schema.make()
    for change in (
        lambda one: one["run"].pop("end"),
        lambda one: one["run"].update(end="good"),
        lambda one: one["bugs"][0].update(count="2"),
        lambda one: one["bugs"][0]["reports"][0]["access"].update(address=5),
        lambda one: one.update(more=1),
    ):
        bad = copy.deepcopy(data)
        change(bad)
        assert json_schema.errors(bad, {"$ref": "#/$defs/Result"}, whole)


def test_a_file_that_does_not_build(redzone, source):
    redzone("run", "--json", "out.json", source("int main(void) { return absent; }"), status=2)
    data = json.loads((redzone.folder / "out.json").read_text())
    json_schema.check(data, "Result")
    assert data["run"]["end"] == "build" and data["bugs"] == []
    assert any("absent" in line for line in data["run"]["messages"])


def test_programs_that_fail_only(redzone, source):
    """-q with --each: no line about those that pass."""
    files = [
        source("int main(void) { return 0; }", "good.c"),
        source("int main(void) { return 3; }", "three.c"),
        source("#include <stdlib.h>\nint main(void) { return *(volatile char *)malloc(0); }", "bad.c"),
        source("int main(void) { return absent; }", "absent.c"),
    ]
    names = [file.name for file in files]
    result = redzone("run", "--each", "-q", "--json", "out.json", *names, status=1)
    assert [line.partition(":")[0] for line in result.stdout.splitlines()] == names[1:]
    data = json.loads((redzone.folder / "out.json").read_text())
    json_schema.check(data, "Verdicts")
    assert [one["end"] for one in data["programs"]] == ["ok", "status", "report", "build"]


ENDS = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	volatile char *p = malloc(3);

	switch (argv[1][0]) {
	case 'b': /* Every byte, and an end in the middle of a line. */
		for (int i = 0; i < 512; i++)
			putchar(i);
		printf("no end \\xff\\xfe");
		break;
	case 't':
		p[3] = 1;
		free((void *)p);
		return p[0];
	case 'l':
		for (;;)
			;
	case 'j':
		((void (*)(void))0x7000)();
		break;
	case 'i':
		__asm__(".inst 0");
		break;
	case 'r':
		raise(SIGSEGV);
	}
	return 0;
}
"""
# {the program's argument: (exit status, end, number of bugs, part of the title)}
ENDED = {
    "nothing": (0, "ok", 0, ""),
    "bytes": (0, "ok", 0, ""),
    "two": (1, "report", 2, "KASAN: slab-out-of-bounds, write of 1 byte, program.c:16 in main()"),
    "loop": (3, "timeout", 0, "the program was in main()"),
    "jump": (1, "report", 1, "KASAN: invalid-call, address 0x7000, program.c:23 in main()"),
    "instruction": (3, "crash", 1, "undefined instruction"),
    "raise": (4, "status", 0, "SIGSEGV"),
    "save": (4, "save", 0, "a file of --save was not saved"),
}


def test_however_it_ends(redzone, source):
    file = source(ENDS)
    for argument, (status, end, bugs, title) in ENDED.items():
        options = {"loop": ("--timeout", "1"), "save": ("--save", "absent=out")}.get(argument, ())
        redzone("run", "--json", "out.json", *options, file, "--", argument, status=status)
        data = json.loads((redzone.folder / "out.json").read_text(encoding="utf-8"))
        json_schema.check(data, "Result")
        assert (data["run"]["status"], data["run"]["end"], len(data["bugs"])) == (status, end, bugs), argument
        assert title in data["run"]["title"] and bool(title) == bool(data["run"]["title"])
