# SPDX-License-Identifier: MIT
"""Loadable modules of `./redzone run --module FILE.c`: names, files, and source lines of their frames."""

import re
import subprocess
from pathlib import Path

from redzone import base, symbolize
from redzone.base import Failure
from redzone.builder import Program

LINKER = "ld.lld-19"
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


def _linked(path):
    """Give the relocatable file @path addresses, so that its DWARF names one place for each address.

    Functions keep their sizes, so offsets in them stay the same as in the kernel. Return the file.
    """
    target = Path(path).with_suffix(".symbols")
    command = [
        *(LINKER, "-nostdlib", "-static", "-e", "0", "--no-gc-sections", "--noinhibit-exec"),
        *("--unresolved-symbols=ignore-all", "--no-warnings", str(path), "-o", str(target)),
    ]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    if not target.exists():
        raise Failure(f"the symbols of {base.relative(path)} cannot be read:\n{result.stderr}".rstrip())
    return target


class Symbolizers:
    """Answers for the kernel and for each module; has what view.View needs from a symbolize.Symbolizer."""

    def __init__(self, kernel, pairs):
        """@kernel: its ELF file. @pairs: the result of files()."""
        self._all = {None: symbolize.Symbolizer(kernel)}
        try:
            for name, path in pairs:
                self._all[name.removesuffix(".ko")] = symbolize.Symbolizer(_linked(path))
        except BaseException:
            self.close()
            raise

    @property
    def files(self):
        return [file for one in self._all.values() for file in one.files]

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        for one in self._all.values():
            one.close()

    def locals_of(self, frame):
        """Return the list of symbolize.Local of the function that @frame names."""
        one = self._all.get(frame.module)
        return one.locals_of(frame) if one is not None else []

    def frame(self, frame):
        """Fill and return @frame.sources from the file that the frame's "[module]" names."""
        one = self._all.get(frame.module)
        return one.frame(frame) if one is not None else frame.sources
