# SPDX-License-Identifier: MIT
"""The kernel's KUnit suites in QEMU: inline and outline, Clang and GCC, 1 and 4 CPUs."""

from redzone import ktap, machine
from redzone.builder import preset_name
from redzone.runner import FAIL, SKIP, Result

TOOLS = ("cmake", "ninja", "lld", "nm", "objcopy", "qemu-arm64")
MODES = ("generic", "off")
TIMEOUT = 600

# (mode, instrumentation, compiler, CPUs). The second Clang and the kernel without KASAN run once each.
CONFIGURATIONS = [
    ("generic", where, compiler, cpus)
    for compiler in ("clang-19", "gcc")
    for where in ("inline", "outline")
    for cpus in (1, 4)
] + [("generic", "inline", "clang-22", 4), ("off", "inline", "clang-19", 4)]


def label(configuration):
    mode, where, compiler, cpus = configuration
    middle = mode if mode == "off" else where
    return f"{middle}-{compiler.replace('clang-19', 'clang')}-{cpus}cpu"


def end_error(outcome):
    """Return what is wrong with how a boot of suites ended, or None. Reports are part of the tests."""
    if not outcome.reader.halted or outcome.reader.panic:
        return outcome.message or "the kernel did not say that it was done"
    return None


def run(context):
    def boot(item):
        configuration, image = item
        name = label(configuration)
        target = machine.Machine(image.image, smp=configuration[3], timeout=TIMEOUT)
        outcome, lines, log = context.boot(name, target)
        return name, outcome, ktap.parse(lines), log

    ready = []
    for configuration in CONFIGURATIONS:
        if context.mode not in (None, configuration[0]):
            continue
        preset = preset_name("arm64", *configuration[:3])
        reason = context.missing_for(preset)
        if reason:
            yield Result(label(configuration), SKIP, reason)
            continue
        image = context.build(preset, targets=["redzone"])["redzone"]
        ready.append((configuration, image))
    for name, outcome, parsed, log in context.each(boot, ready):
        for case in parsed.cases:
            yield Result(f"{name}.{case.name}", case.status, case.detail, log)
        errors = list(parsed.errors)
        if end_error(outcome):
            errors.append(end_error(outcome))
        if not parsed.cases:
            errors.append("no test case ran")
        if errors:
            yield Result(name, FAIL, "\n".join(errors), log)
