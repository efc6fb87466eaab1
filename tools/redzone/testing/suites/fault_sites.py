# SPDX-License-Identifier: MIT
"""Every place in the kernel that allocates is refused memory by a test, or is listed with a reason.

The places are the call instructions in the image whose target is an allocation function. KUnit cases
(WALKS) print the call chains of those that they reach, with kasan_test.fault_sites. The compiler's copies of
one source line count as one.

A suite in a running kernel cannot reach some places: the boot itself, programs, modules that are loaded at
boot. Each of those has a boot of its own, with fail_site=.
"""

import re
import struct
from dataclasses import dataclass

from redzone.build import builder
from redzone.core import base
from redzone.core.base import ROOT
from redzone.decode.images import Image
from redzone.elf.file import File
from redzone.elf.symbols import FUNC, symbols
from redzone.machine import qemu
from redzone.run import cpio, each, host_io, module
from redzone.testing.runner import FAIL, Result, result, when
from redzone.testing.suites import kunit

TOOLS = (*builder.KERNEL, "clang-19")
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
        "vrealloc",
        "kvmalloc",
        "kasan_port_alloc",
        "kthread_create",
        "kthread_create_sized",
        "kthread_create_demand",
        "mempool_create",
        "alloc_workqueue",
        "module_space_alloc",
        "mm_alloc",
        "process_create",
        "fpu_attach",
        "malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "aligned_alloc",
    ]
)

# The tests themselves are not tested.
ELSEWHERE = ("kernel/tests/", "kernel/kunit/")

# "file:function function-that-allocates": why no test reaches it.
NOT_REACHED = {
    "runtime/alloc/fifo.c:kasan_fifo_add_page kasan_port_alloc": "ports' heaps; the unit tests refuse it",
    "runtime/alloc/page_heap.c:kasan_page_heap_add kasan_port_alloc": "a unit test refuses it",
    "runtime/track/depot.c:grow_buckets kasan_port_alloc": "seldom; the unit test test_scs refuses it",
    "runtime/track/known.c:grow kasan_port_alloc": "seldom; the unit test test_scs refuses it",
}

# Cases that refuse memory. Those of a suite of its own have to stay there, beside what they need.
WALKS = "fault_*,stack_demand.refused,fpu.without_memory,irq.without_memory,pipe.no_memory"

# The kernel's message about a refusal, in the format of fail_site=.
FORCED = "FAULT_INJECTION: forcing a failure"
SOURCES = ROOT / "tests" / "fault-sites"


@dataclass
class Site:
    """A place that is refused memory in a boot of its own.

    image: which kernel. says: texts that its console must have, in this order. status: how the machine must
    end. times: the number of failures, -1: all.
    """

    place: str
    image: str
    says: list
    status: int = base.OK
    times: int = 1


def _panic(place, text):
    """Without this memory there is no system: the kernel must name what it has no memory for."""
    return Site(place, "redzone", [f"Kernel panic - not syncing: {text}"], base.CRASHED, -1)


SITES = [
    _panic("kernel/init/main.c:start_kernel kthread_create", "no memory for the first thread"),
    _panic(
        "kernel/irq/softirq.c:softirq_init_cpu kthread_create",
        "no memory for the soft interrupts' thread of the boot CPU",
    ),
    _panic("kernel/mm/vmalloc.c:vmalloc_init kmem_cache_create", "kmem_cache_create(vm"),
    _panic("kernel/mm/vmalloc.c:vmalloc_init kmem_cache_alloc", "vmalloc: no memory"),
    _panic("kernel/rcu/callback.c:rcu_callbacks_init kthread_create", "rcu: no memory for the threads"),
    _panic("kernel/rcu/gp.c:rcu_gp_init kthread_create", "rcu: no memory for the grace-period thread"),
    _panic("kernel/sched/fpu.c:fpu_init kmem_cache_create", "kmem_cache_create(fpu_state): no memory"),
    _panic(
        "kernel/sched/kthread.c:kthread_init kmem_cache_create", "kmem_cache_create(task_struct): no memory"
    ),
    _panic("kernel/workqueue/pool.c:pools_init kthread_create", "workqueue: no memory for the rescuer"),
    _panic(
        "kernel/workqueue/queue.c:workqueue_init alloc_workqueue", "workqueue: no memory for the system's"
    ),
    Site(
        "kernel/kasan/sample.c:get_pages alloc_pages",
        "sample",
        ["kasan: no memory for the pool of kasan.sample"],
    ),
    *(
        Site(
            f"kernel/program/program.c:create_thread {function}",
            "files",
            ["program: no memory for its thread"],
            base.PROGRAM_FAILED,
        )
        for function in ("kthread_create_demand", "fpu_attach")
    ),
    *(
        Site(
            f"kernel/program/host.c:program_environ_begin {function}",
            "files",
            ["program: no memory for its environment"],
            base.PROGRAM_FAILED,
        )
        for function in ("kmalloc", "kstrdup")
    ),
    *(
        Site(
            f"kernel/module/boot.c:run {function}",
            "module",
            ["module module: no memory for its thread"],
            base.PROGRAM_FAILED,
        )
        for function in ("kmalloc", "kthread_create_sized")
    ),
    *(
        Site(
            f"kernel/program/{place}",
            each.NAME,
            [
                "not ok 1 files # no memory to begin with: error 12",
                "argument has 0 arguments",
                "ok 2 argument",
            ],
            base.PROGRAM_FAILED,
        )
        for place in (
            "each.c:copy_argv kmalloc",
            "each.c:copy_argv kstrdup",
            "program.c:create_thread kthread_create_demand",
            "program.c:create_thread fpu_attach",
        )
    ),
]


def _calls(elf):
    """Yield (address, name of the called function) of the calls to allocation functions in the image."""
    image = File.open(elf)
    targets = {
        symbol.value: symbol.name
        for symbol in symbols(image)
        if symbol.name in ALLOCATE and symbol.kind == FUNC
    }
    for start, code in image.code():
        for number, (word,) in enumerate(struct.iter_unpack("<I", code[: len(code) // 4 * 4])):
            # BL, with the distance in instructions.
            if word & 0xFC000000 != 0x94000000:
                continue
            distance = (word & 0x3FFFFFF) - ((word & 0x2000000) << 1)
            target = targets.get(start + 4 * (number + distance))
            if target:
                yield start + 4 * number, target


def _places(elf):
    """Return {(place, line): return addresses}, a place being "file:function function-called"."""
    places = {}
    with Image(elf) as image:
        for address, target in _calls(elf):
            # An inline function in a header counts as its caller's code.
            sources = [s for s in image.lines_at(address) if s.line and "/include/" not in s.path]
            if not sources:
                continue
            path = sources[0].path.removeprefix(f"{ROOT}/")
            if not path.startswith(ELSEWHERE):
                key = (f"{path}:{sources[0].function} {target}", sources[0].line)
                places.setdefault(key, set()).add(address + 4)
    return places


def _build(context, folder):
    """Return {Site.image: (builder.Image, boot parameters)}, and the initrd that all of them use."""
    files, argument, loaded = (SOURCES / f"{name}.c" for name in ("files", "argument", "module"))
    modules = module.programs([loaded])
    programs = [
        builder.Program("files", [files]),
        builder.Program(each.NAME, [files, argument], function="redzone_add_programs"),
        *modules,
    ]
    built = context.build(builder.preset_name(), targets=["redzone"], programs=programs, copy_to=folder)
    text = folder / "input"
    text.write_text("one\ntwo\n", encoding="utf-8")
    pairs = module.files(modules, built)
    more = {f"{host_io.PRIVATE}environ": b"ONE=1\0TWO=2\0"}
    return {
        "redzone": (built["redzone"], []),
        "sample": (built["redzone"], ["kasan.sample=100", "kunit.filter_glob=params"]),
        "files": (built["files"], []),
        each.NAME: (built[each.NAME], ["each.timeout_ms=10000", "each.key=key", "each.first=1"]),
        "module": (built["redzone"], [module.parameter(pairs)]),
    }, cpio.pack([("input", text), *pairs], folder, more)


def _in_order(wanted, lines):
    """Return the first of the texts @wanted that is missing or out of order, or None."""
    rest = iter(lines)
    return next((text for text in wanted if not any(text in line for line in rest)), None)


def _wrong(site, outcome, lines):
    """Return what is wrong with the boot that refused @site, as a list of texts."""
    missing = _in_order([FORCED, *site.says], lines)
    wrong = when(missing, f"no line, or not in its place: {missing}")
    if outcome.status != site.status:
        wrong.append(f"ended with status {outcome.status}, expected {site.status}: {outcome.message}")
    return wrong + [f"a report: {report.type}" for report in outcome.reader.reports]


def _refuse(context, site, number, image, append, initrd, addresses):
    """Boot with the copies of one line refused, one after the other. Return the Result."""
    name = f"{site.image}/{site.place.split('/')[-1]}.{number}".replace(" ", ".").replace(":", ".")
    wrong, reached, log = [], False, None
    for address in sorted(addresses):
        parameters = [*append, f"fail_site={address:x},{site.times}"]
        target = qemu.Machine(image.image, append=parameters, initrd=initrd, timeout=TIMEOUT)
        outcome, lines, log = context.boot(f"{name}-{address:x}", target)
        # This boot does not reach a copy for another caller, and so ends like any other.
        if any(FORCED in line for line in lines):
            reached = True
            wrong += _wrong(site, outcome, lines)
    wrong += when(not reached, "the boot does not come by here")
    return result(name, wrong, log)


def _boots(context, images, initrd, places):
    """Yield (Result, place) for each line of each of SITES. @places: the kernel's, from _places()."""
    known = {"redzone": places, "module": places}

    def one(item):
        site, number, addresses = item
        image, append = images[site.image]
        return _refuse(context, site, number, image, append, initrd, addresses), site.place

    work = []
    for site in SITES:
        if site.image not in known:
            known[site.image] = _places(images[site.image][0].elf)
        found = [
            addresses for (place, _), addresses in sorted(known[site.image].items()) if place == site.place
        ]
        if not found:
            yield Result(f"{site.image}.{site.place}", FAIL, "there is no such place"), site.place
        work += [(site, number, addresses) for number, addresses in enumerate(found, 1)]
    yield from context.each(one, work)


def run(context):
    with base.scratch("fault-sites-") as folder:
        images, initrd = _build(context, folder)
        built = images["redzone"][0]
        target = qemu.Machine(
            built.image,
            smp=4,
            append=[f"kunit.filter_glob={WALKS}", "kasan_test.fault_sites"],
            timeout=TIMEOUT,
        )
        walks = kunit.boot(context, "walks", target)
        lines, log = walks.lines, walks.log
        yield result("walks", walks.wrong, log)

        reached = set()
        for line in lines:
            match = re.search(r": site:((?: [0-9a-f]+)+)$", line)
            reached.update(int(word, 16) for word in match[1].split()) if match else None
        places = _places(built.elf)
        own_boots = set()
        for one, place in _boots(context, images, initrd, places):
            own_boots.add(place)
            yield one
        missing = [
            f"{place} (line {line})"
            for (place, line), addresses in sorted(places.items())
            if not addresses & reached and place not in own_boots and place not in NOT_REACHED
        ]
        by_walks = sum(bool(addresses & reached) for addresses in places.values())
        by_boots = sum(place in own_boots and not a & reached for (place, _), a in places.items())
        context.note(
            f"{len(places)} places allocate: {by_walks} refused by walks, {by_boots} by boots of their own"
        )
        yield result("reached", [f"nothing reaches {place}" for place in missing], log)
        gone = sorted(set(NOT_REACHED) - {place for place, _ in places})
        yield result("listed", [f"there is no such place: {place}" for place in gone])
