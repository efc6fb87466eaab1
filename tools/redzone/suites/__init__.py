# SPDX-License-Identifier: MIT
"""The suites of `./redzone test`, one module each.

A suite module has
  a docstring   whose first line is the suite's title,
  run(context)  yields runner.Result; context is a runner.Context,
and may have
  TOOLS         keys of redzone.tools that all of it needs: without them the suite is skipped by name,
  MODES         the KASAN modes that `--mode` may choose from; run() then looks at context.mode,
  SLOW          True: runs only when it is named.

The suite's name is the module's, with `-` for `_`.
"""

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType

# Quick ones first; a suite that is not listed runs after those that are.
ORDER = (
    "style",
    "unit",
    "freestanding",
    "kunit",
    "kunit-bugs-removed",
    "golden",
    "syzkaller",
    "cases",
    "zlib",
    "porting",
    "boots",
    "boot-parameters",
    "e2e",
    "kunit-matrix",
    "linux-kunit",
    "bench",
    "soak",
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


def load():
    """Return {name: Suite} in the order in which they run."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        name = info.name.replace("_", "-")
        title = (module.__doc__ or name).strip().splitlines()[0].rstrip(".")
        tools = tuple(getattr(module, "TOOLS", ()))
        modes = tuple(getattr(module, "MODES", ()))
        options = tuple(getattr(module, "OPTIONS", ()))
        found[name] = Suite(name, title, module, tools, getattr(module, "SLOW", False), modes, options)
    ranks = {name: rank for rank, name in enumerate(ORDER)}
    ordered = sorted(found, key=lambda name: (ranks.get(name, len(ORDER)), name))
    return {name: found[name] for name in ordered}
