# SPDX-License-Identifier: MIT
"""Builds a program of many files to the end, whatever fails, and says what is missing for it.

The linker is asked a second time, without the files that do not compile: so one build shows all headers and
functions that are missing.
"""

import contextlib
import json
import shlex
from dataclasses import replace

from redzone.build import builder, missing
from redzone.core import base
from redzone.core.base import Failure


def _objects(program, folder):
    """Return {source: its object} of those that exist in the build folder @folder."""
    place = f"CMakeFiles/{program.name}.objects.dir/"
    made = {}
    for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        output = words[words.index("-o") + 1]
        if output.startswith(place):
            made[entry["file"]] = folder / output
    return {
        source: made[str(source)]
        for source in program.sources
        if str(source) in made and made[str(source)].exists()
    }


def _note_compiled(found, failure, program):
    """Add to the Missing @found what the compiler lacked. Return the sources that do not compile."""
    bad = []
    for step in failure.steps:
        index = missing.compiled(step, program.sources)
        if index is not None:
            bad.append(program.sources[index])
            found.add_messages(step.output, base.relative(bad[-1]))
    return bad


def _note_undefined(found, failure, program, folder, bad):
    """Add to the Missing @found what the linker lacked. Names in the sources @bad may be defined there."""
    names = missing.undefined_symbols([line for step in failure.steps for line in step.output])
    names = {name for name in names if not any(missing.mentions(source, name) for source in bad)}
    if not names:
        return
    places = {**_objects(program, folder), **{path: path for path in program.objects if path.suffix == ".o"}}
    seen = set()
    for source, place in places.items():
        for name in names & missing.names_used(place):
            found.add("function", name, base.relative(source))
            seen.add(name)
    archives = [base.relative(path) for path in program.objects if path.suffix == ".a"]
    for name in names - seen:
        found.add("function", name, ", ".join(archives) or "?")


def _choose(owners, mains):
    """Return the Failure of a project that is several programs. @owners: {source: target}. @mains: the
    sources with a main()."""
    rows = sorted((owners[source] or "?", base.relative(source)) for source in mains)
    width = max(len(target) for target, _ in rows)
    lines = [f"  {target:{width}}  {file}" for target, file in rows]
    others = sorted({*owners.values()} - {owners[source] for source in mains} - {""})
    needed = f"; the targets without one, which it may need, are {', '.join(others)}" if others else ""
    return Failure(
        f"--project: {len(rows)} files have a main(), so it is several programs. Choose one with --target "
        f"NAME, and further ones with what it needs{needed}\n" + "\n".join(lines)
    )


def build(preset, programs, folder, owners=None, look=None):
    """builder.build() of @programs, the first of which has several files. If it fails, the steps that can be
    done are done, and a table of what is missing follows the messages. @owners: {source: target} of a
    project's sources. @look: of builder.build()."""
    program, found, bad, mains = programs[0], missing.Missing(), [], []

    def examine(failure, place):
        made = _objects(program, place) if owners else {}
        mains.extend(source for source in made if source in owners and missing.defines(made[source], "main"))
        bad.extend(_note_compiled(found, failure, program))
        _note_undefined(found, failure, program, place, bad)

    def examine_again(failure, place):
        _note_undefined(found, failure, rest, place, bad)

    try:
        return builder.build(preset, programs=programs, copy_to=folder, examine=examine, look=look)
    except builder.BuildFailure as failure:
        if len(mains) > 1:
            raise _choose(owners, mains) from None
        rest = replace(program, sources=[source for source in program.sources if source not in bad])
        if bad and rest.sources:
            # It lacks at least what the first build lacked.
            with contextlib.suppress(Failure):
                builder.build(preset, programs=[rest], quiet=True, examine=examine_again)
        failure.table = found
        raise
