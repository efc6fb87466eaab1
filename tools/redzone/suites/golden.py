# SPDX-License-Identifier: MIT
"""Golden reports: one console for each bug type, compared line by line.

tests/golden/bugs.c has the bugs, tests/golden/TYPE.log the console that the kernel printed once. What
differs from boot to boot or from build to build (addresses, task numbers, code offsets) is masked on both
sides; everything else is text that tools and people read, and must stay.

With REDZONE_UPDATE_GOLDEN=1 in the environment, reports that differ are written anew instead.
"""

import difflib
import os
import re

from redzone import base, builder, console, machine
from redzone.base import ROOT, Failure
from redzone.runner import FAIL, PASS, SKIP, Result

TOOLS = ("cmake", "ninja", "clang-19", "lld", "nm", "objcopy", "qemu-arm64")
HERE = ROOT / "tests" / "golden"
TIMEOUT = 60
# The golden reports are taken from the first. All must print the same, but for what is masked.
CONFIGURATIONS = (("clang-19", "inline"), ("clang-19", "outline"), ("gcc", "inline"))

_HEX16 = re.compile(r"\b(?:0x)?([0-9a-f]{16})\b")
_FRAME = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+")
_ROW = re.compile(r"^([ >])[0-9a-f]{16}:((?: [0-9a-f]{2}){16})$")
# Compilers add these to a function's name when they make a copy of it.
_COPY = re.compile(r"(?<=\w)\.(?:constprop|isra|part|cold)(?:\.\d+)*(?=\+|\b)")
# An address this near to the accessed one is printed relative to it.
_NEAR = 1 << 16


def titles():
    """Return {name: title} of the golden reports, from titles.tsv."""
    found = {}
    for line in (HERE / "titles.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, title = line.split("\t")
            found[name] = title
    return found


def reports(lines):
    """Return the console.Reports of a console given as lines."""
    reader = console.Reader()
    for line in lines:
        reader.feed(line)
    return reader.reports


def _relative(address, origin):
    """Return @address as text that is the same wherever the object lies."""
    if origin is None or address < 1 << 16:
        return f"{address:016x}"
    distance = address - origin
    if abs(distance) >= _NEAR:
        return "ADDRESS"
    return f"ACCESS{distance:+#x}" if distance else "ACCESS"


def _caret(text, middle):
    """Return the shadow byte above the caret, from the row in the middle of the memory state."""
    at = len(text) - 1
    return middle[at : at + 2] if middle and at + 2 <= len(middle) else "??"


def normalize(report):
    """Return the lines of a console.Report without what changes from boot to boot."""
    origin = report.address
    result = []
    middle = None
    for text in report.lines:
        row = _ROW.match(text)
        if row:
            # Where an object lies in its row, and who lies beside it, is the allocator's business.
            middle = text if row[1] == ">" else middle
            result.append(f"{row[1]}ROW: 16 granules")
            continue
        if middle and text.strip() == "^":
            result.append(f"^ under {_caret(text, middle)}")
            middle = None
            continue
        text = _FRAME.sub("+OFFSET/SIZE", _COPY.sub("", text))
        text = _HEX16.sub(lambda match: _relative(int(match[1], 16), origin), text)
        text = re.sub(r"(by task \S+|of task \S+)/\d+", r"\1/PID", text)
        text = re.sub(r"by task \d+:", "by task PID:", text)
        text = re.sub(r"^CPU: \d+ PID: \d+ ", "CPU: N PID: PID ", text)
        text = re.sub(r"\b(pfn:0x)[0-9a-f]+", r"\1PFN", text)
        # Whoever of the kernel's functions made a task's stack: compilers inline them differently.
        area = re.search(r" allocated at (\w+)\+", text)
        if area and area[1] != report.where.partition("+")[0]:
            text = text.replace(area[0], " allocated at FUNCTION+")
        # Both compilers describe a frame, but lay it out as they like.
        text = re.sub(r"at offset \d+ in frame", "at offset N in frame", text)
        text = re.sub(r"^ \[\d+, \d+\) ('[^']*').*", r" [FROM, TO) \1", text)
        text = re.sub(r"^ defined (?:at|in) \S*?([\w.-]+?)(?::\d+)?$", r" defined in \1", text)
        result.append(text)
    return result


def prefix_width(lines):
    """Return the width of the timestamps of a console, None if it is not the same on all lines."""
    widths = {len(console.split(line)[0]) for line in lines if console.split(line)[0]}
    return widths.pop() if len(widths) == 1 else None


def judge(name, lines, golden):
    """Return what is wrong with a console, as a list of texts. @golden: the console it must resemble."""
    found, wanted = reports(lines), reports(golden)
    if len(found) != 1 or not found[0].complete:
        return [f"{base.plural(len(found), 'report')}, expected one complete report"]
    wrong = []
    if prefix_width(lines) is None:
        wrong.append("timestamps of different widths")
    difference = difflib.unified_diff(
        normalize(wanted[0]), normalize(found[0]), f"{name}.log", "this boot", lineterm="", n=1
    )
    return wrong + list(difference)


def _configuration(context, compiler, where, update):
    label = f"{compiler}.{where}"
    preset = builder.preset_name(instrumentation=where, compiler=compiler)
    reason = context.missing_for(preset)
    if reason:
        yield Result(label, SKIP, reason)
        return
    program = builder.Program("golden_bugs", [HERE / "bugs.c"])
    image = context.build(preset, programs=[program])["golden_bugs"]

    def one(name):
        target = machine.Machine(image.image, arguments=[name], timeout=TIMEOUT)
        _, lines, log = context.boot(f"{label}/{name}", target)
        path = HERE / f"{name}.log"
        golden = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        wrong = judge(name, lines, golden) if reports(golden) else ["there is no golden report of this name"]
        if wrong and update:
            if len(reports(lines)) != 1:
                raise Failure(f"bugs {name} did not give one report; see {base.relative(log)}")
            # A compiler names a global's file as it was given: keep this machine's folders out.
            text = "\n".join(lines).replace(f"{ROOT}/", "")
            path.write_text(text + "\n", encoding="utf-8")
            base.say(f"wrote {base.relative(path)}")
            wrong = []
        return Result(f"{label}.{name}", FAIL if wrong else PASS, "\n".join(wrong), log)

    yield from context.each(one, titles())


def run(context):
    update = os.environ.get("REDZONE_UPDATE_GOLDEN", "") not in ("", "0")
    for number, (compiler, where) in enumerate(CONFIGURATIONS):
        yield from _configuration(context, compiler, where, update and number == 0)
