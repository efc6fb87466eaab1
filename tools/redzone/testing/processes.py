# SPDX-License-Identifier: MIT
"""Looks at the processes of this machine, for tests of what a command leaves running."""

import time
from pathlib import Path


def _stat(path):
    """Return (number, name, state, parent) of the process with the file @path, None if it is gone."""
    try:
        number, _, rest = path.read_text().partition(" (")
    except OSError:
        return None
    name, _, rest = rest.rpartition(") ")
    return int(number), name, rest.split()[0], int(rest.split()[1])


def state(pid):
    """Return the letter of the state of the process @pid, "" if there is none or if it has ended."""
    found = _stat(Path(f"/proc/{pid}/stat"))
    return found[2] if found and found[2] != "Z" else ""


def below(pid):
    """Return the processes below @pid, as [(number, name)]."""
    children = {}
    for found in map(_stat, Path("/proc").glob("[0-9]*/stat")):
        if found:
            number, name, _, parent = found
            children.setdefault(parent, []).append((number, name))
    found, new = [], children.get(pid, [])
    while new:
        found += new
        new = [child for number, _ in new for child in children.get(number, [])]
    return found


def machines(pid):
    """Return the numbers of the emulators that the process @pid has started."""
    return [number for number, name in below(pid) if name.startswith("qemu-system")]


def gone(pids, seconds=20):
    """Wait for the end of all processes @pids. Return those that go on."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if state(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
