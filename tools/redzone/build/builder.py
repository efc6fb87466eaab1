# SPDX-License-Identifier: MIT
"""Calls CMake and Ninja: kernels with and without programs, the runtime alone, the unit tests.

Two commands may run at once in one tree: a command holds a file lock per preset while the build folder
changes, and copies out the files that a run needs before it releases the lock.
"""

import json
import os
import re
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from redzone.build import compiledb, headers, prebuilt
from redzone.core import base, libc_source, process
from redzone.core.arch import ARCHES, DEFAULT, KERNELS
from redzone.core.base import BUILD, ROOT, Failure

# This package, which the build's own scripts use.
PACKAGE = Path(__file__).resolve().parent.parent
COMPILERS = ("clang-19", "clang-22", "gcc")
MODES = ("generic", "sw_tags", "hw_tags", "off")
# Modes in which the compiler has no part, so nothing is inline or outline.
UNINSTRUMENTED = ("hw_tags", "off")
# Keys of the outside tools that making a kernel and booting it takes, beside a compiler.
KERNEL = ("cmake", "ninja", "lld", "objcopy", f"qemu-{DEFAULT}")
# What a preset's name may carry behind a `+`, in this order: {feature: CMake variables}. They need no preset
# of their own. release: of the objects that a wheel carries, see prebuilt.py.
FEATURES = {
    "scs": ("REDZONE_SHADOW_CALL_STACK",),
    "scs-runtime": ("REDZONE_SHADOW_CALL_STACK", "REDZONE_SCS_RUNTIME"),
    "compare": ("REDZONE_TRACE_COMPARE",),
    "mtestack": ("REDZONE_MTE_STACK",),
    "taggedglobals": ("REDZONE_TAGGED_GLOBALS",),
    "erase": ("REDZONE_KSTACK_ERASE",),
    "lockdep": ("REDZONE_LOCKDEP",),
    "lockdep-kasan": ("REDZONE_LOCKDEP", "REDZONE_LOCKDEP_INSTRUMENTED"),
    "rt": ("REDZONE_PREEMPT_RT",),
    "irqsoff": ("REDZONE_IRQSOFF",),
    "ubsan": ("REDZONE_UBSAN",),
    "sample": ("REDZONE_SAMPLE",),
    "release": ("REDZONE_RELEASE",),
}
# {option of a command, with underscores: the feature that it stands for}.
OPTION_FEATURES = {
    "shadow_call_stack": "scs",
    "mte_stack": "mtestack",
    "tagged_globals": "taggedglobals",
    "kstack_erase": "erase",
    "lockdep": "lockdep",
    "preempt_rt": "rt",
    "ubsan": "ubsan",
}
# Features that not every kernel can have: {feature: (modes, families of compilers)}. If a command chooses one
# for all its kernels, the others go without it.
LIMITED = {
    "mtestack": (("hw_tags",), ("clang",)),
    "taggedglobals": (("sw_tags",), ("clang",)),
}
# Features of all kernels that this command builds: see choose_features().
_chosen = []

_CACHED_TOOLS = re.compile(r"(?m)^CMAKE_(?:MAKE_PROGRAM|\w+_COMPILER):\w+=(/.+)$")
_CACHED_HOME = re.compile(r"(?m)^CMAKE_HOME_DIRECTORY:INTERNAL=(/.+)$")
_STEP = re.compile(r"^@step (\d+)/(\d+) (.*)$")


@dataclass
class Program:
    """One program to be linked into a kernel of its own, or a loadable module.

    name: that of the CMake target. function: the one in cmake/Kernel.cmake that makes it. options: for the
    compiler, from this package. cflags: the same, from the user, in any spelling. Both come after the options
    of cmake/Kernel.cmake, and so override them. file_options: {source: [option]}, which come last. objects:
    .o and .a files that are linked to it. library: sources of which each program of many gets what it uses.
    kernel: the sources may include the kernel's headers. cover: files of the kernel and the runtime that are
    compiled again, for coverage.
    """

    name: str
    sources: list
    includes: list = field(default_factory=list)
    defines: list = field(default_factory=list)
    options: list = field(default_factory=list)
    cflags: list = field(default_factory=list)
    file_options: dict = field(default_factory=dict)
    objects: list = field(default_factory=list)
    library: list = field(default_factory=list)
    function: str = "redzone_add_program"
    kernel: bool = False
    cover: list = field(default_factory=list)

    @property
    def is_module(self):
        return self.function == "redzone_add_module"

    @property
    def has_libc(self):
        return self.function in ("redzone_add_program", "redzone_add_programs", "redzone_add_fuzz_program")


@dataclass
class Image:
    """A built kernel: @elf for symbols, @image to boot."""

    elf: Path
    image: Path


def choose_features(**options):
    """Let preset_name() add features to each name. options: {key of OPTION_FEATURES: was it given}."""
    _chosen[:] = [OPTION_FEATURES[name] for name, given in options.items() if given]


def with_features(preset, features):
    """Return the name of the CMake preset @preset with @features, a list."""
    return "+".join([preset, *(name for name in FEATURES if name in features)])


def preset_name(
    mode="generic",
    instrumentation="inline",
    compiler="clang-19",
    allocator="slub",
    variant=None,
    features=None,
    arch=DEFAULT,
):
    """Return the CMake preset for these choices.

    variant: a last word of its name. features: keys of FEATURES; None: those of choose_features().
    """
    cc = {"clang-19": "clang"}.get(compiler, compiler)
    parts = [arch, mode] + ([] if mode in UNINSTRUMENTED else [instrumentation]) + [cc]
    parts += [] if allocator == "slub" else [allocator]
    parts += [variant] if variant else []
    if features is None:
        features = [name for name in _chosen if can_have(name, mode, compiler, arch)]
    return with_features("-".join(parts), features)


def can_have(feature, mode, compiler, arch=DEFAULT):
    """Return whether a kernel of @mode for @arch, made by @compiler, can have @feature."""
    modes, families = LIMITED.get(feature, ((mode,), (compiler.split("-")[0],)))
    good = KERNELS[arch].compilers.get(feature, (compiler,))
    return mode in modes and compiler.split("-")[0] in families and compiler in good


def kernel_of(arch):
    """Return the row of KERNELS for @arch, or raise Failure."""
    if arch not in KERNELS:
        raise Failure(f"--arch {arch}: there is no kernel for it; accepted: {', '.join(KERNELS)}")
    return KERNELS[arch]


def check_kernel(arch, mode, compiler=None):
    """Raise Failure if the kernel of @arch does not have @mode, or not by @compiler, or a feature of
    choose_features()."""
    kernel = kernel_of(arch)
    if mode not in kernel.modes:
        raise Failure(f"--mode {mode} with --arch {arch}: its kernel has the modes {', '.join(kernel.modes)}")
    good = kernel.compilers.get(mode, COMPILERS)
    if compiler is not None and compiler not in good:
        raise Failure(f"--mode {mode} with --arch {arch} and --cc {compiler}: it takes {' or '.join(good)}")
    for option, feature in OPTION_FEATURES.items():
        if feature not in _chosen:
            continue
        name = option.replace("_", "-")
        if feature in kernel.lacks:
            raise Failure(f"--{name} with --arch {arch}: its kernel does not have that yet")
        good = kernel.compilers.get(feature, (compiler,))
        if compiler is not None and compiler not in good:
            raise Failure(f"--{name} with --arch {arch} and --cc {compiler}: it takes {' or '.join(good)}")


def split_name(preset):
    """Return (name in CMakePresets.json, [feature]) of @preset, or raise Failure."""
    name, *features = preset.split("+")
    for feature in features:
        if feature not in FEATURES:
            raise Failure(f"'{preset}': there is no feature '{feature}'; accepted: {', '.join(FEATURES)}")
    if preset != with_features(name, features):
        raise Failure(f"'{preset}': features come once each, in the order {', '.join(FEATURES)}")
    return name, features


def can_instrument(mode, instrumentation, compiler):
    """Return whether @compiler makes this kind of check: GCC does not inline checks for software tags."""
    return (mode, instrumentation, compiler) != ("sw_tags", "inline", "gcc")


def presets():
    """Return {name: description} of the presets that can be built."""
    data = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    return {
        preset["name"]: preset.get("description", "")
        for preset in data["configurePresets"]
        if not preset.get("hidden")
    }


def arch_of(preset):
    """Return the architecture of the kernel @preset, None if that is not a kernel."""
    first = preset.split("-")[0]
    return first if first in KERNELS else None


def tools_of(preset):
    """Return the keys of the outside tools that building @preset needs."""
    keys = ["cmake", "ninja"]
    if preset.startswith("host-unit-") and (arch := preset.rpartition("-")[2]) in ARCHES:
        return [*keys, ARCHES[arch].gcc, f"libc-{arch}"]
    if preset.startswith("host-unit"):
        return [*keys, "gcc" if preset.endswith("-gcc") else "clang-19", "libc"]
    if "-clang-22" in preset:
        keys.append("clang-22")
    elif "-clang" in preset:
        keys.append("clang-19")
    elif preset.startswith("runtime-cortexm-"):
        keys.append("gcc-cortexm")
    else:
        keys.append(ARCHES[preset.removeprefix("runtime-").split("-")[0]].gcc)
    if not preset.startswith("runtime-"):
        keys += ["lld", "objcopy"]
    return keys


class Progress:
    """Shows a build: a live line on a terminal, two plain lines in a log, nothing if there is nothing to
    build."""

    def __init__(self, title, quiet=False):
        self.title = title
        self.quiet = quiet
        self.status = None
        self.started = time.monotonic()
        self.steps = 0

    def step(self, done, total, text):
        """Step @done of @total has ended; @text names it."""
        if self.quiet:
            return
        if self.steps == 0 and total > 12 and not sys.stderr.isatty():
            base.say(f"building {self.title} ({base.plural(total, 'step')})")
        self.steps = total
        if sys.stderr.isatty():
            if self.status is None:
                self.status = Status("", console=Console(stderr=True), spinner="line")
                self.status.start()
            self.status.update(escape(f"building {self.title} [{done}/{total}] {Path(text).name}"[:76]))

    def __enter__(self):
        return self

    def __exit__(self, kind, *ignored):
        self.end(kind is None)

    def end(self, complete):
        """The build has ended. @complete: everything was made."""
        if self.status is not None:
            self.status.stop()
        if complete and self.steps > 12 and not self.quiet:
            base.say(f"built {self.title} ({time.monotonic() - self.started:.1f} s)")


# Characters that CMake or Ninja cannot handle in a file's name. CMake does not escape `$` in all places of
# Ninja's files.
UNUSABLE = frozenset('|<>"\\*?^`:;$\n\r')


def check_path(path, shown, more=""):
    """Raise Failure if the build cannot take @path; @shown is what the user typed. more: other characters
    that it cannot have there."""
    # A byte that is not UTF-8 is a surrogate here, and the files that CMake reads are UTF-8.
    bad = sorted(one for one in set(str(path)) if one in UNUSABLE.union(more) or "\ud800" <= one <= "\udfff")
    if bad:
        raise Failure(f"'{shown}': the build cannot take a path with {' '.join(map(repr, bad))}")


# Characters in a path that mean nothing to make and to the shell that it calls.
_FOR_MAKE = re.compile(r"[\w./+,@=-]*")


def check_make(*paths):
    """Raise Failure if a makefile cannot take one of @paths."""
    for path in paths:
        bad = sorted(set(_FOR_MAKE.sub("", str(path))))
        if bad:
            raise Failure(f"'{base.relative(path)}': make cannot take a path with {' '.join(map(repr, bad))}")


def _quote(text):
    """Quote @text as one CMake argument."""
    return '"' + re.sub(r'([\\"$])', r"\\\1", str(text)) + '"'


def _defines_option(folder, program):
    """Return compiler options for the program's macros.

    They use a header, not -D: CMake, Ninja and the shell each mangle some characters.
    """
    if not program.defines:
        return []
    header = folder / "defines" / f"{program.name}.h"
    header.parent.mkdir(exist_ok=True)
    lines = []
    for text in program.defines:
        name, equals, value = text.partition("=")
        lines.append(f"#define {name} {value if equals else '1'}\n")
    _write_if_changed(header, "".join(lines))
    return ["-include", str(header)]


def _options_file(file, options):
    """Write @options for a compiler or linker. Return the option that names @file."""
    file.parent.mkdir(exist_ok=True)
    quoted = ['"' + re.sub(r'([\\"])', r"\\\1", text) + '"' for text in options]
    _write_if_changed(file, "\n".join(quoted) + "\n")
    return f"@{file}"


def _cflags_option(folder, program):
    """Return the compiler option that passes the user's own options.

    It names a file of them, because CMake drops apparent repetitions, as in `-include a.h -include b.h`.
    """
    if not program.cflags:
        return []
    return [_options_file(folder / "defines" / f"{program.name}.rsp", program.cflags)]


def _file_options(folder, program):
    """Return [source, option, source, option ...]: each option names the file with those of the source."""
    # Files with the same options, as in most projects, share one.
    names, words = {}, []
    for source in [*program.sources, *program.library]:
        options = program.file_options.get(source)
        if options:
            name = names.setdefault(tuple(options), f"{program.name}.{len(names)}.rsp")
            words += [source, _options_file(folder / "defines" / name, options)]
    return words


def _programs_file(folder, programs):
    lines = ["# Written by ./redzone. See redzone_add_program() in cmake/Kernel.cmake."]
    if any(program.has_libc for program in programs):
        lines.append(f"set(redzone_libc {_quote(libc_source.source())})")
    for program in programs:
        lines.append(f"{program.function}({program.name}")
        options = [*program.options, *_defines_option(folder, program), *_cflags_option(folder, program)]
        for keyword, values in (
            ("SOURCES", program.sources),
            ("INCLUDES", program.includes),
            ("OPTIONS", options),
            ("FILE_OPTIONS", _file_options(folder, program)),
            ("OBJECTS", program.objects),
            ("LIBRARY", program.library),
            ("COVER", program.cover),
        ):
            if values:
                lines.append(f"  {keyword} " + " ".join(_quote(value) for value in values))
        if program.kernel:
            lines.append("  KERNEL")
        lines.append(")")
    return "\n".join(lines) + "\n"


def _write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _forget_changed(folder, programs):
    """Remove a program's objects if one of its sources is a different file from last time; those of its
    library stay if only the program has changed.

    Ninja compares times only: it would not recompile a source replaced by an *older* file. Nor does it look
    into the file of the user's options, or for a new header that is found before one of the same name.
    """
    memory = folder / "programs.json"
    known = json.loads(memory.read_text(encoding="utf-8")) if memory.exists() else {}
    for program in programs:
        before = known.get(program.name)
        noted = before.get("headers") if isinstance(before, dict) else None
        new_header = noted is not None and not set(_rivals(program, noted[0])).issubset(noted[1])
        # If this build fails, they are still what the objects were made of.
        state = {"headers": noted}
        for part, sources in (("objects", program.sources), ("library", program.library)):
            state[part] = [[program.cflags, [program.file_options.get(source) for source in sources]]]
            for source in sources:
                info = os.stat(source)
                state[part].append([str(source), info.st_ino, info.st_size, info.st_mtime_ns])
            old = before[part] if isinstance(before, dict) else [None]
            # If there are fewer sources than last time, the rest need no recompiling.
            new = {tuple(entry) for entry in state[part][1:]} - {tuple(entry) for entry in old[1:]}
            if old[0] != state[part][0] or new or new_header:
                shutil.rmtree(folder / "CMakeFiles" / f"{program.name}.{part}.dir", ignore_errors=True)
        known[program.name] = state
    memory.write_text(json.dumps(known), encoding="utf-8")


def _rivals(program, files):
    """Return headers.rivals() of @program, whose objects were made of @files."""
    return headers.rivals(list(map(Path, files)), headers.folders(program))


def _note_headers(folder, programs):
    """Remember for _forget_changed() which headers there are, now that @programs are compiled.

    Ninja tells it only of the programs that it has just built."""
    memory = folder / "programs.json"
    known = json.loads(memory.read_text(encoding="utf-8"))
    for program in programs:
        files = sorted(map(str, headers.included(folder, [program])))
        known[program.name]["headers"] = [files, _rivals(program, files)]
    memory.write_text(json.dumps(known), encoding="utf-8")


def made_of(preset, sources):
    """Return the Paths of all files that the objects of @sources were made of, as last built for @preset."""
    memory, wanted, found = BUILD / preset / "programs.json", set(map(str, sources)), set()
    known = json.loads(memory.read_text(encoding="utf-8")) if memory.exists() else {}
    for state in filter(lambda state: isinstance(state, dict), known.values()):
        entries = (*state["objects"][1:], *state["library"][1:])
        if state.get("headers") and not wanted.isdisjoint(entry[0] for entry in entries):
            found.update(state["headers"][0])
    return set(map(Path, found))


# Megabytes without which a build that failed for no reason failed for want of room.
ROOM = 64


def _is_usable(folder):
    """Return whether the programs that CMake found for the build folder, and this tree, are still in
    place."""
    cache = folder / "CMakeCache.txt"
    if not cache.is_file():
        return True
    text = cache.read_text(encoding="utf-8")
    home = _CACHED_HOME.search(text)
    if home and Path(home[1]).resolve() != ROOT:
        return False
    return all(Path(path).exists() for path in _CACHED_TOOLS.findall(text))


def _configure(preset, folder):
    """Run CMake if the build folder is new, or if its programs have moved. Later changes make Ninja do it."""
    known = _is_usable(folder)
    if known and (folder / "build.ninja").exists():
        return
    # Without --fresh CMake would keep the old paths.
    fresh = [] if known else ["--fresh"]
    name, features = split_name(preset)
    variables = {variable: None for feature in features for variable in FEATURES[feature]}
    command = ["cmake", *fresh, "--preset", name, "-B", str(folder), f"-DREDZONE_PYTHON={sys.executable}"]
    command += [f"-DREDZONE_PACKAGE={PACKAGE}", f"-DREDZONE_PREBUILT={prebuilt.folder(preset) or ''}"]
    command += [f"-D{variable}=ON" for variable in variables]
    result = process.run(command, cwd=ROOT)
    # On a full disk CMake succeeds, and removes the file that it could not write.
    if result.returncode != 0 or not (folder / "build.ninja").exists():
        (folder / "build.ninja").unlink(missing_ok=True)
        base.check_room(folder, result.stderr + result.stdout, ROOM)
        raise Failure(f"CMake could not configure {preset}:\n{result.stderr or result.stdout}".rstrip())


@dataclass
class Step:
    """A failed step of a build. target: the file that it should have made. command: as the shell gets it.
    output: the command's, with paths as the user typed them.
    """

    target: str
    command: str = ""
    output: list = field(default_factory=list)


class BuildFailure(Failure):
    """A failed build. steps: the Steps that failed."""

    def __init__(self, message, steps):
        super().__init__(message)
        self.steps = steps


def _tidy(lines):
    """Reduce Ninja's output to what users need: diagnostics, with paths as they typed them.

    Returns (text, [Step that failed]).
    """
    kept = []
    failed = []
    command_next = False
    for line in lines:
        if command_next:
            command_next = False
            failed[-1].command = line
        elif line.startswith("FAILED: "):
            # The command follows, hundreds of characters long.
            command_next = True
            failed.append(Step(line.removeprefix("FAILED: ").strip()))
        elif line.startswith("ninja: error: "):
            kept.append(line)
        elif not line.startswith(("ninja: ", "-- ")):
            line = base.shorten(line)
            if failed:
                failed[-1].output.append(line)
            if not kept or kept[-1] != line:
                kept.append(line)
    return "\n".join(kept).strip("\n"), failed


# The linker's further lines about a name, if one of them is about the fuzzer's file.
_OF_FUZZER = r"(?:\n>>>.*)*?\n>>>.*/kernel/tests/fuzz/harness\.c"
# Messages from compilers and linkers, with their meaning here.
_HINTS = (
    (
        re.compile(r"(?:symbol not found|undefined symbol): main\b"),
        "no file has a main(): the program starts at int main(int argc, char **argv)",
    ),
    (
        re.compile(r"undefined symbol: LLVMFuzzerTestOneInput\b"),
        "no file has a harness, which gets each input: int LLVMFuzzerTestOneInput(const uint8_t *data, "
        "size_t size) (docs/use/fuzz.md)",
    ),
    (
        re.compile(r"duplicate symbol: LLVMFuzzerTestOneInput\b"),
        "two files have a harness, LLVMFuzzerTestOneInput(): name the files of one fuzz target only",
    ),
    (
        re.compile(rf"duplicate symbol: main$(?={_OF_FUZZER})", re.MULTILINE),
        "the fuzzer has a main() of its own, which calls int LLVMFuzzerTestOneInput(const uint8_t *data, "
        "size_t size) (docs/use/fuzz.md): leave your main() out, as with -D and #ifndef around it",
    ),
    (
        re.compile(rf"duplicate symbol: main$(?!{_OF_FUZZER})", re.MULTILINE),
        "two files have a main(): name the files of one program only, or give --each, which runs each "
        "file as a program of its own",
    ),
    (
        re.compile(r"-mgeneral-regs-only|type support, but ABI 'aapcs'"),
        "the kernel's own code and modules have no floating point: only programs may use float and double",
    ),
    (
        re.compile(r"fatal error: '?[\w./]+\.h'?(?: file not found|: No such file)"),
        "the C library is musl, with the headers in docs/use/run.md; -I DIR adds folders of your own",
    ),
    (
        re.compile(r"undefined symbol: (?!__|main\b|LLVMFuzzerTestOneInput\b)"),
        "a function is neither in the files given nor in the C library, musl (docs/use/run.md)",
    ),
)


def hints(output):
    """Return what the @output of a compiler or linker means here, line by line."""
    return [text for pattern, text in _HINTS if pattern.search(output)]


def _failure(preset, programs, output, failed):
    """Return the Failure for a failed build."""
    names = {program.name for program in programs}
    title = f"the build of {preset} failed"
    for step in failed:
        parts = re.match(r"(?:CMakeFiles/)?([\w.-]+?)\.(objects|library|pass1|pass2|o)\b", step.target)
        if parts and parts[1] in names:
            verb = "compile" if parts[2] in ("objects", "library") else "link"
            title = f"the program does not {verb} ({preset})"
    text = f"{title}:\n{output}"
    if title.startswith("the program"):
        text += "".join(f"\nredzone: hint: {hint}" for hint in hints(output))
    return BuildFailure(text, failed)


def _ninja(folder, targets, progress, jobs, go_on=False):
    command = ["ninja", "-C", str(folder), *(["-k", "0"] if go_on else [])]
    if jobs:
        command += ["-j", str(jobs)]
    lines = []

    def on_line(line):
        step = _STEP.match(line)
        if step:
            progress.step(int(step[1]), int(step[2]), step[3])
        elif not line.startswith("ninja: Entering directory"):
            lines.append(line)

    environment = dict(os.environ, NINJA_STATUS="@step %f/%t ")
    status = process.follow([*command, *targets], on_line, env=environment)
    return (status, *_tidy(lines))


def build(preset, targets=(), programs=(), copy_to=None, quiet=False, jobs=None, examine=None, look=None):
    """Build @targets (default: all) and one kernel per program of @preset, with the tools of tools_of().

    copy_to: folder that gets the kernels' files; without it they stay in the build folder, where a later
    build replaces them. examine: if the build fails, it is called with the BuildFailure and the build folder,
    before another command can build there. With it, steps that do not depend on a failed one still run.
    look: if the build succeeds, the same with the build folder.

    Returns {target: Image} of the kernels, {name: Path} of the modules. Raises BuildFailure (status 2) with
    the compiler's messages.
    """
    folder = BUILD / preset
    for path in (folder, ROOT):
        # CMake refuses `#` in the name of what a step makes, and LLD makes temporary names of `%`.
        check_path(path, base.relative(path), "#%")
    kernels = [program.name for program in programs if not program.is_module]
    kernels += [target for target in targets if target.startswith("redzone")]
    progress, status = Progress(preset, quiet), None
    with base.locked(folder):
        _write_if_changed(folder / "programs.cmake", _programs_file(folder, programs))
        try:
            _configure(preset, folder)
            _forget_changed(folder, programs)
            wanted = [*targets, *(program.name for program in programs)]
            status, output, failed = _ninja(folder, wanted, progress, jobs, examine is not None)
            if "ninja: error: build.ninja:" in output:
                # Ninja cannot read its file, so it cannot make CMake write a new one.
                (folder / "build.ninja").unlink()
                _configure(preset, folder)
                status, output, failed = _ninja(folder, wanted, progress, jobs, examine is not None)
        finally:
            progress.end(status == 0)
        if status != 0:
            # Ninja's own errors say little: a build.ninja that cannot be written is "still dirty".
            base.check_room(folder, output, 1 if failed else ROOM)
            failure = _failure(preset, programs, output, failed)
            if examine is not None:
                examine(failure, folder)
            raise failure
        _note_headers(folder, programs)
        if look is not None:
            look(folder)
        compiledb.update()
        if output and not quiet:
            print(output, file=sys.stderr)
        images = {}
        for name in kernels:
            image = Image(folder / f"{name}.elf", folder / f"{name}.Image")
            if copy_to is not None:
                copy = Image(Path(copy_to) / f"{name}.elf", Path(copy_to) / f"{name}.Image")
                shutil.copyfile(image.elf, copy.elf)
                shutil.copyfile(image.image, copy.image)
                image = copy
            images[name] = image
        for program in programs:
            if program.is_module:
                images[program.name] = folder / "modules" / f"{program.name.removeprefix('module-')}.ko"
                if copy_to is not None:
                    images[program.name] = Path(shutil.copy(images[program.name], copy_to))
    return images
