# SPDX-License-Identifier: MIT
"""Builds U-Boot with and without the sanitizer.

It changes no file of U-Boot. It adds compiler and linker options, the runtime's objects, and the port's
(ports/u-boot). Everything happens below build/u-boot.
"""

import functools
import hashlib
import json
import os
import re
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from redzone.build import builder
from redzone.core import base, process
from redzone.core.base import ROOT, Failure
from redzone.core.process import execute, failed, follow
from redzone.kit import amalgamate, flags

from . import fetch
from .fetch import HOME, PINS, PORT, VERSION

TARGET = "aarch64-linux-gnu"
COMPILERS = ("clang-19", "gcc")
# Keys of redzone.core.outside: what fetching and building need.
TOOLS = (
    "tar",
    "xz",
    "patch",
    "make",
    "host-gcc",
    "flex",
    "bison",
    "bc",
    "libssl",
    "binutils-arm64",
    "objdump",
)
COMPILER_TOOLS = {"clang-19": "clang-19", "gcc": "gcc-arm64"}

# More code to check.
_CHECKED = (
    "CMD_SQUASHFS CMD_EXT4_WRITE CMD_EROFS FS_CBFS CMD_CBFS CMD_BTRFS CMD_GPT CMD_MBR CMD_DNS "
    "CMD_SNTP CMD_HASH CMD_MD5SUM CMD_SHA1SUM CMD_MEMINFO CMD_MEMTEST CMD_STRINGS CMD_UNZIP "
    "CMD_LZMADEC CMD_ENV_FLAGS CMD_ENV_CALLBACK CMD_NVEDIT_INFO CMD_GREPENV CMD_ASKENV "
    "CMD_EFIDEBUG CMD_LOG CMD_TIMER CMD_TIME CMD_RNG CMD_LSBLK CMD_CONFIG BOOTSTD_FULL "
    "CMD_BOOTDEV CMD_BOOTMETH CMD_BOOTFLOW_FULL CMD_MEM_SEARCH CMD_BLOCK_CACHE "
    "CMD_SETEXPR_FMT REGEX BZIP2 LZMA LZO LZ4 ZSTD"
)
# Options of U-Boot's configuration beyond its own defaults for the board. n: off.
CONFIG = {
    # Clang takes neither the assembler's architecture switch nor the examples' linker options.
    "ARM64_CRC32": "n",
    "EXAMPLES": "n",
    # A host tool that has dependencies of its own.
    "TOOLS_MKEFICAPSULE": "n",
    # Straight to the prompt.
    "BOOTDELAY": "-1",
    **dict.fromkeys(_CHECKED.split(), "y"),
    "CMD_MX_CYCLIC": "n",
    # For U-Boot's own tests.
    "CONSOLE_RECORD": "y",
    "CONSOLE_RECORD_OUT_SIZE": "0x8000",
    "UT_TIME": "y",
    "LOG": "y",
    "UNIT_TEST": "y",
    "UT_LIB": "y",
    # Times of the boot stages, for the table of costs.
    "BOOTSTAGE": "y",
    "CMD_BOOTSTAGE": "y",
}
KASAN_CONFIG = {
    "SYS_MEM_TOP_HIDE": "0x1800000",
    "SYS_MALLOC_LEN": "0x4000000",
}
# A U-Boot that is fuzzed: the mailbox has its place in the hidden memory, and the console can be silent.
FUZZ_CONFIG = {
    "SYS_MEM_TOP_HIDE": "0x2000000",
    "DISABLE_CONSOLE": "y",
    # The times of boot stages would fill their table.
    "BOOTSTAGE": "n",
    "CMD_BOOTSTAGE": "n",
}
# Which calls the compiler adds to the files that are fuzzed. Calls, not counters in place: before U-Boot has
# moved to RAM its variables lie in flash.
COVERAGE = "-fsanitize-coverage=trace-pc-guard,trace-cmp"
FUZZ_WRAPPED = ("main_loop", "hang")
# The distribution's defaults insist on DHCP; the shell comes with them.
BOOTP_CONFIG = {"DISTRO_DEFAULTS": "n", "CMD_DHCP": "n", "HUSH_PARSER": "y", "CMD_BOOTP": "y"}

WRAPPED = (
    *("malloc", "free", "calloc", "realloc", "memalign", "malloc_usable_size", "mallinfo"),
    *("memcpy", "memmove", "memset"),
    *("mem_malloc_init", "net_process_received_packet", "blk_dread", "blk_dwrite", "longjmp", "do_sync"),
)

# For the runtime and the port's own files. State goes to .data: .bss does not exist before relocation.
RUNTIME_FLAGS = (
    *("-std=gnu17", "-O2", "-g", "-ffreestanding", "-nostdinc"),
    *("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"),
    *("-fno-pic", "-fno-common", "-fno-strict-aliasing", "-fno-stack-protector"),
    *("-fno-omit-frame-pointer", "-fno-zero-initialized-in-bss", "-ffunction-sections", "-fdata-sections"),
    *("-mgeneral-regs-only", "-mno-outline-atomics", "-ffixed-x18", "-march=armv8-a"),
    *("-mbranch-protection=none", f"-I{ROOT / 'include'}", f"-I{PORT}"),
    f'-DKASAN_PORT_CONFIG_H="{PORT / "kasan_config.h"}"',
    f'-DKASAN_PORT_INLINE_H="{PORT / "kasan_inline.h"}"',
)
# The plain names are U-Boot's own; the linker sends their callers to the checked ones.
CHECKED_NAMES = tuple(f"-D{name}=__wrap_{name}" for name in ("memcpy", "memmove", "memset"))
# These run before the MMU is on, when accesses must be aligned.
STRICT_FILES = ("copy.c", "mem.c", "poison.c")
# For the traces: everything but heap.c keeps its frames.
NO_TAIL_CALLS = "-fno-optimize-sibling-calls"
# Output lines of make that stand for a compiled or linked file, and roughly how many a full build prints.
_STEP = re.compile(r"^  (?:(?:HOST)?(?:CC|AS|LD)|AR)\s+(.+)$")
STEPS = 765


@dataclass(frozen=True)
class Image:
    """A built U-Boot. binary: for QEMU's -bios. elf: with symbols. kasan: is the runtime in it?"""

    folder: Path
    binary: Path
    elf: Path
    kasan: bool


def tools(cc="clang-19"):
    """Return the keys of the outside tools that building with @cc needs."""
    return [COMPILER_TOOLS[cc], *TOOLS]


# --- What is instrumented -------------------------------------------------------------------------


def efi_runtime(source):
    """Return {function: file} of the code marked __efi_runtime: it runs under an operating system."""
    names = {}
    for folder in ("arch/arm", "drivers", "lib"):
        for path in sorted((source / folder).rglob("*.c")):
            text = path.read_text(encoding="utf-8", errors="replace")
            for match in re.finditer(r"__efi_runtime\b([^;(){}#\"]*)\(", text):
                words = re.findall(r"\w+", match.group(1))
                if words:
                    names[words[-1]] = str(path.relative_to(source))
    return names


def _sanitizer(cc, tree, source):
    """Return the environment for ports/u-boot/cc with the sanitizer's options in it."""
    choice = flags.Choice(
        cc=cc,
        inline=False,
        dynamic=cc != "gcc",
        stack=cc != "gcc",
        target=None if cc == "gcc" else TARGET,
    )
    chosen = flags.compute(choice)
    options = [*chosen.instrument, *chosen.code]
    listed = (PORT / "ignorelist.txt").read_text(encoding="utf-8")
    runtime = efi_runtime(source)
    if cc == "gcc":
        # GCC takes no ignore list, so the script leaves out whole files.
        files = [f"*/{name}" for name in sorted({*runtime.values()})]
        files += re.findall(r"(?m)^mainfile:(\S+)$", listed)
        return {"REDZONE_UBOOT_KASAN": shlex.join(options), "REDZONE_UBOOT_PLAIN_FILES": " ".join(files)}
    # Poison stack redzones by calls as well: the runtime skips stacks that have no shadow (yet).
    options += ["-mllvm", "-asan-max-inline-poisoning-size=0"]
    functions = "".join(f"fun:{name}\n" for name in sorted(runtime))
    text = f"{listed}\n# __efi_runtime\n{functions}"
    # The name changes with the list, so that everything is recompiled.
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    ignore = HOME / f"ignorelist-{tree}-{digest}.txt"
    ignore.write_text(text, encoding="utf-8")
    options.append(f"-fsanitize-ignorelist={ignore}")
    return {"REDZONE_UBOOT_KASAN": shlex.join(options)}


def covered():
    """Return the patterns of the files that are counted when U-Boot is fuzzed."""
    lines = (PORT / "fuzz" / "covered.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


# --- The runtime and the port ---------------------------------------------------------------------


def _compiler(cc):
    """Return the compiler's command for the runtime, with the folder of its own headers."""
    if cc == "gcc":
        command, query = [f"{TARGET}-gcc"], "-print-file-name=include"
    else:
        command, query = [cc, f"--target={TARGET}"], "-print-resource-dir"
    result = process.run([*command, query], check=True)
    include = Path(result.stdout.strip())
    return [*command, "-isystem", str(include if cc == "gcc" else include / "include")]


def _newer(target, inputs):
    if not target.is_file():
        return True
    made = target.stat().st_mtime
    return any(path.stat().st_mtime > made for path in inputs)


def _uboot_command(folder):
    """Return U-Boot's own compiler command for a file, taken from the record of the first one that it
    compiled."""
    record = folder / "lib" / ".asm-offsets.s.cmd"
    line = record.read_text(encoding="utf-8").splitlines()[0]
    words = shlex.split(line.partition(":=")[2])
    kept = []
    for word in words[1:]:
        if word.startswith(("-Wp,", "-DKBUILD", "-DDO_DEPS_ONLY")) or word in ("-S", "-fverbose-asm"):
            continue
        if word == "-o":
            break
        kept.append(word)
    return [words[0], *kept]


def _compile_port(folder, cc, environment, jobs, log, fuzz):
    """Compile the runtime and the port, and the targets if @fuzz. Return the object files."""
    objects = folder / "kasan"
    objects.mkdir(exist_ok=True)
    headers = [*(ROOT / "include").rglob("*.h"), *(ROOT / "runtime").rglob("*.h"), *PORT.glob("*.h")]
    runtime = [*_compiler(cc), *RUNTIME_FLAGS]
    uboot = [*_uboot_command(folder), f"-I{PORT}"]
    work = [
        (path, [*runtime, NO_TAIL_CALLS])
        for path in [*amalgamate.sources(), PORT / "port.c", PORT / "start.c", PORT / "io.c", PORT / "copy.c"]
    ]
    work += [
        (PORT / "heap.c", runtime),
        (PORT / "board.c", uboot),
        (PORT / "command.c", [*uboot, f"-DKBUILD_MODNAME={json.dumps('kasan')}"]),
    ]

    if fuzz:
        own = [PORT / "fuzz" / "inputs.c", PORT / "fuzz" / "host.c"]
        work += [(path, [*runtime, NO_TAIL_CALLS]) for path in (*(ROOT / "fuzz").glob("*.c"), *own)]
        targets = sorted({*(PORT / "fuzz").glob("*.c")} - {*own})
        # The command that is taken as an example may be of a file that is counted; the targets are not.
        work += [(path, [*uboot, f"-DKBUILD_MODNAME={json.dumps(path.stem)}"]) for path in targets]
        headers += [*(ROOT / "fuzz").glob("*.h"), *(PORT / "fuzz").glob("*.h")]

    def one(item):
        source, command = item
        target = objects / f"{source.parent.name}_{source.stem}.o"
        if _newer(target, [source, *headers, Path(__file__)]):
            extra = [*(CHECKED_NAMES if source.name == "asan_mem.c" else ())]
            extra += ["-mstrict-align"] if source.name in STRICT_FILES else []
            (folder / "u-boot").unlink(missing_ok=True)
            execute([*command, *extra, "-c", source, "-o", target], log, cwd=folder, env=environment)
        return target

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return list(pool.map(one, work))


# --- Build ----------------------------------------------------------------------------------------


def _make(command, progress, total, log, **options):
    """Run make and append its output to @log; count the files that it makes, about @total."""
    done = 0
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"$ {shlex.join(map(str, command))}\n")

        def on_line(line):
            nonlocal done
            file.write(f"{line}\n")
            step = _STEP.match(line)
            if step:
                done += 1
                progress.step(done, max(done, total), step[1])

        status = follow(command, on_line, **options)
    if status != 0:
        raise failed(command, log)


def _configure(source, folder, make, options, log, environment):
    """Write the configuration from scratch unless @options are those of last time. Return whether it did."""
    stamp = folder / ".redzone-options"
    wanted = json.dumps(options, sort_keys=True)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    execute([*make, "qemu_arm64_defconfig"], log, env=environment, cwd=source)
    lines = [
        f"# CONFIG_{key} is not set" if value == "n" else f"CONFIG_{key}={value}"
        for key, value in options["config"].items()
    ]
    with open(folder / ".config", "a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    execute([*make, "olddefconfig"], log, env=environment, cwd=source)
    result = set((folder / ".config").read_text(encoding="utf-8").splitlines())
    lost = [
        line
        for line in lines
        if line not in result and not (line.startswith("#") and f"{line.split()[1]}=y" not in result)
    ]
    if lost:
        raise Failure(f"U-Boot's configuration did not take: {', '.join(lost)}")
    stamp.write_text(wanted, encoding="utf-8")
    return True


def _audit(elf, choice, what, consequence):
    """Raise Failure if the code of @elf that @choice, a word for objdump, chooses calls the sanitizer."""
    result = process.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", choice, elf], check=True)
    bad = sorted(set(re.findall(r"<(__asan_\w+|__wrap_\w+)", result.stdout)))
    if bad:
        raise Failure(f"{what} calls {', '.join(bad)}: {consequence}")


def _audit_unchecked(elf, cc):
    """Raise Failure if code calls the sanitizer where that does harm."""
    _audit(elf, "--section=.efi_runtime", "EFI runtime code", "it would fail under an operating system")
    # GCC takes no list of functions.
    if cc != "gcc":
        printers = "--disassemble-symbols=printascii,printch"
        _audit(elf, printers, "the code that prints reports", "a report in a deep stack would report itself")


@functools.cache
def build(tree="patched", kasan=True, dhcp=True, cc="clang-19", jobs=2, fuzz=False):
    """Build U-Boot from @tree. Return an Image. fuzz: one that takes inputs, see fuzz/inputs.c.

    dhcp: without it `bootp` speaks only BOOTP. The result is cached while the command runs, because make is
    slow to find that there is nothing to do.
    """
    source = fetch.unpacked(tree)
    parts = [tree, "kasan" if kasan else "plain"]
    parts += [] if dhcp else ["bootp"]
    parts += [] if cc == "clang-19" else [cc]
    parts += ["fuzz"] if fuzz else []
    folder = HOME / "-".join(parts)
    image = Image(folder, folder / "u-boot.bin", folder / "u-boot", kasan)
    log = HOME / f"build-{folder.name}.log"
    what = f"U-Boot {VERSION.partition('+')[0]}, {tree}, {'with KASAN' if kasan else 'plain'}"
    with base.locked(HOME / "locks" / folder.name):
        log.unlink(missing_ok=True)
        sanitizer = _sanitizer(cc, tree, source) if kasan else {}
        if fuzz:
            sanitizer.update(REDZONE_UBOOT_COVERAGE=COVERAGE, REDZONE_UBOOT_COVERED=" ".join(covered()))
        options = {
            "config": {
                **CONFIG,
                **(KASAN_CONFIG if kasan else {}),
                **({} if dhcp else BOOTP_CONFIG),
                **(FUZZ_CONFIG if fuzz else {}),
            },
            "sanitizer": sanitizer,
            "compiler": (PORT / "cc").read_text(encoding="utf-8"),
        }
        environment = {
            **{
                name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "CC", "CFLAGS")
            },
            "SOURCE_DATE_EPOCH": PINS["epoch"],
            "REDZONE_UBOOT_CC": f"{TARGET}-gcc" if cc == "gcc" else f"{cc} --target={TARGET}",
            **sanitizer,
            "LC_ALL": "C",
        }
        make = ["make", f"O={folder}", f"CROSS_COMPILE={TARGET}-", f"CC={PORT / 'cc'}", f"-j{jobs}"]
        with builder.Progress(what) as progress:
            total = STEPS if _configure(source, folder, make, options, log, environment) else 0
            if kasan:
                _make([*make, "prepare"], progress, total, log, env=environment, cwd=source)
                made = _compile_port(folder, cc, environment, jobs, log, fuzz)
                scripts = [PORT / "kasan.lds", *([PORT / "fuzz" / "coverage.lds"] if fuzz else [])]
                wrapped = [*WRAPPED, *(FUZZ_WRAPPED if fuzz else ())]
                link = [word for script in scripts for word in ("-T", script)]
                link += [*(f"--wrap={name}" for name in wrapped), *made]
                environment["MAKEFILES"] = str(PORT / "redzone.mk")
                environment["REDZONE_UBOOT_LINK"] = shlex.join(map(str, link))
            _make([*make, "u-boot.bin"], progress, total, log, env=environment, cwd=source)
        if kasan:
            _audit_unchecked(image.elf, cc)
    return image
