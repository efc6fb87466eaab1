# SPDX-License-Identifier: MIT
"""Linux's KASAN suite on its other architectures, with Redzone and with Linux's own KASAN.

Each is a build of two kernels, and a boot of each: a quarter of an hour on two CPUs.
"""

from redzone.testing.runner import SKIP, Result

from . import suite
from .host import build, source

SLOW = True
TOOLS = (*build.TOOLS, "xz")
# {architecture: (mode, CPUs)}; arm64 and x86_64 are in the suite `linux`.
BOOTS = {arch: (one.modes[0], 1) for arch, one in build.ARCHES.items() if arch not in ("arm64", "x86_64")}


def run(context):
    tree = source.tree()
    for arch, (mode, smp) in BOOTS.items():
        make = build.Make(tree, mode, arch, "clang", context.jobs)
        reason = context.missing(*build.tools(arch, "clang"), build.ARCHES[arch].machine)
        if reason:
            yield Result(make.output.name, SKIP, reason)
            continue
        yield from suite.both(make, [(smp, ())])
