# SPDX-License-Identifier: MIT
"""What shadow bytes and tags mean, and which mode of KASAN printed a report."""

import itertools
import re

# Linux's and this runtime's shadow bytes. Compilers write F8; Linux uses it for vmalloc space too.
SHADOW = {
    0x00: "all 8 bytes accessible",
    0xFF: "free page",
    0xFE: "redzone of a page allocation",
    0xFC: "slab redzone",
    0xFB: "freed slab object",
    0xFA: "freed slab object that holds the trace of its free",
    0xF9: "redzone of a global variable",
    0xF1: "stack: left redzone",
    0xF2: "stack: redzone between variables",
    0xF3: "stack: right redzone",
    0xF4: "stack: partial redzone",
    0xF5: "stack: after return",
    0xF6: "header of a heap object",
    0xF7: "vmalloc space of no area",
    0xF8: "stack variable out of scope, or vmalloc space of no area",
    0xCA: "alloca: left redzone",
    0xCB: "alloca: right redzone",
}
# AddressSanitizer's of user space.
USER_SHADOW = {
    0x00: "all 8 bytes accessible",
    0xFA: "heap redzone",
    0xFD: "freed heap memory",
    0xF1: "stack: left redzone",
    0xF2: "stack: redzone between variables",
    0xF3: "stack: right redzone",
    0xF5: "stack: after return",
    0xF8: "stack variable out of scope",
    0xF9: "redzone of a global variable",
    0xF6: "global variable that is not initialised yet",
    0xF7: "poisoned by the program",
    0xFC: "container overflow",
    0xAC: "array cookie",
    0xBB: "intra-object redzone",
    0xFE: "AddressSanitizer's own",
    0xCA: "alloca: left redzone",
    0xCB: "alloca: right redzone",
}


# Functions of a call trace: checks of software tags by compiled code; the way to a fault of the CPU's check.
_CHECKS = ("__hwasan_", "kasan_tag_mismatch")
_FAULTS = ("do_tag_check_fault", "do_tag_recovery", "report_tag_fault")
# Tags that both modes use: of invalid memory and of memory without a tag.
_COMMON = {0xFE, 0xFF}
# By chance so many different software tags look like hardware's in one report of 100,000.
_ENOUGH = 4


def meaning(value, kind, mode="", sanitizer="kasan"):
    """Return what the cell @value of a map of @kind ("shadow" or "tags") says, in words."""
    if kind == "shadow":
        if 1 <= value <= 7:
            return (
                f"only the first {value} of 8 bytes accessible"
                if value > 1
                else "only the first of 8 bytes accessible"
            )
        table = USER_SHADOW if sanitizer == "asan" else SHADOW
        return table.get(value, "unknown")
    if sanitizer == "hwasan":
        if 1 <= value <= 15:
            return f"short granule: {value} of 16 bytes, or a tag"
        return "untagged" if value == 0 else "memory with this tag"
    if value == 0xFE:
        return "freed memory or redzone"
    if value == 0xFF:
        return "untagged: any pointer may use it"
    if mode == "sw_tags" and 1 <= value <= 15:
        return f"only the first {value} of 16 bytes accessible, or memory with this tag"
    return f"memory with tag {value:02x}"


# Compilers of tag modes do not know scopes and alloca(), so only Generic mode finds these.
_GENERIC_TYPES = frozenset(("use-after-scope", "alloca-out-of-bounds"))
# Bad pointers that are no memory have no tag; all others' tags stand below the access.
_UNTAGGED_TYPES = frozenset(
    ("null-ptr-deref", "wild-memory-access", "user-memory-access", "invalid-call", "")
)
# What a log of an architecture says that has Generic mode only: x86, arm, powerpc, s390, loongarch, riscv.
_GENERIC_ONLY = re.compile(
    r"^RIP: |\b(?:entry_SYSCALL_64|do_syscall_64|__do_fast_syscall_32|ret_from_fork_asm)\b"
    r"|\basm_(?:exc|sysvec)_|\b__x64_sys"
    r"|\b(?:addr|at|object at) (?:0x)?ffff88[89a-f][0-9a-f]{9}\b|\baddr (?:0x)?[0-9a-f]{8} by task "
    r"|\[<[0-9a-f]{8}>\] |\(unreliable\)$|^NIP |^Krnl PSW|\baddr (?:c00[0-9a-f]{13}|9[08]0000[0-9a-f]{10}) "
    r"|^\s*(?:ERA|epc ?): |\bdo_trap_ecall_u\b"
)


def mode_of(report):
    """Return the mode that the @report shows, "" if it shows none for sure."""
    return _mode_by_tags(report) or _mode_by_text(report)


def _mode_by_text(report):
    """Return the mode that the @report shows by what it says, or leaves out; "" if none."""
    call = report.stack("call")
    for frame in call.frames if call else ():
        if frame.name.startswith("__asan_"):
            return "generic"
        if frame.name.startswith(_CHECKS):
            return "sw_tags"
        if frame.name.startswith(_FAULTS):
            return "hw_tags"
    if report.access.pointer_tag is not None:
        return ""
    if report.type in _GENERIC_TYPES or any(map(_GENERIC_ONLY.search, report.raw)):
        return "generic"
    # Tag modes print the tags below the access, before any trace.
    told = report.access.kind and call and call.frames and report.type not in _UNTAGGED_TYPES
    return "generic" if told and granule(report) != 16 else ""


def _mode_by_tags(report):
    """Return the mode that tags and the memory map of the @report show, "" if none."""
    access, rows = report.access, report.memory.rows if report.memory else []
    values = {cell for row in rows for cell in row.cells if cell is not None}
    tags = {tag for tag in (access.pointer_tag, access.memory_tag) if tag is not None}
    if access.asynchronous:
        return "hw_tags"
    if not tags and granule(report) == 8 and rows:
        return "generic"
    if any(value < 0xF0 for value in values | tags):
        return "sw_tags" if tags or granule(report) == 16 else ""
    if not tags and granule(report) != 16:
        return ""
    call = report.stack("call")
    names = [frame.name for frame in call.frames] if call else []
    if any(name.startswith((*_CHECKS, *_FAULTS)) for name in names):
        return ""
    # Hardware does not say how much was accessed, and Linux makes up no size.
    if tags and access.kind in ("read", "write") and access.size is None:
        return "hw_tags"
    # Hardware has 4 bits. One software tag in 18 looks like that, so several are needed.
    return "hw_tags" if len((values | tags) - _COMMON) >= _ENOUGH else ""


def granule(report):
    """Return the bytes that a cell of the map stands for, from the distance of two rows; 0 if unknown."""
    rows = report.memory.rows if report.memory else []
    found = set()
    for first, second in itertools.pairwise(rows):
        distance = (second.address - first.address) if None not in (first.address, second.address) else 0
        if first.cells and distance in (8 * len(first.cells), 16 * len(first.cells)):
            found.add(distance // len(first.cells))
    # A row may be missing.
    return min(found, default=0)


def explain_map(report):
    """Fill in the map's kind, granule and meanings, and the report's mode if it shows one."""
    if report.kind == "kasan":
        report.mode = mode_of(report) or report.mode
    found = report.memory
    if found is None:
        return
    if not found.rows:
        report.memory = None
        return
    if report.kind == "kasan":
        shown = report.access.pointer_tag is not None or granule(report) == 16
        tags = report.mode in ("sw_tags", "hw_tags") or (shown and report.mode != "generic")
        found.kind = "tags" if tags else "shadow"
    elif report.kind == "hwasan":
        found.kind = "tags"
    found.granule = granule(report) or (16 if found.kind == "tags" else 8)
    if report.kind == "asan":
        # Rows have addresses of shadow in old versions, of memory in new ones.
        found.granule = 8
    if found.column is None and report.kind == "kasan" and report.access.address is not None:
        # A line without its indentation does not show the place.
        _mark(found, report.access.address & ~(0xFF << 56))
    values = sorted({cell for row in found.rows for cell in row.cells if cell is not None})
    found.meanings = {
        f"{value:02x}": meaning(value, found.kind, report.mode, report.kind) for value in values
    }


def _mark(found, address):
    """Mark the cell of @address, without a tag, in the MemoryMap @found, if a row is marked."""
    row = next((row for row in found.rows if row.bad and row.address is not None), None)
    if row is not None:
        column = (address - (row.address & ~(0xFF << 56))) // found.granule
        found.column = column if 0 <= column < len(row.cells) else None


def bad_value(report):
    """Return the shadow byte or tag that the map marks, None if it marks none."""
    found = report.memory
    if found is None or found.column is None:
        return None
    row = next((row for row in found.rows if row.bad), None)
    return row.cells[found.column] if row is not None and found.column < len(row.cells) else None
