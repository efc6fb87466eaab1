# SPDX-License-Identifier: MIT
"""Running again: cached verdicts of --each, --filter, --count, --watch, and headers that are new."""

import json
import re
import signal
import threading

import json_schema
import pytest
from redzone.build import builder, headers
from redzone.run import cache, inputs, job, watch


def ends(result):
    """Return {file: "ok", "cached" or "not ok"} of the KTAP lines."""
    found = re.findall(r"^(ok|not ok) \d+ (\S+)( \(cached\))?", result.stdout, re.M)
    return {name: "cached" if cached else word for word, name, cached in found}


@pytest.mark.quick
def test_verdicts_are_cached_by_content(redzone, source):
    """A verdict counts until something changes that the program is made of, or runs on."""
    folder = redzone.folder
    # Two runs of this test must not know each other.
    (folder / "late" / "sub").mkdir(parents=True)
    source(f"#define VALUE 0 // {folder}\n", "late/value.h")
    for name in ("one", "two"):
        text = "#include <value.h>\nint main(void) { return VALUE; }\n"
        source(f'{text}const char *{name} = "{folder}";\n', f"{name}.c")
    source(f'int main(void) {{ return 0; }}\nconst char *other = "{folder}";\n', "three.c")
    source("int main(void) { return 1; }\n", "bad.c")
    (folder / "early").mkdir()
    files = ("one.c", "bad.c", "two.c", "three.c")
    command = ("run", "--each", "-I", "early", "-I", "late", *files)
    good = dict.fromkeys(files, "ok") | {"bad.c": "not ok"}
    cached = dict.fromkeys(files, "cached") | {"bad.c": "not ok"}

    assert ends(redzone(*command, status=4)) == good
    result = redzone(*command, "--json", "out.json", status=4)
    assert ends(result) == cached
    assert "4 programs in 1 boot: 3 passed (3 cached), 1 failed" in result.stderr
    data = json.loads((folder / "out.json").read_text())
    json_schema.check(data, "Verdicts")
    assert [one.get("cached", False) for one in data["programs"]] == [True, False, True, True]
    # Nothing is booted that has nothing to do.
    assert "in 0 boots: 2 passed (2 cached)" in redzone(*command, "--filter", "^t", status=0).stderr

    # A changed header; a new one that comes before it; other options, and other input.
    source("#define VALUE 0\nint changed = 1;\n", "late/value.h")
    assert ends(redzone(*command, status=4)) == good | {"three.c": "cached"}
    source("#define VALUE 5\n", "early/value.h")
    changed = {"one.c": "not ok", "two.c": "not ok", "bad.c": "not ok", "three.c": "cached"}
    assert ends(redzone(*command, status=4)) == changed
    few = ("run", "--each", "three.c")
    assert ends(redzone(*few, "--", "word", status=0)) == {"three.c": "ok"}
    assert ends(redzone(*few, "--count", "1", status=0)) == {"three.c": "ok"}
    assert ends(redzone(*few, status=0)) == {"three.c": "cached"}


def test_new_header_is_found_by_every_run(redzone, source):
    """Ninja alone would not compile the program again. After another kind of program it knows no headers."""
    source("#define VALUE 3\n", "late/value.h")
    source("int main(void) { return 0; }\n", "other.c")
    source("#include <value.h>\nint main(void) { return VALUE; }\n")
    (redzone.folder / "early").mkdir()
    command = ("run", "-I", "early", "-I", "late", "program.c")
    assert "the program returned 3" in redzone(*command, status=4).stderr
    redzone("run", "--each", "other.c", status=0)
    source("#define VALUE 4\n", "early/value.h")
    assert "the program returned 4" in redzone(*command, status=4).stderr


@pytest.mark.quick
def test_rivals(tmp_path):
    for name in ("a/x.h", "b/x.h", "b/sys/x.h", "b/y.h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    used = {tmp_path / "c" / "sys" / "x.h", tmp_path / "c" / "main.c"}
    found = headers.rivals(used, [tmp_path / "a", tmp_path / "b", tmp_path / "absent"])
    assert found == [f"{tmp_path}/{name}" for name in ("a/x.h", "b/sys/x.h", "b/x.h")]


COUNTED = """\
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	unsigned int value;

	getentropy(&value, sizeof(value));
	printf("value %u\\n", value);
	return 0;
}
"""


def test_each_run_has_other_random_numbers(redzone, source):
    result = redzone("run", "--count", "2", source(COUNTED), status=0)
    values = re.findall(r"^value (\d+)$", result.stdout, re.M)
    assert len(values) == 2 and values[0] != values[1]
    assert "redzone: 2 runs" in result.stderr
    result = redzone("run", "--count", "3", source("int main(void) { return 2; }"), status=4)
    assert "failed in run 1 of 3" in result.stderr
    assert result.stdout.count("Redzone reference kernel") == 1


@pytest.mark.quick
def test_names_that_match():
    assert inputs.matching(["a/x.c", "b/y.c"], r"/y\.") == ["b/y.c"]
    with pytest.raises(Exception, match="none of 1 program"):
        inputs.matching(["a.c"], "b")
    with pytest.raises(Exception, match="is not a regular expression"):
        inputs.matching(["a.c"], "(")


@pytest.mark.quick
def test_ranges_of_programs():
    assert cache.ranges([1, 2, 3, 7, 9, 10], 100) == "1-3,7,9-10"
    many = list(range(1, 4000, 2))
    text = cache.ranges(many, 1500)
    assert len(text) <= 1500
    covered = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        covered |= set(range(int(low), int(high or low) + 1))
    assert covered.issuperset(many)


@pytest.mark.quick
def test_what_counts_as_a_save(tmp_path):
    one, folder = tmp_path / "one.c", tmp_path / "include"
    one.write_text("1")
    folder.mkdir()
    watcher = watch.Watcher()
    watcher.note([one, folder, tmp_path / "later.h"])
    (folder / ".one.h.swp").write_text("")
    assert watcher.changed() == []
    (folder / "new.h").write_text("")
    assert watcher.changed() == [folder]
    assert watcher.wait() == [folder] and watcher.changed() == []
    # An editor writes another file and renames it.
    (tmp_path / "new").write_text("1")
    (tmp_path / "new").replace(one)
    (tmp_path / "later.h").write_text("")
    assert watcher.wait() == [one, tmp_path / "later.h"]
    # Saved while the build ran, before it was known.
    watcher.note([folder / "new.h"], since=0)
    assert watcher.changed() == [folder / "new.h"]


def test_headers_are_those_of_the_own_build(tmp_path, monkeypatch):
    """Another command that builds in the same folder, before the run has ended, forgets them."""
    source, header = tmp_path / "a.c", tmp_path / "a.h"
    source.write_text("")
    header.write_text("")
    work = job.Job(None, "preset", [source], [], [], {"includes": []})
    monkeypatch.setattr(builder, "made_of", lambda preset, sources: {source, header})
    work.note_made_of()
    monkeypatch.setattr(builder, "made_of", lambda preset, sources: set())
    watcher = watch.Watcher()
    watch._note_job(watcher, work, None)
    header.write_text("1")
    assert watcher.changed() == [header]


WATCHED = """\
#include "limit.h"
#include <stdio.h>

int main(void)
{
	int a = LIMIT;

	while (a < 0)
		puts("");
	return a;
}
"""


def test_a_save_runs_it_again(redzone, source):
    """Also one of a header, after an error, and during a run that would not end."""
    source("#define LIMIT 3\n", "limit.h")
    process = redzone.start("run", "-q", "--watch", source(WATCHED))
    guard = threading.Timer(240, process.kill)
    guard.start()

    def until(text):
        lines = []
        for line in process.stderr:
            lines.append(line)
            if text in line:
                return "".join(lines)
        raise AssertionError("".join(lines))

    try:
        assert "the program returned 3" in until("watching; a save runs it again")
        source("#define LIMIT\n", "limit.h")
        assert "does not compile" in until("watching; ")
        source("#define LIMIT -1\n", "limit.h")
        until("limit.h changed")
        source("#define LIMIT 0\n", "limit.h")
        assert "no KASAN report" in until("watching; ")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    finally:
        guard.cancel()
        process.kill()
        process.communicate()
