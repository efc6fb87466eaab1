# SPDX-License-Identifier: MIT
"""Runs outside programs: for their output, with a log, or line by line.

Standard library only: `doctor` uses it, and runs before there is a virtual environment.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure

# Default time limit of a program under call(), in seconds.
TIMEOUT = 900


# Waits for the end of its standard input. Without a line in it the command was killed: then all processes end
# that have the word $1 in their environment.
_WATCHER = """
read -r line && exit
for round in 1 2 3 4 5 6 7 8 9; do
    found=$(grep -lsFe "$1" /proc/[0-9]*/environ)
    [ "$found" ] || exit
    for file in $found; do
        file=${file%/environ}
        kill -9 "${file#/proc/}" 2>/dev/null
    done
    sleep 0.2
done
"""


class Guard:
    """From its making to release(): if this process dies without a chance to clean up, as by SIGKILL, all
    that it has started ends, and all that those have started, in whatever session.

    A parent-death signal would not do: the kernel sends it when the *thread* ends that has started the
    process, and gives none to grandchildren. So a shell watches; it knows the processes by a variable.
    """

    VARIABLE = "REDZONE_GUARD"

    def __init__(self):
        word = f"{os.getpid()}-{os.urandom(8).hex()}"
        # The watcher of a command that was itself started by one must outlive both.
        environment = {name: value for name, value in os.environ.items() if name != self.VARIABLE}
        self._watcher = subprocess.Popen(
            ["sh", "-c", _WATCHER, "redzone-guard", f"{self.VARIABLE}={word}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        os.environ[self.VARIABLE] = word

    def release(self):
        """This process ends in an ordinary way: what it has left running is meant to stay."""
        with contextlib.suppress(OSError):
            self._watcher.communicate(b"end\n")


def run(command, **options):
    """Run @command, a list, or a text with shell=True. Return it as subprocess.run() does.

    There is no input, and .stdout and .stderr are text, unless @options of subprocess.run() say something
    else.
    """
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    chosen = {"check": False, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    if options.get("text", True):
        chosen["errors"] = "replace"
    words = command if isinstance(command, str) else list(map(str, command))
    return subprocess.run(words, **(chosen | options))


def output(command, **options):
    """Return what @command prints; it does not fail."""
    return run(command, check=True, **options).stdout


def call(command, timeout=TIMEOUT, **options):
    """Run @command for at most @timeout seconds. Return (status, output); a missing command is a failed
    one."""
    try:
        result = run(command, stderr=subprocess.STDOUT, timeout=timeout, **options)
    except OSError as error:
        return 127, f"{command[0]}: {error.strerror}"
    except subprocess.TimeoutExpired:
        return 124, f"{command[0]}: no end after {timeout} s"
    return result.returncode, result.stdout


def last_line(output):
    """Return the last line of a command's @output, which usually says why the command failed."""
    return (output.strip().splitlines() or ["no output"])[-1]


# The lines of apt, git and pip that say why something cannot be fetched; others come after them.
_WHY = re.compile(r"(?m)^(?:E: |fatal: )(.*\S)|^WARNING: Retrying .* broken by '(.*)': \S*$")


def reason(output, folder):
    """Return the line of a command's @output that says why it could not fetch something into @folder. Raise
    base.DiskFull if there is no room for it."""
    base.check_room(folder, output)
    why = _WHY.search(output)
    return why[why.lastindex] if why else last_line(output)


def execute(command, log, **options):
    """Run @command with its output appended to @log. Raise Failure with the last lines if it fails."""
    with open(log, "ab") as file:
        file.write(f"$ {shlex.join(map(str, command))}\n".encode())
        file.flush()
        result = run(command, stdout=file, stderr=subprocess.STDOUT, **options)
    if result.returncode != 0:
        raise failed(command, log)


def failed(command, log):
    """Return the Failure of @command, with the part of @log that matters."""
    lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    lines = [line for line in lines if not line.startswith("$ ")]
    errors = [line for line in lines if re.search(r"(?i)\berror\b|^E: |undefined", line)]
    shown = "\n".join((errors or lines)[-12:])
    base.check_room(Path(log).parent, "\n".join(lines))
    return Failure(f"'{Path(str(command[0])).name}' failed, see {base.relative(log)}\n{shown}")


def start(command, **options):
    """Start @command without a terminal's input. Return the process, whose output is text.

    Its output is one pipe unless @options of subprocess.Popen() say something else. It has a session of its
    own: Ctrl-C ends this process, which then ends that one as it wants.
    """
    chosen = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **options}
    return subprocess.Popen(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
        **chosen,
    )


def end(process, seconds):
    """Wait for the end of @process, at most @seconds; then kill it. Return its exit status."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def follow(command, on_line, **options):
    """Run @command; call on_line(text) for each line of its output. Return its exit status.

    On an interrupt, it ends the program and all that the program has started.
    """
    process = start(command, **options)
    try:
        with process.stdout:
            for line in process.stdout:
                on_line(line.rstrip("\n"))
        return process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
