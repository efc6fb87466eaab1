# SPDX-License-Identifier: MIT
"""Measures the cost of KASAN in U-Boot: size of the image, memory, and instructions of boot and work.

QEMU's -icount makes the machine's clock count instructions, one per nanosecond, and U-Boot's own bootstage
records give the clock at the prompt. So two runs give the same figures, on any host.
"""

import re
from dataclasses import dataclass

from redzone.core import base
from redzone.core.base import Failure, say
from redzone.elf.file import SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS, SHT_REL, SHT_RELA, File

from . import build, qemu
from .fetch import HOME

TIMEOUT = 600
MEMORIES = ("512M", "6G")
# Work at the prompt: U-Boot's commands, timed by its clock. {displayed name: command}.
WORK = {
    "`md5sum` of 16 MiB": "md5sum 0x44000000 1000000",
    "`cp.b` of 64 MiB": "cp.b 0x44000000 0x48000000 4000000",
    "`mtest` of 1 MiB": "mtest 0x44000000 0x44100000 0 1",
    "`dm tree`, 40 times": "setenv n 0; while test $n -lt 40; do setexpr.l n $n + 1; dm tree; done",
    "`ut lib`": "ut lib",
}
_STAGE = re.compile(r"^\s*([\d,]+)\s+[\d,]+\s+main_loop")
_TIMER = re.compile(r"^(\d+)\.(\d{3})$")


@dataclass
class Figures:
    """Figures of one build. sizes: {name: bytes}; boots and work: {memory or name: instructions}."""

    sizes: dict
    boots: dict
    work: dict


def sizes(image):
    """Return {name: bytes} of the parts of @image."""
    result = {"image (`u-boot.bin`)": image.binary.stat().st_size, "text": 0, "read-only data": 0, "data": 0}
    result |= {"relocations": 0, "`.bss`": 0}
    for section in File.open(image.elf).sections:
        if not section.flags & SHF_ALLOC:
            continue
        if section.type == SHT_NOBITS:
            name = "`.bss`"
        elif section.type in (SHT_RELA, SHT_REL):
            name = "relocations"
        elif section.flags & SHF_EXECINSTR:
            name = "text"
        elif section.flags & SHF_WRITE:
            name = "data"
        else:
            name = "read-only data"
        result[name] += section.size
    return result


def _boot(image, memory, work):
    """Boot @image with @memory. Return (instructions to the prompt, {name: instructions} of @work)."""
    log = HOME / "logs" / f"cost-{image.folder.name}-{memory}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    counted = ["-icount", "shift=0,sleep=off"]
    with qemu.Machine(image, memory=memory, network=None, extra=counted, log=log) as target:
        try:
            target.wait_prompt(TIMEOUT)
            found = [
                stage for line in target.command("bootstage report", TIMEOUT) if (stage := _STAGE.match(line))
            ]
            if not found:
                raise Failure(f"U-Boot has no record of its boot, see {base.relative(log)}")
            times = {}
            for name, command in work.items():
                # One line, so that waiting for the keyboard is not counted.
                lines = target.command(f"timer start; {command}; timer get", TIMEOUT)
                timer = next((match for line in reversed(lines) if (match := _TIMER.match(line))), None)
                if not timer:
                    raise Failure(f"U-Boot does not say how long '{command}' took, see {base.relative(log)}")
                times[name] = int(timer[1] + timer[2]) * 1_000_000
        except qemu.Stopped as stopped:
            raise Failure(f"U-Boot stopped: {stopped}, see {base.relative(log)}", base.CRASHED) from None
    return int(found[0][1].replace(",", "")) * 1000, times


def figures(image):
    """Measure @image. Return its Figures."""
    boots, work = {}, {}
    for memory in MEMORIES:
        boots[memory], times = _boot(image, memory, {} if work else WORK)
        work = work or times
    return Figures(sizes(image), boots, work)


def table(plain, kasan):
    """Return the two Figures as a table in Markdown."""
    rows = [(f"{name}, bytes", plain.sizes[name], kasan.sizes[name]) for name in plain.sizes]
    rows += [
        (f"reset to prompt, {memory.replace('M', ' MiB').replace('G', ' GiB')} of RAM, instructions", *pair)
        for memory in plain.boots
        for pair in [(plain.boots[memory], kasan.boots[memory])]
    ]
    rows += [(f"{name}, instructions", plain.work[name], kasan.work[name]) for name in plain.work]
    lines = ["| | plain | KASAN | times |", "|---|---:|---:|---:|"]
    for name, before, after in rows:
        ratio = f"{after / before:.2f}" if before else ""
        lines.append(f"| {name} | {before:,} | {after:,} | {ratio} |")
    return "\n".join(lines)


def measure(cc, jobs):
    """Build and measure both; print the table. Returns the exit status."""
    images = [build.build(kasan=kasan, cc=cc, jobs=jobs) for kasan in (False, True)]
    results = []
    for image in images:
        say(f"measuring {base.relative(image.binary)}")
        results.append(figures(image))
    print(table(*results))
    return base.OK
