# SPDX-License-Identifier: MIT
"""Recognises a report that is like an earlier one, without parsing it.

The headline, the kind of access and the frames of the call trace decide the signature. They are compared as
bytes, without what differs from one report of a bug to the next: times, addresses, tasks.
"""

import re

from redzone.decode import collect, lines

RULE = b"=" * 60
# A longer report is parsed as usual.
MAX_BYTES = 64 << 10
_MAX_KEYS = 4096
# What follows the call trace, whichever comes first.
_TRACE_END = re.compile(rb"llocated by task|The buggy address |Freed by task|Memory state around|Last potent")
_CALLER = re.compile(rb"\]\[ *([CT]\d+)\]")
_ACCESS = re.compile(rb"(?:Read|Write|Free)(?: of size \d+)? (?:at|of) addr |Asynchronous fault")
# Where a prefix with brackets ends, at the latest.
_PREFIX = 64
# The fault that follows one of these is the same access: parse these, so that it is recognised.
_FAULTS = ("null-ptr-deref", "wild-memory-access", "user-memory-access")


class Repeats:
    """learn() takes each parsed report; find() tells whether the next one's bytes are like one of them."""

    def __init__(self):
        self._known = {}
        self._candidate = None

    def find(self, block, number):
        """Return (model.Bug, a report like it, its time) if the report in the bytes @block, which begins in
        line @number of the log, is like one that is kept often enough, else None."""
        self._candidate = None
        end = _TRACE_END.search(block)
        if end is None or block.count(b"BUG: ") != 1 or _mixed(block):
            return None
        key = _key(block[: end.start()])
        found = self._known.get(key)
        if found is None or len(block) < found[2]:
            self._candidate = key, len(block), number
            return None
        return found[0], found[1], lines.parse(block[: block.find(b"\n")]).time

    def learn(self, report, bug):
        """@report of @bug has been parsed."""
        candidate, self._candidate = self._candidate, None
        if candidate is None or bug is None or candidate[2] != report.first_line:
            return
        whole = report.kind == "kasan" and not report.truncated and report.type not in _FAULTS
        if whole and bug.count >= collect.KEEP and len(self._known) < _MAX_KEYS:
            self._known[candidate[0]] = bug, report, candidate[1]


def _mixed(block):
    """Are there lines of several CPUs or tasks in @block?"""
    return b"][" in block and len(set(_CALLER.findall(block))) > 1


def _key(head):
    """Return what two reports with the same signature have in common, of the bytes up to the end of the call
    trace."""
    found = [head[head.find(b"BUG: ") : head.find(b"\n")]]
    access = _ACCESS.search(head)
    if access:
        found.append(access[0])
    for line in head.split(b"\n")[1:]:
        if b"+0x" in line:
            found.append(line[line.rfind(b"] ", 0, _PREFIX) + 1 :])
    return b"\n".join(found)
