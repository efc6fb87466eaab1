# SPDX-License-Identifier: MIT
"""Builds what is fuzzed: a kernel with the target inside, and the libFuzzer executable that boots it."""

import os
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from redzone.build import builder
from redzone.core import base, process
from redzone.core.arch import DEFAULT, KERNELS
from redzone.core.base import BUILD, ROOT, Failure
from redzone.elf.file import SHF_ALLOC, File
from redzone.elf.symbols import symbols
from redzone.machine import qemu

HARNESS = ROOT / "kernel" / "tests" / "fuzz" / "harness.c"
HERE = Path(__file__).resolve().parent
# Coverage, as far as each family of compilers has it.
COVERAGE = {
    "clang": "-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp",
    "gcc": "-fsanitize-coverage=trace-pc,trace-cmp",
}
# GCC's counters: KASAN_FUZZ_HASHED.
HASHED = 16384
NAME = "fuzz"
# In the configuration: the folder of the executable.
HERE_WORD = "@here@"
# Time limit of a boot, in milliseconds.
BOOT_MS = 120_000


@dataclass
class Target:
    """What can be fuzzed.

    executable: takes libFuzzer's options. elf: the kernel, for symbols. edges: how many counters it has, None
    if the compiler does not say.
    """

    executable: Path
    elf: Path
    edges: int | None


def _build_proxy(numbers):
    """Return the path of the libFuzzer executable, the same for all targets. numbers: as put_executable()."""
    made = BUILD / "fuzz" / ("proxy-numbers" if numbers else "proxy")
    sources = sorted([*HERE.glob("*.c"), *((HERE / "numbers").glob("*.c") if numbers else ())])
    inputs = [*sources, HERE / "proxy.h", ROOT / "include" / "kasan" / "fuzz.h"]
    with base.locked(made.parent):
        if made.exists() and all(path.stat().st_mtime < made.stat().st_mtime for path in inputs):
            return made
        fresh = made.with_suffix(".new")
        command = [
            "clang-19",
            "-std=gnu17",
            "-O2",
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{ROOT / 'include'}",
        ]
        objects = []
        for source in sources:
            objects.append(made.parent / f"{source.stem}.o")
            _compile([*command, "-c", source, "-o", objects[-1]])
        # Only the link asks for libFuzzer: these files' own coverage means nothing.
        # proxy.c prints the guest's stack where libFuzzer would print that of this process.
        link = ["-fsanitize=fuzzer", "-fuse-ld=lld-19", "-Wl,--wrap=__sanitizer_print_stack_trace"]
        _compile(["clang-19", *link, *objects, "-o", fresh])
        fresh.replace(made)
    return made


def _compile(command):
    result = process.run(command)
    if result.returncode != 0:
        raise Failure(f"the libFuzzer executable could not be built:\n{result.stderr.strip()}")


def _read_places(elf):
    """Return the code address of each of the counters that Clang made, from the kernel's file @elf."""
    image = File.open(elf)
    ends = {name: value for name, value, *_ in symbols(image) if name.endswith("___sancov_pcs")}
    start, end = ends["__start___sancov_pcs"], ends["__stop___sancov_pcs"]
    for section in image.sections:
        at = start - section.address
        if section.flags & SHF_ALLOC and 0 <= at < section.size:
            entries = image.content(section)[at : at + end - start]
            return [address for address, _ in struct.iter_unpack("<QQ", entries)]
    return []


def put_executable(folder, numbers=False):
    """Put the libFuzzer executable into @folder. Return its path. Running processes keep the old file.

    numbers: inputs are changed as numbers/numbers.c says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    executable = folder / "fuzzer"
    fresh = executable.with_suffix(".new")
    shutil.copy2(_build_proxy(numbers), fresh)
    os.replace(fresh, executable)
    return executable


def write_configuration(executable, words, memory, options, counters, places=(), arch=DEFAULT):
    """Write what the libFuzzer executable has to know.

    words: the emulator's command. memory: of the guest, for QEMU. options: a campaign.Options. counters:
    how many there are. places: the code address of each, if known. arch: of the guest, which says where its
    memory begins.
    """
    lines = [
        f"memory {machine_bytes(memory)}",
        f"ram {KERNELS[arch].ram:#x}",
        f"counters {counters}",
        f"hang_ms {int(options.hang * 1000)}",
        f"boot_ms {BOOT_MS}",
        f"spin_us {options.spin_us}",
    ]
    if options.leaks:
        lines.append("leaks 1")
    if places:
        file = executable.with_name(f"{executable.name}.places")
        file.write_bytes(struct.pack(f"<{len(places)}Q", *places))
        lines.append(f"places {HERE_WORD}/{file.name}")
    # Files of the folder are named relative to it, so that it can be moved to another machine.
    lines += [f"word {str(word).replace(str(executable.parent), HERE_WORD)}" for word in words]
    executable.with_name(f"{executable.name}.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")


def shared_memory(memory):
    """Return QEMU's words for @memory that the guest shares with the libFuzzer executable."""
    return [
        *("-object", f"memory-backend-file,id=ram,size={memory},mem-path=@ram@,share=on"),
        *("-machine", "memory-backend=ram"),
    ]


def wake_ports():
    """Return QEMU's words for the ports by which one side wakes the other: kernel/lib/host.c."""
    wait = [*qemu.output_to("wait", "@wait@"), *qemu.port(1, "wait")]
    return [*wait, *qemu.output_to("wake", "@wake@"), *qemu.port(2, "wake")]


def machine_bytes(text):
    """Return QEMU's memory size @text, such as 512M, in bytes."""
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1].upper()]


def build(work, options, folder):
    """Build the target of the job.Job @work into @folder. options: a campaign.Options. Return the Target."""
    family = work.options.cc.split("-")[0]
    code = dict(work.code)
    code["options"] = [*code["options"], COVERAGE[family]]
    program = builder.Program(
        NAME,
        work.sources,
        function="redzone_add_fuzz_program",
        **code,
        **work.parts,
        cover=options.cover,
    )
    folder.mkdir(parents=True, exist_ok=True)
    image = builder.build(work.preset, (), [program], copy_to=folder)[NAME]
    executable = put_executable(folder)
    target = work.machine(image, folder)
    target.append = [*target.append, "fuzz.wait=@page@"]
    # Its configuration may go to another host.
    target.emulated = True
    target.options = [*shared_memory(target.memory), *wake_ports()]
    places = []
    if family == "clang":
        places = _read_places(image.elf)
        if not places:
            raise Failure("the compiler made no counters: does the target have code?")
    words = qemu.qemu_command(target, "@console@")
    counters = len(places) or HASHED
    write_configuration(executable, words, target.memory, options, counters, places, target.arch)
    return Target(executable, image.elf, len(places) or None)
