# SPDX-License-Identifier: MIT
"""Outside programs: their output, their failures, and that an interruption leaves no process behind."""

import os

import pytest
from redzone.core import process
from redzone.core.base import Failure
from redzone.testing import processes

pytestmark = pytest.mark.quick


def test_call_has_status_and_output():
    assert process.call(["sh", "-c", "echo out; echo err >&2; exit 3"]) == (3, "out\nerr\n")
    status, output = process.call(["no-such-program"])
    assert status == 127 and process.last_line(output) == "no-such-program: No such file or directory"
    assert process.last_line("\n") == "no output"


def test_execute_shows_what_matters_of_the_log(tmp_path):
    log = tmp_path / "log"
    process.execute(["sh", "-c", "echo fine"], log)
    with pytest.raises(Failure, match="'sh' failed, see ") as failure:
        process.execute(["sh", "-c", "echo 'a.c:1: error: wrong'; echo more; exit 1"], log)
    assert str(failure.value).splitlines()[1:] == ["a.c:1: error: wrong"]
    assert "fine\n" in log.read_text() and "$ sh -c 'echo fine'\n" in log.read_text()


def test_follow_gives_lines_and_the_status():
    lines = []
    assert process.follow(["sh", "-c", "printf 'one\\ntwo'; exit 4"], lines.append) == 4
    assert lines == ["one", "two"]


def test_interrupted_program_takes_its_children_along():
    pids = []

    def on_line(line):
        pids.append(int(line))
        if len(pids) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        process.follow(["sh", "-c", "echo $$; sleep 1000 & echo $!; wait"], on_line)
    assert not processes.gone(pids), os.popen("ps -ef").read()
