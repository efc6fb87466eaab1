# SPDX-License-Identifier: MIT
"""Reads QEMU's log of executed code (`-d exec,nochain`), and the functions of the kernel that it ran.

QEMU translates code in pieces that end at a branch, and logs each piece that it runs. With `in_asm` the log
also says how many instructions a piece has.
"""

import bisect
import re
from collections import Counter

from elftools.elf.elffile import ELFFile

from redzone.base import Failure

# As in "Trace 0: 0x7fbe6c0f1c80 [0000000000104004/ffff8000800598c4/00000141/ff000200] name": QEMU's own
# address of the code, then the guest's.
_EXECUTED = re.compile(rb"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/")


class Functions:
    """The functions of an ELF file. addresses: {name: address}; a name that several have is the first's."""

    def __init__(self, path):
        with open(path, "rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            if table is None:
                raise Failure(f"{path} has no symbols")
            found = [
                (symbol["st_value"], symbol.name)
                for symbol in table.iter_symbols()
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol.name
            ]
        found.sort()
        self._starts = [address for address, _ in found]
        self._names = [name for _, name in found]
        self.addresses = {}
        for address, name in found:
            self.addresses.setdefault(name, address)

    def at(self, address):
        """Return the name of the function around @address."""
        index = bisect.bisect_right(self._starts, address) - 1
        return self._names[index] if index >= 0 else hex(address)


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
    starts = [functions.addresses[name] for name in names if name in functions.addresses]
    if not starts:
        raise Failure(f"the kernel has none of the functions {', '.join(names)}")
    ranges = ",".join(f"{start:#x}+4" for start in starts)
    return ["-d", "exec,nochain", "-dfilter", ranges, "-D", str(path)]
