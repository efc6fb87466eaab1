# SPDX-License-Identifier: MIT
"""Small memory: images for parts with 64 and 16 KiB of RAM find what small-memory.md says, and cost what
bench/small.json says; ./redzone budget computes with that."""

import itertools
import re
import shutil

import pytest
from kit import ROOT, boot, change, few, first, make_template, need
from redzone.core.base import Failure
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, Functions, symbols
from redzone.kit import size

SMALLEST = {"full": size.LARGE, "compact": size.SMALLEST}
# {bug: (its first report, is the function in the allocation's trace, and in the free's)}.
BUGS = {
    "heap_overflow": ("slab-out-of-bounds", True, False),
    "heap_underflow": ("slab-out-of-bounds", True, False),
    "large_overflow": ("slab-out-of-bounds", True, False),
    "copy_overflow": ("slab-out-of-bounds", True, False),
    "use_after_free": ("slab-use-after-free", True, True),
    "double_free": ("double-free", True, True),
    "invalid_free": ("invalid-free", True, False),
    "header_lost": ("slab-out-of-bounds", False, False),
    "global_overflow": ("global-out-of-bounds", False, False),
    "stack_overread": ("stack-out-of-bounds", False, False),
    "correct_use": (None, False, False),
}
UNSEEN_IN_COMPACT = {"global_overflow", "stack_overread"}


def tools(compiler):
    need("make", "qemu-system-arm", "arm-none-eabi-gcc", size.COMPILERS[compiler].split()[0])


def functions(image):
    return Functions(File.open(image), (FUNC,))


def trace(text, head, found_in):
    """Return the names of the functions in the trace under the line @head of a report."""
    found = re.search(rf"^{head}.*\n((?: 0x[0-9a-f]+\n)+)", text, re.M)
    pcs = re.findall(r"0x([0-9a-f]+)", found[1]) if found else []
    return [found_in.name(int(pc, 16) - 1) for pc in pcs]


@first(1, "compiler", reversed(size.COMPILERS))
def test_known_traces_are_whole_ones(compiler):
    """Random chains of calls: a trace found in the table is what unwinding the whole stack gives."""
    tools(compiler)
    options = (("CONFIG_KASAN_DEPOT_SIZE", 16384),)
    image = size.build(compiler, "full", "chains", size.LARGE, options, ("POOL=20480", "STACK=14336"))
    found = dict(re.findall(r"^chains (\w+) (\d+ \d+ \d+)$", size.boot(image), re.M))
    made, known, different = map(int, found["real"].split())
    assert made == 6000 and known > made / 4 and different == 0, found
    assert int(found["planted"].split()[2]) > 0, found


@few(("compiler", "layout"), itertools.product(size.COMPILERS, size.LAYOUTS), pairs=False, most=1)
def test_a_small_part_finds_its_bugs(compiler, layout):
    tools(compiler)
    part = SMALLEST[layout]
    # Enough for each of the traces here.
    pool = ("POOL=3072", "QUARANTINE=512", "STACK=2304" if layout == "full" else "STACK=2048")
    image = size.build(compiler, layout, "bugs", part, (), pool)
    text = size.boot(image, part)
    traced = functions(image)
    for name, (kind, allocated, freed) in BUGS.items():
        part = text.partition(f"bug {name}\n")[2].partition(f"end {name}\n")[0]
        assert f"end {name}\n" in text, name
        if kind is None or (layout == "compact" and name in UNSEEN_IN_COMPACT):
            assert "KASAN" not in part, part
            continue
        types = re.findall(r"BUG: KASAN: (\S+) in", part)
        # The free of an object whose header was lost is a second bug.
        assert types == ([kind, "invalid-free"] if name == "header_lost" else [kind]), part
        assert name in trace(part, "Call trace:", traced), part
        if allocated:
            assert name in trace(part, "Allocated by task", traced), part
        assert (name in trace(part, "Freed by task", traced)) == freed, part
    assert "13-byte region" in text and "1003-byte region" in text
    if layout == "full":
        assert "'name' (line" in text and " table+0xa/0xa" in text


def test_the_compact_shadow_is_small():
    tools("gcc")
    image = size.build("gcc", "compact", "bugs", SMALLEST["compact"])
    at = {symbol.name: symbol.value for symbol in symbols(File.open(image))}
    window = at["__kasan_window_end"] - at["__kasan_window_start"]
    assert at["__ram_end"] - at["__kasan_shadow_start"] >= window // 32
    assert at["__ram_end"] - 0x20000000 == SMALLEST["compact"].ram
    found = size.recorded("gcc")
    assert found["compact_16k"]["heap"] > found["full_16k"]["heap"]
    assert found["compact_16k"]["code"] < found["full_16k"]["code"]


@first(0, "compiler", reversed(size.COMPILERS))
def test_recorded_figures_are_the_measured_ones(compiler):
    tools(compiler)
    for name, recorded in size.recorded(compiler).items():
        measured = size.measure(compiler, name)
        assert measured.keys() == recorded.keys()
        for key, value in recorded.items():
            # Other versions of a compiler differ a little. To record: ./redzone size --json bench/small.json
            assert abs(measured[key] - value) <= max(value // 20, 16), (
                f"{name} {key}: {measured[key]}, {value}"
            )
        assert measured["object"] <= 32
        if (compiler, name) == ("gcc", "full"):
            # Both goals in one image: see docs/port/small-memory.md.
            assert measured["code"] <= size.CODE_GOAL and measured["pair_traces"] <= 600
        assert measured["bss"] + measured["data"] - measured["tables"] <= 2048


# Clang's -Oz is what -Os is to GCC; its -Os inlines more.
@few(
    ("compiler", "optimize", "layout"),
    [(*one, layout) for one in (("gcc", "s"), ("clang", "z")) for layout in size.LAYOUTS],
    pairs=False,
)
def test_the_code_is_small(compiler, optimize, layout):
    tools(compiler)
    image = size.build(compiler, layout, "bugs", size.LARGE, (), (f"OPTIMIZE={optimize}",))
    found = size.sizes(image)
    assert found["code"] <= size.CODE_GOAL
    assert found["bss"] + found["data"] - found["tables"] <= 2048
    # The smallest code finds the same.
    text = size.boot(image)
    for name, (kind, _, _) in BUGS.items():
        part = text.partition(f"bug {name}\n")[2].partition(f"end {name}\n")[0]
        seen = kind and not (layout == "compact" and name in UNSEEN_IN_COMPACT)
        assert re.findall(r"BUG: KASAN: (\S+) in", part)[:1] == ([kind] if seen else []), part


def test_without_types_the_title_names_none():
    tools("gcc")
    text = size.boot(size.build("gcc", "full", "bugs", size.LARGE, (("CONFIG_KASAN_BUG_TYPES", 0),)))
    types = set(re.findall(r"BUG: KASAN: (\S+) in", text))
    assert types == {"invalid-access", "double-free", "invalid-free"}
    assert "13-byte region" in text and "Freed by task" in text


def test_a_budget_adds_up():
    figures = size.recorded("gcc")
    found = size.choose(figures, 65536, 262144, 24576, 16384)
    assert (found.layout, found.traces) == ("full", True)
    spent = found.shadow + found.runtime + found.depot + found.queue + 24576 + found.program
    assert spent == 65536 and found.program >= 16384
    small = size.choose(figures, 16384, 65536, 5120, 4096)
    assert (small.layout, small.traces) == ("compact", True)
    assert small.shadow * 32 >= 5120
    assert size.choose(figures, 16384, 65536, 5120, 6000).traces is False
    with pytest.raises(Failure, match=r"of flash .* of RAM"):
        size.choose(figures, 8192, 8192, 5120, 4096)
    lines = "\n".join(size.advice(small, 5120, 64))
    assert "CONFIG_KASAN_SHADOW_COMPACT=1" in lines and f"{small.shadow} bytes of shadow" in lines


def test_the_document_has_the_recorded_figures():
    text = (ROOT / "docs" / "port" / "small-memory.md").read_text(encoding="utf-8")
    for compiler in size.COMPILERS:
        for layout in size.LAYOUTS:
            found = size.recorded(compiler)[layout]
            for name in ("code", "object", "pair_traces", "pair_no_traces"):
                assert re.search(rf"\| {found[name]} ", text), (
                    f"{compiler}, {layout}: {name} is {found[name]}"
                )
    for name in size.PARTS:
        assert name in text


@few(
    ("arch", "compiler", "optimize"),
    itertools.product(("arm64", "riscv64"), ("clang-19", "gcc"), ("2", "s", "z")),
    pairs=False,
    most=2,
)
def test_hooks_on_stale_poison(tree, arch, compiler, optimize):
    """The runtime's own variables are never checked, wherever they lie: hooks are silent, reports whole."""
    shutil.copy(ROOT / "tests" / "porting" / "images" / "stale_poison.c", tree / "main.c")
    change(tree / "Makefile", ("KASAN_MODE :=", f"KASAN_OPTIMIZE := {optimize}\nKASAN_MODE :="))
    options = ("KASAN_SANITIZE_main.o=n", f"OUT=build-{optimize}")
    make_template(tree, arch, compiler, *options)
    status, console = boot(arch, tree / f"build-{optimize}" / "template.elf")
    assert status == 0 and "stale-poison: done, 2 reports" in console, console
    kinds = re.findall(r"^BUG: KASAN: ([\w-]+) in ", console, re.MULTILINE)
    assert kinds == ["slab-use-after-free", "double-free"], console
    assert console.count("Allocated by task") == 2 and console.count("Freed by task") == 2
