# SPDX-License-Identifier: MIT
"""The compact shadow on two CPUs: objects of both share bytes of it, and no bit is lost."""

import re
import shutil

from kit import ROOT, call, change, make_template, qemu
from redzone.testing.needs import first

IMAGES = ROOT / "tests" / "porting" / "images"
DEFINES = (
    "CONFIG_KASAN_SHADOW_COMPACT=1",
    "CONFIG_KASAN_NR_CPUS=2",
    "CONFIG_KASAN_DEPOT_SIZE=65536UL",
    "CONFIG_KASAN_DEPOT_BUCKETS=256",
)
# What the example, which has one CPU, needs for a second one: {file: [(old, new)]}.
CHANGES = {
    "start.S": [
        (
            "3:\tbnez\tt0, 3b\n",
            "\tbeqz\tt0, 3f\n4:\tlla\tt1, second_sp\n\tld\tsp, 0(t1)\n\tbeqz\tsp, 4b\n\tfence\trw, rw\n"
            "\tmv\ts0, zero\n\tmv\tra, zero\n\tcall\tsecond_main\n3:\n",
        )
    ],
    "port.c": [
        ('#include "log.h"\n', '#include "log.h"\n#include "second.h"\n'),
        (
            "{\n\treturn 0;\n}",
            '{\n\tunsigned long hart;\n\n\t__asm__ volatile("csrr %0, mhartid" : "=r"(hart));\n'
            "\treturn (unsigned int)hart;\n}",
        ),
        (
            "\ttask->stack_end = (uintptr_t)__stack_end;\n",
            "\ttask->stack_end = (uintptr_t)__stack_end;\n\tif (kasan_port_cpu()) {\n"
            "\t\ttask->stack_start = (uintptr_t)second_stack;\n"
            "\t\ttask->stack_end = (uintptr_t)second_stack + sizeof(second_stack);\n\t}\n",
        ),
        (
            "\tvoid *block = pool + used;\n\n\tif (size > POOL_SIZE - used)\n"
            "\t\treturn NULL;\n\tused += size;\n",
            "\tvoid *block = NULL;\n\n\tlock_memory();\n\tif (size <= POOL_SIZE - used) {\n"
            "\t\tblock = pool + used;\n\t\tused += size;\n\t}\n\tunlock_memory();\n",
        ),
    ],
    "heap.c": [
        ('#include "heap.h"\n', '#include "heap.h"\n#include "second.h"\n'),
        (
            "= board_lock();\n\tvoid *raw = raw_malloc(size);\n",
            "= 0;\n\tvoid *raw;\n\n\tlock_memory();\n\traw = raw_malloc(size);\n",
        ),
        ("= board_lock();\n\n\traw_free(raw);\n", "= 0;\n\n\tlock_memory();\n\traw_free(raw);\n"),
        ("\tboard_unlock(flags);\n", "\tunlock_memory();\n\tboard_unlock(flags);\n"),
    ],
}


@first(1, "cc", ["clang-19", "gcc"])
def test_the_compact_shadow_on_two_cpus(tree, cc):
    for name, changes in CHANGES.items():
        change(tree / name, *changes)
    shutil.copy(IMAGES / "compact_smp.c", tree / "main.c")
    shutil.copy(IMAGES / "second.h", tree)
    elf, _ = make_template(
        tree,
        "riscv64",
        cc,
        "WHERE=outline",
        "KASAN_STACK=0",
        "KASAN_GLOBALS=0",
        "KASAN_SHADOW_OFFSET=",
        f"KASAN_DEFINES={' '.join(DEFINES)}",
        # Slab and page allocators, which this shadow has no hooks for, are dropped.
        "libgcc=-Wl,--gc-sections",
    )
    machine = [*qemu("riscv64", "generic"), "-smp", "2", "-m", "128M", "-nographic", "-nic", "none"]
    console = call([*machine, "-kernel", elf], tree).replace("\r", "")
    assert "smp: wrong 00\nsmp: reports in traffic 00\n" in console, console
    assert "smp: reports 04\n" in console, console
    kinds = re.findall(r"^BUG: KASAN: ([\w-]+) in ", console, re.MULTILINE)
    assert kinds == ["slab-out-of-bounds", "slab-use-after-free"] * 2, console
    assert "CPU: 0 " in console and "CPU: 1 " in console
