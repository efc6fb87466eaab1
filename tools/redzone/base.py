# SPDX-License-Identifier: MIT
"""What the other modules share: paths, exit statuses, the error that ends a command, messages."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "logs"

# Exit statuses of `./redzone run`. OK and REPORTED serve `test` too: nothing failed, something failed.
OK = 0
REPORTED = 1
USAGE = 2
CRASHED = 3
PROGRAM_FAILED = 4


class Failure(Exception):
    """Ends the command: one clear line for the user, and the exit status."""

    def __init__(self, message, status=USAGE):
        super().__init__(message)
        self.status = status


def say(text):
    """Tell the user something. Goes to stderr: stdout belongs to the machine's console."""
    print(f"redzone: {text}", file=sys.stderr, flush=True)


def relative(path, start=None):
    """Return @path relative to @start (default: the current folder) if it lies below, else as it is."""
    try:
        return str(Path(path).relative_to(start or Path.cwd()))
    except ValueError:
        return str(path)


def plural(count, noun):
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
