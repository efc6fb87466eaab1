# SPDX-License-Identifier: MIT
"""Says why ASan and Redzone differ about a bug.

Two verdicts are alike if both report the same kind of bug in the same function, or if both see the same end
of a program without a report. For all others there is an explanation, or the suite fails. It comes from the
verdicts themselves, from further runs of the host's program in which one property of ASan is taken away, from
MSan, or from the table of places that somebody has looked into.
"""

import re
from dataclasses import dataclass

from redzone.testing.mutation import verdict


def alike(native, guest):
    """Do the Verdicts @native and @guest say the same?"""
    if native.end != guest.end:
        return False
    # Line 0 stands for an unknown one.
    same_line = native.line == guest.line and not native.line.endswith(":0")
    return native.end != verdict.REPORT or (
        native.kind == guest.kind and (native.function == guest.function or same_line)
    )


@dataclass(frozen=True)
class Trial:
    """One property of ASan to take away. @options: for ASAN_OPTIONS. @text: the explanation, if the verdicts
    are alike then."""

    name: str
    options: tuple
    text: str


AFTER_RETURN = (
    "ASan keeps the frames of functions that have returned on a fake stack. Clang has none for kernels: the "
    "frame's memory is in use again, and what follows depends on what is there"
)
BEYOND = (
    "the same access, beyond the redzone of its object: what lies there is another object or no memory, "
    "because the two heaps are laid out differently"
)
CALLER = (
    "the program calls a null pointer. ASan's trace follows frame pointers and misses the caller, because "
    "the called function has no frame. Redzone finds the caller by the link register"
)
NO_VALUE = (
    "with the bug the program reads a local variable that has no value, as MSan reports. What follows "
    "depends on what was in its memory"
)
_ADDRESS_0 = re.compile(r"NULL pointer dereference at virtual address 0+:")
# Kinds of bugs that a mode does not check: {mode: (kinds, why)}.
_UNCHECKED = {
    "sw_tags": (("global bounds",), "global variables have no tags in this mode"),
    "hw_tags": (
        ("global bounds", "stack bounds", "alloca bounds", "use after scope"),
        "hardware tags cover the heap, not stacks and global variables",
    ),
}
# Bytes that share a tag.
_GRANULE = 16
SAME_GRANULE = "the access ends in the last granule of 16 bytes of its object, which has one tag"
# Bytes of the smallest redzone.
_NEAR = 16
_BEHIND = re.compile(r"(\d+) bytes after (\d+)-byte region")
_DISTANCE = re.compile(r"(\d+) bytes (?:before|after|to the (?:left|right))")
# Runs of a trial, which must all agree: what follows a bug may be chance, and one run may be alike by luck.
TIMES = 3
TRIALS = (
    Trial(
        "no-fill",
        ("max_malloc_fill_size=0",),
        "the program reads memory of malloc() that it has not written, which ASan fills with 0xbe",
    ),
    Trial(
        "no-argument-checks",
        (
            *("replace_str=0", "intercept_memcmp=0", "intercept_strlen=0", "intercept_strchr=0"),
            *("intercept_strspn=0", "intercept_strpbrk=0", "intercept_strstr=0", "intercept_memmem=0"),
            *("check_printf=0", "strict_memcmp=0", "detect_odr_violation=0"),
        ),
        "ASan checks all of the arguments of the host's C library at the call. That of the program in the "
        "kernel is checked as it reads, and here it reads less",
    ),
    Trial(
        "no-overlap-check",
        ("replace_intrin=0",),
        "ASan checks whether the arguments of memcpy() overlap, which Redzone does not",
    ),
    Trial(
        "no-quarantine",
        ("quarantine_size_mb=0", "thread_local_quarantine_size_kb=0"),
        "freed memory is in use again: ASan's quarantine and the kernel's have other sizes",
    ),
    Trial(
        "wide-redzones",
        ("redzone=2048", "max_redzone=2048"),
        "the access goes beyond the redzone of one of the two, and meets another object there",
    ),
)


def distance(found):
    """Return how many bytes the Verdict @found says the access is outside of its object, 0 if inside."""
    match = _DISTANCE.search(found.where)
    return int(match[1]) if match else 0


def in_granule(found):
    """Does the access of the Verdict @found end in the granule where its object ends?"""
    match = _BEHIND.search(found.where)
    if not match or found.size is None:
        return False
    behind, size = int(match[1]), int(match[2])
    return found.kind == "heap bounds" and behind + found.size <= -size % _GRANULE


def _may_be_chance(native, guest, function, line):
    """May @native and @guest differ because of a read without a value in @function, at @line? A fault may be
    anywhere, because its address is made of such a value. ASan's other reports are no chance: the access is
    outside of its object, or the object's life has ended. Redzone's must be at that place."""
    if native.end == verdict.REPORT and native.kind != "fault":
        return False
    at = guest.function == function or guest.line == line
    return guest.end != verdict.REPORT or guest.kind == "fault" or at


def of_verdicts(native, guest, mode):
    """Return why the Verdicts @native and @guest of @mode differ, as far as they say it themselves, or
    None."""
    kinds, text = _UNCHECKED.get(mode, ((), ""))
    if native.kind in kinds:
        return text
    if mode != "generic" and in_granule(native):
        return SAME_GRANULE
    if native.kind == "use after return":
        return AFTER_RETURN
    if native.where == verdict.CALLS_NULL and _ADDRESS_0.search(guest.where):
        return CALLER
    both = native.end == guest.end == verdict.REPORT
    if both and native.function == guest.function and native.line == guest.line:
        kinds = {native.kind, guest.kind}
        far = "fault" in kinds or max(distance(native), distance(guest)) >= _NEAR
        if far and kinds <= {"heap bounds", "use after free", "fault", "global bounds", "stack bounds"}:
            return BEYOND
    return None


def explain(native, guest, mode, again, without_value, table, key):
    """Return why @native and @guest differ in @mode, or None if nobody knows.

    again(options): returns the native Verdict with more ASAN_OPTIONS. without_value(): returns the function
    and the line of MSan's first report about the bug, or None if it has none. @table: {key: text}.
    """
    if key in table:
        return table[key]
    text = of_verdicts(native, guest, mode)
    if text:
        return text
    for trial in TRIALS:
        if all(alike(again(trial.options), guest) for _ in range(TIMES)):
            return trial.text
    read = without_value()
    if read and _may_be_chance(native, guest, *read):
        return NO_VALUE
    return None
