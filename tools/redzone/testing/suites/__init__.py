# SPDX-License-Identifier: MIT
"""The suites of `./redzone test`: modules in this folder, and suite.py and suite_*.py of each port.

A suite module has
  a docstring   whose first line is the suite's title,
  run(context)  yields runner.Result; context is a runner.Context,
and may have
  TOOLS         keys of redzone.core.outside that all of it needs: without them the suite is skipped by name,
  OPTIONS       those in suites.OPTIONS that run() reads from its context,
  MODES         the KASAN modes that `--mode` may choose from; run() then reads context.mode,
  SLOW          True: it runs only when it is named,
  QUICK         what of it --quick runs: "all", or "part", which run() chooses if context.quick is true.
                Without it, `./redzone test --quick` leaves the suite out,
  SUITE_NAME    a port's: its name, if that is not the port's.

The suite's name is the module's, with `-` for `_`, or the port's; a port's suite_more.py adds `-more` to it.
"""

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

from redzone.core.base import Failure
from redzone.kit import ports

# Options of the command that only some suites take; each suite names its own.
OPTIONS = ("seconds", "rounds", "seed", "filter", "quick", "rest", "linux", "arch", "recommends")

# Quick ones first; a suite that is not listed runs after the listed ones.
ORDER = (
    "style",
    "unit",
    "freestanding",
    "ubsan",
    "checks32",
    "kunit",
    "kunit-bugs-removed",
    "golden",
    "syzkaller",
    "cases",
    "zlib",
    "libraries-small",
    "porting",
    "boots",
    "boot-parameters",
    "e2e",
    "instruments",
    "traces",
    "kunit-matrix",
    "mte-stack",
    "rt",
    "riscv64",
    "linux-kunit",
    "bench",
    "bench-modes",
    "decode-page",
    "fuzz",
    "fuzz-afl",
    "fuzz-leaks",
    "fuzz-cves",
    "fuzz-speed",
    "fuzz-clusterfuzz",
    "fuzz-faults",
    "soak",
    "workqueue-stress",
    "fuzz-own",
    "freestanding-calls",
    "unit-emulated",
    "libraries",
    "mutations",
    "fresh-machine",
)


@dataclass(frozen=True)
class Suite:
    name: str
    title: str
    module: ModuleType
    tools: tuple
    slow: bool
    modes: tuple
    options: tuple
    quick: str | None


def _of_port(name, part):
    """Return the suite module @part of the port @name. If it cannot be read, the suite fails when it runs."""
    try:
        return ports.load(name, part)
    except Failure as error:
        failure = error

    def run(context):
        raise failure

    return SimpleNamespace(__doc__=str(failure), run=run, SLOW=True)


def load():
    """Return {name: Suite} in the order in which they run."""
    modules = {
        info.name.replace("_", "-"): importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
        if not info.name.startswith("_")
    }
    of_ports = [(name, _of_port(*place)) for name, place in ports.suites().items()]
    modules |= {getattr(module, "SUITE_NAME", name): module for name, module in of_ports}
    found = {}
    for name, module in modules.items():
        title = (module.__doc__ or name).strip().splitlines()[0].rstrip(".")
        tools = tuple(getattr(module, "TOOLS", ()))
        modes = tuple(getattr(module, "MODES", ()))
        quick = getattr(module, "QUICK", None)
        options = (*getattr(module, "OPTIONS", ()), *(["quick"] if quick else []))
        slow = getattr(module, "SLOW", False)
        found[name] = Suite(name, title, module, tools, slow, modes, options, quick)
    ranks = {name: rank for rank, name in enumerate(ORDER)}
    ordered = sorted(found, key=lambda name: (ranks.get(name, len(ORDER)), name))
    return {name: found[name] for name in ordered}
