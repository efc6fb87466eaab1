# SPDX-License-Identifier: MIT
"""The table of line shapes: each line of a report that means something, of each sanitizer and each version.

parse.py says what becomes of a match. A shape applies only to lines that have its literal, which makes a line
that means nothing cheap.
"""

# A pattern reads better in one piece.
# ruff: noqa: E501

import functools
import re
from dataclasses import dataclass

# Between 53 and 80 of them, by sanitizer.
RULE = re.compile(r"={50,}\s*$")
_WHERE = r"(?P<where>\S+(?: \[[\w. -]+\])?(?: \([^()]*(?:\([^()]*\)[^()]*){0,8}\)(?: \[?[\w-]+\]?)?| \S+:\d+(?: \[inline\])?)?)"
# What a headline says of the place, behind the function: a file, added by a script.
WHERE = re.compile(
    r"(?P<function>\S+)(?: \[[\w. -]+\])? \(?(?P<path>[^\s():]*[^\s():/]\.[A-Za-z]\w{0,4}):(?P<line>\d{1,9})(?::(?P<column>\d{1,6}))?\b"
)
_HEX = r"(?:0x)?[0-9a-f]{1,16}"
_TASK = r"task (?P<task>.{0,64}?)/(?P<id>\d{1,10})"


@dataclass(frozen=True)
class Shape:
    """name: of the handler in parse.py. literal: in each line that has the shape. pattern: of the line.

    trace: the line begins a Stack of this kind, whose task, cpu and time are groups. about: its groups are
    members of the model.Object, which is of this kind; "any" if another line says the kind. With one of these a
    shape needs no handler.
    """

    name: str
    literal: str
    pattern: re.Pattern
    trace: str = ""
    about: str = ""


def _shapes(*rows):
    return tuple(
        Shape(name, literal, re.compile(pattern), **(more[0] if more else {}))
        for name, literal, pattern, *more in rows
    )


# --- Headlines: where a report begins ------------------------------------------------------------------------

# (kind, literal, pattern). The first that matches counts.
HEADLINES = _shapes(
    (
        "kasan",
        "BUG: KASAN: ",
        rf"BUG: KASAN: (?P<type>[a-z][a-z -]*?)(?: in(?: {_WHERE})?)?(?: (?:at addr|on address) +(?P<addr>{_HEX}|\(null\)))?\s*$",
    ),
    ("kasan", "BUG: KASAN: ", r"BUG: KASAN: (?P<type>[A-Za-z][\w-]{0,60})?"),
    ("kfence", "BUG: KFENCE: ", rf"BUG: KFENCE: (?P<type>[a-z][a-z -]*?)(?: in(?: {_WHERE})?)?\s*$"),
    ("kmsan", "BUG: KMSAN: ", rf"BUG: KMSAN: (?P<type>[a-z][a-z-]*)(?: in(?: {_WHERE})?)?\s*$"),
    ("kcsan", "BUG: KCSAN: ", r"BUG: KCSAN: (?P<type>[a-z][a-z :-]*?)(?: in(?: (?P<where>.+))?)?\s*$"),
    (
        "asan",
        "ERROR: AddressSanitizer",
        r"(?:==\d+== ?)?ERROR: AddressSanitizer:? (?P<type>[\w-]+)(?:.*? on (?:unknown )?address (?P<addr>0x[0-9a-f]+))?",
    ),
    (
        "hwasan",
        "ERROR: HWAddressSanitizer",
        r"(?:==\d+== ?)?ERROR: HWAddressSanitizer:? (?P<type>[\w-]+)(?:.*? on (?:unknown )?address (?P<addr>0x[0-9a-f]+))?",
    ),
    (
        "other",
        "Sanitizer: ",
        r"(?:==\d+== ?)?(?:ERROR|WARNING): (?P<type>(?:Memory|Leak|Thread)Sanitizer): .*",
    ),
    ("ubsan", "UBSAN: ", r"UBSAN: (?P<type>[\w -]+?) in (?P<where>\S+)\s*$"),
    # NetBSD's.
    ("ubsan", "UBSan: ", r"(?:panic: )?UBSan: Undefined Behavior in (?P<where>\S+:\d+:\d+), (?P<type>.+)"),
    ("ubsan", "runtime error: ", r"(?P<where>\S+:\d+:\d+): runtime error: (?P<type>.+)"),
    (
        "oops",
        "BUG: ",
        r"BUG: (?P<type>[uU]nable to handle .*?|[kK]ernel NULL pointer dereference)(?: on (?:read|write))?(?:(?:,| for)? (?:at|address:) (?:virtual address )?(?:0x)?(?P<addr>[0-9a-f]{8,16}).*)?$",
    ),
    ("oops", "kernel BUG at ", r"kernel BUG at (?P<where>[^!]*)!"),
    (
        "oops",
        "Unable to handle ",
        rf"(?:CPU \d{{1,5}} )?Unable to handle (?P<type>kernel .*?)(?: at virtual address (?P<addr>{_HEX})(?:,? .*)?)?\s*$",
    ),
    ("oops", "Insufficient stack space", r"(?P<type>Insufficient stack space) to handle exception"),
    ("oops", "general protection fault", r"(?:Oops: )?(?P<type>general protection fault)\b"),
    ("oops", "Internal error: ", r"Internal error: (?P<type>.*?)(?:: [0-9a-f]{1,16})?(?: \[#\d+\].*)?$"),
    ("oops", "Oops", r"Oops(?:: | - )(?P<type>(?!this is )\S.*?)(?:: [0-9a-f]{4,16})? \[#\d+\]"),
    # Other exceptions of x86, such as "divide error".
    ("oops", " [#", r"(?P<type>[a-z][a-z0-9 ]{2,40}): [0-9a-f]{4} \[#\d+\]"),
    (
        "oops",
        "rust_kernel: panicked at ",
        r"rust_kernel: (?P<type>panicked) at (?:'.*', )?(?P<file>[^\s:]+\.rs:\d+)(?::\d+)?:?",
    ),
    ("panic", "Kernel panic - ", r"Kernel panic - not syncing: (?P<type>.*)"),
    (
        "warning",
        "WARNING: ",
        rf"WARNING: (?:CPU: (?P<cpu>\d+) PID: (?P<id>\d+) )?at (?P<file>\S+:\d+)(?: {_WHERE})?",
    ),
    # Since 6.19.
    (
        "warning",
        "WARNING: ",
        r"WARNING: (?P<file>\S+:\d+) at (?P<where>\S+), CPU#(?P<cpu>\d+): (?P<task>.{0,64}?)/(?P<id>\d+)",
    ),
    ("other", "BUG: memory leak", r"BUG: (?P<type>memory leak)(?: in (?P<where>[\w.$]{1,256}))?\s*$"),
    ("other", "BUG: ", r"BUG: (?P<type>\S.*)"),
)

# The one line for a place that was reported before (this runtime's).
AGAIN = re.compile(
    r"(?P<sanitizer>KASAN|UBSan): (?P<type>[a-z-]+) in (?P<where>.+?) again \((?P<times>\d{1,9}) times\): (?P<access>.*?)"
    r"(?:, called by (?P<callers>.*))?$"
)

# --- Frames ---------------------------------------------------------------------------------------------------

_NAME = r"[A-Za-z_.$][\w.$:~<>@]{0,511}"
# A file has an extension; else registers, "r7:8057d618", would be places.
_PLACE = r"(?P<path>[^\s():](?:[^():]{0,400}?[^():/])?\.[A-Za-z]\w{0,4}):(?P<line>\d{1,9})(?::(?P<column>\d{1,6}))?"
# Linux's and this runtime's; the address before it is an old kernel's, or another architecture's; powerpc prints the
# stack's in front. A register names the function of a crash: `pc : f`, `RIP: 0010:f`, `epc : f`, `NIP [A] f`, `PC is at f`.
FRAME = re.compile(
    r"\s*(?:(?P<register>(?i:pc|lr|rip|epc|era|ra|nip))(?:\s*:| is at|(?= \[))\s*(?:[0-9a-f]{4}:)?|(?P<psw>Krnl PSW) : [0-9a-f]{16} )?"
    r"(?:\[[0-9a-f]{8,16}\] )?(?:\(?\[?<?(?:0x)?(?P<address>[0-9a-f]{8,16})>?\]?:? +)?(?P<unsure>\? +)?"
    rf"\(?(?P<name>{_NAME})\+0x(?P<offset>[0-9a-f]{{1,16}})(?:/0x(?P<size>[0-9a-f]{{1,16}}))?\)?"
    r"(?: \[(?P<module>[\w.-]+)(?: (?P<build>[0-9a-f]{16,64}))?\])?(?P<rest>.*)$"
)
# Nearly all of them.
SIMPLE = re.compile(
    r" {1,3}(\? )?([A-Za-z_.$][\w.$]{0,511})\+0x([0-9a-f]{1,16})/0x([0-9a-f]{1,16})(?: \[([\w.-]+)(?: ([0-9a-f]{16,64}))?\])?"
)
# What may follow: a place that a script has added, or flags of the unwinder.
REST_PLACE = re.compile(rf"\s*\(?{_PLACE}\)?")
_NO_SPACE = _PLACE.replace("[^():]", r"[^\s():]")
# A function that a script found to be inlined: ` name FILE:LINE [inline]`, ` name (FILE:LINE)`.
SCRIPTED = re.compile(
    rf"\s*(?P<unsure>\? +)?(?P<name>{_NAME}) \(?{_NO_SPACE}[^\[]{{0,2000}}?(?:\) \[?(?P<module>[a-z][\w-]{{1,63}})\]?)?(?P<inline>\[inline\])?\s*$"
)
# What a mail program has put into a line of its own: the function of a headline, and a place.
FUNCTION = re.compile(rf"{_NAME}(?:\+0x[0-9a-f]+/0x[0-9a-f]+)?(?: (?:[\[(]|\S+:\d).*)?$")
PLACE = re.compile(rf"[>| \t]*{_NO_SPACE}(?: \(discriminator \d+\)| \[inline\])?\)?\s*$")
# A bare address: a system without a symbol table.
ADDRESS = re.compile(
    r"\s+(?:#\d+ +)?(?:\[<(?P<old>[0-9a-f]{8,16})>\](?: 0x[0-9a-f]+)?|0x(?P<address>[0-9a-f]{2,16})|(?P<bare>[0-9a-f]{16}|[0-9a-f]{8}))(?: \[(?P<module>[\w.-]+)\])?\s*$"
)
# User space: `#0 0x4f5e7d in main /tmp/a.c:5:10`, `#1 0x7f01 (/lib/libc.so.6+0x29d8f) (BuildId: 69389d)`.
USER = re.compile(
    r"\s*#\d{1,5} 0x(?P<address>[0-9a-f]{1,16})(?: in (?P<name>.{1,512}?))?"
    rf"(?: \((?P<object>[^()]{{1,400}})\+0x(?P<in_object>[0-9a-f]{{1,16}})\)| {_PLACE})?(?: \(BuildId: (?P<build>[0-9a-f]{{8,64}})\))?\s*$"
)
# 32-bit Arm: `[<c0>] (name) from [<c0>] (caller+0x1/0x2)`, ` name from caller+0x1/0x2`.
ARM = re.compile(
    rf"\s*(?:\[<[0-9a-f]{{8}}>\] )?\(?(?P<callee>{_NAME})(?:\+0x[0-9a-f]+/0x[0-9a-f]+)?\)? from (?:\[<(?P<address>[0-9a-f]{{8}})>\] )?"
    rf"\(?(?P<name>{_NAME})\+0x(?P<offset>[0-9a-f]{{1,16}})/0x(?P<size>[0-9a-f]{{1,16}})\)?(?: \[(?P<module>[\w.-]+)\])?"
)

# A crash's registers, which are not frames: ` r7:8057d618 r6:00000001`.
REGISTERS = re.compile(r"\s*(?:r\d{1,2}|fp|ip|sp|lr|pc) ?: ?[0-9a-f]{8}\b")

# --- The memory map -------------------------------------------------------------------------------------------

ROW = re.compile(
    r"\s?(?P<mark>=?>| )?\s*(?:0x)?(?P<address>[0-9a-f]{8,16}): ?(?P<cells>[ \[]?(?:[0-9a-f]{2}|\.\.|--)(?:[ \[\]]+(?:[0-9a-f]{2}|\.\.|--)){7,15})[ \]]*$"
)
CARET = re.compile(r" *\^ *$")

# --- Everything else ------------------------------------------------------------------------------------------

_BY = r"(?: by task (?P<task>\d{1,10})(?:/?\S*)?)?(?: on cpu (?P<cpu>\d{1,5}))?(?: at (?P<time>\d{1,12}\.\d{1,9})s)?"
_SLUB = r"\S+ age=\d+ cpu=(?P<cpu>\d{1,5}) pid=(?P<task>\d{1,10})"
_LOCATED = (
    rf"{_HEX} is located (?P<distance>\d{{1,20}}) bytes "
    r"(?P<side>inside of|before|after|to the left of|to the right of)"
)
BODY = _shapes(
    (
        "access",
        " by ",
        rf"(?P<access>Read|Write|Free|Access)(?: of size (?P<size>\d{{1,20}}))?(?: (?:at|of) addr (?P<addr>{_HEX}))?"
        rf"(?: found (?P<found>[\w ]{{1,40}}))? by {_TASK}\s*$",
    ),
    # Without a task, or the mail program has put it into the next line.
    (
        "access",
        " addr",
        rf"(?P<access>Read|Write|Free)(?: of size (?P<size>\d{{1,20}}))? (?:at|of) addr(?: (?P<addr>{_HEX})(?: by(?: task(?: (?P<task>[^/\[]{{1,64}}))?)?)?)?(?P<id>)\s*$",
    ),
    (
        "race",
        " bytes by ",
        r"(?:race at unknown origin, with )?(?P<what>(?:assert no )?(?:read-write|read|write)[\w (),-]*?) to (?P<addr>0x[0-9a-f]{1,16}) "
        r"of (?P<size>\d{1,20}) bytes by (?:task (?P<id>\d{1,10})|interrupt) on cpu (?P<cpu>\d{1,5}):",
    ),
    (
        "user_access",
        " of size ",
        r"(?P<access>READ|WRITE|ACCESS) of size (?P<size>\d{1,20})(?: at (?P<addr>0x[0-9a-f]{1,16}))?"
        r"(?: tags: (?P<ptr>[0-9a-f]{1,2})/(?P<mem>[0-9a-f]{1,2}))?.*?(?: in)?(?: thread (?P<thread>T\d{1,9}))?",
    ),
    (
        "signal",
        "The signal is caused by a ",
        r"==\d+==The signal is caused by a (?P<access>READ|WRITE) memory access",
    ),
    (
        "tags",
        "Pointer tag: ",
        r"Pointer tag: \[(?P<pointer>[0-9a-f]{2})\], memory tag: \[(?P<memory>[0-9a-f]{2})\]",
    ),
    (
        "async",
        "Asynchronous ",
        r"Asynchronous (?:fault: no details|mode enabled: no access details) available",
    ),
    (
        "cpu",
        "Comm: ",
        r"(?:CPU: (?P<cpu>\d{1,5}) )?(?:UID: \d+ )?PID: (?P<id>\d{1,10}) Comm: (?P<task>.{0,64}?)(?: (?:Not tainted|Tainted: .*?)(?P<version> .*)?)?$",
    ),
    ("call", "race", r"[ 0-9a-f]*(?:Call [Tt]race|Backtrace|stack backtrace|Stack trace)(?: \(.*\))?:"),
    ("allocated", "llocated", rf"(?:previously )?[Aa]llocated{_BY}:?\s*$", {"trace": "allocated"}),
    ("freed", "reed", rf"[Ff]reed{_BY}:\s*$", {"trace": "freed"}),
    (
        "user_allocated",
        "llocated ",
        r"(?:previously )?allocated (?:by thread (?P<thread>T\d{1,9})(?: here)?|here):",
        {"trace": "allocated"},
    ),
    ("user_freed", "reed by thread", r"freed by thread (?P<thread>T\d{1,9})(?: here)?:", {"trace": "freed"}),
    ("slub", "INFO: Allocated in ", rf"INFO: Allocated in {_SLUB}", {"trace": "allocated"}),
    ("slub", "INFO: Freed in ", rf"INFO: Freed in {_SLUB}", {"trace": "freed"}),
    ("pid", "PID = ", r"\s*PID = (?P<id>\d{1,10})"),
    (
        "work2",
        "Second to last ",
        r"Second to last (?:potentially related work creation|call_rcu\(\)):",
        {"trace": "work2"},
    ),
    ("mapped", "apped by task ", rf"(?:M|Unm)apped{_BY}:\s*$", {"trace": "other"}),
    # A crash of s390: where it jumped last, below the trace.
    ("jump", "Last Breaking", r"Last Breaking-Event-Address:", {"trace": "other"}),
    ("work", "Last ", r"Last (?:potentially related work creation|call_rcu\(\)):", {"trace": "work"}),
    (
        "page_allocated",
        "page last allocated via order",
        r"page last allocated via order \d",
        {"trace": "page_allocated"},
    ),
    (
        "page_freed",
        "page last free",
        r"page last free (?:pid (?P<task>\d{1,10}) .*)?stack trace:",
        {"trace": "page_freed"},
    ),
    (
        "stored",
        "tored to memory at",
        r"(?:Uninit was|Local variable .*) (?:stored to memory|created) at:?",
        {"trace": "stored"},
    ),
    ("created", "Uninit was created at", r"Uninit was created at:", {"trace": "allocated"}),
    ("object", "belongs to the object at", rf"The buggy address belongs to the object at (?P<start>{_HEX})"),
    (
        "cache",
        "belongs to the cache",
        r"\s*which belongs to the cache (?P<cache>.{1,80}) of size (?P<cache_size>\d{1,20})",
        {"about": "slab"},
    ),
    (
        "old_object",
        "in cache ",
        rf"Object at (?P<start>{_HEX}), in cache (?P<cache>\S{{1,80}}) size: (?P<cache_size>\d{{1,20}})",
        {"about": "slab"},
    ),
    (
        "distance",
        "The buggy address is located",
        r"The buggy address is located (?P<distance>\d{1,20}) bytes (?P<side>inside|to the left|to the right) of",
        {"about": "any"},
    ),
    # The copy of one CPU says more than the object or the array that holds the copies of all.
    (
        "percpu",
        " of CPU ",
        r"The buggy address is (?P<distance>\d{1,20}) bytes (?P<side>inside|to the left|to the right) of "
        r"(?P<type>variable (?P<name>\S{1,80} of CPU \d{1,5})): (?P<size>\d{1,20}) bytes "
        rf"\[(?P<start>{_HEX}), (?P<cache>)",
        {"about": "any"},
    ),
    (
        "region",
        "-byte region [",
        rf"\s*(?:(?P<state>allocated|freed) )?(?P<size>\d{{1,20}})-byte region \[(?P<start>{_HEX}), {_HEX}\)",
        {"about": "any"},
    ),
    (
        "user_region",
        "-byte region [",
        rf"{_LOCATED} (?:a )?"
        rf"(?P<size>\d{{1,20}})-byte region \[(?P<start>{_HEX}),\s*{_HEX}\)",
        {"about": "heap"},
    ),
    (
        "user_global",
        "global variable '",
        rf"{_LOCATED} (?:a \d+-byte )?"
        rf"global variable '(?P<name>.{{1,200}}?)' (?:defined in '?(?P<where>.{{1,400}}?)'? )?\((?P<start>{_HEX}).*?(?:of size (?P<size>\d{{1,20}}))?\s*$",
    ),
    (
        "variable",
        "belongs to",
        r"(?:The buggy address belongs to the variable:|Address belongs to variable (?P<name>\S+)\+0x(?P<offset>[0-9a-f]+)/0x(?P<size>[0-9a-f]+))",
    ),
    (
        "left_variable",
        "bytes to the left of ",
        r"\s*(?P<left>\d{1,20}) bytes to the left of (?P<name>\S+)\+0x(?P<offset>[0-9a-f]+)/0x(?P<size>[0-9a-f]+)",
    ),
    ("defined", " defined ", r"\s+defined (?:in|at) (?P<file>\S.{0,400}?)(?::(?P<line>\d{1,9}))?\s*$"),
    (
        "stack",
        "stack of task",
        rf"(?:The buggy address belongs to stack of|addr {_HEX} is located in stack of) {_TASK}(?: at offset (?P<offset>\d{{1,10}}) in frame:)?",
    ),
    ("stack", "belongs to stack of", r"The buggy address belongs to stack of another task"),
    (
        "user_stack",
        "is located in stack of thread",
        rf"Address (?P<addr>{_HEX}) is located in stack of thread (?P<thread>T\d{{1,9}})(?: at offset (?P<offset>\d{{1,10}}) in frame)?",
    ),
    (
        "frame",
        "in frame",
        r"\s*and is located (?:at offset (?P<offset>\d{1,10})|beside memory of alloca\(\)) in frame:",
    ),
    (
        "frame",
        "the frame record of",
        r"\s*and is located (?P<bytes>\d{1,20}) bytes (?P<side>below|above) the frame record of:",
    ),
    ("frame_has", "This frame has ", r"\s*This frame has \d+ object"),
    (
        "local",
        "'",
        r"\s*\[(?P<start>\d{1,10}), (?P<end>\d{1,10})\) '(?P<name>.{1,200}?)'(?: \(line (?P<line>\d{1,9})\))?(?P<hit> <==.*)?",
    ),
    (
        "vmalloc",
        "vmalloc region starting at",
        rf"The buggy address belongs to (?:a (?P<pages>\d{{1,12}})-page|the) vmalloc region starting at (?P<start>{_HEX})(?: allocated at (?P<where>\S+))?",
    ),
    (
        "mapping",
        "belongs to the virtual mapping at",
        r"The buggy address belongs to the virtual mapping at",
        {"about": "vmalloc"},
    ),
    ("mapped", "created by", rf"\s*\[(?P<start>{_HEX}), (?P<end>{_HEX})\) created by:"),
    (
        "module",
        "belongs to module",
        r"The buggy address belongs to (?:the )?(?:[\w ]{1,40} of )?module (?P<name>[\w-]{1,64})",
        {"about": "module"},
    ),
    (
        "page",
        "belongs to the",
        r"The buggy address belongs to the (?:physical )?page:",
        {"about": "page"},
    ),
    ("old_page", "page:", r"page:[0-9a-f]{8,16} (?:ref)?count:"),
    (
        "chunk",
        " heap chunk; size: ",
        rf"\[(?P<start>{_HEX}),\s?{_HEX}\) is a \w{{1,40}} (?P<state>allocated|unallocated) heap chunk; size: (?P<size>\d{{1,20}}) ",
        {"about": "heap"},
    ),
    ("cause", "Cause: ", r"Cause: (?P<cause>[a-z-]{1,60})"),
    (
        "kfence_access",
        " at 0x",
        r"(?P<what>Use-after-free|Out-of-bounds|Invalid|Corrupted memory|Memory corruption)(?: (?P<access>read|write|access|free))? at (?P<addr>0x[0-9a-f]{1,16}) ?(?P<place>.*)",
    ),
    (
        "kfence_object",
        "kfence-#",
        rf"kfence-#\d+(?: \[|: )(?P<start>{_HEX})-(?P<end>{_HEX}), size=(?P<size>\d{{1,20}}), cache=(?P<cache>\S{{1,80}}?)\]?(?: allocated by task (?P<task>\d{{1,10}})(?: on cpu (?P<cpu>\d{{1,5}}))?.*)?$",
    ),
    (
        "map",
        "around the buggy address",
        r"(?P<what>Memory state|Shadow bytes|Memory tags) around the buggy address",
    ),
    ("fault_address", "CR2: ", r"CR2: (?P<addr>[0-9a-f]{16})"),
    (
        "null_range",
        "KASAN: ",
        r"KASAN: (?P<type>(?:maybe |probably )?[a-z-]+) in range \[(?P<addr>0x[0-9a-f]{1,16})-",
    ),
    ("end", "==ABORTING", r"==\d+==ABORTING"),
    ("end", "---[ end", r"---\[ end "),
    ("end", "is killed", r"Thread \S+ is killed"),
)

_BODY = tuple((shape.literal, shape.pattern.match, shape) for shape in BODY)


@functools.lru_cache(2048)
def matches(text):
    """Return ((Shape, match)) of all shapes of a report's inside that @text has.

    Many lines of a log are the same, so the last ones are remembered.
    """
    found = []
    for literal, match_of, shape in _BODY:
        if literal in text:
            match = match_of(text)
            if match:
                found.append((shape, match))
    return tuple(found)


# Markers inside of traces: no frame, and not the end of the trace either.
MARKER = re.compile(r"\s*</?(?:TASK|IRQ|NMI|EOI|SOFTIRQ|#\w+|ENTRY_TRAMPOLINE)>\s*$")
# What only a report says: if none is open here, the log lacks this one's beginning.
HEADLESS = frozenset(
    (
        "access",
        "tags",
        "allocated",
        "freed",
        "work",
        "object",
        "cache",
        "distance",
        "region",
        "map",
        "variable",
    )
)
