# SPDX-License-Identifier: MIT
"""Linux's KASAN suite inside Linux, with Redzone and with Linux's own KASAN on the same machine.

It fetches Debian's source the first time, and builds two kernels for each row of BOOTS: about two hours on
two CPUs. With --quick it does so for arm64, Generic mode with inline checks, only. --filter chooses kernels,
for example 'x86_64-*,*+scs'. --arch names an architecture; `--arch all` takes the first kernel of each.
"""

import fnmatch
import itertools
import re
import statistics

from redzone.core import base
from redzone.core.base import Failure, say
from redzone.decode.decoder import Decoder
from redzone.kit import ports
from redzone.machine import ktap
from redzone.testing.runner import FAIL, PASS, SKIP, Result, result
from redzone.testing.suites import syzkaller

from .host import apply, bench, boot, build, disk, source

SLOW = True
QUICK = "part"
OPTIONS = ("filter", "arch", "linux")
TOOLS = (*build.TOOLS, "qemu-arm64", "xz")

# {(architecture, mode, compiler, names of further options): [(CPUs, boot parameters)]}: the kernels and the
# boots of each.
BOOTS = {
    ("arm64", "generic-inline", "clang"): [(1, ()), (4, ())],
    ("arm64", "generic-outline", "clang"): [(1, ())],
    # Without traces the port handles most objects in line.
    ("arm64", "sw_tags", "clang"): [(1, ()), (4, ("kasan.stacktrace=off",))],
    ("arm64", "hw_tags", "clang"): [
        (1, ()),
        (4, ("kasan.stacktrace=off",)),
        (1, ("kasan.mode=async",)),
        (1, ("kasan.mode=asymm",)),
    ],
    ("arm64", "generic-inline", "gcc"): [(1, ())],
    ("arm64", "generic-outline", "gcc"): [(1, ())],
    ("arm64", "generic-inline", "clang", "scs"): [(4, ())],
    # So small that objects leave the quarantine, which must not take a lock that sleeps.
    ("arm64", "generic-inline", "clang", "rt", "lockdep"): [(4, ("kasan.quarantine_size=1M",))],
    ("arm64", "generic-inline", "clang", "debug", "nmi"): [(1, ())],
    ("arm64", "generic-inline", "clang", "lockdep"): [(4, ())],
    ("arm64", "generic-inline", "clang", "module"): [(1, ())],
    ("arm64", "sw_tags", "clang", "module"): [(1, ())],
    ("arm64", "hw_tags", "clang", "module"): [(1, ())],
    ("arm64", "generic-inline", "clang", "kunit-all"): [(4, ("kasan_multi_shot",))],
    ("arm64", "sw_tags", "clang", "kunit-all"): [(4, ("kasan_multi_shot",))],
    ("arm64", "hw_tags", "clang", "kunit-all"): [(4, ("kasan_multi_shot",))],
    ("x86_64", "generic-inline", "clang"): [(1, ()), (4, ())],
    ("x86_64", "generic-outline", "clang"): [(1, ())],
    # Without it traces come from the tables of the ORC unwinder.
    ("x86_64", "generic-inline", "clang", "frame-pointer"): [(1, ())],
    ("x86_64", "generic-inline", "gcc"): [(4, ())],
    # Linux gets a part of the machine's memory. More is added later, and a block goes offline: HOTPLUG.
    ("x86_64", "generic-inline", "clang", "module", "hotplug", "no-vmalloc"): [
        (1, ()),
        (1, ("nokaslr", "mem=768M", "kernelcore=200M")),
    ],
    ("x86_64", "generic-inline", "clang", "kunit-all"): [(4, ("kasan_multi_shot",))],
    # KFENCE would take some of the objects that KASAN's suite has bugs in.
    ("x86_64", "generic-inline", "clang", "lockdep", "fuzz"): [(4, ("kfence.sample_interval=0",))],
    ("arm64", "generic-inline", "clang", "pages-16k"): [(1, ())],
    ("arm64", "generic-inline", "clang", "pages-64k"): [(1, ())],
    ("riscv", "generic-inline", "clang"): [(1, ())],
    ("s390", "generic-inline", "clang"): [(1, ()), (4, ())],
    ("arm", "generic-inline", "clang"): [(1, ()), (4, ())],
    ("arm", "generic-inline", "clang", "frame-pointer"): [(1, ())],
    ("arm", "generic-inline", "gcc"): [(1, ())],
    ("loongarch", "generic-outline", "clang"): [(1, ())],
    ("powerpc", "generic-outline", "clang"): [(1, ()), (4, ())],
    ("powerpc", "generic-outline", "clang", "pages-4k"): [(1, ())],
}
# With --linux 7, of Debian's unstable suite.
BOOTS_7 = {
    ("arm64", "generic-inline", "clang", "no-net"): [(1, ()), (4, ())],
    ("arm64", "hw_tags", "clang", "no-net"): [
        (1, ()),
        (1, ("kasan.mode=async",)),
        (1, ("kasan.write_only=on",)),
    ],
    ("arm64", "sw_tags", "clang", "no-net"): [(1, ())],
    ("x86_64", "generic-inline", "clang", "no-net"): [(1, ()), (4, ())],
}
# What Linux prints of its own depot, unless kasan/depot.c has stopped it.
DEPOT = "stackdepot: allocating hash table via alloc_large_system_hash"
# Those that run without a wish for them; the others take ten minutes each.
DEFAULT = tuple(
    kernel
    for kernel in BOOTS
    if kernel[0] in ("arm64", "x86_64") and not {"pages-16k", "pages-64k"} & {*kernel}
)
# Kernels that get NMIs in one more boot: QEMU's options and boot parameters of it.
NMIS = {
    ("arm64", "generic-inline", "clang", "debug", "nmi"): (
        ("-machine", "gic-version=3"),
        # Linux must not make them rarer because the handler takes long.
        ("irqchip.gicv3_pseudo_nmi=1", "sysctl.kernel.perf_cpu_time_max_percent=0"),
    ),
    ("x86_64", "generic-inline", "clang"): ((), ()),
    # Linux 7, where NMIs also allocate and free.
    ("x86_64", "generic-inline", "clang", "no-net"): ((), ()),
}
IN_QUICK = (("arm64", "generic-inline", "clang"),)
RANK = {"fail": 0, "skip": 1, "pass": 2}
# One allocation in so many fails, also those that may wait. Without a line on the console for each.
FAILURES = {"probability": 5, "interval": 1, "times": -1, "verbose": 0, "ignore-gfp-wait": "N"}
# Seconds that this may take, after the boot with all suites.
FAILURES_TIMEOUT = 180
PAUSE = 20
# At boot Linux gets the part of the machine's memory that mem= says. By these lines of a script a block
# of it goes and comes back, and two blocks are added from 4 GiB on, where KASAN's suite runs afterwards.
# One of these goes once, too.
MORE_MEMORY = "3G"
HOT_PFN = 0x100000
HOTPLUG = (
    "mount sysfs /sys",
    "write /sys/devices/system/memory/memory2/state offline",
    "write /sys/devices/system/memory/memory2/state online_movable",
    "write /sys/devices/system/memory/probe 0x100000000",
    "write /sys/devices/system/memory/probe 0x108000000",
    "write /sys/devices/system/memory/memory32/state online_kernel",
    "write /sys/devices/system/memory/memory33/state online_movable",
    "write /sys/devices/system/memory/memory33/state offline",
    "write /sys/devices/system/memory/memory33/state online_kernel",
)
# So many reports are given to decode_stacktrace.sh, which starts programs for each function.
DECODED = 3
# What Linux prints of an exception in the kernel, and a function of Redzone where it happened.
_CRASH = re.compile(r"Internal error|Unable to handle|Oops|BUG: unable|general protection|stack guard page")
_FAULT = re.compile(r"(?<!BUG: )KASAN: [\w -]+ in range \[")
_UNHANDLED = re.compile(r"Unable to handle kernel")
_AT = re.compile(r"\b(?:pc|RIP) ?: .*?\b((?:__)?(?:redzone|kasan_port)_\w+)\+0x")
STRLEN = re.compile(r"BUG: KASAN: .* in strlen\+")
HOOK = re.compile(r"BUG: KASAN: .* in (?:__kasan|redzone|__redzone)_")
# What CONFIG_KASAN_EXTRA_INFO adds to the line before a stack.
_TRACK = re.compile(r"\] (?:Allocated|Freed) by task \d+(.*):$")
_EXTRA = re.compile(r" on cpu \d+ at \d+\.\d{6}s")
_TIME = re.compile(r"\[ *(\d+)\.")
_PFN = re.compile(r"\bpage: refcount:.* pfn:0x([0-9a-f]+)")
_NMIS = re.compile(r"redzone-nmi: (\d+) NMIs, (\d+) bugs")


def worse(own, ours, exact=True):
    """Return lines about the cases of the Session @ours that are worse than in @own: one that passes there
    must pass, one that is skipped may be, and each must print as many reports. @exact: false if tags are
    random, so that their number may differ."""
    there, here = ({case.name: case for case in session.cases} for session in (own, ours))
    lines = []
    for name, case in there.items():
        mine = here.get(name)
        if mine is None:
            lines.append(f"{name}: {case.status} with Linux's own, not run with Redzone")
        # What stackinit leaves on the stack on purpose is gone if an interrupt comes in between.
        elif mine.detail.startswith("XFAIL") and case.status != "fail":
            continue
        elif RANK[mine.status] < RANK[case.status]:
            lines.append(f"{name}: {case.status} with Linux's own, {mine.status} with Redzone")
        elif mine.status == case.status and (
            mine.reports != case.reports if exact else bool(mine.reports) != bool(case.reports)
        ):
            lines.append(f"{name}: {case.reports} reports with Linux's own, {mine.reports} with Redzone")
    return lines


def _decoded(session):
    """Return what `./redzone decode` makes of the console of @session."""
    reader = Decoder()
    reader.begin(session.log.name)
    reader.feed("\n".join(session.lines).encode())
    return reader.finish()


def depth(session):
    """Return how many functions the traces of allocations have in the reports of @session: the median, 0 if
    there are none. None of Linux's cases looks at them.

    Linux's unwinder for loongarch may find one function again and again, which counts once."""
    stacks = [report.stack("allocated") for bug in _decoded(session).bugs for report in bug.reports]
    names = [[frame.name for frame in stack.frames] for stack in stacks if stack]
    return statistics.median([sum(1 for _ in itertools.groupby(one)) for one in names] or [0])


def crashes(lines):
    """Return what the console @lines say of exceptions inside Redzone."""
    found = []
    for number, line in enumerate(lines):
        if _CRASH.search(line):
            inside = next((match for match in map(_AT.search, lines[number : number + 40]) if match), None)
            if inside:
                found.append(f"{line.strip()} in {inside[1]}()")
    return found


def _kinds(image):
    """Return the stems of the files of further options of @image."""
    return {path.stem for path in image.make.more}


def _session(image, log, smp, parameters):
    """Boot @image with the suites that it is for. Return the Session."""
    options = {"append": parameters, "smp": smp}
    if "module" in _kinds(image):
        files = disk.modules(image, "mm/kasan/kasan_test.ko")
        lines = [f"load /{name}" for name in files]
        if _adds_memory(parameters):
            options["memory"] = MORE_MEMORY
            lines = [*HOTPLUG, *lines]
        options["initrd"] = disk.script(image, lines, files)
    if "kunit-all" in _kinds(image):
        options["suites"] = "*"
    if "rt" in _kinds(image):
        # A thread prints, and a machine that stops does not wait for it.
        options["initrd"] = disk.script(image, [f"pause {PAUSE}"])
    return boot.kunit(image, log, **options)


def _adds_memory(parameters):
    """Return whether the boot @parameters keep a part of the machine's memory for later."""
    return any(one.startswith("mem=") for one in parameters)


def hot(lines):
    """Return what is wrong with the console @lines of a machine that gets memory after the boot: lines of the
    script that failed, or that no report is about a page of that memory."""
    wrong = [line for line in lines if line.startswith("redzone: failed: ")]
    pages = [int(match[1], 16) for match in map(_PFN.search, lines) if match]
    if not any(pfn >= HOT_PFN for pfn in pages):
        wrong.append("no report is about memory that came after the boot")
    return wrong


def seconds(lines):
    """Return the seconds after which Linux printed the last of the console @lines."""
    times = [match[1] for match in map(_TIME.match, lines) if match]
    return int(times[-1]) if times else 0


def _failing(image, session, smp):
    """Let allocations fail while the suites of @session run once more, after the boot. Return the Result.

    Some of Linux's cases do not expect that, and crash or hang by themselves: that is no failure here."""
    knobs = [
        f"write /d/{kind}/{knob} {value}"
        for kind in ("failslab", "fail_page_alloc")
        for knob, value in FAILURES.items()
    ]
    suites = dict.fromkeys(["kasan", *(case.name.partition(".")[0] for case in session.cases)])
    runs = [f"write /d/kunit/{name}/run 1" for name in suites]
    initrd = disk.script(image, ["mount debugfs /d", *knobs, *runs])
    name = f"{image.make.name}-failures"
    log = source.HOME / "logs" / f"suite-{name}.log"
    timeout = seconds(session.lines) + FAILURES_TIMEOUT
    failing = boot.kunit(image, log, suites="*", smp=smp, initrd=initrd, timeout=timeout)
    lines = crashes(failing.lines)
    started = next((n for n, line in enumerate(failing.lines) if "Run /init" in line), len(failing.lines))
    if not any(re.search(r"# kasan: pass:\d", line) for line in failing.lines[started:]):
        lines.append(f"the suite of KASAN has not ended: {failing.ended or 'see the log'}")
    return Result(name, FAIL if lines else PASS, "\n".join(lines), log)


def nmi_faults(lines):
    """Return what is wrong with the console @lines of module/nmi.c: each bug has a report, which says where
    the NMIs before it noted a stack, and there is no other."""
    ended = next(filter(None, map(_NMIS.search, lines)), None)
    if not ended or not int(ended[2]):
        return ["the module did not end" if not ended else "no bug: there were too few NMIs"]
    wrong = []
    reports = [line for line in lines if "BUG: KASAN: " in line]
    ours = [line for line in reports if "BUG: KASAN: slab-out-of-bounds in read_at+" in line]
    notes = sum("Last potentially related work creation:" in line for line in lines)
    for count, what in ((len(ours), "reports"), (notes, "reports with a stack from an NMI")):
        if count != int(ended[2]):
            wrong.append(f"{ended[2]} bugs in NMIs have {count} {what}")
    wrong += [f"another report: {line.partition('] ')[2]}" for line in reports if line not in ours]
    return wrong


def _nmis(image, options, parameters):
    """Boot @image with module/nmi.c. Return the Result."""
    initrd = disk.script(image, ["load /nmi.ko"], disk.own_modules(image.make))
    name = f"{image.make.name}-nmis"
    log = source.HOME / "logs" / f"suite-{name}.log"
    # All bugs are in one place.
    parameters = ["kunit.enable=0", "kasan_multi_shot", "kasan.repeat=full", *parameters]
    session = boot.run(image, log, parameters, smp=2, initrd=initrd, options=options)
    ended = [f"Linux stopped: {session.ended}"] if session.ended else []
    return result(name, ended + nmi_faults(session.lines), log)


def _word(parameter):
    """Return what names a boot with @parameter: its value; with its name if that is "on" or "off"."""
    name, _, value = parameter.rpartition("=")
    return f"{name.rpartition('.')[2]}-{value}" if value in ("on", "off") else value


def _boots(image, rows):
    """Boot @image as each of @rows says. Return {name: Session}."""
    sessions = {}
    for smp, parameters in rows:
        words = (f"{smp}cpu", *map(_word, parameters))
        name = "-".join((image.make.name, *words))
        log = source.HOME / "logs" / f"suite-{name}{'-own' if image.own else ''}.log"
        sessions[name] = _session(image, log, smp, parameters)
        if image.own and sessions[name].ended:
            # Linux's own KASAN has faults of its own, some of which depend on the random tags.
            stopped = log.rename(log.with_name(f"{log.stem}-stopped.log"))
            say(
                f"Linux with its own KASAN stopped: {sessions[name].ended} (log: {base.relative(stopped)});"
                " booting it once more"
            )
            sessions[name] = _session(image, log, smp, parameters)
    return sessions


def exceptions(lines):
    """Return how many exceptions the console @lines have that count as reports: those due to a check, and the
    one of Linux's suite kunit_fault, for which KASAN has no line with hardware tags."""
    return max(sum(map(bool, map(find, lines))) for find in (_FAULT.search, _UNHANDLED.search))


def readers(session, own, tree):
    """Return what readers of the console of @session do not understand: people, who want to know the caller
    of a hook, syzkaller's rules, kunit.py of Linux in @tree if it understands that of @own, `./redzone
    decode`."""
    starts = [number for number, line in enumerate(session.lines) if "BUG: KASAN: " in line]
    lines = []
    hooks = [session.lines[start] for start in starts if HOOK.search(session.lines[start])]
    if hooks:
        lines.append(f"{len(hooks)} reports name KASAN's own function: {hooks[0].partition('] ')[2]}")
    for start, end in itertools.pairwise([*starts, len(session.lines)]):
        title, corrupted = syzkaller.parse("\n".join(session.lines[start:end]))
        # The access that asynchronous hardware tags report is not known, so no line names it.
        if corrupted and " in kasan_report_async+" not in title:
            lines.append(f"syzkaller: {title}: {corrupted}")
    said = [
        ports.load("linux-kunit", "suite").kunit_parse(tree, one.log, ktap.parse(one.lines))
        for one in (own, session)
    ]
    if said[1] and not said[0]:
        lines.append(said[1])
    wanted = len(starts) + exceptions(session.lines)
    count = _decoded(session).reports
    if count != wanted:
        lines.append(f"./redzone decode finds {count} reports, the console has {wanted}")
    return lines


def extra_info(lines):
    """Return what CONFIG_KASAN_EXTRA_INFO lacks in the console @lines."""
    tracks = [match for match in map(_TRACK.search, lines) if match]
    lacking = [match[0] for match in tracks if not _EXTRA.fullmatch(match[1])]
    if lacking:
        return [f"{len(lacking)} stacks without CPU and time: {lacking[0].partition('] ')[2]}"]
    return [] if tracks else ["no report says when an object was allocated"]


def _debug(session, image, tree, context):
    """Return what is wrong with the first reports of @session, of a kernel with debug information: Linux's
    decode_stacktrace.sh finds the source line of each function, and CPU and time are there."""
    starts = [number for number, line in enumerate(session.lines) if "BUG: KASAN: " in line]
    part = session.lines[starts[0] : starts[DECODED]]
    name = f"{session.log.stem}-part"
    log = context.write_log(name, "".join(f"{line}\n" for line in part))
    wrong = ports.load("linux-kunit", "suite").decode(tree, image.elf, log, part, context, name)
    return [*([f"decode_stacktrace.sh: {wrong}"] if wrong else []), *extra_info(session.lines)]


def warnings(lines):
    """Return what the console @lines say of the lock validator: warnings, and that it is off."""
    return [
        line.partition("] ")[2] for line in lines if bench.WARNING.search(line) and "BUG: KASAN: " not in line
    ]


def _compare(name, own, ours):
    if ours.ended:
        return Result(name, FAIL, f"Linux stopped: {ours.ended}", ours.log)
    if own.ended:
        return Result(name, FAIL, f"Linux with its own KASAN stopped: {own.ended}", own.log)
    lines = worse(own, ours, exact="tags" not in name)
    if not ours.totals()["pass"]:
        lines.append("no case passes")
    # Linux's own has functions of KASAN in its traces, and a compiler may put others in line.
    if 2 * depth(ours) < depth(own):
        lines.append(f"traces have {depth(ours):g} functions, with Linux's own {depth(own):g}")
    # kmemleak, which fuzzers switch on, wants the table too.
    if not name.startswith("s390-") and "+fuzz" not in name and any(DEPOT in line for line in ours.lines):
        lines.append("Linux has made the large table of its stack depot, which Redzone does not use")
    # The report is about the caller if kasan/strings.c has taken the place of Linux's function.
    if name.startswith("arm64-") and "hw_tags" not in name and any(map(STRLEN.search, ours.lines)):
        lines.append("strlen() is Linux's own, which is checked byte by byte")
    return Result(name, FAIL if lines else PASS, "\n".join(lines), ours.log)


def _user_tree(tree):
    """--apply and --revert of a whole tree of Linux: afterwards nothing has changed."""
    with base.locked(source.HOME):
        apply.revert(tree)
        before = {path.name: path.read_bytes() for path in (tree / "mm/kasan").iterdir()}
        apply.apply(tree)
        apply.revert(tree)
        after = {path.name: path.read_bytes() for path in (tree / "mm/kasan").iterdir()}
    return Result(
        "apply-revert", PASS if before == after else FAIL, "" if before == after else "mm/kasan differs"
    )


def makes(tree, kernels, jobs, pattern=None):
    """Return [(one of @kernels, its Make)] of those that @pattern names: one, or several with commas."""
    found = []
    for kernel in kernels:
        arch, mode, compiler, *more = kernel
        files = tuple(build.CONFIG / f"{name}.config" for name in more)
        make = build.Make(tree, mode, arch, compiler, jobs, files)
        if pattern is None or any(fnmatch.fnmatchcase(make.name, one) for one in pattern.split(",")):
            found.append((kernel, make))
    if not found:
        raise Failure(
            f"--filter '{pattern}' matches no kernel" if pattern else "--quick has no kernel of this --arch"
        )
    return found


def kernels(arch=None, pattern=None, boots=BOOTS):
    """Return the keys of @boots for the architecture @arch: "all": the first of each; None: those by default,
    or all from which a @pattern chooses."""
    first = {}
    for kernel in boots:
        first.setdefault(kernel[0], kernel)
    if arch == "all":
        return tuple(first.values())
    if arch is None:
        return tuple(boots) if pattern or boots is not BOOTS else DEFAULT
    if arch not in first:
        raise Failure(f"--arch {arch}: the suite has {', '.join(first)} and all")
    return tuple(kernel for kernel in boots if kernel[0] == arch)


def run(context):
    line = context.linux or apply.LINES[0]
    tree = source.tree(line=line)
    boots = BOOTS if line == apply.LINES[0] else BOOTS_7
    part = context.part(kernels(context.arch, context.filter, boots), IN_QUICK)
    chosen = makes(tree, part, context.jobs, context.filter)
    yield _user_tree(tree)
    for kernel, make in chosen:
        arch, _, compiler, *more = kernel
        reason = context.missing(*build.tools(arch, compiler), build.ARCHES[arch].machine)
        if reason:
            yield Result(make.name, SKIP, reason)
            continue
        rows = boots[kernel]
        theirs = _boots(build.build(make, own=True), rows)
        image = build.build(make)
        for (_, parameters), (name, session) in zip(rows, _boots(image, rows).items(), strict=True):
            compared = _compare(name, theirs[name], session)
            if compared.status == PASS:
                wrong = readers(session, theirs[name], tree)
                if "debug" in more:
                    wrong += _debug(session, image, tree, context)
                if "lockdep" in more:
                    wrong += warnings(session.lines)
                if _adds_memory(parameters):
                    wrong += hot(session.lines)
                compared = result(name, wrong, session.log)
            yield compared
        if "kunit-all" in more:
            yield _failing(image, theirs[name], rows[0][0])
        if kernel in NMIS:
            yield _nmis(image, *NMIS[kernel])
