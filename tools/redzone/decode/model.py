# SPDX-License-Identifier: MIT
"""What `./redzone decode` knows about a log: its reports, sorted into bugs. Every output is made from this.

docs/use/decode.md shows the JSON form of these classes. SCHEMA changes when a field changes its meaning or
goes; a new field alone does not change it.

Text comes from the log. It has no control characters, but is not to be trusted otherwise: a name may hold
markup. Each output escapes it.
"""

import dataclasses
import functools
import types
import typing
from dataclasses import dataclass, field

SCHEMA = 1

# Report.kind. The last ones are the "other" reports: a title, a trace, and little else.
KINDS = (
    "kasan",
    "asan",
    "hwasan",
    "mte",
    "kfence",
    "kmsan",
    "kcsan",
    "ubsan",
    "oops",
    "warning",
    "panic",
    "other",
)
# Report.mode of KASAN; "" if the report does not show it.
MODES = ("generic", "sw_tags", "hw_tags")
# Stack.kind. "call": how the access was made; "work" and "work2": who handed the object to RCU or a
# workqueue, the last time and the time before it; "stored": who stored the pointer.
STACKS = (
    "call",
    "allocated",
    "freed",
    "work",
    "work2",
    "page_allocated",
    "page_freed",
    "vmalloc",
    "frame",
    "thread",
    "stored",
    "other",
)


def _address(default=None):
    """An address: a number here, a string like "0xffff00000612a04d" in JSON, whose numbers have 53 bits."""
    return field(default=default, metadata={"hex": True})


@dataclass
class Location:
    """A place in the source. @path: as in the debug information; @column: 0 if unknown."""

    function: str = ""
    path: str = ""
    line: int = 0
    column: int = 0


@dataclass
class Frame:
    """A line of a trace.

    text: as printed, without the log's prefix. address: as printed, or computed with an image; None: unknown.
    offset, size: of `name+0xOFFSET/0xSIZE`. module: the loadable module, "" for the kernel. exact: the
    address is the instruction itself, not the one after a call. reliable: the unwinder was sure. locations:
    from the debug information, the innermost inlined function first and the function with the code last;
    empty: not symbolized. role: "" for ordinary code, "sanitizer", "allocator", "helper" (memory and
    string functions, locks, lists and the like) or "entry" (of threads and exceptions), by the rules of the
    signature.
    """

    text: str = ""
    name: str = ""
    offset: int | None = None
    size: int | None = None
    module: str = ""
    build_id: str = ""
    address: int | None = _address()
    exact: bool = False
    reliable: bool = True
    role: str = ""
    locations: list[Location] = field(default_factory=list)


@dataclass
class Task:
    """A task or thread. @id: None if not printed."""

    name: str = ""
    id: int | None = None


@dataclass
class Stack:
    """A trace. @title: its headline as printed. @time: seconds, if the headline has them."""

    kind: str = "call"
    title: str = ""
    task: Task | None = None
    cpu: int | None = None
    time: float | None = None
    frames: list[Frame] = field(default_factory=list)


@dataclass
class Access:
    """What was done. @kind: "read", "write", "free", "access" (not known which) or "".

    size: in bytes, None if not printed. asynchronous: the CPU noted the access earlier; the trace is not its
    place. tags: None without tags.
    """

    kind: str = ""
    size: int | None = None
    address: int | None = _address()
    pointer_tag: int | None = None
    memory_tag: int | None = None
    asynchronous: bool = False


@dataclass
class Variable:
    """A variable of a stack frame. @start, @end: offsets in the frame, end excluded. @hit: the report is
    about it."""

    name: str = ""
    start: int = 0
    end: int = 0
    line: int = 0
    hit: bool = False


@dataclass
class Object:
    """The memory that the report names.

    kind: "slab", "heap", "page", "global", "stack", "vmalloc", "module" or "". start: of the object; size:
    as the program asked for it, else as the cache has it. cache_size: bytes of each object of the cache.
    state: "allocated", "freed" or "". side, distance: the address lies @distance bytes "inside", "left"
    (before the start) or "right" (past the end). name: of the variable, module or area's caller. type: of
    the object in C, if the debug information says it for sure. where: its declaration or the allocating line.
    """

    kind: str = ""
    start: int | None = _address()
    size: int | None = None
    cache: str = ""
    cache_size: int | None = None
    state: str = ""
    side: str = ""
    distance: int | None = None
    name: str = ""
    type: str = ""
    where: Location | None = None
    variables: list[Variable] = field(default_factory=list)


@dataclass
class MemoryRow:
    """A row of the memory map. @address: of its first cell. @cells: shadow bytes or tags, None for one that
    is not readable."""

    address: int | None = _address()
    cells: list[int | None] = field(default_factory=list)
    bad: bool = False


@dataclass
class MemoryMap:
    """The memory around the access.

    kind: "shadow" (a byte says how much of a granule is accessible) or "tags". granule: bytes that a cell
    stands for. column: of the bad cell in the row that is bad; None if not marked. meanings: {"fc": "slab
    redzone"}, each value that occurs, in words.
    """

    kind: str = "shadow"
    granule: int = 8
    rows: list[MemoryRow] = field(default_factory=list)
    column: int | None = None
    meanings: dict[str, str] = field(default_factory=dict)


@dataclass
class SourceLine:
    number: int = 0
    text: str = ""
    bad: bool = False


@dataclass
class Excerpt:
    """Lines of the source. @about: the Stack.kind whose code it is, or "variable"."""

    about: str = "call"
    location: Location = field(default_factory=Location)
    lines: list[SourceLine] = field(default_factory=list)


@dataclass
class Report:
    """One report.

    number: in the log, from 1. title: its headline as printed. where: the function in the headline. type: as
    in the headline ("slab-out-of-bounds"). source: the file it was in. case: "suite.case" of the KTAP test
    that ran. time: as in the log's prefix: seconds since the boot, or a date. first_line, last_line: in the
    log, from 1. interleaved: lines of another report stand among its own, and cannot be told apart for sure.
    truncated: its end or beginning is missing, or lines of it were too many or too long.
    explanation: sentences in plain words. again: it stands in one line, because
    the place was reported before; times: how often. silent: how many reports of the place had no line since
    the last one. at_least: more may have followed without a line. raw: its lines without prefixes and control
    characters.
    """

    number: int = 0
    kind: str = "kasan"
    type: str = ""
    title: str = ""
    where: str = ""
    mode: str = ""
    source: str = ""
    access: Access = field(default_factory=Access)
    task: Task | None = None
    cpu: int | None = None
    time: str = ""
    first_line: int = 0
    last_line: int = 0
    case: str = ""
    stacks: list[Stack] = field(default_factory=list)
    object: Object | None = None
    memory: MemoryMap | None = None
    excerpts: list[Excerpt] = field(default_factory=list)
    explanation: list[str] = field(default_factory=list)
    signature: str = ""
    truncated: bool = False
    interleaved: bool = False
    again: bool = False
    times: int = 1
    silent: int = 0
    at_least: bool = False
    raw: list[str] = field(default_factory=list)

    def stack(self, kind):
        """Return the first Stack of this kind, or None."""
        return next((stack for stack in self.stacks if stack.kind == kind), None)

    def frames(self, kind):
        """Return the list of Frame of the first Stack of this kind, empty if there is none."""
        return next((stack.frames for stack in self.stacks if stack.kind == kind), [])


@dataclass
class Bug:
    """Reports with one signature.

    title: one line that names it. location: the line of source to look at first, None if not symbolized.
    count: all of its reports that the log tells of; at_least: there may have been more. reports: those that
    were kept, the first ones and the smallest whole one.
    smallest: which of them is the smallest whole one, from 0. known: the baseline has it. modes, cases:
    where it was seen.
    """

    signature: str = ""
    title: str = ""
    kind: str = "kasan"
    type: str = ""
    function: str = ""
    location: Location | None = None
    count: int = 0
    at_least: bool = False
    first_time: str = ""
    last_time: str = ""
    first_line: int = 0
    last_line: int = 0
    modes: list[str] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)
    known: bool = False
    smallest: int = 0
    reports: list[Report] = field(default_factory=list)


@dataclass
class TestCase:
    """A KTAP result. @name: "suite.case". @status: "pass", "fail" or "skip". @reports: while it ran."""

    __test__ = False  # not for pytest

    name: str = ""
    status: str = ""
    detail: str = ""
    reports: int = 0


@dataclass
class Image:
    """An ELF file that frames were looked up in. @offset: what was added to its addresses (KASLR)."""

    path: str = ""
    build_id: str = ""
    module: str = ""
    offset: int = 0


@dataclass
class Log:
    """All of one decode.

    sources: the files that were read ("-": standard input). reports: how many were found. by_mode: those of
    KASAN by its mode. by_type: all, by type, or by kind if that has no types. dropped: reports of further
    bugs when there were too many to keep. system: the banner of the kernel, "" if the log has none. notes:
    what a reader must know, such as frames that could not be looked up and why. suspect: if there is no
    report, the first line that looks like a sanitizer's.
    """

    schema: int = SCHEMA
    sources: list[str] = field(default_factory=list)
    lines: int = 0
    bytes: int = 0
    system: str = ""
    reports: int = 0
    by_mode: dict[str, int] = field(default_factory=dict)
    by_type: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    images: list[Image] = field(default_factory=list)
    bugs: list[Bug] = field(default_factory=list)
    cases: list[TestCase] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    suspect: str = ""

    @property
    def at_least(self):
        """May there have been more reports than the log tells of?"""
        return any(bug.at_least for bug in self.bugs)

    def new_bugs(self):
        """Return the bugs that the baseline does not have."""
        return [bug for bug in self.bugs if not bug.known]


# --- JSON ------------------------------------------------------------------------------------------------


def to_json(value):
    """Return @value, one of these classes, as dictionaries, lists, strings and numbers for json.dump()."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return [one if type(one) in _PLAIN else to_json(one) for one in value]
    if kind is dict:
        return dict(value)
    found = {}
    for name, is_address in _fields(kind):
        one = getattr(value, name)
        found[name] = _hex(one) if is_address else one if type(one) in _PLAIN else to_json(one)
    return found


def from_json(data, kind=Log):
    """Return the @kind that to_json() made @data from. Unknown keys are left out: a newer version added them.

    Raises ValueError if the data has another schema or another shape.
    """
    if kind is Log and (not isinstance(data, dict) or data.get("schema") != SCHEMA):
        found = data.get("schema") if isinstance(data, dict) else None
        raise ValueError(f"schema {found!r}; this version reads schema {SCHEMA}")
    return _read(data, kind, kind.__name__)


# Most values are of these: a log has a million of them.
_PLAIN = frozenset((str, int, float, bool, type(None)))


@functools.cache
def _fields(kind):
    """Return [(name, is it an address)] of the dataclass @kind."""
    return tuple((one.name, "hex" in one.metadata) for one in dataclasses.fields(kind))


def _hex(value):
    return None if value is None else f"{value:#x}"


@functools.cache
def _hints(kind):
    return typing.get_type_hints(kind)


def _read(data, kind, where):
    """Return @data as a @kind, a class or a type hint. @where: for the message of a failure."""
    if dataclasses.is_dataclass(kind):
        if not isinstance(data, dict):
            raise ValueError(f"{where}: an object is expected, not {type(data).__name__}")
        values = {}
        for one in dataclasses.fields(kind):
            if one.name in data:
                value = data[one.name]
                if "hex" in one.metadata and isinstance(value, str):
                    value = int(value, 16)
                values[one.name] = _read(value, _hints(kind)[one.name], f"{where}.{one.name}")
        return kind(**values)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if data is None and type(None) in arguments:
            return None
        return _read(data, next(one for one in arguments if one is not type(None)), where)
    if origin is list:
        if not isinstance(data, list):
            raise ValueError(f"{where}: a list is expected, not {type(data).__name__}")
        return [_read(one, arguments[0], f"{where}[]") for one in data]
    if origin is dict:
        if not isinstance(data, dict):
            raise ValueError(f"{where}: an object is expected, not {type(data).__name__}")
        return {str(key): _read(one, arguments[1], f"{where}.{key}") for key, one in data.items()}
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if type(data) is not kind:
        raise ValueError(f"{where}: {kind.__name__} is expected, not {type(data).__name__}")
    return data
