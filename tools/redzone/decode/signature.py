# SPDX-License-Identifier: MIT
"""Names a bug: which function of a trace it is in, its title, and the signature that its reports share.

A title is as syzkaller's dashboard has it ("KASAN: slab-use-after-free Read in FUNCTION"), so that one can look
for it there. The signature is a hash of the type, the kind of access, and the first functions that are neither
the sanitizer's, nor the allocator's, nor one that only does what its caller asked for. No address, offset or line
goes into it, so it stays the same in the next build.
"""

# A pattern reads better in one piece.
# ruff: noqa: E501

import hashlib
import re

from redzone.decode import roles

# How many functions a signature has.
DEPTH = 3

# What compilers append to the name of a part or a copy of a function.
_SUFFIX = re.compile(
    r"(?:\.(?:constprop|isra|part|cold|llvm|lto_priv|localalias|warm|resolved|\d+|[0-9a-f]{8,}))+$"
)

_PLACES = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+| \[[\w. -]+\]| \(?[^\s()]+\.\w+:\d+\)?(?: \[inline\])?")

_NAMES = {"kasan": "KASAN", "asan": "ASan", "hwasan": "HWASan", "mte": "MTE"}
_FREES = ("double-free", "invalid-free", "double-free or invalid-free")


def plain(name):
    """Return the @name of a function without what the compiler appended."""
    return _SUFFIX.sub("", name) if "." in name else name


def set_roles(report):
    """Fill Frame.role in all traces."""
    # In user space a frame's module is its program or library, not a driver.
    kernel = report.kind not in ("asan", "hwasan", "mte")
    for stack in report.stacks:
        for frame in stack.frames:
            path = frame.locations[-1].path if frame.locations else ""
            module = frame.module if kernel else ""
            frame.role = roles.role(plain(frame.name), module, path) if frame.name else ""


def names(stack):
    """Return the functions of a Stack that the unwinder was sure about, without the sanitizer's and the like.

    A frame without a name counts by its address.
    """
    found = []
    for frame in stack.frames if stack else ():
        if frame.reliable and frame.role in ("", "entry"):
            name = plain(frame.name) or _unnamed(frame)
            if not found or found[-1] != name:
                found.append(name)
    return found


def _unnamed(frame):
    if frame.module and frame.offset is not None:
        return f"{frame.module}+{frame.offset:#x}"
    return f"{frame.address:#x}" if frame.address is not None else ""


def function(report):
    """Return the function that the bug is said to be in."""
    where = plain(report.where)
    call = report.stack("call")
    frames = call.frames if call else ()
    if where and not where[0].isdigit():
        at = next((frame.role for frame in frames if frame.name and plain(frame.name) == where), None)
        if not (roles.role(where) if at is None else at):
            return where
    entries = {plain(frame.name) for frame in frames if frame.name and frame.role == "entry"}
    ordinary = next((name for name in names(call) if name not in entries), None)
    return ordinary or next(iter(names(call)), "") or where


def title(report):
    """Return a line that names the bug."""
    place = function(report)
    within = f" in {place}" if place else ""
    kind, access = report.kind, report.access.kind.capitalize()
    if kind in _NAMES:
        name = _NAMES[kind]
        if not report.type:
            return f"{name}: a report without its beginning{within}"
        shown = f" {access}" if report.access.kind in ("read", "write") and report.type not in _FREES else ""
        return f"{name}: {report.type}{shown}{within}"
    if kind == "kfence":
        shown = f" {report.access.kind}" if report.access.kind in ("read", "write") else ""
        return f"KFENCE: {report.type}{shown}{within}"
    if kind == "kcsan":
        # Both functions of a race, without their offsets and places.
        return _PLACES.sub("", report.title.removeprefix("BUG: ")).rstrip(" /")
    if kind in ("kmsan", "ubsan"):
        where = report.excerpts[0].location if kind == "ubsan" and report.excerpts else None
        place = within or (f" in {where.path}:{where.line}" if where else "")
        return f"{kind.upper()}: {report.type}{place}"
    if kind == "warning":
        return f"WARNING{within}" if place else report.title
    return f"{report.type or report.title}{within}" if kind == "oops" else report.title


def signature(report, whole=True):
    """Return the signature: 16 hex digits.

    whole: the call trace is; else more frames may follow, and "" is returned if they may change the signature."""
    # A leak is where its memory comes from.
    found = names(report.stack("allocated" if report.type == "memory-leak" else "call"))
    first = function(report)
    inside = first in found
    found = found[found.index(first) :] if inside else [first, *found]
    if not whole and not (inside and first == plain(report.where) and len(found) >= DEPTH):
        return ""
    parts = [report.kind, report.type, report.access.kind, *found[:DEPTH]]
    if report.kind in ("other", "panic", "ubsan"):
        # Numbers differ from one report of a bug to the next.
        parts.append(re.sub(r"0x[0-9a-f]+|\d+", "N", report.title))
    if report.access.asynchronous:
        parts.append("asynchronous")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
