# SPDX-License-Identifier: MIT
"""Logs for the tests of the outputs: the golden reports, a made one with everything, a hostile one."""

import dataclasses
import itertools

from redzone.core.base import ROOT
from redzone.decode import decoder, model

GOLDEN = sorted((ROOT / "tests" / "golden").glob("**/*.log"))
HEAP = 0xFFFF000000353080
# What a page must neither run, nor load, nor obey. Each sets window.broken if it runs.
HOSTILE = (
    '"><img src=x onerror="window.broken=1"><script>window.broken=1</script>',
    "</style></title></textarea></script><script>window.broken=1</script>",
    "' onmouseover='window.broken=1' onfocus='window.broken=1' autofocus tabindex=1 x='",
    "<svg onload=window.broken=1><iframe srcdoc='<script>parent.broken=1</script>'></iframe>",
    "{{ 7 * 7 }}{% raw %}${window.broken=1}<!--#exec-->]]>--><base href=//evil.example/>",
    "javascript:window.broken=1//",
    "\x1b]0;title\x07\x1b[31m\x9b2J\x00\x08 \u202etxt.exe\u2066 \ud800 \ufffe\r\n::error::injected",
    "[a link](http://evil.example/) `code` **bold**",
)


def decoded(*paths):
    """Return the model.Log of the files @paths."""
    one = decoder.Decoder()
    for path in paths:
        decoder.read_file(one, str(path))
    return one.finish()


def _frame(name, offset, path="", line=0, role="", inlined=()):
    places = [model.Location(*one) for one in inlined]
    if path:
        places.append(model.Location(name, path, line))
    text = f"{name}+{offset:#x}/0x100"
    return model.Frame(text, name, offset, 0x100, "", "", HEAP + offset, role=role, locations=places)


def _stack(kind, title, *frames):
    entry = _frame("kthread", 0x54, "/src/kernel/sched/kthread.c", 40, role="entry")
    return model.Stack(kind, title, model.Task("main", 7), 1, 0.25, [*frames, entry])


def _report(number, first, **changes):
    """Return a write behind a 13-byte object in a 16-byte slot, with stacks and source."""
    cells = [0xFC, 0xFC, 0xFC, 0xFC, 0x00, 0x05, *[0xFC] * 10]
    rows = [
        model.MemoryRow(HEAP - 128, [0, 0, 0, 3, *[0xFC] * 4, 0, 2, *[0xFC] * 4, 0, 4]),
        model.MemoryRow(HEAP, cells, bad=True),
        model.MemoryRow(HEAP + 128, [0xFC] * 15 + [None]),
    ]
    values = {"00": "all 8 bytes accessible", "fc": "slab redzone"}
    values |= {f"{n:02x}": f"only the first {n} of 8 bytes accessible" for n in (2, 3, 4, 5)}
    inlined = [("copy_name", "/src/drivers/wifi.c", 31)]
    source = [
        model.SourceLine(30, "\tfor (i = 0; i <= length; i++)"),
        model.SourceLine(
            31, "\t\tto->name[i] = from[i]; /* one too many */" + " and on and on" * 9, bad=True
        ),
    ]
    report = model.Report(
        number=number,
        type="slab-out-of-bounds",
        title="BUG: KASAN: slab-out-of-bounds in wifi_scan+0x70/0x100",
        where="wifi_scan+0x70/0x100",
        mode="generic",
        source="console.log",
        access=model.Access("write", 1, HEAP + 0x20 + 13),
        task=model.Task("main", 7),
        cpu=1,
        time="0.307552",
        first_line=first,
        last_line=first + 40,
        case="wifi.scan",
        stacks=[
            _stack(
                "call", "Call trace:", _frame("wifi_scan", 0x70, "/src/drivers/wifi.c", 52, inlined=inlined)
            ),
            _stack(
                "allocated",
                "Allocated by task 7:",
                _frame("kmalloc", 0xA4, "/src/mm/slab.c", 200, role="allocator"),
                _frame("wifi_open", 0x1C, "/src/drivers/wifi.c", 12),
            ),
        ],
        object=model.Object(
            "slab", HEAP + 0x20, 13, "kmalloc-16", 16, "allocated", "right", 0, type="struct wifi"
        ),
        memory=model.MemoryMap("shadow", 8, rows, 5, values),
        excerpts=[model.Excerpt("call", model.Location("copy_name", "/src/drivers/wifi.c", 31), source)],
        explanation=["A write of 1 byte just past the end of a 13-byte struct wifi.", "Look at the loop."],
        signature="3b3715694731e619",
        raw=["BUG: KASAN: slab-out-of-bounds in wifi_scan+0x70/0x100", "Write of size 1 at addr ..."],
    )
    return dataclasses.replace(report, **changes)


def full():
    """Return a Log with every part of the model: two bugs of one object, and a known, truncated one."""
    freed = _stack("freed", "Freed by task 7:", _frame("wifi_close", 0x10, "/src/drivers/wifi.c", 80))
    reports = [_report(number, 100 * number, time=f"{number}.5") for number in (1, 2, 3)]
    late = _report(4, 400, type="slab-use-after-free", title="BUG: KASAN: slab-use-after-free in wifi_timer")
    late.stacks.append(freed)
    late.access = model.Access("read", 8, HEAP + 0x20)
    late.object = dataclasses.replace(late.object, state="freed", side="inside")
    frame = model.Object("stack", None, None, variables=[model.Variable("name", 32, 45, 9, True)])
    bare = model.Report(
        number=5,
        kind="oops",
        type="",
        title="Unable to handle kernel paging request",
        access=model.Access("access", None, 0xDEAD),
        object=frame,
        first_line=500,
        last_line=510,
        truncated=True,
        again=True,
        times=3,
    )
    first = model.Bug(
        "3b3715694731e619",
        "KASAN: slab-out-of-bounds Write in wifi_scan",
        type="slab-out-of-bounds",
        function="wifi_scan",
        location=model.Location("copy_name", "/src/drivers/wifi.c", 31),
        count=12,
        first_time="1.5",
        last_time="9.5",
        first_line=100,
        last_line=900,
        modes=["generic"],
        cases=["wifi.scan"],
        reports=reports,
    )
    second = dataclasses.replace(
        first,
        signature="1111111111111111",
        title="KASAN: slab-use-after-free Read in wifi_timer",
        type="slab-use-after-free",
        count=1,
        reports=[late],
        first_line=400,
    )
    third = model.Bug("2222222222222222", "oops in nothing", "oops", count=3, first_line=500, reports=[bare])
    return model.Log(
        sources=["console.log"],
        lines=1000,
        bytes=50000,
        system="Redzone reference kernel",
        reports=16,
        by_mode={"generic": 13},
        by_type={"slab-out-of-bounds": 12},
        dropped=2,
        images=[model.Image("vmlinux", "abcdef", "", 0x1000)],
        bugs=[first, second, dataclasses.replace(third, known=True)],
        cases=[
            model.TestCase("wifi.scan", "pass", "", 12),
            model.TestCase("wifi.close", "fail", "expected 1", 0),
            model.TestCase("wifi.sleep", "skip", "no clock", 0),
        ],
        notes=["3 frames could not be looked up"],
    )


# Fields whose words the model fixes, by name; all other texts come from the log.
_FIXED = ("kind", "mode", "state", "side", "about", "status", "role", "meanings")


def hostile():
    """Return full() with hostile text in the place of each text of the log."""
    return _spoiled(full(), itertools.cycle(HOSTILE))


def _spoiled(value, texts):
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, list):
        return [_spoiled(one, texts) for one in value]
    if isinstance(value, dict):
        return {key + next(texts): one for key, one in value.items()}
    if not dataclasses.is_dataclass(value):
        return value
    names = [one.name for one in dataclasses.fields(value) if one.name not in _FIXED]
    changes = {name: _spoiled(getattr(value, name), texts) for name in names}
    if isinstance(value, model.MemoryMap):
        changes["meanings"] = {key: next(texts) for key in value.meanings}
    return dataclasses.replace(value, **changes)
