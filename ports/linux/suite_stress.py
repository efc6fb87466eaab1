# SPDX-License-Identifier: MIT
"""Linux with Redzone under stress-ng, on 4 CPUs, beside a module that has a bug every second.

Each bug must be reported, and nothing else; memory must not be used up, and Linux must not hang. Both
tag-based modes are booted once more without stack traces. --seconds: of stress in each boot (default: 1800).
--filter chooses kernels, for example 'arm64-sw_tags*'. It fetches Debian's stress-ng for arm64 (9 MB).
"""

import re

from redzone.core import apt, base
from redzone.decode.shapes import AGAIN
from redzone.machine import console
from redzone.testing.runner import SKIP, Result, result

from .host import boot, build, disk, source
from .suite import HOOK, makes

SLOW = True
OPTIONS = ("seconds", "filter")
TOOLS = (*build.TOOLS, "qemu-arm64", "xz")
SECONDS = 1800
# Those of the suite `linux` are named in the same way.
KERNELS = tuple(("arm64", mode, "clang", "stress") for mode in ("generic-inline", "sw_tags", "hw_tags"))
# Without traces the port handles most objects in line.
TRACELESS = ("kasan.stacktrace=off",)
HOME = source.HOME / "stress-ng"
# The parts of the packages that the program reads.
WANTED = ("lib", "usr/bin", "usr/lib", "etc/ld.so.conf")
# Memory, processes, pipes, files, timers: several of each, more than CPUs.
STRESSORS = {
    "vm": 2,
    "mmap": 1,
    "brk": 1,
    "fork": 2,
    "clone": 1,
    "pipe": 2,
    "sockpair": 1,
    "dentry": 1,
    "dir": 1,
    "file-ioctl": 1,
    "hdd": 1,
    "open": 1,
    "timer": 1,
    "timerfd": 1,
    "futex": 1,
    "sem": 1,
    "shm-sysv": 1,
    "msg": 1,
}
AMOUNTS = {
    "vm-bytes": "32M",
    "mmap-bytes": "16M",
    "hdd-bytes": "4M",
    "shm-sysv-bytes": "4M",
}
MEMORY = "2G"
# What may be used more after the stress than before it: the quarantine, 1/32 of memory, and the depot.
GROWTH_KIB = 160 * 1024
_PLANTED = re.compile(r"redzone-bug: ([\w-]+)")
_BUG = re.compile(r"BUG: KASAN: ([\w-]+)")
_FREE = re.compile(r"MemFree: +(\d+) kB")
# The titles of each bug, in all modes.
TITLES = {
    "read-after-free": ("slab-use-after-free", "invalid-access"),
    "write-after-free": ("slab-use-after-free", "invalid-access"),
    "read-past-the-end": ("slab-out-of-bounds", "slab-use-after-free", "invalid-access"),
    "double-free": ("double-free", "invalid-free"),
}


def wrong_with(lines, once=False):
    """Return what is wrong with the console @lines: bugs without a report, reports of no bug, and more.

    @once: a CPU finds one bad access. Linux switches its checks of hardware tags off after the first."""
    wrong, planted, reported = [], 0, 0
    waiting = None
    for line in lines:
        text = console.split(line)[1]
        bug, report = _PLANTED.search(text), _BUG.search(text)
        if bug:
            if waiting and not (once and reported and waiting != "double-free"):
                wrong.append(f"bug {planted}, {waiting}: no report")
            planted += 1
            waiting = bug[1]
        elif report or AGAIN.search(text):
            reported += 1
            if waiting is None:
                wrong.append(f"a report of no bug: {text.strip()}")
            elif report and report[1] not in TITLES[waiting]:
                wrong.append(f"bug {planted}, {waiting}: {text.strip()}")
            elif report and HOOK.search(text):
                wrong.append(
                    f"bug {planted}, {waiting}: its report names KASAN's own function: {text.strip()}"
                )
            waiting = None
        elif (
            "WARNING: CPU: " in text
            or "redzone: failed: " in text
            or "soft lockup" in text
            or "rcu_sched self-detected stall" in text
        ):
            wrong.append(text.strip())
    free = [int(match[1]) for match in map(_FREE.search, lines) if match]
    if len(free) != 2:
        wrong.append("the stress did not end")
    elif free[0] - free[1] > GROWTH_KIB:
        wrong.append(f"{free[0] - free[1]:,} KiB less memory is free after it")
    if not planted:
        wrong.append("no bug was planted")
    return wrong


def _root():
    """Return {name: bytes or Link}: stress-ng and its libraries."""
    root = HOME / "root"
    HOME.mkdir(parents=True, exist_ok=True)
    with base.locked(HOME):
        if not root.is_dir():
            base.say(f"fetching Debian's stress-ng for arm64 (9 MB) into {base.relative(HOME)}")
            apt.unpack(apt.fetch(HOME / "apt", ("stress-ng",), "arm64"), root)
    return {name: data for name, data in disk.contents(root).items() if name.startswith(WANTED)}


# A CPU that goes leaves a queue of freed objects, and gets it again when it comes back.
CPU = "/sys/devices/system/cpu/cpu3/online"
# What init does. The program's options are in a file.
SCRIPT = (
    "mount proc /proc",
    "mount sysfs /sys",
    "mount tmpfs /tmp",
    "show /proc/meminfo",
    "load /bugs.ko",
    *(f"write {CPU} {state}" for state in (0, 1) * 3),
    "run /usr/bin/stress-ng --job /job",
    "show /proc/meminfo",
)


def job(seconds):
    """Return stress-ng's options for @seconds, as the bytes of its job file."""
    options = {**STRESSORS, **AMOUNTS, "temp-path": "/tmp", "timeout": f"{seconds}s"}
    lines = ["run parallel", "oomable", *(f"{name} {value}" for name, value in options.items())]
    return "".join(f"{line}\n" for line in lines).encode()


def run(context):
    seconds = int(context.seconds or SECONDS)
    tree = source.tree()
    chosen = makes(tree, KERNELS, context.jobs, context.filter)
    root = _root()
    for (arch, mode, compiler, _), make in chosen:
        reason = context.missing(*build.tools(arch, compiler))
        if reason:
            yield Result(mode, SKIP, reason)
            continue
        image = build.build(make)
        initrd = disk.script(image, SCRIPT, {**root, "job": job(seconds), **disk.own_modules(make)})
        machine = {"smp": 4, "memory": MEMORY, "initrd": initrd, "timeout": 600 + 10 * seconds}
        boots = {mode: ()}
        if mode.endswith("_tags"):
            boots[f"{mode}-stacktrace-off"] = TRACELESS
        for name, parameters in boots.items():
            log = source.HOME / "logs" / f"stress-{name}.log"
            session = boot.run(image, log, ["kunit.enable=0", "kasan_multi_shot", *parameters], **machine)
            wrong = wrong_with(session.lines, once=mode == "hw_tags")
            yield result(name, [*([session.ended] if session.ended else []), *wrong], log)
