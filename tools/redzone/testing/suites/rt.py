# SPDX-License-Identifier: MIT
"""All KUnit suites in real-time kernels: in each mode on 1 and 4 CPUs, and with the lock validator on 4.

realtime.md says what is different in such a kernel. The suite kunit has one of these configurations, and
`./redzone test soak --preempt-rt` does the soak test."""

from redzone.build.builder import preset_name
from redzone.core import mteqemu
from redzone.machine import ktap, qemu
from redzone.testing.runner import FAIL, SKIP, Result
from redzone.testing.suites import kunit

TOOLS = kunit.TOOLS
MODES = kunit.MODES
OPTIONS = ("filter",)
SLOW = True
# The validator makes each lock several times as long.
TIMEOUT = 2 * kunit.TIMEOUT

# (mode, features, CPUs).
CONFIGURATIONS = [(mode, ("rt",), cpus) for mode in MODES for cpus in (1, 4)]
CONFIGURATIONS += [(mode, ("lockdep", "rt"), 4) for mode in MODES]


def preset_of(configuration):
    """Return the preset of @configuration."""
    return preset_name(configuration[0], features=configuration[1])


def label(configuration):
    mode, features, cpus = configuration
    return f"{mode}-{'+'.join(features)}-{cpus}cpu"


def machine_of(configuration, image, **options):
    """Return the machine.Machine that boots @image as the configuration says."""
    return qemu.Machine(image.image, smp=configuration[2], mode=configuration[0], **options)


def run(context):
    def boot(item):
        configuration, image = item
        target = machine_of(configuration, image, timeout=TIMEOUT)
        if context.filter:
            target.append.append(f"kunit.filter_glob={context.filter}")
        outcome, lines, log = context.boot(label(configuration), target)
        return label(configuration), outcome, ktap.parse(lines), log

    ready = []
    for configuration in CONFIGURATIONS:
        if context.mode not in (None, configuration[0]):
            continue
        preset = preset_of(configuration)
        reason = context.missing_for(preset)
        if not reason and configuration[0] == "hw_tags":
            reason = mteqemu.reason()
        if reason:
            yield Result(label(configuration), SKIP, reason)
            continue
        ready.append((configuration, context.build(preset, targets=["redzone"])["redzone"]))
    for name, outcome, parsed, log in context.each(boot, ready):
        for case in parsed.cases:
            yield Result(f"{name}.{case.name}", case.status, case.detail, log)
        errors = kunit.errors_of(outcome, parsed)
        if errors:
            yield Result(name, FAIL, "\n".join(errors), log)
