# SPDX-License-Identifier: MIT
"""`./redzone audit`: which parts of an image KASAN checks, and whether it can work at all.

It answers four questions. Which files and functions have checks? Will the constructors that register globals
run? Do the shadow windows cover the image's variables, and does the shadow lie clear of the image? Which
sanitizer symbols are missing, and which objects want them?

Software tags use different checks, and no globals. With hardware tags the CPU checks, so files need nothing.
"""

import fnmatch
import functools
import itertools
import json
import os
import re
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.kit import amalgamate, audit_constructors, audit_dumps, audit_inline, audit_x86

# The symbols that the runtime defines for compilers. A test compares this with its objects.
RUNTIME_ABI = re.compile(
    r"^__asan_((report_)?(load|store)(1|2|4|8|16)(_noabort)?|(load|store)N(_noabort)?"
    r"|report_(load|store)_n(_noabort)?|mem(cpy|move|set)|handle_no_return|(un)?register_globals"
    r"|(before|after)_dynamic_init|alloca_poison|allocas_unpoison|(un)?poison_stack_memory"
    r"|set_shadow_(0[0-7]|f[12358])|stack_(malloc(_always)?|free)_\d+"
    r"|option_detect_stack_use_after_return|shadow_memory_dynamic_address"
    # <kasan/asan_interface.h>
    r"|(un)?poison_memory_region|(address|region)_is_poisoned|(describe|locate)_address"
    r"|get_(alloc|free)_stack|get_shadow_mapping|get_current_fake_stack|addr_is_in_fake_stack"
    r"|report_(present|error)|get_report_(pc|bp|sp|address|access_type|access_size|description)"
    r"|set_(death|error_report)_callback|on_error|print_accumulated_stats|update_allocation_context)$"
    r"|^__hwasan_((load|store)(1|2|4|8|16|N)(_match_all)?(_noabort)?"
    r"|mem(cpy|move|set)(_match_all)?|tag_memory|generate_tag|init|handle_(vfork|longjmp)|personality_wrapper)$"
)
# How to tell a runtime's mode: a symbol that only this mode defines, and the prefix of its checks' names.
_RUNTIMES = {
    "generic": "__asan_load8_noabort",
    "sw_tags": "__hwasan_load8_noabort",
    "hw_tags": "kasan_report_tag_fault",
}
_FAMILY = {"generic": "__asan_", "sw_tags": "__hwasan_", "hw_tags": None}
# Calls from instrumented code that check no access.
_NO_CHECK = re.compile(r"(register_globals|__hwasan_tag_memory|__hwasan_generate_tag)$")
_SANITIZER = re.compile(r"__(asan|hwasan)_")
# Suffixes: compilers add them to functions that they split or clone, and amalgamate adds them to statics.
_SUFFIX = re.compile(r"(\.(constprop|isra|part|cold|specialized|llvm|lto_priv)\b.*|_of_\w+)$")
# A function's definition: a line that begins with its type, and then a brace before any semicolon.
_DEFINITION = re.compile(r"^ ?(?:\w[^\n;={(]*?)?\b(\w+)\((?=[^;{]*\{)", re.MULTILINE)
# Functions that other projects also define in place of the runtime, even in files of the same name.
_REPLACED = re.compile(r"__mem(cpy|move|set)$|kasan_port_")
_RUNTIME_FILE = re.compile(r"(^|/)runtime/(abi|alloc|arch|base|report|shadow|tags|track|ubsan)/[\w/]+\.c$")
# What GCC records of its options. The last one counts.
_SANITIZE_OPTION = re.compile(r"-f(no-)?sanitize=([\w,-]+)")
_KERNEL_SANITIZERS = ("kernel-address", "kernel-hwaddress")
_OFFSET_OPTION = re.compile(r"-(?:fasan-shadow-offset|asan-mapping-offset)=(\w+)")
KINDS = ("instrumented", "not instrumented", "checked by the CPU", "nothing to check", "assembly", "runtime")
FULL_TEXT = 12  # names in one list of the text form
MUCH_CODE = 384 << 10  # bytes that take longer than about two seconds to read


def _names(names, everything=False):
    """Return the first few @names, and the number of the others."""
    names = list(names)
    if everything or len(names) <= FULL_TEXT:
        return names
    return [*names[:FULL_TEXT], f"and {len(names) - FULL_TEXT} more (--all)"]


# --- Coverage -------------------------------------------------------------------------------------


def calls_checks(function):
    """Does the function call checks, but not only their reports?"""
    return any(name.endswith("_noabort") and "report" not in name for name in function.calls)


def runtime_of(images):
    """Return the mode of the runtime in @images, None if it is not there."""
    defined = {name for image in images for name in image.symbols}
    return next((mode for mode, name in _RUNTIMES.items() if name in defined), None)


def mode_of(images):
    """Return the mode that @images are made for: their runtime's, else that of their checks."""
    names = {name for image in images for name in image.undefined}
    functions = [function for image in images for function in image.functions]
    names |= {name for function in functions for name in function.calls}
    has_tags = any(function.traps for function in functions)
    has_tags |= any(name.startswith("__hwasan_") for name in names)
    return runtime_of(images) or ("sw_tags" if has_tags else "generic")


def checked(function):
    """Does the function check an access? Registering globals and tagging the stack are not checks."""
    return function.traps or any(not _NO_CHECK.search(name) for name in function.calls)


def common_folder(images):
    """Return the folder that holds all files but the runtime's, with a slash; "" if there is none."""
    units = [unit for image in images for unit in image.units if unit.path.startswith("/")]
    paths = [unit.path for unit in units if not _RUNTIME_FILE.search(unit.path)]
    folder = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    return folder.rstrip("/") + "/" if folder else ""


def name_units(images):
    """Give each unit the name that the output shows: relative to the folder that holds all of them. Return
    warnings of names that several files of one image have."""
    folder = common_folder(images)
    alike = {}
    for image in images:
        for unit in image.units:
            unit.shown = unit.path.removeprefix(folder)
            if unit.functions:
                alike.setdefault(unit.shown, []).append((image, unit))
    found = []
    for name, same in alike.items():
        for at, (image, unit) in enumerate(same, 1):
            others = [one for one, _ in same if one is image]
            if len(others) > 1:
                unit.note = f" ({at} of {len(same)}: {unit.functions[0].name})"
            elif len(same) > 1:
                unit.note = f" in {image.label}"
        if any(unit.note.startswith(" (") for _, unit in same):
            found.append(
                f"{len(same)} files are called {name}: the symbol table has no folders, so each is listed "
                "with its first function, and --exclude means all of them; compile with -g"
            )
    return found


def was_instrumented(producer):
    """Does the text @producer, which a compiler puts into debug information, say that it added checks?"""
    answer = False
    for no, names in _SANITIZE_OPTION.findall(producer):
        if no:
            answer &= not {"all", *_KERNEL_SANITIZERS} & set(names.split(","))
        else:
            answer |= bool(set(_KERNEL_SANITIZERS) & set(names.split(",")))
    return answer


@functools.cache
def _runtime_functions():
    """Return {C file of the runtime: the functions that it and the headers define}. Raises Failure."""

    def defined(path):
        text = amalgamate.ATTRIBUTE.sub("", path.read_text(encoding="utf-8"))
        return set(_DEFINITION.findall(text))

    headers = set().union(*map(defined, amalgamate.RUNTIME_DIR.rglob("*.h")))
    result = {}
    for path in amalgamate.sources():
        result[path.name] = result.get(path.name, headers) | defined(path)
    return result | {"kasan.c": set().union(*result.values())}


def is_runtime(unit):
    """Is @unit a file of the runtime? Without debug information, or in a folder of another name, it is if it
    has the name of a runtime file and shares at least half of its functions with that file."""
    names = [function.name for function in unit.functions]
    if any(RUNTIME_ABI.match(name) for name in names) or _RUNTIMES["hw_tags"] in names:
        return True
    if _RUNTIME_FILE.search(unit.path):
        return True
    own = _runtime_functions().get(Path(unit.path).name, ())
    if unit.folder:
        # Debug information names a different folder: that is enough doubt to ignore these functions.
        own = [name for name in own if not _REPLACED.match(name)]
    known = sum(_SUFFIX.sub("", name) in own for name in names)
    return known > 0 and known * 2 >= len(names)


def kind_of(unit):
    """Return one of KINDS."""
    if unit.assembly:
        return "assembly"
    if is_runtime(unit):
        return "runtime"
    if any(function.calls or function.traps for function in unit.functions):
        return "instrumented"
    if not any(function.touches for function in unit.functions):
        return "nothing to check"
    if was_instrumented(unit.producer):
        return "instrumented"
    return "not instrumented"


def excluded(name, patterns):
    """Does one of @patterns match the file @name, or the part after one of its slashes?"""
    return any(fnmatch.fnmatch(name, form) for pattern in patterns for form in (pattern, f"*/{pattern}"))


def _is_runtimes(function):
    """Does @function belong to the runtime, as far as its file or its name tells?"""
    return is_runtime(function.unit) if function.unit else audit_x86.is_runtime_name(function.name)


def _of_no_file(images):
    """Return the functions of @images whose file is not known, without the runtime's."""
    every = (function for image in images for function in image.functions)
    return [function for function in every if function.unit is None and not _is_runtimes(function)]


def coverage(images, exclude, mode):
    """Return ({kind: [(name, functions, with checks)]}, [functions that access unchecked], findings)."""
    kinds = {kind: [] for kind in KINDS}
    without, unnamed = [], set()
    for image in images:
        for unit in image.units:
            kind = kind_of(unit)
            if mode == "hw_tags" and kind == "not instrumented":
                kind = "checked by the CPU"
            count = sum(checked(function) for function in unit.functions)
            if unit.functions or kind != "nothing to check":
                kinds[kind].append((unit.label, len(unit.functions), count))
            if kind == "not instrumented" and not excluded(unit.shown, exclude):
                unnamed.add(unit.label)
            if kind == "instrumented":
                without += [
                    f"{unit.label}: {function.name}"
                    for function in unit.functions
                    if not function.calls and not function.traps and function.touches
                ]
    findings = []
    if unnamed:
        files = base.plural(len(unnamed), "file")
        findings.append(
            f"{files} without checks, not named by --exclude: {', '.join(_names(sorted(unnamed)))}"
        )
    if mode == "hw_tags":
        if kinds["instrumented"]:
            names = ", ".join(_names(sorted(name for name, _, _ in kinds["instrumented"])))
            findings.append(f"compiled with checks, which hardware tags do not need or support: {names}")
    elif not any(image.functions for image in images):
        findings.append("no symbol table names a function: audit the image before it is stripped")
    elif not kinds["instrumented"] and not any(checked(function) for function in _of_no_file(images)):
        findings.append(
            "nothing is instrumented: no function calls or jumps to __asan_* or __hwasan_*, or has a check "
            "that traps (with hardware tags none does: audit the image with its runtime)"
        )
    spoiled = [
        f"{unit.shown}: {function.name}"
        for image in images
        for unit in image.units
        if kind_of(unit) == "runtime"
        for function in unit.functions
        if function.traps or (calls_checks(function) and not RUNTIME_ABI.match(function.name))
    ]
    if spoiled:
        findings.append(
            f"the runtime itself is instrumented, it will recurse: {', '.join(spoiled[:FULL_TEXT])}"
        )
    return kinds, without, findings


# --- The shadow window ----------------------------------------------------------------------------


def parse_window(text):
    """Return (start, size) from START:SIZE. Raises Failure."""
    try:
        start, _, size = text.partition(":")
        window = int(start, 0), int(size, 0)
    except ValueError:
        window = -1, 0
    if window[0] < 0 or window[1] <= 0:
        raise Failure(
            f"'{text}' is not accepted for --window; accepted: START:SIZE, as in 0x40000000:0x700000"
        )
    return window


def _offsets(image):
    """Return {offset: where it was found} from the options that compilers recorded."""
    found = {}
    for unit in image.units:
        for text in _OFFSET_OPTION.findall(unit.producer):
            found.setdefault(int(text, 0), unit.shown)
    return found


def _misplaced(image, windows, offset, shift):
    """Return the finding that __kasan_shadow_start differs from where @offset puts the first window's
    shadow."""
    reserved = image.symbols.get("__kasan_shadow_start")
    if reserved is None or not windows:
        return []
    mask = (1 << 8 * image.word) - 1
    start = windows[0][0]
    expected = (start >> shift) + offset & mask
    if reserved == expected:
        return []
    return [
        f"__kasan_shadow_start is {reserved:#x}, but the offset {offset:#x} puts the shadow of the window at "
        f"{start:#x} to {expected:#x}: compile for the offset {reserved - (start >> shift) & mask:#x}, "
        "or move the symbol"
    ]


def shadow(image, windows, offset, mode):
    """Return (facts, findings): do @windows ([(start, size)]) cover the image, and is the shadow clear of
    it?"""
    facts, findings = {}, []
    if mode == "hw_tags":
        return {"layout": "none, the tags are the memory's"}, []
    shift = 4 if mode == "sw_tags" else 3
    granule = 1 << shift
    symbols = image.symbols
    windowed = "kasan_windows" in symbols or "kasan_window_add" in symbols
    built_in = image.read_word("__asan_shadow_memory_dynamic_address")
    recorded = _offsets(image)
    full = built_in is not None and not windowed
    if not windows and not full and {"__kasan_window_start", "__kasan_window_end"} <= set(symbols):
        start = symbols["__kasan_window_start"]
        windows = [(start, symbols["__kasan_window_end"] - start)]
        facts["window from"] = "__kasan_window_start, __kasan_window_end"
    if offset is None and built_in:
        offset = built_in
        facts["offset from"] = "the runtime's CONFIG_KASAN_SHADOW_OFFSET"
    elif offset is None and windows and "__kasan_shadow_start" in symbols:
        offset = symbols["__kasan_shadow_start"] - (windows[0][0] >> shift) & (1 << 8 * image.word) - 1
        facts["offset from"] = "__kasan_shadow_start"
    facts["layout"] = "windowed" if windowed else "full" if built_in is not None else "unknown"
    if offset is not None:
        facts["offset"] = f"{offset:#x}"
        for other, unit in recorded.items():
            if other != offset:
                findings.append(
                    f"{unit} was compiled for the shadow offset {other:#x}, the runtime's is {offset:#x}"
                )
        if built_in and built_in != offset:
            findings.append(f"the runtime was built for the shadow offset {built_in:#x}, not {offset:#x}")
        findings += _misplaced(image, windows, offset, shift)
    if image.relocatable:
        facts["note"] = "an object or archive has no addresses"
        return facts, findings
    writable = image.variables()
    if not writable:
        return facts, findings
    low = min(section.address for section in writable)
    high = max(section.address + section.size for section in writable)
    facts["ram"] = f"{low:#x}..{high:#x}"
    if not windows:
        if windowed:
            facts["note"] = "window not known: give --window START:SIZE"
        return facts, findings
    facts["windows"] = [f"{start:#x}..{start + size:#x}" for start, size in windows]
    for start, size in windows:
        if start % granule or size % granule:
            findings.append(f"window {start:#x}:{size:#x} is not a multiple of {granule}")
    for (start, size), (after, length) in itertools.pairwise(sorted(windows)):
        if after < start + size:
            findings.append(
                f"the windows {start:#x}..{start + size:#x} and {after:#x}..{after + length:#x} overlap"
            )
    findings += [
        _in_no_window(section, windows)
        for section in writable
        if not any(
            start <= section.address and section.address + section.size <= start + size
            for start, size in windows
        )
    ]
    if offset is not None:
        # Compilers know the shadow of the first window; the others' shadow is passed to kasan_window_add().
        start, size = windows[0]
        where = (start >> shift) + offset & (1 << 8 * image.word) - 1
        facts["shadow"] = f"{where:#x}..{where + size // granule:#x}"
        findings += _shadow_in_the_way(image, windows[0], (where, size // granule), shift)
    return facts, findings


def _in_no_window(section, windows):
    """Return the finding that no window holds @section: the window to change, or that one is missing."""
    end = section.address + section.size

    def grown(window):
        low = min(window[0], section.address)
        return low, max(end, window[0] + window[1]) - low

    low, size = min((grown(window) for window in windows), key=lambda window: window[1])
    return (
        f"{section.name} ({section.address:#x}..{end:#x}) lies in no window: its variables are not watched, "
        f"and poison for them is written elsewhere; a window from {low:#x} needs {size:#x} bytes, or add a "
        "window of its own"
    )


def _shadow_in_the_way(image, window, shadow_range, shift):
    """Return the findings that the shadow of @window lies over the image or inside the window. Both are
    (start, size)."""
    findings = []
    start, size = window
    where, length = shadow_range
    place = f"the shadow at {where:#x}..{where + length:#x}"
    sections = image.allocated()
    over = [s.name for s in sections if s.address < where + length and where < s.address + s.size]
    if over:
        top = max(section.address + section.size for section in sections)
        right = (top + 7 & ~7) - (start >> shift) & (1 << 8 * image.word) - 1
        findings.append(
            f"{place} overwrites {over[0]}: put it above the image, "
            f"with a shadow offset of at least {right:#x}"
        )
    if start < where + length and where < start + size:
        findings.append(f"{place} lies inside its own window {start:#x}..{start + size:#x}")
    return findings


# --- Symbols --------------------------------------------------------------------------------------


def missing(images):
    """Return (list of {name, wanted_by, in_runtime}, findings) of undefined sanitizer symbols."""
    defined = {name for image in images for name in image.symbols if _SANITIZER.match(name)}
    wanted = {}
    for image in images:
        for name in image.undefined:
            if _SANITIZER.match(name) and name not in defined:
                wanted.setdefault(name, []).append(image.label)
    runtime = runtime_of(images)

    def other_mode(name):
        return runtime is not None and not name.startswith(_FAMILY[runtime] or "\0")

    result = [
        {
            "name": name,
            "wanted_by": sorted(users),
            "in_runtime": bool(RUNTIME_ABI.match(name)) and not other_mode(name),
        }
        for name, users in sorted(wanted.items())
    ]
    others = [entry for entry in result if other_mode(entry["name"])]
    findings = []
    if others:
        users = sorted({user for entry in others for user in entry["wanted_by"]})
        names = _names([entry["name"] for entry in others])
        findings.append(
            f"compiled for another mode than the runtime, which is {runtime}'s: {', '.join(_names(users))} "
            f"({', '.join(names)}); compile with ./redzone flags --mode {runtime}"
        )
    foreign = [e["name"] for e in result if not e["in_runtime"] and not other_mode(e["name"])]
    if foreign:
        findings.append(f"the runtime does not have {', '.join(foreign)}: compile with ./redzone flags")
    linked = [image.label for image in images if not image.relocatable]
    unresolved = [
        entry["name"]
        for entry in result
        if set(entry["wanted_by"]) & set(linked) and not other_mode(entry["name"])
    ]
    if unresolved:
        findings.append(f"not linked: {', '.join(unresolved)}; link the runtime")
    return result, findings


# --- The whole ------------------------------------------------------------------------------------


def audit(paths, windows=(), offset=None, exclude=(), early=(), dumps=()):
    """Return the result as a dictionary; `findings` is empty if all is well. @early: functions that run
    before the shadow exists. @dumps: of GCC, files or folders."""
    # The disassembler takes long to load.
    from redzone.kit import audit_early, audit_units

    images = [image for path in paths for image in audit_units.load(Path(path))]
    warnings = name_units(images)
    size = sum(section.size for image in images for section in image.sections if section.is_code)
    if size > MUCH_CODE:
        base.say(f"reading {size >> 10} KiB of machine code")
    for image in images:
        image.read_code(lambda name: bool(_SANITIZER.search(name)))
    mode = mode_of(images)
    kinds, without, findings = coverage(images, exclude, mode)
    linked = [image for image in images if not image.relocatable]
    ctors, places = {}, {}
    for image in linked or images[:1]:
        ctors, more = audit_constructors.constructors(image)
        findings += more
        places, more = shadow(image, list(windows), offset, mode)
        findings += more
        warnings += audit_inline.warnings(image, places, 4 if mode == "sw_tags" else 3)
    tables = sorted({image.table or "none" for image in images})
    if ".dynsym" in tables:
        warnings.append(
            "read .dynsym, because there is no .symtab: it has no local functions, so constructors and some "
            "functions are missing here; audit the image before it is stripped"
        )
    warnings += audit_x86.warnings(images, is_runtime)
    reached = audit_early.reached(linked, early, _is_runtimes) if early else None
    symbols, more = missing(images)
    findings += more + audit_dumps.findings(dumps, images[0].arch)
    result = {
        "images": [image.label for image in images],
        "arch": images[0].arch,
        "mode": mode,
        "linked": bool(linked),
        "symbol_tables": tables,
        "debug_information": all(image.has_dwarf for image in images),
        "files": {
            kind: [
                {"name": name, "functions": total, "with_checks": count}
                for name, total, count in sorted(units)
            ]
            for kind, units in kinds.items()
        },
        "functions_without_checks": sorted(without),
        "constructors": ctors,
        "shadow": places,
        "missing_symbols": symbols,
        "early": reached,
        "findings": findings,
        "warnings": warnings,
    }
    result["functions"] = {
        "total": sum(len(image.functions) for image in images),
        "with_checks": sum(checked(function) for image in images for function in image.functions),
        "of_no_file": len(_of_no_file(images)),
        "of_no_file_with_checks": sum(map(checked, _of_no_file(images))),
    }
    return result


def text(result, everything=False):
    """Return the result as readable text."""
    lines = [f"{', '.join(_names(result['images'], everything))}: {result['arch']}, {result['mode']}"]
    functions = result["functions"]
    if result["mode"] == "hw_tags":
        lines.append(f"functions: {functions['total']}; the CPU checks, no file is expected to have checks")
    else:
        lines.append(f"functions: {functions['total']}, with checks {functions['with_checks']}")
    lines.append(f"symbols: from {', '.join(result['symbol_tables'])}")
    if not result["debug_information"]:
        lines.append(
            "files: without debug information (-g), from symbol tables: "
            f"{functions['of_no_file']} functions have no file, {functions['of_no_file_with_checks']} of "
            "them with checks"
        )
    for kind in KINDS:
        units = result["files"][kind]
        if not units:
            continue
        lines.append(f"files, {kind}: {len(units)}")
        if kind in ("instrumented", "not instrumented"):
            entries = [
                f"{unit['name']} ({unit['with_checks']} of {unit['functions']} functions)"
                if kind == "instrumented"
                else unit["name"]
                for unit in units
            ]
            lines += [f"  {entry}" for entry in _names(entries, everything)]
    without = result["functions_without_checks"]
    if without:
        lines.append(f"functions in instrumented files that touch memory without a check: {len(without)}")
        lines.append("  (opted out, or all their accesses are known to be right)")
        lines += [f"  {name}" for name in _names(without, everything)]
    for title, key in (("constructors", "constructors"), ("shadow", "shadow")):
        facts = result[key]
        if facts:
            words = []
            for name, value in facts.items():
                if isinstance(value, bool):
                    value = "yes" if value else "no"
                words.append(f"{name} {', '.join(value) if isinstance(value, list) else value}")
            lines.append(f"{title}: " + "; ".join(words))
    if result["missing_symbols"]:
        lines.append(f"undefined sanitizer symbols: {len(result['missing_symbols'])}")
        for entry in result["missing_symbols"]:
            origin = "" if entry["in_runtime"] else " (not in the runtime)"
            users = ", ".join(_names(entry["wanted_by"], everything))
            lines.append(f"  {entry['name']}{origin}: {users}")
    if result["early"] is not None:
        from redzone.kit import audit_early

        lines += audit_early.text(result["early"], everything)
    if result["warnings"]:
        lines += ["", f"{base.plural(len(result['warnings']), 'warning')}:"]
        lines += [f"  - {warning}" for warning in result["warnings"]]
    if result["findings"]:
        lines += ["", f"{base.plural(len(result['findings']), 'finding')}:"]
        lines += [f"  - {finding}" for finding in result["findings"]]
    else:
        lines += ["", "no findings"]
    return "\n".join(lines)


def register(group):
    """Add the verb to the command."""
    import click

    @group.command("audit", short_help="Show which parts of an image KASAN checks.")
    @click.argument("files", nargs=-1, required=True, metavar="ELF...")
    @click.option(
        "--window", "windows", multiple=True, metavar="START:SIZE", help="A window; may be repeated."
    )
    @click.option(
        "--shadow-offset",
        metavar="NUMBER",
        help="Shadow of address a is at (a >> 3) + NUMBER; software tags: >> 4.",
    )
    @click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Files that need no checks, in any folder: board.c, 'boot/*.c'.",
    )
    @click.option(
        "--early",
        multiple=True,
        metavar="FUNCTION",
        help="A function that runs before the shadow exists: list the functions with checks that it reaches "
        "by direct calls. May be repeated.",
    )
    @click.option(
        "--dumps",
        multiple=True,
        metavar="PATH",
        help="GCC's -fdump-tree-optimized-lineno, files or a folder: register variables that checks lose.",
    )
    @click.option("--all", "everything", is_flag=True, help="Print long lists in full.")
    @click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
    @click.pass_context
    def audit_verb(context, files, windows, shadow_offset, exclude, early, dumps, everything, as_json):
        """Say which files and functions of an image, of objects or of archives are instrumented, whether the
        constructors that register globals will run, whether the shadow windows cover the image's variables,
        and which sanitizer symbols are missing and which objects refer to them. With hardware tags no file
        has checks, and the audit expects none.

        The image itself can say where its window is, by the symbols __kasan_window_start, __kasan_window_end
        and __kasan_shadow_start; the offset is the runtime's own. If it does not, or has several windows,
        give --window once for each. Debug information (-g) names files.

        \b
        Examples:
          ./redzone audit firmware.elf
          ./redzone audit u-boot --window 0x40000000:0x7000000 --exclude 'arch/*' --all
          ./redzone audit driver.o libparser.a --json
          ./redzone audit kernel.elf --early arch_start --exclude start.c

        \b
        Exit status: 0 no findings, perhaps warnings; 1 findings; 2 usage error.
        """
        from redzone.kit.flags import number

        result = audit(
            files,
            windows=[parse_window(window) for window in windows],
            offset=None if shadow_offset is None else number(shadow_offset, "--shadow-offset"),
            exclude=exclude,
            early=early,
            dumps=dumps,
        )
        click.echo(json.dumps(result, indent=2) if as_json else text(result, everything))
        context.exit(base.REPORTED if result["findings"] else base.OK)
