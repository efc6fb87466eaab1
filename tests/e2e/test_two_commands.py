# SPDX-License-Identifier: MIT
"""Commands that are killed, or run beside another in one tree: nothing stays, and nobody waits unawares."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from redzone.core import base
from redzone.core.base import ROOT
from redzone.testing import processes, runner

HANGS = """
#include <stdio.h>
int main(void) {
	puts("it hangs now");
	for (;;)
		__asm__ volatile("");
}
"""
# Starts processes in every way that a command does, tells their numbers, and ends as its argument says.
STARTS = """
import json, os, signal, subprocess, sys, threading
sys.path.insert(0, sys.argv[1])
from redzone.core import process
guard = process.Guard()
pids = []
def start():
    child = process.start(["sh", "-c", "sleep 1000 & echo $!; setsid sleep 1000 & echo $!; echo $$; wait"])
    pids.extend(int(child.stdout.readline()) for _ in range(3))
thread = threading.Thread(target=start)
thread.start()
thread.join()
pids.append(subprocess.Popen(["sleep", "1000"]).pid)
print(json.dumps(pids), flush=True)
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
guard.release()
"""


@pytest.mark.parametrize("end", ["killed", "ordinary"])
def test_what_a_killed_command_started_ends(end):
    command = subprocess.Popen(
        [sys.executable, "-c", STARTS, str(ROOT / "tools"), end], stdout=subprocess.PIPE, text=True
    )
    pids = json.loads(command.stdout.readline())
    command.wait(60)
    assert len(pids) == 4
    try:
        if end == "killed":
            assert command.returncode == -signal.SIGKILL
            assert not processes.gone(pids), os.popen("ps -ef").read()
        else:
            # What an ordinary end leaves, such as a compiler cache's server, is meant to stay.
            assert command.returncode == 0
            time.sleep(0.5)
            assert all(map(processes.state, pids))
    finally:
        for pid in filter(processes.state, pids):
            os.kill(pid, signal.SIGKILL)


def test_killed_run_leaves_no_machine_and_no_folder(redzone, source):
    program = source(HANGS)
    running = redzone.start("run", "--timeout", "600", program)
    for line in running.stdout:
        if "it hangs now" in line:
            break
    qemu = processes.machines(running.pid)
    assert len(qemu) == 1
    # Other tests have folders there as well: a lock names its owner.
    locks = (base.BUILD / "runs").glob(f"*/{base.LOCK}")
    left = [lock.parent for lock in locks if lock.read_text().startswith(f"{running.pid} ")]
    assert left
    running.kill()
    running.communicate()
    assert not processes.gone(qemu)
    # The next command that needs such a folder removes it.
    with base.scratch():
        assert not any(path.exists() for path in left)


def test_scratch_keeps_what_is_in_use(monkeypatch, tmp_path):
    monkeypatch.setattr(base, "BUILD", tmp_path)
    (tmp_path / "runs" / "left").mkdir(parents=True)
    (tmp_path / "runs" / "left" / "file").touch()
    with base.scratch("one-") as one, base.scratch("two-") as two:
        assert one.is_dir() and two.is_dir() and one.name.startswith("one-")
        assert not (tmp_path / "runs" / "left").exists()
    assert not one.exists() and not two.exists()


def hold(folder, *words):
    """Start a process that holds the lock of @folder until let_go(), or for a minute."""
    script = textwrap.dedent("""
        import select, sys
        from pathlib import Path
        folder, sys.argv = Path(sys.argv[1]), ["redzone", *sys.argv[2:]]
        from redzone.core import base
        with base.locked(folder):
            print("locked", flush=True)
            select.select([sys.stdin], [], [], 60)
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(folder), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, PYTHONPATH=str(ROOT / "tools")),
    )
    assert process.stdout.readline() == "locked\n"
    return process


def let_go(process):
    process.stdin.close()
    process.wait()


def test_who_waits_says_for_whom(monkeypatch, tmp_path):
    holder, said = hold(tmp_path / "made", "test", "kunit"), []

    def say(text, fold=False):
        said.append(text)
        let_go(holder)

    monkeypatch.setattr(base, "say", say)
    with base.locked(tmp_path / "made"):
        assert holder.returncode == 0
    assert said == [f"waiting for process {holder.pid} (./redzone test kunit), which uses {tmp_path}/made"]


def test_short_wait_is_silent(capfd, monkeypatch, tmp_path):
    holder = hold(tmp_path / "made")
    # However long this host takes for it.
    monkeypatch.setattr(base, "_PATIENCE", 1000.0)
    monkeypatch.setattr(base.time, "sleep", lambda seconds: let_go(holder))
    with base.locked(tmp_path / "made"):
        assert holder.returncode == 0
    assert capfd.readouterr().err == ""


def test_two_tests_keep_their_logs_apart(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "LOGS", tmp_path)
    monkeypatch.setattr(runner, "_held", [])
    options = dict.fromkeys(("yes", "mode", "seconds", "seed", "rounds", "filter", "quick", "linux"))
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from redzone.testing import processes, runner
        runner.LOGS = Path(sys.argv[1])
        names = ("yes", "mode", "seconds", "seed", "rounds", "filter", "quick", "linux")
        context = runner.Context("unit", None, {**dict.fromkeys(names), "jobs": 1})
        print(context.write_log("first", "of the first"), flush=True)
        del context
        sys.stdin.read()
    """)
    first = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=dict(os.environ, PYTHONPATH=str(ROOT / "tools")),
    )  # fmt: skip
    kept = Path(first.stdout.readline().strip())
    second = runner.Context("unit", None, {**options, "jobs": 1})
    log = second.write_log("second", "of the second")
    assert kept.read_text() == "of the first" and log.parent != kept.parent
    first.communicate("")
    # The first has ended: the next test takes its place.
    third = runner.Context("unit", None, {**options, "jobs": 1})
    assert third.logs == kept.parent and not kept.exists() and log.exists()
