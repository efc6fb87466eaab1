# SPDX-License-Identifier: MIT
"""The kernel's KUnit suites in QEMU: inline, outline, Clang, GCC, 1 and 4 CPUs.

Every suite runs in each mode, and the memory suites in every configuration. By default these are so many that
each mode, compiler and feature is in one of them, and each mode with each kind of check;
--rest has those that put the same together in another way, --quick one of each mode. The suite kunit-matrix
runs all suites in all configurations, and is the only one that boots the second slab allocator."""

from redzone.build.builder import KERNEL, preset_name
from redzone.core import mteqemu
from redzone.machine import ktap, qemu
from redzone.testing.runner import FAIL, SKIP, Result

TOOLS = KERNEL
MODES = ("generic", "sw_tags", "hw_tags", "off")
OPTIONS = ("filter", "rest")
QUICK = "part"
TIMEOUT = 600

# (mode, instrumentation, compiler, CPUs), and the slab allocator if it is not the default; with hardware
# tags, kasan.mode= instead of the instrumentation.
CONFIGURATIONS = [
    ("generic", where, compiler, cpus)
    for compiler in ("clang-19", "gcc")
    for where in ("inline", "outline")
    for cpus in (1, 4)
] + [("generic", "inline", "clang-22", cpus) for cpus in (1, 4)]
CONFIGURATIONS.append(("off", "inline", "clang-19", 4))
SECOND_ALLOCATOR = [
    (mode, "inline", "clang-19", cpus, "slab") for mode in ("generic", "off") for cpus in (1, 4)
]
CONFIGURATIONS += SECOND_ALLOCATOR
# With software tags; GCC has outline checks only.
CONFIGURATIONS += [
    ("sw_tags", where, compiler, cpus)
    for where, compiler in (("inline", "clang-19"), ("outline", "clang-19"), ("outline", "gcc"))
    for cpus in (1, 4)
] + [("sw_tags", "inline", "clang-22", 4)]
# With hardware tags; the other compilers once.
CONFIGURATIONS += [
    ("hw_tags", where, "clang-19", cpus) for where in ("sync", "async", "asymm") for cpus in (1, 4)
] + [("hw_tags", "sync", compiler, 4) for compiler in ("gcc", "clang-22")]

# With the shadow call stack and stack erasing. The option --shadow-call-stack gives the first to all others.
WITH_FEATURES = ("generic", "inline", "clang-19", 4, "scs+erase")
CONFIGURATIONS.append(WITH_FEATURES)
# With the lock validator: a report that a case does not plant makes it fail.
LOCKDEP = [
    (mode, where, "clang-19", cpus, "lockdep")
    for mode, where in (("generic", "inline"), ("sw_tags", "inline"), ("hw_tags", "sync"), ("off", "inline"))
    for cpus in (1, 4)
] + [("generic", "outline", "gcc", 4, "lockdep")]
WITH_LOCKDEP = ("generic", "inline", "clang-19", 4, "lockdep")
CONFIGURATIONS += LOCKDEP
# A real-time kernel; the suite rt has the others.
WITH_RT = ("generic", "inline", "clang-19", 4, "rt")
CONFIGURATIONS.append(WITH_RT)
# With hardware tags for stack variables: KASAN's own suites here, all of them in the suite mte-stack.
MTE_STACK = [
    ("hw_tags", where, "clang-19", cpus, "mtestack")
    for where in ("sync", "async", "asymm")
    for cpus in (1, 4)
]
WITH_MTE_STACK = ("hw_tags", "sync", "clang-19", 4, "mtestack")
CONFIGURATIONS.append(WITH_MTE_STACK)
# With tagged globals.
WITH_GLOBALS = ("sw_tags", "inline", "clang-19", 4, "taggedglobals")
CONFIGURATIONS.append(WITH_GLOBALS)
# Their last word is not an allocator but features.
FEATURED = {WITH_FEATURES, WITH_RT, WITH_GLOBALS, *LOCKDEP, *MTE_STACK}

# Only memory management and the runtime differ from one compiler and kind of check to another. All other
# suites run here in one configuration of each kind, and in the suite kunit-matrix in all.
MEMORY_SUITES = "kunit.filter_glob=kasan*,slab*,mempool,page*,vm*,module,fault_inject"
ALL_SUITES = {
    ("generic", "inline", "clang-19", 1),
    ("generic", "inline", "clang-19", 4),
    ("generic", "outline", "gcc", 4),
    ("off", "inline", "clang-19", 4),
    ("sw_tags", "inline", "clang-19", 4),
    ("hw_tags", "sync", "clang-19", 4),
    *(FEATURED - {WITH_GLOBALS, WITH_MTE_STACK}),
}
# Configurations for --filter: a changed suite runs in each mode.
FILTERED = (ALL_SUITES - set(LOCKDEP)) | {
    WITH_LOCKDEP,
    WITH_GLOBALS,
    WITH_MTE_STACK,
}
# Configurations that differ from another only in the compiler's version, or in the number of CPUs as others
# do; those that the suite lockdep runs; and the second slab allocator.
MATRIX_ONLY = {
    *SECOND_ALLOCATOR,
    ("generic", "outline", "clang-19", 1),
    ("generic", "inline", "gcc", 1),
    ("generic", "outline", "gcc", 1),
    ("sw_tags", "outline", "clang-19", 1),
    ("sw_tags", "inline", "clang-22", 4),
    ("hw_tags", "async", "clang-19", 1),
    ("hw_tags", "asymm", "clang-19", 1),
    ("hw_tags", "sync", "clang-22", 4),
    *LOCKDEP,
}
# What --quick runs.
IN_QUICK = {
    ("generic", "inline", "clang-19", 4),
    ("sw_tags", "inline", "clang-19", 4),
    ("hw_tags", "sync", "clang-19", 4),
}
# What --rest runs: the same compilers, kinds of check and numbers of CPUs, in other combinations.
REST = {
    ("generic", "inline", "clang-19", 1),
    ("generic", "outline", "clang-19", 4),
    ("generic", "inline", "gcc", 4),
    ("generic", "inline", "clang-22", 4),
    ("sw_tags", "inline", "clang-19", 1),
    ("sw_tags", "outline", "clang-19", 4),
    ("sw_tags", "outline", "gcc", 4),
    ("hw_tags", "sync", "clang-19", 1),
    ("hw_tags", "sync", "gcc", 4),
}
# The modes of hardware tags differ only in how they report a bad access, and tags are slow to emulate.
KASAN_SUITES = "kunit.filter_glob=kasan*"

# A CPU that cannot keep the kernel out of user memory (no PAN): the other column in usermode.md's table.
NO_PAN = "cortex-a72"
WITHOUT_PAN = ("generic", "inline", "clang-19", 4)
USER_SUITES = "kunit.filter_glob=user,uaccess,kasan"


def preset_of(configuration):
    """Return the preset of @configuration."""
    if configuration in FEATURED:
        return preset_name(*configuration[:3], features=configuration[4].split("+"))
    return preset_name(*configuration[:3], *configuration[4:])


def filters(configuration):
    """Return the boot parameters that choose the suites of @configuration."""
    if configuration in ALL_SUITES:
        return []
    return [KASAN_SUITES if configuration[0] == "hw_tags" else MEMORY_SUITES]


def label(configuration):
    mode, where, compiler, cpus, *allocator = configuration
    middle = {"off": mode, "generic": where}.get(mode, f"{mode}-{where}")
    return "-".join([middle, compiler.replace("clang-19", "clang"), *allocator, f"{cpus}cpu"])


def machine_of(configuration, image, **options):
    """Return the machine.Machine that boots @image as the configuration says."""
    mode, where, _, cpus, *_ = configuration
    append = [f"kasan.mode={where}"] if mode == "hw_tags" else []
    return qemu.Machine(image.image, smp=cpus, mode=mode, append=append, **options)


def missing_for(context, configuration):
    """Return why the configuration cannot be built or booted, None if it can."""
    reason = context.missing_for(preset_of(configuration))
    return reason or (mteqemu.reason() if configuration[0] == "hw_tags" else None)


def end_error(outcome):
    """Return what is wrong with how a boot of suites ended, or None. Reports are part of the tests."""
    if not outcome.reader.halted or outcome.reader.panic:
        return outcome.message or "the kernel did not say that it was done"
    return None


def errors_of(outcome, parsed):
    """Return what is wrong with a boot of suites apart from failed cases. parsed: what ktap.parse()
    returned."""
    errors = [*parsed.errors, *filter(None, [end_error(outcome)])]
    return errors if parsed.cases else [*errors, "no test case ran"]


def wrong_with(outcome, parsed):
    """Return what is wrong with a boot of suites, including failed cases."""
    failed = [f"{case.name}: {case.detail}" for case in parsed.cases if case.status == FAIL]
    return failed + errors_of(outcome, parsed)


def _chosen(context, matrix):
    """Return the configurations that run."""
    if matrix:
        return CONFIGURATIONS
    if context.filter and not context.rest and not context.quick:
        return [configuration for configuration in CONFIGURATIONS if configuration in FILTERED]
    return context.part([item for item in CONFIGURATIONS if item not in MATRIX_ONLY], IN_QUICK, REST)


def run(context, matrix=False, only=None):
    """Yield the results. @matrix: of all suites in all configurations, including those of MATRIX_ONLY.
    @only: a list of configurations, all of which run."""

    def boot(item):
        configuration, image, cpu = item
        name = label(configuration)
        target = machine_of(configuration, image, timeout=TIMEOUT)
        if cpu:
            name = f"{name}-{cpu}"
            target.cpu = cpu
            target.append.append(USER_SUITES)
        elif context.filter:
            target.append.append(f"kunit.filter_glob={context.filter}")
        elif not matrix:
            target.append += filters(configuration)
        outcome, lines, log = context.boot(name, target)
        return name, outcome, ktap.parse(lines), log

    ready = []
    for configuration in only or _chosen(context, matrix):
        if context.mode not in (None, configuration[0]):
            continue
        preset = preset_of(configuration)
        reason = missing_for(context, configuration)
        if reason:
            yield Result(label(configuration), SKIP, reason)
            continue
        image = context.build(preset, targets=["redzone"])["redzone"]
        ready.append((configuration, image, None))
        if configuration == WITHOUT_PAN and not context.filter and not context.quick:
            ready.append((configuration, image, NO_PAN))
    # The longest first, so that none is left running alone at the end on one CPU of the host.
    ready.sort(key=lambda item: (item[0] not in ALL_SUITES, item[0][0] != "hw_tags"))
    matched = not context.filter
    for name, outcome, parsed, log in context.each(boot, ready):
        if context.filter and not parsed.cases and not end_error(outcome):
            # Some suites exist in some kernels only.
            yield Result(name, SKIP, f"this kernel has no case that matches {context.filter}", log)
            continue
        matched = True
        for case in parsed.cases:
            yield Result(f"{name}.{case.name}", case.status, case.detail, log)
        errors = errors_of(outcome, parsed)
        if errors:
            yield Result(name, FAIL, "\n".join(errors), log)
    if ready and not matched:
        yield Result("filter", FAIL, f"no kernel has a case that matches {context.filter}")
