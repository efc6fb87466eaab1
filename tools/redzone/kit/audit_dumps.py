# SPDX-License-Identifier: MIT
"""Register variables of GCC that checks overwrite, from the dumps of -fdump-tree-optimized-lineno.

In `register long number asm("x8") = call->number; asm volatile("svc 0" : : "r"(number));` GCC keeps the
register only from assignments to the asm statement, and any function call between the two may overwrite it.
With outline checks each access to memory has such a call, which the source does not show. The wrong code has
no trace of it either, because GCC removes the assignment as dead. Its dump before code generation still has
all three. Clang moves the assignments right before the asm statement.
"""

import re
from pathlib import Path

from redzone.core.base import Failure

# Registers that a called function gives back as they were.
_KEPT = {
    "arm64": re.compile(r"[xw]?(19|2[0-9])$|fp$"),
    "arm": re.compile(r"r?(4|5|6|7|8|9|10|11)$|sl$|fp$|v[1-8]$"),
    "x86_64": re.compile(r"[re]?(bx|bp)$|r1[2-5]d?$"),
    "riscv64": re.compile(r"s[0-9]+$|fp$|[gt]p$|x(3|4|8|9|1[89]|2[0-7])$"),
}
_KEPT["riscv32"] = _KEPT["riscv64"]
_FUNCTION = re.compile(r"^;; Function (\S+)")
_VARIABLE = re.compile(r"^\s+register .*?\b(\w+) __asm__ \(\*?(\w+)\)")
_PLACE = re.compile(r"\[([^\[\]\s:]+:\d+):\d+(?: discrim \d+)?\] ?")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
_ASSIGNED = re.compile(r"^\s*(\w+) = ")
_CHECK = re.compile(r"(?:^|= )\s*(?:__builtin_)?(__h?w?asan_\w+) \(")
_SP = re.compile(r"[re]?sp$|r13$")


def _statements(text):
    """Yield the lines of a dump; an asm statement whose template has several lines is one."""
    whole = ""
    for line in text.splitlines():
        whole = f"{whole}\n{line}" if whole else line
        if "__asm__" in whole and '"' in _STRING.sub("", whole):
            continue
        yield whole
        whole = ""


def _inputs(statement):
    """Return the names in the inputs of an asm statement."""
    parts = _STRING.sub('""', statement).split(":")
    return set(re.findall(r"\w+", parts[2])) if len(parts) > 2 else set()


def in_dump(text, arch):
    """Return [(function, place or "", variable, register, check)] of one dump."""
    kept, found = _KEPT[arch], []
    function, place, variables, written, lost = "", "", {}, set(), {}
    for line in _statements(text):
        if head := _FUNCTION.match(line):
            function, place, variables, written, lost = head[1], "", {}, set(), {}
            continue
        if declared := _VARIABLE.match(line):
            if not kept.match(declared[2]) and not _SP.match(declared[2]):
                variables[declared[1]] = declared[2]
            continue
        places = _PLACE.findall(line)
        place = places[0] if places else place
        line = _PLACE.sub("", line)
        if "__asm__" in line:
            for name in sorted(_inputs(line) & lost.keys()):
                found.append((function, place, name, variables[name], lost.pop(name)))
            continue
        check = _CHECK.search(line)
        # A report's call comes after a bug, and inline checks have no other.
        if check and "_report_" not in check[1]:
            lost |= {name: check[1] for name in written if name not in lost}
        assigned = _ASSIGNED.match(line)
        if assigned and assigned[1] in variables:
            written.add(assigned[1])
            lost.pop(assigned[1], None)
    return found


def findings(paths, arch):
    """Return the findings of the dumps @paths: files, and folders with all that are in them."""
    if not paths:
        return []
    if arch not in _KEPT:
        raise Failure(f"--dumps does not know the registers of {arch}")
    files = []
    for path in map(Path, paths):
        files += sorted(path.rglob("*t.optimized")) if path.is_dir() else [path]
    if not files:
        raise Failure(
            "no dump in " + ", ".join(map(str, paths)) + ": compile with -fdump-tree-optimized-lineno"
        )
    result = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise Failure(f"cannot read {file}: {error.strerror}") from None
        for function, place, name, register, check in in_dump(text, arch):
            result.append(
                f"{place or file.name}: in {function}() the check {check}() overwrites the register variable"
                f" {name} ({register}) before its asm statement: read memory into ordinary variables first"
            )
    return result
