# SPDX-License-Identifier: MIT
"""The runtime alone, freestanding, for every target and both compilers.

It also checks the objects: the runtime is never instrumented, needs only what the port provides, calls from
a lower folder to a higher one only what base/up.h declares, and never calls what it checks for others (all
combinations of that: suite freestanding-calls).
"""

import re

from redzone.build import builder
from redzone.core.base import BUILD, ROOT, Failure
from redzone.elf.file import File
from redzone.elf.members import members
from redzone.elf.symbols import LOCAL, symbols
from redzone.testing.runner import FAIL, PASS, SKIP, Result, result, when
from redzone.testing.suites import _calls, style

TOOLS = ("cmake", "ninja")
OPTIONS = ("rest",)
QUICK = "part"
# One target of 64 and one of 32 bits, each mode, and the compact shadow, which has a call up of its own.
IN_QUICK = tuple(
    f"runtime-{name}"
    for name in (
        "arm64-clang-full",
        "arm-gcc-windowed",
        "arm-clang-compact",
        "arm64-clang-sw_tags",
        "arm64-clang-hw_tags",
    )
)
# The default part still builds each architecture, each layout, each mode, and both compilers.
REST = tuple(
    f"runtime-{name}"
    for name in (
        "arm64-clang-windowed",
        "arm64-gcc-full",
        "riscv64-clang-full",
        "riscv64-gcc-windowed",
        "x86_64-clang-windowed",
        "x86_64-gcc-full",
        "riscv64-gcc-full",
        "x86_64-gcc-windowed",
        "riscv32-clang-windowed",
        "arm64-gcc-sw_tags",
        "arm64-gcc-hw_tags",
        "arm-gcc-windowed-extra-info",
        "arm-clang-full",
        "s390x-clang-full",
        "powerpc64le-gcc-full",
    )
)

# Undefined symbols that the runtime may have: the port's functions, and those that a linker or compiler
# provides.
_ALLOWED = re.compile(
    r"^(kasan_port_\w+|__mem(cpy|move|set)|__init_array_(start|end)|__(start|stop)_hwasan_globals|__exidx_(start|end)|__aeabi_\w+|_GLOBAL_OFFSET_TABLE_|\.TOC\.)$"
)
_SANITIZER = re.compile(r"^__(asan|hwasan)_")
# What people call by such a name, in every mode.
_INTERFACE = "include/kasan/asan_interface.h"


# The port's functions have defaults anywhere, and compilers call their own by themselves.
_OUTSIDE = re.compile(r"^(kasan_port_|__aeabi_)")


def objects(archive):
    """Return [(file, names that it defines for others, names that it takes from others)] of an archive."""
    found = []
    for member in members(archive.read_bytes()):
        table = [symbol for symbol in symbols(File(member.content)) if symbol.name and symbol.bind != LOCAL]
        defined = {symbol.name for symbol in table if symbol.section}
        found.append((member.name.rpartition(".")[0], defined, {symbol.name for symbol in table} - defined))
    return found


def upward(found, folders, said):
    """Return the calls from a folder of the runtime to one above it, without those of the functions @said.

    found: from objects(). folders: {file: folder}.
    """
    owner = {name: file for file, defined, _ in found for name in defined}
    level = style.LAYERS.index
    return sorted(
        f"{folders[file]}/{file} uses {name}() of {folders[owner[name]]}/, which base/up.h does not declare"
        for file, _, used in found
        for name in used
        if name in owner
        and name not in said
        and not _OUTSIDE.match(name)
        and level(folders[owner[name]]) > level(folders[file])
    )


def said_upward():
    """Return the functions that base/up.h declares."""
    text = (ROOT / "runtime/base/up.h").read_text(encoding="utf-8")
    return set(re.findall(r"^\w[\w ]*\b((?:kasan|__asan)_\w+)\(", text, re.MULTILINE))


def judge_layers(name, library):
    folders = {path.name: path.parent.name for path in (ROOT / "runtime").rglob("*.c")}
    return result(name, upward(objects(library), folders, said_upward()))


def names(files):
    """Return (undefined, defined) names over all objects in the archives @files."""
    found = [object for file in files for object in objects(file)]
    defined = set().union(*(object[1] for object in found))
    return set().union(*(object[2] for object in found)) - defined, defined


# Symbols of a full runtime: those that compiled code calls, or, if the CPU checks, that the port's fault
# handler calls.
_GIVES = {
    "generic": re.compile(r"^__asan_load8_noabort$"),
    "sw_tags": re.compile(r"^__hwasan_load8_noabort$"),
    "hw_tags": re.compile(r"^kasan_report_tag_fault$"),
    "ubsan": re.compile(r"^__ubsan_handle_add_overflow$"),
}


def judge(name, mode, files):
    undefined, defined = names(files)
    if not any(_GIVES[mode].match(symbol) for symbol in defined):
        return Result(
            name, FAIL, f"the objects define no {_GIVES[mode].pattern[1:-1]}: not the whole runtime"
        )
    bad = sorted(symbol for symbol in undefined if _SANITIZER.match(symbol))
    if bad:
        return Result(name, FAIL, "instrumented, or incomplete: " + ", ".join(bad))
    if mode == "hw_tags":
        text = (ROOT / _INTERFACE).read_text(encoding="utf-8")
        asked = set(re.findall(r"\b(__asan_\w+)\(", text))
        extra = sorted(symbol for symbol in defined - asked if _SANITIZER.match(symbol))
        if extra:
            return Result(
                name, FAIL, "defined without a caller, because the CPU makes the checks: " + ", ".join(extra)
            )
    foreign = sorted(symbol for symbol in undefined if not _ALLOWED.match(symbol))
    if foreign:
        return Result(name, FAIL, "needs symbols that no port has to give: " + ", ".join(foreign))
    return Result(name, PASS)


def judge_fuzz(name, files):
    """Judge the fuzzing loop: it needs nothing but its two functions of the port, not even the runtime."""
    undefined, defined = names(files)
    foreign = sorted(
        symbol for symbol in undefined if not re.match(r"kasan_port_fuzz_|__aeabi_|\.TOC\.$", symbol)
    )
    if foreign:
        return Result(name, FAIL, "needs symbols that no port has to give: " + ", ".join(foreign))
    lacking = {"kasan_fuzz_loop", "__sanitizer_cov_trace_pc", "__sanitizer_cov_trace_cmp8"} - defined
    return result(name, when(lacking, f"does not define {', '.join(sorted(lacking))}"))


def _runtime(context, preset):
    """Return the results of one target."""
    name = preset.removeprefix("runtime-")
    try:
        context.build(preset)
    except Failure as error:
        log = context.write_log(name, f"{error}\n")
        return [Result(name, FAIL, "\n".join(str(error).splitlines()[:20]), log)]
    mode = next((mode for mode in ("sw_tags", "hw_tags", "ubsan") if mode in name), "generic")
    library = BUILD / preset / "libkasan.a"
    results = [judge(name, mode, [library]), judge_layers(f"{name}.layers", library)]
    if "riscv32" not in preset and "cortexm" not in preset:  # see cmake/Runtime.cmake
        results.append(judge_fuzz(f"{name}.fuzz", [BUILD / preset / "libkasan_fuzz.a"]))
    return results


def run(context):
    runtimes = [preset for preset in builder.presets() if preset.startswith("runtime-")]
    ready = []
    for preset in context.part(runtimes, IN_QUICK, REST):
        reason = context.missing_for(preset)
        if reason:
            yield Result(preset.removeprefix("runtime-"), SKIP, reason)
        else:
            ready.append(preset)
    # Some at once: CMake and the archiver use one CPU each.
    for results in context.each(lambda preset: _runtime(context, preset), ready):
        yield from results
    if not context.rest:
        yield from _calls.run(context, context.part(_calls.pairs(), _calls.in_quick()))
