# SPDX-License-Identifier: MIT
"""UBSan: each kind of undefined behaviour, from each compiler, in each form, here and in the kernel.

tests/ubsan/kinds.c has one function for each kind. Here it runs with the amalgamated runtime, UBSan alone,
over the smallest port; in the kernel beside KASAN. tests/golden/ubsan/ has the reports, the same for both,
written again with REDZONE_UPDATE_GOLDEN=1. `handlers.*`: each function that a compiler calls was called."""

import re
import subprocess

from redzone.build import builder
from redzone.core import process
from redzone.core.base import ROOT
from redzone.kit import amalgamate
from redzone.machine import console, qemu
from redzone.testing.runner import FAIL, SKIP, Result, asked, result, rewrite
from redzone.testing.suites import golden

TOOLS = ("clang-19", "libc")
MODES = ("generic", "sw_tags", "hw_tags", "off")
OPTIONS = ("rest",)
TIMEOUT = 300
SOURCES = ROOT / "tests" / "ubsan"
GOLDEN = ROOT / "tests" / "golden" / "ubsan"
CLANG = ["-fsanitize=undefined,integer,nullability"]
GCC = ["-fsanitize=undefined,float-cast-overflow"]
# Clang 19 has no small form of these checks.
MINIMAL = ["-fno-sanitize=implicit-conversion", "-fsanitize-minimal-runtime"]
ABORT = ["-fno-sanitize-recover=all"]
# (compiler, form): the options.
FORMS = {
    ("clang-19", "full"): CLANG,
    ("clang-19", "abort"): [*CLANG, *ABORT],
    ("clang-19", "minimal"): [*CLANG, *MINIMAL],
    ("clang-19", "minimal-abort"): [*CLANG, *MINIMAL, *ABORT],
    ("clang-19", "trap"): [*CLANG, "-fsanitize-trap=all"],
    ("clang-22", "full"): CLANG,
    ("clang-22", "abort"): [*CLANG, *ABORT],
    ("clang-22", "minimal"): [*CLANG, *MINIMAL[1:]],
    ("clang-22", "minimal-abort"): [*CLANG, *MINIMAL[1:], *ABORT],
    ("clang-22", "trap"): [*CLANG, "-fsanitize-trap=all"],
    ("gcc", "full"): GCC,
    ("gcc", "abort"): [*GCC, *ABORT],
}
# The kernels: (mode, compiler).
KERNELS = (
    ("generic", "clang-19"),
    ("generic", "clang-22"),
    ("generic", "gcc"),
    ("sw_tags", "clang-19"),
    ("hw_tags", "clang-19"),
    ("off", "clang-19"),
)
REST = KERNELS[1:]
# Without values, one check stands for several types of bugs.
COARSE = {
    "signed-integer-overflow": "integer-overflow",
    "unsigned-integer-overflow": "integer-overflow",
    "null-ptr-deref": "type-mismatch",
    "misaligned-access": "type-mismatch",
    "object-size-mismatch": "type-mismatch",
}
COARSE_CASES = {"divide_too_far": "division-by-zero"}
# {type: the functions that report it}.
_OVERFLOW = "(add|sub|mul|negate|divrem)_overflow"
_MISMATCH = "type_mismatch"
OF_TYPE = {
    "signed-integer-overflow": _OVERFLOW,
    "unsigned-integer-overflow": _OVERFLOW,
    "integer-overflow": _OVERFLOW,
    "division-by-zero": "divrem_overflow",
    "shift-out-of-bounds": "shift_out_of_bounds",
    "array-index-out-of-bounds": "out_of_bounds",
    "vla-bound-not-positive": "vla_bound_not_positive",
    "invalid-load": "load_invalid_value",
    "invalid-builtin": "invalid_builtin",
    "float-cast-overflow": "float_cast_overflow",
    "implicit-conversion": "implicit_conversion",
    "null-ptr-deref": _MISMATCH,
    "misaligned-access": _MISMATCH,
    "object-size-mismatch": _MISMATCH,
    "type-mismatch": _MISMATCH,
    "pointer-overflow": "pointer_overflow",
    "alignment-assumption": "alignment_assumption",
    "function-type-mismatch": "function_type_mismatch",
    "null-argument": "(nonnull|nullability)_arg",
    "null-return": "(nonnull|nullability)_return",
    "unreachable-code": "builtin_unreachable",
    "missing-return": "missing_return",
}
# {case: the function that it calls, which has the bug}.
HELPERS = {
    "offset_wraps": "moved",
    "null_return": "gives_object",
    "nullable_return": "gives_not_null",
    "no_return": "gives_number",
}
# Cases that the kernel does not have: no program goes on after the first two, and its code is compiled as if
# an object might lie at address 0.
NOT_IN_KERNEL = ("not_reached", "no_return", "offset_from_null")
# Functions of GCC's own library that C without type information never calls.
FOREIGN = re.compile(
    r"_(cfi_\w+|dynamic_type_cache_miss|invalid_objc_cast|function_type_mismatch_v1)(_abort)?$"
)

_CASE = re.compile(r"case (\w+)$")
_TITLE = re.compile(r"UBSAN: ([\w-]+) in (?:.*/)?(\S+)$")
_FUNCTION = re.compile(r"\S+(?= is called as)")
_ADDRESS = re.compile(r"\b(?:0x)?[0-9a-f]{12,16}\b")
_SECTION = re.compile(r"RELOCATION RECORDS FOR \[\.text\.(\w+)\]:")
_HANDLER = re.compile(r"\b__ubsan_handle_\w+")


def cases_of(lines):
    """Return {case: [(type, lines)]}: the reports of each, without what differs from run to run, and how it
    ended."""
    found, current, wanted = {}, None, False
    for line in lines:
        case, title = _CASE.match(line), _TITLE.match(line)
        if case:
            current = found.setdefault(case[1], [])
        elif title and current is not None:
            current.append((title[1], [f"UBSAN: {title[1]} in {title[2]}"]))
        elif wanted and not line.startswith("CPU: "):
            current[-1][1].append(_ADDRESS.sub("ADDRESS", _FUNCTION.sub("FUNCTION", line)))
        elif current is not None and line.startswith(("panic: ", "trap")):
            current.append((line.partition(":")[0], []))
        wanted = bool(title and current is not None)
    return found


def text_of(found):
    """Return the text of a golden file."""
    lines = []
    for case, reports in found.items():
        lines += [f"case {case}", *(line for _, text in reports for line in text)]
    return "\n".join(lines) + "\n"


def types_of(found):
    return {case: [kind for kind, _ in reports] for case, reports in found.items()}


def expected(full, form, emitted):
    """Return the types that the cases have in another @form than the @full one, which has @full."""
    types = {}
    for case, kinds in types_of(full).items():
        kinds = [kind for kind in kinds if kind != "panic"]
        if form == "trap" or form.endswith("abort"):
            kinds = kinds[:1]
        if form in ("minimal", "minimal-abort", "trap"):
            kinds = [COARSE_CASES.get(case, COARSE.get(kind, kind)) for kind in kinds]
        if case not in emitted:
            kinds = []
        if kinds and form == "trap":
            kinds.append("trapped")
        elif kinds and (form.endswith("abort") or "panic" in types_of(full)[case]):
            kinds.append("panic")
        types[case] = kinds
    return types


def handlers_of(path):
    """Return {case: names of UBSan's functions that it refers to} of an object."""
    found, case = {}, None
    for line in process.run(["objdump", "-r", str(path)], check=True).stdout.splitlines():
        section = _SECTION.match(line)
        if section:
            case = section[1]
        elif case and (name := _HANDLER.search(line)):
            found.setdefault(case, set()).add(name[0])
    return found


def uncalled(handlers, found):
    """Return the functions of @handlers, from handlers_of(), that no case of @found has called for sure.

    It has, if it is the only one that the case refers to and that makes reports of the type that came."""
    called = set()
    for case, reports in found.items():
        names = handlers.get(case, set()) | handlers.get(HELPERS.get(case), set())
        for kind, _ in reports:
            pattern = re.compile(f"__ubsan_handle_({OF_TYPE.get(kind, '-')})(_v1)?(_minimal)?(_abort)?$")
            makers = [name for name in names if pattern.match(name)]
            called |= set(makers if len(makers) == 1 else ())
    return sorted(set().union(*handlers.values()) - called)


def _compile(command):
    ended = process.run(command, stderr=subprocess.STDOUT)
    return ended.stdout if ended.returncode else ""


class Native:
    """The runs on this machine. @folder: for what is built."""

    def __init__(self, folder):
        self.folder = folder
        self.runtime = [folder / "kasan.o", folder / "port.o"]

    def build(self):
        """Compile the runtime and the port. Return what is wrong."""
        amalgamate.write(self.folder)
        options = ["-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-DCONFIG_KASAN_UBSAN=1"]
        options += ["-fno-omit-frame-pointer", "-ffunction-sections", f"-I{ROOT / 'include'}", "-c"]
        return _compile(
            ["clang-19", "-ffreestanding", *options, self.folder / "kasan.c", "-o", self.runtime[0]]
        ) + _compile(["clang-19", *options, SOURCES / "port.c", "-o", self.runtime[1]])

    def run(self, compiler, form):
        """Return (what is wrong, cases, handlers) of this form."""
        name = f"{compiler}-{form}"
        options = [*FORMS[compiler, form], "-O1", "-w", "-ffunction-sections", "-fno-builtin", "-c"]
        objects = []
        for source in ("kinds.c", "no_return.cpp"):
            objects.append(self.folder / f"{name}-{source}.o")
            # C++ brings type information for checks that are not there.
            more = (
                ["-fno-rtti", "-fno-sanitize=vptr"] if source.endswith("cpp") else ["-DHOSTED", "-DWITH_CXX"]
            )
            if wrong := _compile([compiler, *options, *more, SOURCES / source, "-o", objects[-1]]):
                return wrong, {}, {}
        program = self.folder / name
        if wrong := _compile(["clang-19", "-Wl,--gc-sections", *objects, *self.runtime, "-o", program]):
            return wrong, {}, {}
        ended = process.run([program], stderr=subprocess.STDOUT, timeout=TIMEOUT)
        (self.folder / f"{name}.log").write_text(ended.stdout, encoding="utf-8")
        handlers = {}
        for path in objects:
            handlers |= handlers_of(path)
        return "", cases_of(ended.stdout.splitlines()), handlers


def _golden(compiler, found):
    """Return what is wrong with the full reports of @compiler."""
    path = GOLDEN / f"{compiler}.txt"
    text = text_of(found)
    if asked("REDZONE_UPDATE_GOLDEN"):
        rewrite(path, text)
    return golden.difference(compiler, path.read_text(encoding="utf-8").splitlines(), text.splitlines())


def _of_compiler(context, native, compiler):
    """Yield the results of one compiler."""
    full = {}
    for form in (form for name, form in FORMS if name == compiler):
        wrong, found, handlers = native.run(compiler, form)
        log = context.write_log(f"{compiler}-{form}", wrong or text_of(found))
        if wrong:
            yield Result(f"{compiler}.{form}", FAIL, "\n".join(wrong.splitlines()[:20]), log)
            if form == "full":
                return
            continue
        if form == "full":
            full = found
            wrong = _golden(compiler, found)
        else:
            emitted = set(full)
            if (compiler, form[:7]) == ("clang-19", "minimal"):
                emitted -= {"truncate", "change_sign"}
            wanted = expected(full, form, emitted)
            # One check of a member is two: of the object's address and of its own.
            wrong = [
                f"{case}: {wanted[case]} expected, found {kinds}"
                for case, kinds in types_of(found).items()
                if list(dict.fromkeys(kinds)) != wanted[case]
            ]
        yield result(f"{compiler}.{form}", wrong, log)
        if form != "trap":
            yield result(
                f"handlers.{compiler}.{form}", [f"not called: {name}" for name in uncalled(handlers, found)]
            )


def _names(native):
    """Return the Result of comparing the runtime with GCC's own library, which has all names."""
    path = process.run(["gcc", "-print-file-name=libubsan.a"]).stdout.strip()
    if "/" not in path:
        return Result("handlers.names", SKIP, "GCC has no libubsan.a here")

    def defined(file):
        text = process.run(["nm", "-g", "--defined-only", str(file)], stderr=subprocess.DEVNULL).stdout
        return set(_HANDLER.findall(text))

    lacking = {name for name in defined(path) if not FOREIGN.search(name)} - defined(native.runtime[0])
    return result("handlers.names", [f"not there: {name}" for name in sorted(lacking)])


def _kernel(context, mode, compiler, image):
    """Return the Result of the cases in a kernel."""
    target = qemu.Machine(image.image, mode=mode, append=["kasan_multi_shot"], timeout=TIMEOUT)
    _, lines, log = context.boot(f"kernel-{mode}-{compiler}", target)
    found = cases_of([console.split(line)[1] for line in lines])
    path = GOLDEN / f"{compiler}.txt"
    wanted = cases_of(path.read_text(encoding="utf-8").splitlines())
    for case in NOT_IN_KERNEL:
        wanted.pop(case, None)
        found.pop(case, None)
    wrong = golden.difference(compiler, text_of(wanted).splitlines(), text_of(found).splitlines())
    return result(f"kernel.{mode}.{compiler}", wrong, log)


def _kernels(context):
    for mode, compiler in context.of_mode(context.part(KERNELS, rest=REST)):
        preset = builder.preset_name(mode=mode, compiler=compiler, features=["ubsan"])
        if reason := context.missing_for(preset):
            yield Result(f"kernel.{mode}.{compiler}", SKIP, reason)
            continue
        checks = GCC if compiler == "gcc" else CLANG
        program = builder.Program("ubsan", [SOURCES / "kinds.c"], options=["-O1", "-w", *checks])
        image = context.build(preset, programs=[program])["ubsan"]
        yield _kernel(context, mode, compiler, image)


def run(context):
    if not context.rest and context.mode is None:
        folder = context.write_log("build", "").parent
        native = Native(folder)
        if wrong := native.build():
            yield Result("runtime", FAIL, wrong)
            return
        for compiler in dict.fromkeys(name for name, _ in FORMS):
            if reason := context.missing(compiler):
                yield Result(compiler, SKIP, reason)
                continue
            yield from _of_compiler(context, native, compiler)
        yield _names(native)
    yield from _kernels(context)
