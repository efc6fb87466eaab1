# SPDX-License-Identifier: MIT
"""The tasks for Visual Studio Code in docs/use/editor.md read what is really printed."""

import json
import re
import signal
import threading

from redzone.core.base import ROOT

PROGRAM = """\
#include <stdlib.h>

int main(void)
{
	volatile char *p = malloc(3);

	p[3] = 1;
	free((void *)p);
	return p[0];
}
"""


def tasks():
    """Return {label: task} of the document."""
    text = (ROOT / "docs" / "use" / "editor.md").read_text(encoding="utf-8")
    data = json.loads(re.search(r"^```json\n(.*?)^```", text, re.M | re.S)[1])
    return {task["label"]: task for task in data["tasks"]}


def problems(matcher, lines):
    """Return [(file, line, message)] that a matcher of several lines finds, as the editor does it: one line
    after the other must match one pattern after the other."""
    found, values, at = [], {}, 0
    for line in lines:
        pattern = matcher["pattern"][at]
        match = re.search(pattern["regexp"], line)
        if match is None and at:
            # This line may be the first of another one.
            values, at = {}, 0
            pattern = matcher["pattern"][0]
            match = re.search(pattern["regexp"], line)
        if match is None:
            continue
        values |= {key: match[pattern[key]] for key in ("file", "line", "message") if key in pattern}
        at += 1
        if at == len(matcher["pattern"]):
            found.append((values["file"], int(values["line"]), values["message"]))
            values, at = {}, 0
    return found


# What the editor has by this name, from its extension for C.
GCC = {
    "regexp": r"^(.*?):(\d+):(\d*):?\s+(?:fatal\s+)?(warning|error):\s+(.*)$",
    "file": 1,
    "line": 2,
    "message": 5,
}


def matchers(task):
    """Return the matchers of @task, each with a list of patterns."""
    found = []
    for one in task["problemMatcher"]:
        pattern = GCC if one.get("base") == "$gcc" else one["pattern"]
        found.append({**one, "pattern": pattern if isinstance(pattern, list) else [pattern]})
    return found


ENDS = """\
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *lost = malloc(3);

	if (argc > 1)
		__asm__(".inst 0");
	return lost == NULL;
}
"""


def test_problems_of_other_kinds(redzone, source):
    """A leak, whose line has no access; a crash; and a file that does not compile."""
    path = source(ENDS)
    words = [word.replace("${relativeFile}", path.name) for word in tasks()["redzone"]["args"]]
    lines = []
    for more in (["--leaks"], ["--", "crash"], ["-D", "lost"]):
        # The editor's terminal shows both.
        result = redzone(*words, *more, COLUMNS="400")
        lines += result.stdout.splitlines() + result.stderr.splitlines()
    found = [one for matcher in matchers(tasks()["redzone"]) for one in problems(matcher, lines)]
    assert [(file, line) for file, line, _ in found] == [("program.c", at) for at in (5, 9, 8, 5)], lines
    assert [re.split("[,:]", message)[0] for *_, message in found[2:]] == [
        "the program crashed",
        "memory-leak",
    ]


def test_problems_of_a_watched_program(redzone, source):
    path = source(PROGRAM)
    known = tasks()
    own, watched = (matchers(known[name]) for name in ("redzone", "redzone watch"))
    assert [one["pattern"] for one in own] == [one["pattern"] for one in watched]
    # A change takes away the problems of one owner.
    assert {one["owner"] for one in own + watched} == {"redzone"}
    own, watching = own[-1], watched[-1]
    words = [word.replace("${relativeFile}", path.name) for word in known["redzone watch"]["args"]]
    process = redzone.start(*words)
    guard = threading.Timer(200, process.kill)
    guard.start()
    begins, ends = (watching["background"][name] for name in ("beginsPattern", "endsPattern"))
    try:
        for line in process.stderr:
            if re.search(ends, line):
                break
        path.write_text(PROGRAM.replace("p[3] = 1;", "p[2] = 1;"), encoding="utf-8")
        assert any(re.search(begins, line.rstrip("\n")) for line in process.stderr)
        assert any(re.search(ends, line.rstrip("\n")) for line in process.stderr)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    finally:
        guard.cancel()
        process.kill()
    first = ("program.c", 7, "slab-out-of-bounds: write of 1 byte, just past the end of a 3-byte object")
    second = ("program.c", 9, "slab-use-after-free: read of 1 byte, at the start of a 3-byte object")
    assert problems(own, stdout.splitlines()) == [first, second, second]
