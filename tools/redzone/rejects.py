# SPDX-License-Identifier: MIT
"""`./redzone run --each`: builds the files that can be built, and says why the others cannot.

It leaves out a file that does not compile, has no main(), or calls a function that does not exist, and gives
it a verdict of its own. The others run.
"""

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from redzone import base, builder, missing

_NO_MAIN = re.compile(r"^error: program (\d+): .* has no main\(\)$")


@dataclass
class Reject:
    """A file that is not a program. title: one line about it. messages: the tools' output, line by line."""

    title: str
    messages: list


def compiled(step, sources):
    """Return the index of the source that the failed Step @step compiles, or None."""
    try:
        words = shlex.split(step.command)
    except ValueError:
        return None
    if "-c" not in words[:-1]:
        return None
    path = Path(words[words.index("-c") + 1])
    return sources.index(path) if path in sources else None


def _unlinked(step, sources, parts):
    """Return {index: [names]} of the sources that use names that the linker did not find."""
    wanted = missing.undefined_symbols(step.output)
    if not wanted:
        return {}
    used = {index: missing.names_used(parts / f"{index}.o") for index in range(len(sources))}
    return {index: sorted(hit) for index, names in used.items() if (hit := names & wanted)}


def of(failure, sources, parts, large=False):
    """Return {index in @sources: Reject} for a builder.BuildFailure; empty if no file caused it.

    @parts: folder with the programs' objects, as tools/each.py makes them. @large: they have the large C
    library.
    """
    found = {}
    for step in failure.steps:
        index = compiled(step, sources)
        if index is not None:
            found[index] = Reject("does not compile", step.output)
        for match in filter(None, map(_NO_MAIN.match, step.output)):
            found[int(match[1])] = Reject("has no main()", [])
        for index, names in _unlinked(step, sources, parts).items():
            found[index] = Reject("does not link", [f"undefined symbol: {name}" for name in names])
    for reject in found.values():
        reject.messages += [f"hint: {hint}" for hint in builder.hints("\n".join(reject.messages), large)]
    return found


def _library(failure, library):
    """Return the missing.Missing of the files that all programs share: no program can run without them."""
    found = missing.Missing()
    for step in failure.steps:
        index = compiled(step, library)
        if index is not None:
            found.add_messages(step.output, base.relative(library[index]))
    return found


def build(preset, program, folder):
    """Build the Program @program, which has many files, without those that cannot be programs.

    Return (the builder.Image, or None if no file is left; {index in program.sources: Reject}). Raise Failure
    for anything else that goes wrong.
    """
    rejects = {}
    while True:
        left = [index for index in range(len(program.sources)) if index not in rejects]
        if not left:
            return None, rejects
        part = replace(program, sources=[program.sources[index] for index in left])
        found = {}

        def examine(failure, place, part=part, found=found):
            found.update(of(failure, part.sources, place / f"{part.name}.parts", part.libc is not None))

        try:
            built = builder.build(preset, programs=[part], copy_to=folder, examine=examine)
        except builder.BuildFailure as failure:
            broken = _library(failure, part.library)
            if broken.found or not found:
                failure.table = broken
                raise
            rejects |= {left[index]: reject for index, reject in found.items()}
        else:
            return built[program.name], rejects
