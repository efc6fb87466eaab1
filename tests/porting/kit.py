# SPDX-License-Identifier: MIT
"""Helpers of the porting kit's tests: compilers, builds of the example, boots."""

import atexit
import collections
import contextlib
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from redzone.core import process
from redzone.core.arch import ARCHES
from redzone.core.base import ROOT
from redzone.core.outside import BY_KEY
from redzone.kit import flags
from redzone.testing.needs import first, need

TEMPLATE = ROOT / "ports" / "template"
CLANG_TARGET = {name: arch.target for name, arch in ARCHES.items()}
GCC = {name: BY_KEY[arch.gcc].command for name, arch in ARCHES.items() if arch.gcc}
# Cortex-M boards of the example, and the processors that are only built.
CORTEX_M = {"cortex-m3": "mps2-an385", "cortex-m7": "mps2-an500", "cortex-m33": "mps2-an505"}
for _cpu in (*CORTEX_M, "cortex-m0plus"):
    CLANG_TARGET[_cpu] = "arm-none-eabi"
    GCC[_cpu] = "arm-none-eabi-gcc"
QEMU = {
    "arm64": ["qemu-system-aarch64", "-cpu", "cortex-a53", "-semihosting"],
    "riscv64": ["qemu-system-riscv64", "-bios", "none"],
    "riscv32": ["qemu-system-riscv32", "-bios", "none"],
    "x86_64": ["qemu-system-x86_64", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"],
}
# In these every bug runs in a task, and faults are reported.
IN_TASKS = (*CORTEX_M, "x86_64")


# Options for the machine that the example is compiled for, and the places of its parts.
MACHINE = {
    "arm64": "-mgeneral-regs-only -mstrict-align",
    "riscv64": "-march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany",
}
PLACE = {
    "arm64": ("0x40000000", "0x40080000", "0x38700000"),
    "riscv64": ("0x80000000", "0x80000000", "0x70700000"),
}


# The same for the tag-based modes, and the end of the mapped memory.
HIGH = ("0xffffffffc0000000", "0xffffffffc0080000", "0xefffffffcb000000")
HIGH_END = "0xffffffffc81fffff"


def place(arch, mode):
    """Return (RAM, place of the image, shadow offset) of the example, as texts."""
    return PLACE[arch] if mode == "generic" else HIGH


def machine(arch, mode):
    """Return the machine options. Without an MMU, and only then, every access must be aligned."""
    return MACHINE[arch] if mode == "generic" else MACHINE[arch].replace(" -mstrict-align", "")


def compiler(cc, arch):
    """Return the command line of a compiler as a list."""
    if cc == "gcc":
        need(GCC[arch])
        # The same GCC makes both.
        return [GCC[arch], *(["-march=rv32imac", "-mabi=ilp32"] if arch == "riscv32" else [])]
    need(cc)
    return [cc, f"--target={CLANG_TARGET[arch]}"]


def call(command, cwd, ok=True):
    """Run a command; return its output. The test fails if the command fails (ok=False: if it succeeds)."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", "MAKEFLAGS")
    }
    result = process.run(command, cwd=cwd, env=environment, stderr=subprocess.STDOUT, timeout=600)
    assert (result.returncode == 0) == ok, f"{' '.join(map(str, command))}\n{result.stdout[-3000:]}"
    return result.stdout


def qemu(arch, mode):
    """Return the command line of the machine, without the image. Skips the test if it is not installed."""
    if arch in CORTEX_M:
        need("qemu-system-arm")
        return ["qemu-system-arm", "-semihosting", "-machine", CORTEX_M[arch]]
    from redzone.core import maskqemu, mteqemu

    if mode == "sw_tags" and arch == "riscv64":
        reason = maskqemu.reason()
        if reason:
            pytest.skip(reason)
        return [*maskqemu.command(), "-bios", "none", "-cpu", maskqemu.CPU, "-machine", "virt"]
    if mode != "hw_tags":
        need(QEMU[arch][0])
        return [*QEMU[arch], "-machine", "q35" if arch == "x86_64" else "virt"]
    reason = mteqemu.reason()
    if reason:
        pytest.skip(reason)
    return [*mteqemu.command(), "-cpu", "max", "-semihosting", "-machine", "virt,mte=on"]


def boot(arch, elf, mode="generic", *options):
    """Boot the example; return (its exit status, console)."""
    memory = [] if arch in CORTEX_M else ["-m", "128M"]
    command = [*qemu(arch, mode), *memory, *options, "-nographic", "-nic", "none", "-kernel", str(elf)]
    result = process.run(command, stderr=subprocess.STDOUT, timeout=60)
    # The PC's device for that makes 2 * status + 1 of it.
    status = result.returncode >> (arch == "x86_64")
    return status, result.stdout.replace("\r", "")


# Conditions in the example's table of bugs, and the modes in which they hold.
CONDITIONS = {
    "#ifdef CONFIG_KASAN_GENERIC": {"generic"},
    "#ifndef CONFIG_KASAN_HW_TAGS": {"generic", "sw_tags"},
    "#endif": {"generic", "sw_tags", "hw_tags"},
}
# The same for processors.
PROCESSORS = {
    "#ifdef __arm__": CORTEX_M,
    "#ifdef __x86_64__": ("x86_64",),
    "#if defined(__arm__) || defined(__x86_64__)": IN_TASKS,
}


def bugs(mode="generic", arch="arm64"):
    """Return {name: type or None} of the bugs that the example plants in @mode on @arch."""
    text = (TEMPLATE / "main.c").read_text(encoding="utf-8")
    table = re.search(r"^static const struct bug bugs\[\] = \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL)
    result, modes = {}, CONDITIONS["#endif"]
    for line in table[1].splitlines():
        if line.startswith("#"):
            if line in PROCESSORS:
                modes = {mode} if arch in PROCESSORS[line] else set()
            else:
                modes = CONDITIONS[line]
            continue
        name, kind = re.fullmatch(r'\t\{"(\w+)", (?:"([\w-]+)"|NULL), \w+\},', line).groups()
        if mode in modes:
            result[name] = kind
    return result


def expect_all_reported(arch, elf, mode="generic", *options):
    """Boot the example: each bug must be reported with its type and with stacks, and nothing else may be.
    Return the console."""
    status, console = boot(arch, elf, mode, *options)
    assert status == 0, console
    assert "template: done, all as expected" in console
    planted = bugs(mode, arch)
    assert len(planted) >= {"generic": 13, "sw_tags": 12, "hw_tags": 11}[mode]
    for name in planted:
        assert f"template: ok {name}\n" in console
    kinds = re.findall(r"^BUG: KASAN: ([\w-]+) in ", console, re.MULTILINE)
    assert kinds == [kind for kind in planted.values() if kind]
    task = 1 if arch in IN_TASKS else 0
    assert f"Allocated by task {task}:" in console and f"Freed by task {task}:" in console
    # In the tag-based modes the pointer and its memory have tags, and these differ.
    tags = re.findall(r"^Pointer tag: \[(..)\], memory tag: \[(..)\]$", console, re.MULTILINE)
    assert bool(tags) == (mode != "generic")
    for (pointer, memory), kind in zip(tags, kinds, strict=True) if tags else ():
        assert pointer != memory or kind == "invalid-free"
    return console


# Runtimes that are compiled already: in the folder that all files of a suite share, or in one of this run.
_RUNTIMES = Path(os.environ.get("REDZONE_SHARED") or tempfile.mkdtemp(prefix="redzone-"))
if "REDZONE_SHARED" not in os.environ:
    atexit.register(shutil.rmtree, _RUNTIMES, ignore_errors=True)


def _known_runtime(options):
    """Return the folder for the runtime that the command in redzone.mk's file @options compiles."""
    return _RUNTIMES / hashlib.sha256(options.read_bytes()).hexdigest()[:16]


def change(path, *pairs):
    """Replace texts in the file @path, which must have them. @pairs: (old, new)."""
    text = path.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text, f"{path.name} has no '{old}'"
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def make_template(tree, arch, cc, *variables, redzone=ROOT, ok=True):
    """Build the example with its Makefile; return (ELF, output).

    A tree without a runtime starts with the objects of another one that was compiled by the same command.
    """
    need("make", "ld.lld-19")
    out = next((word.removeprefix("OUT=") for word in variables if word.startswith("OUT=")), "build")
    objects = tree / out / "kasan"
    new = ok and not objects.exists()
    command = ["make", "-j2", f"REDZONE={redzone}", f"ARCH={arch}", f"CC={' '.join(compiler(cc, arch))}"]
    command += variables
    if new:
        call([*command, f"{out}/kasan/options"], tree)
        if _known_runtime(objects / "options").exists():
            # The file of options as well: a newer one than the objects makes them anew.
            shutil.copytree(_known_runtime(objects / "options"), objects, dirs_exist_ok=True)
            new = False
    output = call(command, tree, ok)
    assert "warning" not in output, output
    if new:
        copy = Path(tempfile.mkdtemp(dir=_RUNTIMES))
        shutil.copytree(objects, copy, dirs_exist_ok=True)
        # Another file of tests may have been faster.
        with contextlib.suppress(OSError):
            copy.rename(_known_runtime(objects / "options"))
    return tree / "build" / "template.elf", output


def cmake(tree, *options, build="build", ok=True):
    """Configure the example with CMake in the folder @build; return what that prints."""
    command = ["cmake", "-G", "Ninja", "-B", tree / build, "--fresh", "--toolchain", tree / "toolchain.cmake"]
    return call([*command, *options], tree, ok)


def cmake_template(tree, arch, cc, *options):
    """Build the example with CMake; return the ELF file."""
    need("cmake", "ninja", "ld.lld-19")
    compiler(cc, arch)
    cmake(tree, f"-DTEMPLATE_ARCH={arch}", f"-DTEMPLATE_CC={cc}", *options)
    output = call(["ninja", "-j2", "-C", "build"], tree)
    assert "warning" not in output.lower(), output
    return tree / "build" / "template.elf"


def make_with(makefile, tree, arch, cc, mode, *variables):
    """Build the example with @makefile of this folder instead of its own; return the ELF file."""
    need("make", "ld.lld-19")
    ram, image, _ = place(arch, mode)
    common = [f"CC={' '.join(compiler(cc, arch))}", f"MACHINE={machine(arch, mode)}", "OUT=build"]
    common += [f"RAM={ram}", f"IMAGE={image}", f"LLD={'' if cc == 'gcc' else 'ld.lld-19'}"]
    common += [f"MORE={'' if mode == 'generic' else 'tags.S tags.c'}"]
    output = call(["make", "-j2", "-f", ROOT / "tests/porting" / makefile, *common, *variables], tree)
    assert "warning" not in output, output
    return tree / "build" / "template.elf"


def pkg_config_template(tree, arch, cc, mode, where, *variables):
    """Build the example with the options that pkg-config prints, which finds Redzone; return the ELF file."""
    need("pkg-config")
    ram, _, offset = place(arch, mode)
    family = "gcc" if cc == "gcc" else "clang"
    at = f"-DCONFIG_KASAN_SHADOW_OFFSET={offset}UL"
    limits = f"-DCONFIG_KASAN_SHADOW_LOW={ram}UL -DCONFIG_KASAN_SHADOW_HIGH={HIGH_END}UL"
    layout = {
        "generic": f"-DCONFIG_KASAN_SHADOW_WINDOWED=1 {at}",
        "sw_tags": f"-DCONFIG_KASAN_SHADOW_FULL=1 {at} {limits}",
        "hw_tags": "",
    }
    checks = {"generic": f"{family}_{where}", "sw_tags": f"{family}_sw_tags_{where}", "hw_tags": ""}
    code = f"{family}_code_hw_tags" if mode == "hw_tags" else f"{family}_code"
    if arch == "arm64" and mode != "hw_tags":
        code += "_arm64"
    chosen = [f"MODE={mode.upper()}", f"OFFSET={offset}", f"LAYOUT={layout[mode]}"]
    chosen += [f"CHECKS={checks[mode]}", f"CODE={code}"]
    return make_with("pkgconfig.mk", tree, arch, cc, mode, *chosen, *variables)


def two_files_template(tree, amalgamated, choice, *variables):
    """Build the example with kasan.c and kasan.h, which are copied into @tree, and with the options that the
    command prints for the flags.Choice @choice; return the ELF file."""
    for name in ("kasan.c", "kasan.h"):
        shutil.copy(amalgamated / name, tree)
    for path in (*tree.glob("*.c"), tree / "board.h"):
        if path.name != "kasan.c":
            text = path.read_text(encoding="utf-8")
            text = re.sub(r"#include <kasan/(kasan|port|config)\.h>", '#include "kasan.h"', text)
            path.write_text(text, encoding="utf-8")
    # Assembly files need nothing of the header but the options, which are macros on the command line, so they
    # must test the macro of the mode itself.
    words = {"sw_tags": "CONFIG_KASAN_SW_TAGS", "hw_tags": "CONFIG_KASAN_HW_TAGS"}
    for path in tree.glob("*.S"):
        text = path.read_text(encoding="utf-8").replace("#include <kasan/config.h>\n", "")
        word = words.get(choice.mode, "CONFIG_KASAN_TAGS")
        path.write_text(text.replace("CONFIG_KASAN_TAGS", word), encoding="utf-8")
    printed = flags.compute(choice)
    chosen = [f"FLAGS={' '.join(printed.instrument)}", f"CODE={' '.join(printed.code)}"]
    chosen += [f"DEFINES={' '.join(f'-D{define}' for define in printed.defines)}"]
    return make_with("amalgamated.mk", tree, choice.arch, choice.cc, choice.mode, *chosen, *variables)


def few(names, combinations, pairs=True, most=None):
    """Parametrize a test with all @combinations of the values of @names. By default so many of them run that
    each pair of values of two names is in one, or each value if not @pairs; and no more than @most. --rest
    runs the others."""
    combinations = list(combinations)
    used = collections.Counter()

    def covered(values):
        return set(itertools.combinations(enumerate(values), 2 if pairs else 1))

    def worth(values):
        # Of those that add as much, the one whose values are in the fewest.
        return len(left & covered(values)), -sum(used[place] for place in enumerate(values))

    left = set().union(*map(covered, combinations))
    chosen = []
    while left:
        chosen.append(max(combinations, key=worth))
        left -= covered(chosen[-1])
        used.update(enumerate(chosen[-1]))
    return first(
        most or len(chosen), names, chosen + [values for values in combinations if values not in chosen]
    )
