# SPDX-License-Identifier: MIT
"""Golden reports: one console for each bug type, compared line by line.

tests/golden/bugs.c has the bugs, and tests/golden/TYPE.log has the console that the kernel once printed;
software and hardware tags have folders of their own. Parts that differ from boot to boot or from build to
build (addresses, task numbers, code offsets) are masked on both sides. Tools and people read everything else,
so it must not change.

By default each mode, compiler, kind of check and allocator is in one kernel; --rest has those that put them
together in another way. With --arch the kernel of that architecture must print the same reports.

With REDZONE_UPDATE_GOLDEN=1 in the environment, the suite rewrites reports that differ.
"""

import difflib
import re

from redzone.build import builder
from redzone.core import base
from redzone.core.arch import DEFAULT
from redzone.core.base import ROOT, Failure
from redzone.machine import console, qemu
from redzone.testing.runner import SKIP, Result, asked, result, rewrite, when

TOOLS = (*builder.KERNEL, "clang-19")
HERE = ROOT / "tests" / "golden"
TIMEOUT = 300
# The first one writes the golden reports. All must print the same, except for the masked parts. (mode,
# compiler, instrumentation or kasan.mode=), and the slab allocator if it is not the default: reports find
# objects by slab.
CONFIGURATIONS = (
    ("generic", "clang-19", "inline"),
    ("generic", "clang-19", "outline"),
    ("generic", "gcc", "inline"),
    ("generic", "gcc", "outline"),
    ("generic", "clang-19", "inline", "slab"),
    ("sw_tags", "clang-19", "inline"),
    ("sw_tags", "clang-19", "outline"),
    ("sw_tags", "gcc", "outline"),
    ("hw_tags", "clang-19", "sync"),
    ("hw_tags", "gcc", "sync"),
    ("hw_tags", "clang-19", "async"),
    ("hw_tags", "clang-19", "asymm"),
)
MODES = ("generic", "sw_tags", "hw_tags")
OPTIONS = ("rest", "arch")
QUICK = "part"
IN_QUICK = (CONFIGURATIONS[0], ("sw_tags", "clang-19", "inline"), ("hw_tags", "clang-19", "sync"))
REST = (
    ("generic", "gcc", "outline"),
    ("generic", "clang-19", "inline", "slab"),
    ("sw_tags", "clang-19", "outline"),
    ("sw_tags", "gcc", "outline"),
    ("hw_tags", "gcc", "sync"),
)
# The configurations that write the golden reports.
FIRST = (("clang-19", "inline"), ("clang-19", "sync"))
# With software tags, outline code tags whole granules of the stack, and this bug ends inside one. GCC tags
# the variables of a scope for as long as their function runs.
UNSEEN = {
    ("sw_tags", "clang-19", "outline"): {"stack-out-of-bounds"},
    ("sw_tags", "gcc", "outline"): {"stack-out-of-bounds", "use-after-scope"},
}
# Bugs that the CPU does not find by tags, so that kasan.mode= makes no difference: the runtime's checks, MMU
# faults.
NOT_BY_TAG = {"double-free", "invalid-free", "out-of-bounds", "null-ptr-deref", "user-memory-access"}
NOT_BY_TAG |= {"wild-memory-access", "wild-memory-access-low", "invalid-call", "memcpy-param-overlap"}
NOT_BY_TAG |= {"dma-invalid-unmap", "dma-out-of-bounds"}
# Bugs that leave their traces in unused bytes, which kasan.slack=check compares.
BY_SLACK = {"slack-free", "slack-krealloc", "slack-walk"}
NOT_BY_TAG |= BY_SLACK
LATE = "asynchronous"
# On DEFAULT this memory is the first of RAM, so there is nothing to show before it. Other machines have their
# firmware there.
FIRST_OF_RAM = {"page-redzone"}

_HEX16 = re.compile(r"\b(?:0x)?([0-9a-f]{16})\b")
_FRAME = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+")
_TAG = re.compile(r"\[([0-9a-f]{2})\]")
_ROW = re.compile(r"^([ >])[0-9a-f]{16}:((?: [0-9a-f]{2}){16})$")
# Compilers add these suffixes to the name of a function's copy.
_COPY = re.compile(r"(?<=\w)\.(?:constprop|isra|part|cold)(?:\.\d+)*(?=\+|\b)")
# A bug type in the runtime's sources.
_ENDS = "free|bounds|access|deref|scope|poison|call|overlap|unmap|use"
_BUG_TYPE = re.compile(rf'"([a-z]+(?:-[a-z]+)*-(?:{_ENDS}))"')
# An address this close to the accessed one is printed relative to it.
_NEAR = 1 << 16


def folder(mode):
    """Return where the golden reports of @mode are."""
    return HERE if mode == "generic" else HERE / mode


def titles(mode="generic"):
    """Return {name: title} of the golden reports, from titles.tsv."""
    found = {}
    for line in (folder(mode) / "titles.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, title = line.split("\t")
            found[name] = title
    return found


def golden_name(where, name, title):
    """Return which golden report a bug must match: its own, or the one for all bugs that the CPU only
    records."""
    late = where == "async" or (where == "asymm" and " Write in " in title)
    return LATE if late and name not in NOT_BY_TAG else name


def reports(lines):
    """Return the model.Reports of a console given as lines."""
    reader = console.Reader()
    for line in lines:
        reader.feed(line)
    reader.end()
    return reader.reports


def _relative(address, origin):
    """Return @address as text that is the same wherever the object lies."""
    if origin is None or address < 1 << 16:
        return f"{address:016x}"
    # A pointer's tag is random, and not part of its address.
    distance = _untagged(address) - _untagged(origin)
    if abs(distance) >= _NEAR:
        return "ADDRESS"
    return f"ACCESS{distance:+#x}" if distance else "ACCESS"


def _untagged(address):
    return address | 0xFF << 56 if address >> 55 & 1 else address


def _mask_tag(text):
    """Return the tag @text if it is for freed memory, match-all or a short granule, else the mask of any
    tag."""
    return text if text in ("fe", "ff") or int(text, 16) < 16 else "TAG"


def _caret(text, middle, tags):
    """Return the shadow byte above the caret, from the row in the middle of the memory state."""
    at = len(text) - 1
    found = middle[at : at + 2] if middle and at + 2 <= len(middle) else "??"
    return _mask_tag(found) if tags else found


def normalize(report):
    """Return the lines of a model.Report without the parts that change from boot to boot."""
    if report.access.asynchronous:
        return _normalize_late(report)
    origin = report.access.address
    result = []
    middle = None
    # A report of overwritten slack has no line of tags.
    tags = any(re.match(r"Pointer tag: |Write of size .* found (?:at|in) ", text) for text in report.raw)
    for text in report.raw:
        row = _ROW.match(text)
        if row:
            # An object's place in its row, and its neighbours, are the allocator's business.
            middle = text if row[1] == ">" else middle
            result.append(f"{row[1]}ROW: 16 granules")
            continue
        if middle and text.strip() == "^":
            result.append(f"^ under {_caret(text, middle, tags)}")
            middle = None
            continue
        text = _FRAME.sub("+OFFSET/SIZE", _COPY.sub("", text))
        text = _HEX16.sub(lambda match: _relative(int(match[1], 16), origin), text)
        if text.startswith("Pointer tag: "):
            # A small number is no length in a pointer: frames of the stack get any tag.
            text = re.sub(r"^(Pointer tag: )\[0[0-9a-f]\]", r"\1[TAG]", text)
            text = _TAG.sub(lambda match: f"[{_mask_tag(match[1])}]", text)
        # The pattern depends on the address.
        text = re.sub(r"^( offset \d+: found [0-9a-f]{2}, expected )[0-9a-f]{2}$", r"\1XX", text)
        text = re.sub(r"(by task \S+|of task \S+)/\d+", r"\1/PID", text)
        text = re.sub(r"by task \d+:", "by task PID:", text)
        text = re.sub(r"^CPU: \d+ PID: \d+ ", "CPU: N PID: PID ", text)
        text = re.sub(r"\b(pfn:0x)[0-9a-f]+", r"\1PFN", text)
        # The tag of the page's pointers is in the highest byte.
        text = re.sub(r"\b(flags: 0x)[0-9a-f]{1,2}(?=[0-9a-f]{14}\()", r"\1TAG", text)
        # The kernel function that made a task's stack: compilers inline it differently.
        area = re.search(r" allocated at (\w+)\+", text)
        if area and area[1] != report.where:
            text = text.replace(area[0], " allocated at FUNCTION+")
        # Both compilers describe a frame, but each lays it out differently.
        text = re.sub(r"at offset \d+ in frame", "at offset N in frame", text)
        text = re.sub(r"^ \[\d+, \d+\) ('[^']*').*", r" [FROM, TO) \1", text)
        text = re.sub(r"^ defined (?:at|in) \S*?([\w.-]+?)(?::\d+)?$", r" defined in \1", text)
        result.append(text)
    return result


def _normalize_late(report):
    """Return the lines of an asynchronous report. The place where the kernel noticed it (a tick, a context
    switch) is random."""
    text = "\n".join(report.raw)
    text = re.sub(r"(?m)^(BUG: KASAN: \S+ in) \w+\+0x[0-9a-f]+/0x[0-9a-f]+$", r"\1 FUNCTION", text)
    text = re.sub(r"(?m)^CPU: \d+ PID: \d+ Comm: \S+", "CPU: N PID: PID Comm: TASK", text)
    text = re.sub(r"(?m)^(?: \S+\+0x[0-9a-f]+/0x[0-9a-f]+\n)+", " FRAMES\n", text)
    return text.splitlines()


def lines_of(path):
    """Return the lines of the golden console @path, none if there is no such file."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def difference(name, wanted, found):
    """Return the lines of the difference between the normalized reports @wanted and @found."""
    return list(difflib.unified_diff(wanted, found, f"{name}.log", "this boot", lineterm="", n=1))


def prefix_width(lines):
    """Return the width of a console's timestamps, None if it differs between lines."""
    widths = {len(console.split(line)[0]) for line in lines if console.split(line)[0]}
    return widths.pop() if len(widths) == 1 else None


def _from_the_access_on(lines):
    """Return the lines of a normalized report without the rows of memory before that of the access."""
    at = next((number for number, line in enumerate(lines) if line.startswith(">ROW:")), 0)
    return [line for number, line in enumerate(lines) if number >= at or not line.startswith(" ROW:")]


def judge(name, lines, golden, arch=DEFAULT):
    """Return what is wrong with a console, as a list of texts. @golden: the console that it must match, which
    the kernel of DEFAULT has printed; this one is that of @arch."""
    found, wanted = reports(lines), reports(golden)
    if len(found) != 1 or found[0].truncated:
        return [f"{base.plural(len(found), 'report')}, expected one complete report"]
    wrong = when(prefix_width(lines) is None, "timestamps of different widths")
    both = [normalize(wanted[0]), normalize(found[0])]
    if arch != DEFAULT and name in FIRST_OF_RAM:
        both = [_from_the_access_on(report) for report in both]
    return wrong + difference(name, *both)


def _configuration(context, configuration, update, arch=DEFAULT, only=None):
    """Yield the results of one configuration. @update: write the reports that differ. @only: names of bugs,
    None for all."""
    mode, compiler, where, *allocator = configuration
    label = ".".join(([] if mode == "generic" else [mode]) + [compiler, where, *allocator])
    label = label if arch == DEFAULT else f"{arch}.{label}"
    preset = builder.preset_name(mode, where, compiler, *allocator, arch=arch)
    hardware = mode == "hw_tags"
    reason = context.missing_for(preset)
    if reason:
        yield Result(label, SKIP, reason)
        return
    defines = ["GRANULE=16"] if hardware else []
    program = builder.Program("golden_bugs", [HERE / "bugs.c"], defines=defines)
    image = context.build(preset, programs=[program])["golden_bugs"]

    append = [f"kasan.mode={where}"] if hardware else []

    def one(name):
        slack = ["kasan.slack=check"] if name in BY_SLACK else []
        options = {"append": append + slack, "arguments": [name], "timeout": TIMEOUT}
        target = qemu.Machine(image.image, arch=arch, mode=mode, **options)
        _, lines, log = context.boot(f"{label}/{name}", target)
        path = folder(mode) / f"{golden_name(where, name, named[name])}.log"
        golden = lines_of(path)
        wrong = ["there is no golden report of this name"]
        if reports(golden):
            wrong = judge(name, lines, golden, arch)
        if wrong and update:
            if len(reports(lines)) != 1:
                raise Failure(f"bugs {name} did not give one report; see {base.relative(log)}")
            # A compiler names a global's file as given, so remove this machine's folders.
            rewrite(path, "\n".join(lines).replace(f"{ROOT}/", "") + "\n")
            wrong = []
        return result(f"{label}.{name}", wrong, log)

    unseen = UNSEEN.get(configuration, ())
    named = titles(mode)
    yield from context.each(one, [name for name in only or named if name not in unseen])


def of_arch(arch):
    """Return the configurations of the kernel of @arch: all of its modes and compilers, one allocator."""
    kernel = builder.kernel_of(arch)
    return [
        one
        for one in CONFIGURATIONS
        if len(one) == 3
        and one[0] in kernel.modes
        and one[1] in kernel.compilers.get(one[0], builder.COMPILERS)
    ]


def shared(context, arch, configuration, only=None):
    """Yield the results of a configuration of another architecture, @arch, which must print what DEFAULT's
    kernel has printed."""
    yield from _configuration(context, configuration, False, arch, only)


def _types():
    """Check that every bug type in docs/use/reports.md has a golden report, and a KUnit case that expects the
    type."""
    text = (ROOT / "docs" / "use" / "reports.md").read_text(encoding="utf-8")
    table = text.partition("## 1. The bug type")[2].partition("\n## ")[0]
    types = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    golden = {report.type for path in HERE.rglob("*.log") for report in reports(lines_of(path))}
    sources = (ROOT / "kernel" / "tests").glob("*test*.c")
    expected = set(re.findall(r'"([a-z-]+)",\s*KASAN_(?:READ|WRITE|FREE)\b', "".join(map(_text, sources))))
    for name in types:
        wrong = when(name not in golden, "there is no golden report of this type")
        wrong += when(name not in expected, "no KUnit case expects this type")
        yield result(f"types.{name}", wrong)
    # A type that is missing from the document would escape all checks above.
    # UBSan's types have golden reports and a page of their own, in the suite ubsan.
    files = (path for path in (ROOT / "runtime").rglob("*.c") if path.parent.name != "ubsan")
    reported = set(_BUG_TYPE.findall("".join(map(_text, files))))
    missing = sorted(reported - set(types))
    unknown = sorted(set(types) - reported)
    wrong = [f"the runtime reports {name}, docs/use/reports.md does not have it" for name in missing]
    wrong += [f"docs/use/reports.md has {name}, which the runtime never reports" for name in unknown]
    yield result("types", wrong + when(not types, "docs/use/reports.md has no table of types"))


def _text(path):
    return path.read_text(encoding="utf-8")


def run(context):
    if context.arch not in (None, DEFAULT):
        for configuration in context.of_mode(of_arch(context.arch)):
            yield from shared(context, context.arch, configuration)
        return
    if not context.rest:
        yield from _types()
    for configuration in context.of_mode(context.part(CONFIGURATIONS, IN_QUICK, REST)):
        # Write only the first asynchronous report, and only if there is no golden one yet.
        first = configuration[1:] in FIRST or not (folder(configuration[0]) / f"{LATE}.log").exists()
        yield from _configuration(context, configuration, asked("REDZONE_UPDATE_GOLDEN") and first)
