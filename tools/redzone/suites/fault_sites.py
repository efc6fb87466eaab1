# SPDX-License-Identifier: MIT
"""Every place of the kernel that allocates has been refused memory by a test, or says here why not.

The places are the call instructions of the image whose target is an allocation function; those that were
reached are in the call chains that the KUnit suites fault_* print with kasan_test.fault_sites. Copies that
the compiler made of one source line count as one.
"""

import re
import struct

from elftools.elf.elffile import ELFFile

from redzone import base, builder, ktap, machine
from redzone.base import ROOT
from redzone.runner import FAIL, PASS, Result
from redzone.suites.kunit import end_error
from redzone.symbolize import Symbolizer

TOOLS = ("cmake", "ninja", "clang-19", "lld", "nm", "objcopy", "qemu-arm64")
TIMEOUT = 300

ALLOCATE = frozenset(
    [
        "kmalloc",
        "kmalloc_large",
        "krealloc",
        "kmem_cache_alloc",
        "kmem_cache_alloc_bulk",
        "kmem_cache_create",
        "kmemdup",
        "kstrdup",
        "kstrndup",
        "kasprintf",
        "kvasprintf",
        "alloc_pages",
        "alloc_pages_exact",
        "page_alloc_raw",
        "vmalloc",
        "vzalloc",
        "__vmalloc",
        "__vmalloc_align",
        "kvmalloc",
        "kasan_port_alloc",
        "kthread_create",
        "kthread_create_sized",
        "mempool_create",
        "alloc_workqueue",
        "module_space_alloc",
        "mm_alloc",
        "process_create",
        "malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "aligned_alloc",
        "strdup",
        "strndup",
    ]
)

# Tests are not tested.
ELSEWHERE = ("kernel/tests/", "kernel/kunit/", "kernel/bench/", "kernel/soak/")

_BOOT = "at boot: without it there is no system, and it says so or cannot go on"
_TABLES = "the runtime's own tables: fault_inject.runtime_tables, which looks at what comes of it instead"
_PROGRAM = "in an image with programs only"
_FILE = "needs an open file, of which this image has none"
_SECOND = (
    "another way when the first has failed, or pages of which areas has thousands: one failure at a time"
)
_SPARE = "spare objects are taken first, so it is asked too seldom to rely on it"
_MODULES = "module.load= only; the loader is walked"

# File:function function-that-allocates: why no walk reaches it.
NOT_REACHED = {
    "kernel/init/main.c:start_kernel kthread_create": _BOOT,
    "kernel/mm/vmalloc.c:vmalloc_init kmem_cache_create": _BOOT,
    "kernel/mm/vmalloc.c:vmalloc_init kmem_cache_alloc": _BOOT,
    "kernel/rcu/callback.c:rcu_callbacks_init kthread_create": _BOOT,
    "kernel/rcu/gp.c:rcu_gp_init kthread_create": _BOOT,
    "kernel/sched/kthread.c:kthread_init kmem_cache_create": _BOOT,
    "kernel/workqueue/pool.c:pools_init kthread_create": _BOOT,
    "kernel/workqueue/queue.c:workqueue_init alloc_workqueue": _BOOT,
    "kernel/mm/kasan_glue.c:kasan_port_alloc page_alloc_raw": _TABLES,
    "runtime/track/depot.c:reserve kasan_port_alloc": _TABLES,
    "runtime/track/quarantine.c:make_chunks kasan_port_alloc": _TABLES,
    "runtime/track/fifo.c:add_page kasan_port_alloc": "heaps of ports; the unit tests refuse it",
    "kernel/mm/slab_api.c:slab_new alloc_pages_exact": _SECOND,
    "kernel/mm/util.c:kvmalloc __vmalloc": _SECOND,
    "kernel/ulib/malloc.c:malloc_large __vmalloc": _SECOND,
    "kernel/mm/vmalloc.c:new_area kmem_cache_alloc": _SPARE,
    "kernel/mm/vmalloc.c:new_range kmem_cache_alloc": _SPARE,
    "kernel/module/loader.c:add_use krealloc": "a module that uses another: there is no walk of two",
    "kernel/workqueue/pool.c:create_worker kthread_create": "one of its two lines, for workers without a CPU",
    "kernel/module/boot.c:run kthread_create_sized": _MODULES,
    "kernel/module/boot.c:find_file kasprintf": _MODULES,
    "kernel/ulib/each.c:copy_argv kmalloc": _PROGRAM,
    "kernel/ulib/each.c:copy_argv kstrdup": _PROGRAM,
    "kernel/ulib/program.c:create_thread kthread_create_sized": _PROGRAM,
    "kernel/ulib/stdio.c:fopen calloc": _FILE,
    "kernel/ulib/stdio.c:getline realloc": _FILE,
}


def _calls(elf):
    """Yield (address, name of the function called) of the calls of allocation functions in the image."""
    with open(elf, "rb") as file:
        image = ELFFile(file)
        targets = {
            symbol["st_value"]: symbol.name
            for symbol in image.get_section_by_name(".symtab").iter_symbols()
            if symbol.name in ALLOCATE and symbol["st_info"]["type"] == "STT_FUNC"
        }
        for segment in image.iter_segments():
            if segment["p_type"] != "PT_LOAD" or not segment["p_flags"] & 1:
                continue
            code = segment.data()
            words = struct.iter_unpack("<I", code[: len(code) // 4 * 4])
            for address, (word,) in enumerate(words):
                # BL, with the distance in instructions.
                if word & 0xFC000000 != 0x94000000:
                    continue
                distance = (word & 0x3FFFFFF) - ((word & 0x2000000) << 1)
                target = targets.get(segment["p_vaddr"] + 4 * (address + distance))
                if target:
                    yield segment["p_vaddr"] + 4 * address, target


def _places(elf):
    """Return {(place, line): return addresses}, a place being "file:function function-called"."""
    places = {}
    with Symbolizer(elf) as symbolizer:
        for address, target in _calls(elf):
            # What is inline in a header is the caller's.
            sources = [s for s in symbolizer.look_up(address) if "/include/" not in s.path]
            if not sources:
                continue
            path = sources[0].path.removeprefix(f"{ROOT}/")
            if not path.startswith(ELSEWHERE):
                key = (f"{path}:{sources[0].function} {target}", sources[0].line)
                places.setdefault(key, set()).add(address + 4)
    return places


def run(context):
    built = context.build(builder.preset_name(), targets=["redzone"])["redzone"]
    target = machine.Machine(
        built.image, smp=4, append=["kunit.filter_glob=fault_*", "kasan_test.fault_sites"], timeout=TIMEOUT
    )
    outcome, lines, log = context.boot("walks", target)
    parsed = ktap.parse(lines)
    wrong = [f"{case.name}: {case.detail}" for case in parsed.cases if case.status == FAIL] + parsed.errors
    wrong += [error for error in [end_error(outcome)] if error]
    yield Result("walks", FAIL if wrong else PASS, "\n".join(wrong), log)

    reached = set()
    for line in lines:
        match = re.search(r": site:((?: [0-9a-f]+)+)$", line)
        reached.update(int(word, 16) for word in match[1].split()) if match else None
    places = _places(built.elf)
    missing = [
        f"{place} (line {line})"
        for (place, line), addresses in sorted(places.items())
        if not addresses & reached and place not in NOT_REACHED
    ]
    base.say(f"{len(places)} places allocate, {sum(bool(a & reached) for a in places.values())} reached")
    yield Result("reached", FAIL if missing else PASS, "\n".join(["no walk reaches:", *missing]), log)
    gone = sorted(set(NOT_REACHED) - {place for place, _ in places})
    yield Result("listed", FAIL if gone else PASS, "\n".join(["there is no such place:", *gone]))
