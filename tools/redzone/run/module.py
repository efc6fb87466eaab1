# SPDX-License-Identifier: MIT
"""Loadable modules of `./redzone run --module FILE.c`: names and files."""

import re
from pathlib import Path

from redzone.build.builder import Program
from redzone.core.base import Failure

# As in the kernel (kernel/include/kernel/module.h), not counting the NUL.
MAX_NAME = 55
MAX_MODULES = 64


def name_of(path):
    """Return the module's name in the kernel: the file's, with '_' for everything but letters and digits."""
    return re.sub(r"[^A-Za-z0-9]", "_", Path(path).name.partition(".")[0])


def programs(sources, **code):
    """Return what to build, a builder.Program for each of @sources (absolute paths). @code: the options of
    each."""
    if len(sources) > MAX_MODULES:
        raise Failure(f"{len(sources)} modules; at most {MAX_MODULES} are possible")
    seen = {}
    for source in sources:
        name = name_of(source)
        if not 1 <= len(name) <= MAX_NAME:
            raise Failure(f"--module '{source.name}': a module's name has 1 to {MAX_NAME} characters")
        if name in seen:
            raise Failure(f"--module: '{seen[name].name}' and '{source.name}' would both be module {name}")
        seen[name] = source
    # The prefix keeps build targets apart: a module may be called "redzone".
    return [
        Program(f"module-{name_of(source)}", [source], **code, function="redzone_add_module")
        for source in sources
    ]


def files(built, targets):
    """Return [(name in the initrd, host path)] of @built modules; @targets: what builder.build() returned."""
    return [(targets[program.name].name, targets[program.name]) for program in built]


def parameter(pairs):
    """Return the boot parameter that loads the modules of files()."""
    return "module.load=" + ",".join(name.removesuffix(".ko") for name, _ in pairs)
