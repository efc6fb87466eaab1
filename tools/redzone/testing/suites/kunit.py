# SPDX-License-Identifier: MIT
"""The kernel's KUnit suites in QEMU: inline, outline, Clang, GCC, 1 and 4 CPUs.

Every suite runs in each mode, and the memory suites in every configuration. By default each mode runs, and in
Generic mode each kind of check and both families of compilers; all suites run in Generic mode and without
KASAN. --rest has all suites in the tag modes, and the features with kernels of their own; --quick has one
configuration of each mode. The suite kunit-matrix runs all suites in all configurations, and is the only one
that boots the second slab allocator."""

from dataclasses import dataclass
from pathlib import Path

from redzone.build.builder import KERNEL, preset_name
from redzone.core.arch import DEFAULT, KERNELS
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
# Sampled objects without a mode of KASAN; every kernel that has a mode can sample too.
WITH_SAMPLE = ("off", "inline", "clang-19", 4, "sample")
CONFIGURATIONS.append(WITH_SAMPLE)
# With tagged globals.
WITH_GLOBALS = ("sw_tags", "inline", "clang-19", 4, "taggedglobals")
CONFIGURATIONS.append(WITH_GLOBALS)
# The kernel of another architecture.
ON_RISCV64 = [
    ("generic", "inline", "clang-19", 1, "riscv64"),
    ("generic", "outline", "gcc", 1, "riscv64"),
    ("generic", "inline", "clang-19", 4, "riscv64"),
    ("sw_tags", "inline", "clang-19", 1, "riscv64"),
    # All flavours in one kernel.
    ("generic", "inline", "clang-19", 1, "scs+erase+lockdep+rt", "riscv64"),
    # GCC's frames differ, which traces through an interrupt show; four CPUs have such traces.
    ("generic", "outline", "gcc", 4, "riscv64"),
]
CONFIGURATIONS += ON_RISCV64
FEATURED = {WITH_FEATURES, WITH_RT, WITH_GLOBALS, WITH_SAMPLE, *LOCKDEP, *MTE_STACK}

# Only memory management and the runtime differ from one compiler and kind of check to another. All other
# suites run here in one configuration of each kind, and in the suite kunit-matrix in all.
MEMORY_SUITES = "kunit.filter_glob=kasan*,slab*,mempool,page*,vm*,module,fault_inject"
RISCV64_FEATURES = "kunit.filter_glob=scs*,stackleak*,lockdep*,rt*,softirq,fence,user"
# A change of page tables takes so long there on several CPUs that suites of memory need a host with as many.
RISCV64_SUITES = "kunit.filter_glob=kasan_double_free,sched*,rcu*,rt*,rwlock,softirq,local_lock,fpu,fence"
# A real-time kernel differs in these: its locks sleep, and interrupts have threads.
RT_SUITES = f"{MEMORY_SUITES},rtmutex,rwlock,sched*,irq,softirq,workqueue"
ALL_SUITES = {
    ("generic", "inline", "clang-19", 1),
    ("generic", "inline", "clang-19", 4),
    ("generic", "outline", "gcc", 4),
    ("off", "inline", "clang-19", 4),
    ("sw_tags", "inline", "clang-19", 1),
    ("hw_tags", "sync", "clang-19", 1),
    *ON_RISCV64[:2],
    *(FEATURED - {WITH_GLOBALS, WITH_MTE_STACK, WITH_RT, WITH_SAMPLE}),
}
# Configurations for --filter: a changed suite runs in each mode.
FILTERED = (ALL_SUITES - {*LOCKDEP, *ON_RISCV64}) | {
    WITH_LOCKDEP,
    WITH_GLOBALS,
    WITH_MTE_STACK,
    WITH_RT,
    WITH_SAMPLE,
}
# Configurations that differ from another only in the compiler's version, or in the number of CPUs as others
# do; those that the suites lockdep and riscv64 run; and the second slab allocator.
MATRIX_ONLY = {
    *SECOND_ALLOCATOR,
    *ON_RISCV64,
    ("generic", "outline", "clang-19", 4),
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
    ("generic", "outline", "gcc", 4),
    ("generic", "inline", "clang-22", 1),
    ("generic", "inline", "clang-22", 4),
    ("sw_tags", "inline", "clang-19", 1),
    ("sw_tags", "outline", "clang-19", 4),
    ("sw_tags", "outline", "gcc", 4),
    ("hw_tags", "sync", "clang-19", 1),
    ("hw_tags", "sync", "gcc", 4),
    ("hw_tags", "asymm", "clang-19", 4),
    ("sw_tags", "outline", "gcc", 1),
    WITH_FEATURES,
    WITH_RT,
    WITH_MTE_STACK,
    WITH_GLOBALS,
    WITH_SAMPLE,
}
# The modes of hardware tags differ only in how they report a bad access, and tags are slow to emulate.
KASAN_SUITES = "kunit.filter_glob=kasan*"

# A CPU that cannot keep the kernel out of user memory (no PAN): the other column in usermode.md's table.
NO_PAN = "cortex-a72"
WITHOUT_PAN = ("generic", "inline", "clang-19", 4)
USER_SUITES = "kunit.filter_glob=user,uaccess,kasan"


def arch_of(configuration):
    """Return the architecture of @configuration."""
    return configuration[-1] if configuration[-1] in KERNELS else DEFAULT


def preset_of(configuration):
    """Return the preset of @configuration, whose last words are the second allocator or features, and an
    architecture."""
    *kernel, _ = configuration[:4]
    arch = arch_of(configuration)
    more = [word for word in configuration[4:] if word != arch]
    if more in ([], ["slab"]):
        return preset_name(*kernel, *more, arch=arch)
    return preset_name(*kernel, features=more[0].split("+"), arch=arch)


def filters(configuration):
    """Return the boot parameters that choose the suites of @configuration."""
    if configuration in ALL_SUITES:
        return []
    if configuration == WITH_RT:
        return [RT_SUITES]
    if configuration in (ON_RISCV64[2], ON_RISCV64[5]):
        return [RISCV64_SUITES]
    if configuration == ON_RISCV64[4]:
        return [RISCV64_FEATURES]
    return [KASAN_SUITES if configuration[0] == "hw_tags" else MEMORY_SUITES]


def label(configuration):
    mode, where, compiler, cpus, *allocator = configuration
    middle = {"off": mode, "generic": where}.get(mode, f"{mode}-{where}")
    return "-".join([middle, compiler.replace("clang-19", "clang"), *allocator, f"{cpus}cpu"])


# A device that writes memory, for the cases about DMA.
ENTROPY = ["-object", "rng-builtin,id=entropy", "-device", "virtio-rng-device,rng=entropy"]


def machine_of(configuration, image, **options):
    """Return the machine.Machine that boots @image as the configuration says."""
    mode, where, _, cpus, *_ = configuration
    append = [f"kasan.mode={where}"] if mode == "hw_tags" else []
    arch = arch_of(configuration)
    return qemu.Machine(
        image.image, arch=arch, smp=cpus, mode=mode, append=append, options=ENTROPY, **options
    )


@dataclass
class Boot:
    """A boot of suites. outcome: a qemu.Outcome. parsed: a ktap.Parsed of its @lines."""

    outcome: qemu.Outcome
    lines: list
    log: Path
    parsed: ktap.Parsed

    @property
    def end_error(self):
        """What is wrong with how it ended, or None. Reports are part of the tests."""
        if not self.outcome.reader.halted or self.outcome.reader.panic:
            return self.outcome.message or "the kernel did not say that it was done"
        return None

    @property
    def errors(self):
        """What is wrong apart from failed cases."""
        errors = [*self.parsed.errors, *filter(None, [self.end_error])]
        return errors if self.parsed.cases else [*errors, "no test case ran"]

    @property
    def wrong(self):
        """What is wrong, failed cases included."""
        failed = [f"{case.name}: {case.detail}" for case in self.parsed.cases if case.status == FAIL]
        return failed + self.errors

    @property
    def reported(self):
        """A text for each report, for suites that expect none."""
        return [f"reported: {report.type}" for report in self.outcome.reader.reports]


def boot(context, name, target, follow=None):
    """Boot the machine @target, whose kernel runs suites, as context.boot() does. Return the Boot."""
    outcome, lines, log = context.boot(name, target, follow)
    return Boot(outcome, lines, log, ktap.parse(lines))


def results(context, machines, more=lambda lines: []):
    """Boot @machines, [(name, qemu.Machine)]. Yield the Results of their cases, and what else is wrong.

    @more(lines): returns what is wrong with the console's lines for other reasons."""
    matched = not context.filter
    for name, ended in context.each(lambda item: (item[0], boot(context, *item)), machines):
        if context.filter and not ended.parsed.cases and not ended.end_error:
            # Some suites exist in some kernels only.
            yield Result(name, SKIP, f"this kernel has no case that matches {context.filter}", ended.log)
            continue
        matched = True
        for case in ended.parsed.cases:
            yield Result(f"{name}.{case.name}", case.status, case.detail, ended.log)
        if errors := ended.errors + more(ended.lines):
            yield Result(name, FAIL, "\n".join(errors), ended.log)
    if machines and not matched:
        yield Result("filter", FAIL, f"no kernel has a case that matches {context.filter}")


def _chosen(context, matrix):
    """Return the configurations that run."""
    if matrix:
        return CONFIGURATIONS
    if context.filter and not context.rest and not context.quick:
        return [configuration for configuration in CONFIGURATIONS if configuration in FILTERED]
    return context.part([item for item in CONFIGURATIONS if item not in MATRIX_ONLY], IN_QUICK, REST)


def run(context, matrix=False, only=None, timeout=TIMEOUT):
    """Yield the results. @matrix: of all suites in all configurations, including those of MATRIX_ONLY.
    @only: a list of configurations, all of which run."""
    ready, skipped = context.kernels(only or _chosen(context, matrix), preset_of, label)
    yield from skipped
    # The longest first, so that none is left running alone at the end on one CPU of the host.
    ready.sort(key=lambda item: (item[0] not in ALL_SUITES, item[0][0] != "hw_tags"))
    machines = []
    for configuration, image in ready:
        target = machine_of(configuration, image, timeout=timeout)
        if context.filter:
            target.append.append(f"kunit.filter_glob={context.filter}")
        elif not matrix or configuration in ON_RISCV64:
            target.append += filters(configuration)
        machines.append((label(configuration), target))
        if configuration == WITHOUT_PAN and not context.filter and not context.quick:
            target = machine_of(configuration, image, timeout=timeout, cpu=NO_PAN)
            target.append.append(USER_SUITES)
            machines.append((f"{label(configuration)}-{NO_PAN}", target))
    yield from results(context, machines)
