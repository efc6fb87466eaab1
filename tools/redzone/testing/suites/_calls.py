# SPDX-License-Identifier: MIT
"""The runtime never calls the checked memcpy(), memmove() and memset(), whatever the compiler makes of its
initialisers and copies: each call would check the runtime's own variables, perhaps inside of a report.

The relocations of its objects tell, for separate files and for kasan.c, at each level of optimisation.
"""

import itertools
import re

from redzone.core import base, outside, process
from redzone.core.arch import ARCHES
from redzone.core.base import ROOT
from redzone.elf.file import SHF_EXECINSTR, SHT_REL, SHT_RELA, File
from redzone.elf.symbols import symbols
from redzone.kit import amalgamate
from redzone.testing.runner import SKIP, Result, result

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
COMPILERS = ("clang-19", "clang-22", "gcc")
# How the runtime comes to its user.
FORMS = ("files", "kasan.c")
FLAGS = (
    "-std=gnu17",
    "-ffreestanding",
    "-fno-strict-aliasing",
    "-fno-common",
    "-fno-pic",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-w",
    "-c",
)
# The names of abi/, and those under which 32-bit Arm has the same functions.
_CHECKED = re.compile(r"^(__asan_|__hwasan_|__aeabi_)?mem(cpy|move|set|clr)\d*$")

_FULL_64 = {
    "CONFIG_KASAN_SHADOW_FULL": "1",
    "CONFIG_KASAN_SHADOW_OFFSET": "0xdfff800000000000UL",
    "CONFIG_KASAN_SHADOW_LOW": "0xffff000000000000UL",
    "CONFIG_KASAN_SHADOW_HIGH": "0xffffffffffffffffUL",
}
_GENERIC_FULL = {"CONFIG_KASAN_GENERIC": "1", "CONFIG_KASAN_SHADOW_FULL": "1"}
_WINDOWED = {"CONFIG_KASAN_GENERIC": "1", "CONFIG_KASAN_SHADOW_WINDOWED": "1"}
_COMPACT = {**_WINDOWED, "CONFIG_KASAN_SHADOW_COMPACT": "1"}
LAYOUTS = {
    "full": {"CONFIG_KASAN_GENERIC": "1", **_FULL_64},
    "dynamic": {**_GENERIC_FULL, "CONFIG_KASAN_SHADOW_DYNAMIC": "1"},
    "pieces": {**_GENERIC_FULL, "CONFIG_KASAN_SHADOW_PIECES": "1"},
    "windowed": _WINDOWED,
    "compact": _COMPACT,
    "extra-info": {**_WINDOWED, "CONFIG_KASAN_EXTRA_INFO": "1", "CONFIG_KASAN_NR_CPUS": "4"},
    "sw_tags": {"CONFIG_KASAN_SW_TAGS": "1", **_FULL_64},
    "hw_tags": {"CONFIG_KASAN_HW_TAGS": "1"},
}

_CORTEX = "-mthumb -mfloat-abi=soft -mcpu="


def _of(name):
    return ARCHES[name].target, ARCHES[name].gcc


_CORTEX_M = ("arm-none-eabi", "gcc-cortexm")
# {machine: (Clang's target, key of its GCC, options of both, layouts)}
MACHINES = {
    "arm64": (
        *_of("arm64"),
        "-mgeneral-regs-only",
        ("full", "windowed", "sw_tags", "hw_tags", "extra-info", "dynamic"),
    ),
    # Memory without an MMU takes aligned accesses only, so that larger structures are copied by calls.
    "arm64-strict": (*_of("arm64"), "-mgeneral-regs-only -mstrict-align", ("windowed",)),
    "riscv64": (
        *_of("riscv64"),
        "-march=rv64imac -mabi=lp64 -mcmodel=medany",
        ("full", "windowed", "sw_tags"),
    ),
    "riscv32": (*_of("riscv32"), "-march=rv32imac -mabi=ilp32", ("windowed", "compact")),
    "x86_64": (*_of("x86_64"), "-mgeneral-regs-only -mno-red-zone", ("full", "windowed")),
    "s390x": (*_of("s390x"), "-msoft-float -mbackchain", ("full",)),
    "powerpc64le": (*_of("powerpc64le"), "-msoft-float -mno-altivec -mno-vsx", ("full",)),
    "loongarch64": (*_of("loongarch64"), "-msoft-float", ("pieces",)),
    "arm": (*_of("arm"), "-march=armv7-a -mfloat-abi=soft", ("windowed", "extra-info")),
    "cortex-m3": (*_CORTEX_M, f"{_CORTEX}cortex-m3", ("windowed", "compact")),
    "cortex-m0plus": (*_CORTEX_M, f"{_CORTEX}cortex-m0plus", ("windowed", "compact")),
}
# Of pairs(): once each, with Clang 19 at -O2.
_ONCE = (("arm64", "dynamic"), ("s390x", "full"), ("powerpc64le", "full"), ("loongarch64", "pieces"))


def everything():
    """Return all combinations: (form, compiler, level, machine, layout)."""
    return [
        (form, compiler, level, machine, layout)
        for form, compiler, level, (machine, spec) in itertools.product(
            FORMS, COMPILERS, LEVELS, MACHINES.items()
        )
        for layout in spec[3]
        # GCC has software tags for arm64 only.
        if (compiler, layout, machine) != ("gcc", "sw_tags", "riscv64") and (compiler != "gcc" or spec[1])
    ]


def pairs():
    """Return some combinations: kasan.c by each compiler at each level, and so once for each machine and
    layout; the files by each compiler and at most levels."""
    possible = set(everything())
    places = [(machine, layout) for machine, spec in MACHINES.items() for layout in spec[3]]
    places = [place for place in places if place not in (*_ONCE, ("arm64-strict", "windowed"))]
    chosen = [("kasan.c", compiler, "Os", "arm64-strict", "windowed") for compiler in COMPILERS]
    chosen += [("kasan.c", COMPILERS[0], "O2", *place) for place in _ONCE]
    for number, (level, compiler) in enumerate(itertools.product(LEVELS, COMPILERS)):
        for form in FORMS if number % 4 == 0 else FORMS[1:]:
            # A step that has no factor in common with the number of places, so that each has its turn.
            turn = number * 7 + (9 if form == "files" else 0)
            rows = ((form, compiler, level, *places[at % len(places)]) for at in itertools.count(turn))
            chosen.append(next(row for row in rows if row in possible))
    return chosen


def in_quick():
    """Return those of pairs() that --quick takes: kasan.c, for size."""
    return [row for row in pairs() if row[0] == "kasan.c" and row[2] == "Os"]


def _command(compiler, level, machine, layout):
    target, gcc, options, _ = MACHINES[machine]
    if layout == "hw_tags":
        options += " -march=armv8.5-a+memtag"
    return [
        *([outside.BY_KEY[gcc].command] if compiler == "gcc" else [compiler, f"--target={target}"]),
        f"-{level}",
        *options.split(),
        *FLAGS,
        *(f"-D{name}={value}" for name, value in LAYOUTS[layout].items()),
    ]


def _calls(path):
    """Return {section: checked functions that its code refers to} of an object."""
    found, elf = {}, File.open(path)
    names = [symbol.name for symbol in symbols(elf)]
    for section in elf.sections:
        code = elf.sections[section.info] if section.type in (SHT_REL, SHT_RELA) else None
        if code is None or not code.flags & SHF_EXECINSTR:
            continue
        called = {names[relocation.symbol] for relocation in elf.relocations(section)}
        called = set(filter(_CHECKED.match, called))
        if called:
            found.setdefault(code.name, set()).update(called)
    return found


def _judge(row, scratch, amalgamated):
    """Compile one combination. Return what is wrong, as a list of texts."""
    form, compiler, level, machine, layout = row
    command = [*_command(compiler, level, machine, layout), "-ffunction-sections"]
    folder = scratch / "-".join(row)
    folder.mkdir(parents=True)
    if form == "files":
        sources = [path for path in amalgamate.sources() if path.parent.name != "abi"]
        command += ["-I", str(ROOT / "include"), *map(str, sources)]
    else:
        command += [str(amalgamated / "kasan.c")]
    status, output = process.call(command, cwd=folder)
    if status != 0:
        return output.splitlines()[:10]
    wrong = []
    for path in sorted(folder.glob("*.o")):
        for section, names in _calls(path).items():
            wrong.append(f"{path.stem}.c, {section.removeprefix('.text.')}: calls {', '.join(sorted(names))}")
        path.unlink()
    return wrong


def run(context, rows):
    """Yield a Result for each compiler and machine of the combinations @rows."""
    groups = {}
    for row in rows:
        groups.setdefault((row[1], row[3]), []).append(row)
    ready = []
    for compiler, machine in groups:
        reason = context.missing(MACHINES[machine][1] if compiler == "gcc" else compiler)
        if reason:
            yield Result(f"calls.{machine}.{compiler}", SKIP, reason)
        else:
            ready.append((compiler, machine))
    with base.scratch("calls-") as scratch:
        amalgamate.write(scratch / "amalgamated")

        def judge(key):
            wrong = [
                f"{row[0]} -{row[2]} {row[4]}: {text}"
                for row in groups[key]
                for text in _judge(row, scratch, scratch / "amalgamated")
            ]
            return result(f"calls.{key[1]}.{key[0]}", wrong[:30])

        yield from context.each(judge, ready)
