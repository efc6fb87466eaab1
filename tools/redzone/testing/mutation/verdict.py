# SPDX-License-Identifier: MIT
"""What ASan or Redzone said about one bug, in words that can be compared."""

import re
import signal
from dataclasses import dataclass

from redzone.testing.mutation import picker

REPORT, WRONG, HANG, OK = "report", "wrong result", "hang", "nothing"

# Both have words of their own for the same thing: {the common word: theirs}.
_WORDS = {
    "heap bounds": ("heap-buffer-overflow", "slab-out-of-bounds", "vmalloc-out-of-bounds"),
    "use after free": ("heap-use-after-free", "slab-use-after-free", "use-after-free"),
    "double free": ("double-free",),
    "invalid free": ("invalid-free", "bad-free"),
    "stack bounds": ("stack-buffer-overflow", "stack-buffer-underflow", "stack-out-of-bounds"),
    "alloca bounds": ("dynamic-stack-buffer-overflow", "alloca-out-of-bounds"),
    "global bounds": ("global-buffer-overflow", "global-out-of-bounds"),
    "use after scope": ("stack-use-after-scope", "use-after-scope"),
    "use after return": ("stack-use-after-return",),
    "negative size": ("negative-size-param", "out-of-bounds"),
    "use after poison": ("use-after-poison",),
    "fault": (
        "SEGV",
        "BUS",
        "null-ptr-deref",
        "wild-memory-access",
        "user-memory-access",
        "invalid-call",
        "crash",
    ),
    "stack overflow": ("stack-overflow",),
}
_KINDS = {word: common for common, words in _WORDS.items() for word in words}
# The folder of a mutant's files, and that of the library.
_TREE = re.compile(r"/\S*/(?:trees/\d+|libraries/[^/]+/[^/]+)/")
_ERROR = re.compile(r"^==\d+==ERROR: AddressSanitizer: (.*)$", re.MULTILINE)
_NO_VALUE = re.compile(r"^==\d+==WARNING: MemorySanitizer: use-of-uninitialized-value$", re.MULTILINE)
# MSan's words for the origin of a variable's value: the frame, or none if the variable is in a register.
# Memory of the heap has no value outside of objects either, and there Redzone must have a report.
_OF_VARIABLE = re.compile(
    r"^ *(?:Uninitialized value was created by an allocation of '.*' in the stack frame|"
    r"ORIGIN: invalid \(0\))",
    re.MULTILINE,
)
_ACCESS = re.compile(r"^(READ|WRITE) of size (\d+) at|caused by a (READ|WRITE) memory access", re.MULTILINE)
_NO_CODE = re.compile(r"^SEGV on unknown address 0x0+ \(pc 0x0+ ")
CALLS_NULL = "calls a null pointer"
# There is no line if the compiler joined code of several.
_FRAME = re.compile(
    r"^ +#\d+ 0x[0-9a-f]+ in (?P<name>\S+).*? (?P<path>/[^ :\n]+)(?::(?P<line>\d+).*)?$", re.MULTILINE
)
_WHERE = re.compile(r"^0x[0-9a-f]+ is located (.*)$|^  \[\d+, \d+\).* <== (.*)$", re.MULTILINE)
_REDZONE_WHERE = re.compile(
    r"^(?:The buggy address is located (.*)| (?:allocated |freed )?\d+-byte region.*)$"
)


@dataclass(frozen=True)
class Verdict:
    """@end: REPORT, WRONG, HANG or OK. @type: the tool's word, @kind: the common one. @function, @line: the
    first frame in the library. @where: where the address lies, or how the program ended."""

    end: str
    type: str = ""
    kind: str = ""
    access: str = ""
    size: int | None = None
    function: str = ""
    line: str = ""
    where: str = ""

    def text(self):
        """Return it for a table."""
        if self.end != REPORT:
            return self.end
        place = f" in {self.function}()" if self.function else ""
        return f"{self.type}{place}"


def _asan_type(what):
    for start, word in (
        ("attempting double-free", "double-free"),
        ("attempting free on", "bad-free"),
        ("requested allocation size", "allocation-size-too-big"),
    ):
        if what.startswith(start):
            return word
    return re.split(r"[ :]", what)[0]


def _first_frame(text, pick, tree):
    """Return (function, file:line) of the first frame in the library, of the first trace in @text."""
    # That of the bug; the next ones, behind an empty line, are those of its memory.
    trace = text[text.find("#0 ") - 4 :].split("\n\n")[0]
    for frame in _FRAME.finditer(trace):
        name = picker.below(frame["path"], pick, tree)
        if name:
            return frame["name"], f"{name}:{frame['line'] or 0}"
    return "", ""


def without_value(run, pick, tree):
    """Return [(function, file:line)] of the reads of local variables without a value that MSan reports in the
    native.Run @run, each place in the library once, in their order."""
    reports = filter(_OF_VARIABLE.search, _NO_VALUE.split(run.errors)[1:])
    places = [_first_frame(report, pick, tree) for report in reports]
    return list(dict.fromkeys(place for place in places if place[0]))


def of_native(run, pick, tree, control, stable):
    """Return the Verdict of the native.Run @run. @control: the Run without a bug; @stable: its output is
    always the same."""
    error = _ERROR.search(run.errors)
    if error:
        rest = run.errors[error.end() :]
        word = _asan_type(error[1])
        access = _ACCESS.search(rest)
        found = _WHERE.search(rest)
        where = (found[1] or found[2] or "") if found else ""
        if _NO_CODE.match(error[1]):
            where = CALLS_NULL
        function, line = _first_frame(rest, pick, tree)
        return Verdict(
            REPORT,
            word,
            _KINDS.get(word, word),
            (access[1] or access[3]).lower() if access else "",
            int(access[2]) if access and access[2] else None,
            function,
            line,
            where,
        )
    if run.hang:
        return Verdict(HANG, where=f"{run.seconds:.0f} s of CPU time")
    if "hard rss limit exhausted" in run.errors:
        return Verdict(HANG, where="memory without a limit")
    if run.status < 0:
        return Verdict(WRONG, where=signal.Signals(-run.status).name)
    if run.status != 0:
        return Verdict(WRONG, where=f"exit status {run.status}")
    if stable and run.lines != control.lines:
        return Verdict(WRONG, where="other output")
    return Verdict(OK)


def of_guest(guest, pick, tree, control, stable):
    """Return the Verdict of the guest.Guest @guest; the rest as for of_native()."""
    verdict = guest.verdict
    if verdict.end in ("report", "crash"):
        report = verdict.report
        word = report.type if report else "crash"
        if report is None and "overflowed its stack" in verdict.title:
            word = "stack-overflow"
        function, line = "", ""
        frames = report.frames("call") if report else []
        sources = [location for frame in frames for location in frame.locations]
        for source in [*sources, *([verdict.source] if verdict.source else [])]:
            name = picker.below(source.path, pick, tree)
            if name:
                function, line = source.function, f"{name}:{source.line}"
                break
        lines = [_REDZONE_WHERE.match(text) for text in (report.raw if report else [])]
        where = " ".join((match[1] or match[0]).strip() for match in lines if match)
        return Verdict(
            REPORT,
            word,
            _KINDS.get(word, word),
            report.access.kind if report else "",
            report.access.size if report else None,
            function,
            line,
            where or verdict.title,
        )
    if verdict.end == "timeout":
        return Verdict(HANG, where=verdict.title)
    if verdict.end != "ok":
        return Verdict(WRONG, where=verdict.title)
    if stable and _without_name(guest.lines, pick) != _without_name(control.lines, pick):
        return Verdict(WRONG, where="other output")
    return Verdict(OK)


def _without_name(lines, pick):
    """Return the output @lines without what differs with the file that has the bug: the program's name, which
    is the file's, and the folder that `__FILE__` names."""
    stem = pick.unit.rpartition("/")[2].rpartition(".")[0]
    return [_TREE.sub("", line).replace(stem, "") for line in lines]
