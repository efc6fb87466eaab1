# SPDX-License-Identifier: MIT
"""Off by default: the page's owner, the page quarantine; with --rest CPU and time of allocation and free, and
all suites with a page quarantine."""

import re

from redzone.build.builder import KERNEL, preset_name
from redzone.machine import qemu
from redzone.testing.runner import result

TOOLS = (*KERNEL, "clang-19")
OPTIONS = ("rest",)
TIMEOUT = 600

_FRAME = r" [\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+"
_PAGE = [
    r"page dumped because: kasan: bad access detected",
    r"page_owner tracks the page as freed",
    r"page last allocated via order 2, gfp_mask 0x[0-9a-f]+\(GFP_KERNEL\), "
    r"pid \d+, tgid \d+ \(kunit_try_catch\), ts \d+, free_ts \d+",
    _FRAME,
    r"page last free pid \d+ tgid \d+ stack trace:",
    _FRAME,
]
_LARGE_WORK = [
    r"BUG: KASAN: use-after-free in kfree_rcu_large_uaf\+0x.*",
    r"Freed by task \d+:",
    r"Last potentially related work creation:",
    r" call_rcu\+0x.*",
    r" kfree_rcu_large_uaf\+0x.*",
    r" which belongs to the cache kmalloc-large of size \d+",
]
_TRACK = r"(Allocated|Freed) by task \d+ on cpu \d+ at \d+\.\d{6}s:"
# The kernel's test case that knows which CPUs they must be.
_CPUS = "cpus_of_allocation_and_free"


def text_of(lines):
    """Return the console lines without their timestamps."""
    return [re.sub(r"^\[ *\d+\.\d{6}\] ", "", line) for line in lines]


def missing_in_order(patterns, lines):
    """Return the first of @patterns that is missing or out of order, or None."""
    rest = iter(lines)
    for pattern in patterns:
        if not any(re.fullmatch(pattern, line) for line in rest):
            return pattern
    return None


def boot(context, name, image, *append):
    arguments = ["kasan_multi_shot", "kunit.filter_glob=" + append[0], *append[1:]]
    target = qemu.Machine(image.image, smp=4, append=arguments, timeout=TIMEOUT)
    outcome, lines, log = context.boot(name, target)
    return outcome, text_of(lines), log


def totals(lines, suite):
    """Return (passed, failed, skipped) of a suite, None if it did not end."""
    found = (re.fullmatch(rf"# {suite}: pass:(\d+) fail:(\d+) skip:(\d+) total:\d+", line) for line in lines)
    return next((tuple(map(int, match.groups())) for match in found if match), None)


def page_quarantine(context, image):
    """A late access to a page that is reused at once is found with a page quarantine, and not without."""
    held = ("kasan.page_quarantine=4M", "page_owner=on")
    outcome, lines, log = boot(context, "page-quarantine-missed", image, "page_quarantine")
    wrong = None
    if totals(lines, "page_quarantine") != (1, 0, 4) or outcome.reader.reports:
        wrong = "without it the case immediate_reuse must pass, without a report, and no other run"
    yield result("page-quarantine.missed-without", wrong, log)

    outcome, lines, log = boot(context, "page-quarantine-caught", image, "page_quarantine", *held)
    counts = totals(lines, "page_quarantine")
    wrong = None if counts == (5, 0, 0) and outcome.reader.reports else outcome.message or "cases failed"
    if sum("page_quarantine: full at 1024 pages" in line for line in lines) != 1:
        wrong = "that the bound is reached must be said once"
    yield result("page-quarantine.caught-with", wrong, log)

    outcome, lines, log = boot(context, "page-quarantine-report", image, "kasan.page_alloc_uaf", *held)
    missing = missing_in_order([r"flags: 0x[0-9a-f]+\(head\|quarantine\)", *_PAGE], lines)
    yield result("page-quarantine.report", missing and f"no line is: {missing}", log)


def all_suites(context, image):
    """All suites with a page quarantine."""
    held = ("kasan.page_quarantine=4M", "page_owner=on")
    outcome, lines, log = boot(context, "page-quarantine-all", image, "*", *held)
    failed = [line for line in lines if line.startswith("not ok")]
    wrong = "\n".join(failed) or (
        None if outcome.reader.halted else "the kernel did not say that it was done"
    )
    yield result("page-quarantine.all-suites", wrong, log)


def live_objects_wrong(lines):
    """Return what is wrong with how a destroyed cache names its live objects, or None."""
    text = "\n".join(lines)
    wanted = re.search(r"destroy_with_live_objects: live (\w+) (\w+) (\w+)$", text, re.MULTILINE)
    named = re.findall(r"^Object 0x([0-9a-f]{16}) @offset=\d+$", text, re.MULTILINE)
    if not wanted or sorted(wanted.groups()) != sorted(named):
        return f"named are {named}, live are {wanted and wanted.groups()}"
    if "BUG leaky: Objects remaining on kmem_cache_destroy()" not in text:
        return "no line says which cache"
    return None


def wrong_cache_wrong(lines):
    """Return what is wrong with the warnings about objects that are freed into another cache, or None."""
    said = r"kmem_cache_free: object [0-9a-f]{16} is of cache (\S+), not of wrong"
    named = [match.group(1) for match in (re.fullmatch(said, line) for line in lines) if match]
    return None if named == ["right", "kmalloc-64"] else f"warned was of {named}"


def page_owner(context, image):
    """The trace of who had the page, which page_owner=on prints."""
    outcome, lines, log = boot(context, "page-owner", image, "kasan.page_alloc_uaf", "page_owner=on")
    missing = missing_in_order(_PAGE, lines)
    yield result("page-owner.report", missing and f"no line is: {missing}", log)

    outcome, lines, log = boot(context, "page-owner-suite", image, "page_owner", "page_owner=on")
    wrong = None if "# Totals: pass:3 fail:0 skip:0 total:3" in lines else outcome.message or "cases failed"
    yield result("page-owner.suite", wrong, log)

    outcome, lines, log = boot(context, "page-owner-pools", image, "kasan_mempool", "page_owner=on")
    counts = totals(lines, "kasan_mempool")
    wrong = None if counts and counts[0] and counts[1:] == (0, 0) else outcome.message or "cases failed"
    yield result("page-owner.pools", wrong, log)

    outcome, lines, log = boot(context, "page-owner-off", image, "kasan.page_alloc_uaf")
    wrong = next((line for line in lines if "page_owner" in line or "last allocated" in line), None)
    yield result("page-owner.off-by-default", wrong, log)

    outcome, lines, log = boot(context, "page-owner-wrong", image, "kasan.page_alloc_uaf", "page_owner=maybe")
    said = any(
        line.startswith('Malformed kernel parameter page_owner="maybe": expected on|off') for line in lines
    )
    yield result("page-owner.wrong-value", None if said else "no line names it and what is accepted", log)


def objects(context, image):
    """Live objects of a destroyed cache, objects of another cache, work of large objects."""
    _, lines, log = boot(context, "live-objects", image, "slab.destroy_with_live_objects")
    yield result("live-objects.named", live_objects_wrong(lines), log)
    _, lines, log = boot(context, "wrong-cache", image, "slab.free_into_wrong_cache")
    wrong = wrong_cache_wrong(lines) if "ok 1 slab" in lines else "the case failed"
    yield result("wrong-cache.warned", wrong, log)

    _, lines, log = boot(context, "large-work", image, "kasan.kfree_rcu_large_uaf")
    missing = missing_in_order(_LARGE_WORK, lines)
    yield result("large-work.creation", missing and f"no line is: {missing}", log)


def run(context):
    image = context.build(preset_name(), targets=["redzone"])["redzone"]
    if context.rest:
        yield from extra_info(context)
        yield from all_suites(context, image)
        return
    parts = (page_owner, page_quarantine, objects)
    for results in context.each(lambda part: list(part(context, image)), parts):
        yield from results


def extra_info(context):
    """CPU and time of allocation and free: a kernel of its own, which no other suite needs."""
    ready, skipped = context.kernels(
        [("generic",)], lambda one: preset_name(variant="extra-info"), lambda one: "extra-info"
    )
    yield from skipped
    for _, image in ready:
        yield from _extra_info(context, image)


def _extra_info(context, image):
    _, lines, log = boot(context, "extra-info", image, f"kasan,kasan_text.{_CPUS}")
    tracks = [line for line in lines if re.match(r"(Allocated|Freed) by task ", line)]
    odd = [line for line in tracks if not re.fullmatch(_TRACK, line)]
    failed = [line for line in lines if line.startswith("not ok")]
    wrong = "\n".join(odd[:5] + failed) or (None if tracks else "no track was printed")
    yield result("extra-info.report", wrong, log)
    passed = any(re.fullmatch(rf"ok \d+ {_CPUS}", line.strip()) for line in lines)
    yield result("extra-info.cpus", None if passed else f"{_CPUS} did not pass", log)
