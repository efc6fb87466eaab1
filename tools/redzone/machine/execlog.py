# SPDX-License-Identifier: MIT
"""Reads QEMU's log of executed code (`-d exec,nochain`), and the functions of the kernel that it ran.

QEMU translates code in pieces that end at a branch, and logs each piece that it runs. With `in_asm` the log
also says how many instructions a piece has.
"""

import re
from collections import Counter

from redzone.core.base import Failure

# As in "Trace 0: 0x7fbe6c0f1c80 [0000000000104004/ffff8000800598c4/00000141/ff000200] name": QEMU's own
# address of the code, then the guest's.
_EXECUTED = re.compile(rb"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/")


def executed(path):
    """Return {address: how often} of the log file @path: the first instruction of each piece of code that
    ran."""
    counts = Counter()
    with open(path, "rb") as file:
        for line in file:
            match = _EXECUTED.match(line)
            if match:
                counts[match[1]] += 1
    return {int(address, 16): count for address, count in counts.items()}


def instructions(path):
    """Return {address: instructions} of the log file @path, from all_options(): by the first instruction of
    each piece of code that ran. A piece that ends early, by an exception, counts as a whole."""
    lengths, start = {}, None
    with open(path, "rb") as file:
        for line in file:
            if line.startswith(b"IN:"):
                start = None
            elif line.startswith(b"0x"):
                address = int(line.partition(b":")[0], 16)
                if start is None:
                    start = address
                    lengths[start] = 0
                lengths[start] += 1
    return {address: times * lengths.get(address, 1) for address, times in executed(path).items()}


def all_options(path):
    """Return QEMU's options for a log in @path of everything that runs, for instructions()."""
    return ["-d", "in_asm,exec,nochain", "-D", str(path)]


def options(path, functions, names):
    """Return QEMU's options for a log in @path of the calls of those functions in @names that exist."""
    starts = [found[0].address for found in map(functions.find, names) if found]
    if not starts:
        raise Failure(f"the kernel has none of the functions {', '.join(names)}")
    ranges = ",".join(f"{start:#x}+4" for start in starts)
    return ["-d", "exec,nochain", "-dfilter", ranges, "-D", str(path)]
