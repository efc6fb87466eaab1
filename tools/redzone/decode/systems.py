# SPDX-License-Identifier: MIT
"""Reports of other kernels' sanitizers: one row of a table for each system.

To add a system, copy a row and give the lines that it prints as patterns. A pattern is looked for anywhere in a line.
The headline's begins with all that the system itself prints in front: anything before it is a prefix, and further
lines lose it as well. The named groups are what decode takes from the line:

  type      words that say what is wrong; classify() knows the usual ones
  op        "read", "load", "write", "store", "free", or a flag that is 1 for a write
  size, addr, pc, task    of the access; numbers are decimal, or hexadecimal with 0x
  start, object, into, past, before an object: its address and size, and where the access lies, in bytes
  state     of the object: freed if the word has "free" in it
  stack     begins another trace: of the free if the word has "free" or "dealloc" in it, of the allocation if it has
            "alloc", else of the access
  debugger  the kernel's debugger takes over; again: it shows a trace, of which the report has one already
  inlined   in a frame: the place is that of this function, which is inlined there
  label     the name of an address that stands in a list above; outer: the function that contains this one

A second form of a group in one pattern has a 2 at its end (addr2). Words may have capitals.

A test in tests/decode/test_systems.py for each row says what comes out.
"""

# A pattern reads better in one piece.
# ruff: noqa: E501

import functools
import re
from dataclasses import dataclass

_HEX = r"(?:0x)?[0-9a-fA-F]{4,16}"
_PC = rf"(?P<pc>{_HEX})"
_ADDR = rf"(?P<addr>{_HEX})"


@dataclass(frozen=True)
class System:
    """name: as its users call it. literal: in each headline. headline: begins a report. lines: those that follow.
    frame: a line of a trace, with the groups address, name, offset, file, line. end: the report's last line.
    rows: what it dumps around the address: "shadow", "memory" (not shown) or "". mode: of KASAN. kind: of
    the model.Report."""

    name: str
    literal: str
    headline: re.Pattern
    lines: tuple = ()
    frame: re.Pattern | None = None
    end: re.Pattern | None = None
    rows: str = ""
    mode: str = "generic"
    kind: str = "kasan"


def _system(name, literal, headline, *lines, frame=None, end=None, **more):
    return System(
        name,
        literal,
        re.compile(headline),
        tuple(map(re.compile, lines)),
        re.compile(frame) if frame else None,
        re.compile(end) if end else None,
        **more,
    )


# What the debugger of the BSDs prints: `f() at f+0x17/frame 0x1`, `f(1,2,3) at f+0x17`, `#0  f+0x17`. A script adds the
# place, or that of an inlined function and its name: ` a/b.c:5`, ` g a/b.h:7 [inline]`.
_PLACE = r"(?: (?:(?P<inlined>[A-Za-z_]\w*) )?(?P<file>[^\s:]+\.\w+):(?P<line>-?\d+)(?: \[inline\])?)?"
_DDB = rf"^(?:#\d+  ?)?(?:[\w.]+\([^()]*\) at )?(?:netbsd:|kernel:)?(?P<name>[A-Za-z_][\w.]*)\+0x(?P<offset>[0-9a-f]+)(?:/frame 0x[0-9a-f]+)?{_PLACE}\s*$"
# The debugger shows the same trace again, and much else.
_DEBUGGER = r"(?P<debugger>^(?:db|ddb)(?:\{\d+\})?> ?(?P<again>(?:bt|trace)\b)?|(?P<again2>^Stopped (?:at|in) |Begin traceback))"

SYSTEMS = (
    _system(
        "NuttX",
        "kasan detected a ",
        rf"(?:kasan_report: )?kasan detected a (?P<op>read|write) access error, address at {_ADDR}, ?size is (?P<size>\d+)(?:, return address: {_PC})?",
        frame=r"sched_dumpstack: .*?(?<![\w+])(?P<name>[A-Za-z_]\w*)\+0x(?P<offset>[0-9a-f]+)(?:/0x[0-9a-f]+)?\s*$",
        rows="memory",
    ),
    _system(
        "FreeBSD",
        "ASan: Invalid access, ",
        rf"(?:panic: )?ASan: Invalid access, (?P<size>\d+)-byte (?P<op>read|write) at {_ADDR}, (?P<type>\w+)\([0-9a-f]+\)",
        _DEBUGGER,
        frame=_DDB,
    ),
    _system(
        "NetBSD",
        "Unauthorized Access In ",
        rf"(?:panic: )?k?ASan: Unauthorized Access In {_PC}: Addr {_ADDR} \[(?P<size>\d+) bytes?, (?P<op>read|write)(?:, (?P<type>\w+))?\]",
        _DEBUGGER,
        frame=rf"#\d+ (?P<address>{_HEX}) in (?P<name2>[A-Za-z_][\w.]*)(?:\+0x(?P<offset2>[0-9a-f]+))?(?: <[\w.-]+>)?\s*$|{_DDB}",
    ),
    _system(
        "OpenBSD",
        "Caught invalid memory access at ",
        rf"(?:panic: |\*cpu\d+: )?Caught invalid memory access at {_ADDR} size (?P<size>\d+) op (?P<op>\d)",
        _DEBUGGER,
        r"KASAN: first bad byte at .* shadow 0x[0-9a-f]+: (?P<type>.*)",
        rf"KASAN: {_HEX} is (?P<into>\d+) bytes inside the (?P<object>\d+)-byte \w+ slot \[(?P<start>{_HEX})\.\.",
        r"KASAN: (?P<stack>allocated at|freed at|call trace):",
        frame=_DDB,
        rows="shadow",
    ),
    _system(
        "Zircon",
        "KASAN detected a ",
        rf"KASAN detected a (?P<op>read|write) error: ptr=\{{\{{\{{data:{_ADDR}\}}\}}\}}, size=(?P<size>0x[0-9a-f]+|\d+), caller: \{{\{{\{{pc:{_PC}\}}\}}\}}",
        frame=rf"\{{\{{\{{bt:\d+:(?P<address>{_HEX})(?::\w+)?\}}\}}\}}",
        rows="shadow",
    ),
    _system(
        "XNU",
        "KASan: ",
        rf"(?:panic\([^()]*\): \"?)?KASan: (?:invalid (?P<size>\d+)-byte (?P<op>\w+) (?:@ )?{_ADDR} \[(?P<type>[^\]]+)\]|(?P<type2>free of corrupted/invalid|UaF of quarantined) object (?P<addr2>{_HEX}))",
        frame=r"^\s*(?:0x[0-9a-f]{8,16}) : (?P<address>0x[0-9a-f]{8,16})\s*$|^Backtrace: (?P<list>[0-9a-f,]+)",
        rows="shadow",
    ),
    _system(
        "OpenHarmony LiteOS",
        "Kernel Address Sanitizer Error Detected",
        r"(?:\[\w+\](?:\[[^\]]*\])?)?\*+ +Kernel Address Sanitizer Error Detected(?: Start)? +\*+",
        r"\](?P<type>[A-Z][\w ]+?) error detected",
        rf"Illegal (?P<op>READ|WRITE|Double free) address at: \[{_ADDR}\]",
        r"task[Nn]ame *= *(?P<task>\S+)",
        frame=rf"traceback \d+ -- lr = (?P<address>{_HEX})",
        end=r"\*+ +Kernel Address Sanitizer Error Detected End +\*+",
    ),
    _system(
        "coreboot",
        "ASan: ",
        rf"ASan: (?P<type>[a-z]+(?:-[a-z]+)+) in {_PC}\s*$",
        rf"(?P<op>Read|Write) of (?P<size>\d+) bytes? at addr {_ADDR}",
    ),
    _system(
        "Unikraft",
        "invalid access to address ",
        rf"\* invalid access to address {_ADDR}",
        r"\* (?P<op>read|write) of size (?P<size>\d+)",
        r"\* redzone code 0x[0-9a-f]+ \((?P<type>[\w -]+)\)",
        end=r"={20,}\s*$",
    ),
    _system(
        "Circle, EDK2 and bare-metal runtimes",
        "ERROR: Invalid memory access: ",
        rf"\[K?ASan\] ERROR: Invalid memory access: address {_ADDR}, size (?P<size>0x[0-9a-fA-F]+|\d+), (?:is_)?write (?:0x)?(?P<op>[01]), ip {_PC}",
        r"bug_descr=(?P<type>[a-z-]+)",
        rows="shadow",
    ),
    _system(
        "EDK2",
        "[ASAN] ERROR: ",
        rf"\[ASAN\] ERROR: pc={_PC}, sp=\w+, addr={_ADDR}, shadow value=\w+, is_write=(?:0x)?(?P<op>[01])",
    ),
    _system(
        "SerenityOS",
        "KASAN: ",
        rf"KASAN: [Ii]nvalid (?:(?P<size>\d+)-byte (?P<op>\w+) access to V?{_ADDR}, which is marked as '(?P<type>[^']*)'(?: \[at {_PC}\])?"
        rf"|(?P<op2>\w+) of size (?P<size2>\d+) on address V?(?P<addr2>{_HEX}))",
        frame=r"(?:Kernel \+ )?(?P<address>0x[0-9a-f]{8,16})  (?P<name>[A-Za-z_][\w:]*)(?:\(.*\))?(?: \+(?:0x)?(?P<offset>[0-9a-f]+))?",
    ),
    _system(
        "Arm's bare-metal sample",
        "KASAN: invalid ",
        rf"KASAN: invalid (?P<op>\w+) at {_ADDR}, size (?P<size>\d+), offset (?P<offset>\d+)",
    ),
    _system(
        "managarm",
        "KASAN failure at IP ",
        rf"(?:thor: )?KASAN failure at IP {_PC}, (?P<size>\d+)-byte (?P<op>read|write) (?:from|to) address {_ADDR}",
        frame=r"^(?:thor: )?\s*#?\d+:? .*?(?P<address>0x[0-9a-f]{8,16})(?: in (?P<name>[\w:]+))?",
    ),
    _system(
        "OP-TEE",
        "core/kernel/asan.c:",
        r"(?:[EDIF]/TC:\S+ \d+ )?Panic (?:'(?P<type>[^']*)' )?at core/kernel/asan\.c:\d+",
        frame=r"^[EDIF]/TC:[^@]*? {2}(?P<address>0x[0-9a-f]{8,16})(?: (?P<name>[A-Za-z_]\w*)(?: at (?P<file>[^\s:]+):(?P<line>\d+))?)?\s*$",
    ),
    _system(
        "Zephyr",
        "KASAN POISON: ",
        rf"KASAN POISON: (?:viol_addr=(?P<addr2>{_HEX}) viol_slot=\d+ )?addr={_ADDR} size=(?P<size>\d+)(?P<op> )",
        r"Faulting instruction address \([^)]*\): (?P<pc>0x[0-9a-f]+)",
    ),
    _system(
        "ESP-IDF",
        "CORRUPT HEAP: ",
        rf"CORRUPT HEAP: (?:(?P<type>Bad (?:head|tail)|Invalid data)(?P<op> )at {_ADDR}\. Expected 0x[0-9a-f]+ got 0x[0-9a-f]+|multi_heap\.c:\d+ (?P<op2>)detected at (?P<addr2>{_HEX}))",
        r"CORRUPT HEAP: multi_heap\.c:\d+ detected at ",
        frame=r"^Backtrace: ?(?P<list>0x[0-9a-f: x]+)|^ *(?:#\d+  )?(?P<address>0x[0-9a-f]{8})(?::0x[0-9a-f]+ in|:) (?P<label>\w+) at (?P<file>\S+):(?P<line>\d+)"
        r"|^ +\(inlined by\) (?P<outer>\w+) at (?P<file2>\S+):(?P<line2>\d+)",
    ),
    _system(
        "RT-Thread",
        "== ADDRESS SANITIZER: ",
        r"== ADDRESS SANITIZER: (?P<type>[a-z-]+) on (?P<op>READ|WRITE)",
        rf"== address: {_ADDR} +size: (?P<size>\d+)",
        rf"== pc +: {_PC}",
        r"== thread : (?P<task>\S+)",
        rf"== block +: (?P<start>{_HEX}) size (?P<object>\d+) owner .*?\((?:inside block, offset \+(?P<into>\d+)|(?P<state>USE-AFTER-FREE), offset \+(?P<into2>\d+)|overflow by (?P<past>\d+) bytes)\)",
        frame=r"^addr2line .*? (?P<list>[0-9a-f x]+)$",
        end=r"^={50,}\s*$",
    ),
    _system(
        "Android (memory tags of a process)",
        "SEGV_MTE",
        rf"signal \d+ \(SIGSEGV\), code \d+ \((?P<type>SEGV_MTE[AS]ERR)\), fault addr (?:{_ADDR}|-+)",
        rf"Cause: \[MTE\]: (?P<type>[\w -]+?), (?:(?P<into>\d+) bytes? into|(?P<past>\d+) bytes? right of|(?P<before>\d+) bytes? left of) a (?P<object>\d+)-byte allocation at (?P<start>{_HEX})",
        r"(?P<stack>deallocated|allocated) by thread (?P<task>\d+)",
        frame=r"#\d+ pc (?P<address>[0-9a-f]{8,16})  (?P<file>\S+)(?: \((?P<name>[A-Za-z_][\w:~<>,* ]*)(?:\(.*\))?\+(?P<decimal>\d+)\))?(?: \(BuildId: (?P<build>[0-9a-f]+)\))?",
        end=r"^memory near ",
        mode="hw_tags",
        kind="mte",
    ),
)

# A word of each headline: most lines have none.
_LIKELY = re.compile("|".join(sorted({re.escape(one.literal) for one in SYSTEMS})))
WORDS = tuple(one.literal.encode() for one in SYSTEMS)
BY_PATTERN = {one.headline: one for one in SYSTEMS}

# (words of a type, how the field spells it): the first that is found counts.
_TYPES = tuple(
    (re.compile(words, re.I), name)
    for words, name in (
        (r"double.?free", "double-free"),
        (r"invalid.?free|corrupted/invalid", "invalid-free"),
        (r"(?:use)?.?after.?(?:scope|return|ret\b)", "use-after-scope"),
        (r"after.?free|free|uaf|quarantine|invalid data", "use-after-free"),
        (r"stack", "stack-out-of-bounds"),
        (r"alloca", "alloca-out-of-bounds"),
        (r"global", "global-out-of-bounds"),
        (
            r"red.?zone|_rz|overflow|underflow|out.?of.?bounds|oob|partial|malloc|heap|pool|kmem|bad (?:head|tail)",
            "out-of-bounds",
        ),
    )
)
_OPS = {
    "read": "read",
    "load": "read",
    "0": "read",
    "write": "write",
    "store": "write",
    "1": "write",
    " ": "write",
}


@functools.lru_cache(64)
def headline(text):
    """Return the match of the headline that @text is, None if it is none."""
    if _LIKELY.search(text):
        for one in SYSTEMS:
            if one.literal in text and (match := one.headline.search(text)):
                return match
    return None


def classify(words):
    """Return the type that the @words of a report mean, as the field spells it."""
    return next((name for pattern, name in _TYPES if pattern.search(words)), "invalid-access")


def op(word):
    """Return "read", "write" or "free" for a @word, "" if it says neither."""
    word = word.lower()
    return (
        "free"
        if "free" in word
        else _OPS.get(word) or next((_OPS[key] for key in _OPS if len(key) > 1 and key in word), "")
    )


def number(text):
    """Return the number @text: hexadecimal after 0x, else decimal."""
    return int(text, 16) if text[:2] in ("0x", "0X") else int(text)


def facts(match):
    """Return {name of a group: its text} of what @match has found; a group's second form has a 2 at its end."""
    return {name.rstrip("2"): text for name, text in match.groupdict().items() if text is not None}
