# SPDX-License-Identifier: MIT
"""The sample reports in Markdown files: compares them with what `./redzone run` prints, and renews them.

`python3 tools/redzone/testing/sample.py [FILE.md]` runs ./redzone and writes the samples of README.md, or of
FILE.md, anew. It keeps their cuts: a line `...` stands for omitted lines. Standard library only.
"""

import re
import sys
from pathlib import Path

from redzone.core import process

ROOT = Path(__file__).resolve().parents[3]
CUT = "..."
_FENCE = re.compile(r"^```\w*$")
_STAMP = re.compile(r"^\[ *\d+\.\d{6}\] ?")
# Text that differs between two builds or two versions, and its stand-in for a comparison.
_VARIES = (
    (re.compile(r"^([ >])[0-9a-f]{16}:(?: [0-9a-f]{2})+$"), r"\1ADDRESS: BYTES"),
    (re.compile(r"^ +\^$"), "^"),
    (re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+"), "+OFFSET"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "ADDRESS"),
    (re.compile(r"\b(task (?:\w+/)?|PID: )\d+"), r"\1N"),
    (re.compile(r"\b((?:kernel|runtime)/[\w./-]+):\d+"), r"\1:N"),
    (re.compile(r" {2,}"), " "),
)


class Stale(Exception):
    """A sample has a line that is not printed. The text names it."""


def console():
    """Return the lines that `./redzone run` prints, without the kernel's time."""
    command = [str(ROOT / "redzone"), "run"]
    result = process.run(command, cwd=ROOT)
    return [_STAMP.sub("", line).rstrip() for line in result.stdout.splitlines()]


def key(line):
    """Return @line without the parts that differ between two builds."""
    text = line.rstrip()
    for pattern, replacement in _VARIES:
        text = pattern.sub(replacement, text)
    return text.strip()


def blocks(text):
    """Return [(first, end)] of the lines inside each fenced block of @text that has a report."""
    lines = text.splitlines()
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    pairs = zip(fences[::2], fences[1::2], strict=False)
    return [
        (begin + 1, end) for begin, end in pairs if any("BUG: KASAN: " in line for line in lines[begin:end])
    ]


def renewed(sample, printed):
    """Return the lines of @sample as they are in @printed, with the cuts where they were. Raises Stale."""
    keys = [key(line) for line in printed]
    result, at = [], 0
    chunk = []

    def close():
        nonlocal at, chunk
        if not chunk:
            return
        wanted = [key(line) for line in chunk]
        for start in range(at, len(keys) - len(wanted) + 1):
            if keys[start : start + len(wanted)] == wanted:
                result.extend(printed[start : start + len(wanted)])
                at = start + len(wanted)
                chunk = []
                return
        # Name the first line after the longest beginning that is printed.
        best = max(
            (
                next((n for n, text in enumerate(wanted) if keys[start + n : start + n + 1] != [text]), 0)
                for start in range(at, len(keys))
            ),
            default=0,
        )
        raise Stale(f"not printed here: {chunk[best].strip()!r}")

    for line in sample:
        if line.strip() == CUT:
            close()
            result.append(line)
        else:
            chunk.append(line)
    close()
    return result


def renew(text, printed):
    """Return the Markdown @text with its samples as @printed has them. Raises Stale."""
    lines = text.splitlines()
    found = blocks(text)
    if not found:
        raise Stale("there is no block with a report")
    for begin, end in reversed(found):
        lines[begin:end] = renewed(lines[begin:end], printed)
    return "\n".join(lines) + "\n"


def main(arguments):
    path = Path(arguments[0]) if arguments else ROOT / "README.md"
    try:
        text = renew(path.read_text(encoding="utf-8"), console())
    except (OSError, Stale) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
