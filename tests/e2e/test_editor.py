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


def test_problems_of_a_watched_program(redzone, source):
    path = source(PROGRAM)
    known = tasks()
    own = known["redzone"]["problemMatcher"][1]
    watching = known["redzone watch"]["problemMatcher"][0]
    assert own["pattern"] == watching["pattern"]
    words = known["redzone watch"]["command"].replace("${relativeFile}", path.name).split()
    process = redzone.start(*words[1:])
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
