# SPDX-License-Identifier: MIT
"""`./redzone run --each`: builds the files that can be built, and says why the others cannot.

It leaves out a file that does not compile, has no main(), or calls a function that does not exist, and gives
it a verdict of its own. The others run. It divides programs among images when one image has no room for all.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from redzone.build import builder, missing
from redzone.core import base
from redzone.elf.file import SHF_ALLOC, File

_NO_MAIN = re.compile(r"^error: program (\d+): .* has no main\(\)$")

# Bytes of programs in one image: half of the image's address space, because the C library and the rest of the
# kernel come on top, and a size may be that of the host's code, which can be smaller.
ROOM = 64 << 20


@dataclass
class Reject:
    """A file that is not a program. title: one line about it. messages: the tools' output, line by line."""

    title: str
    messages: list


def _unlinked(step, sources, parts):
    """Return {index: [names]} of the sources that use names that the linker did not find."""
    wanted = missing.undefined_symbols(step.output)
    if not wanted:
        return {}
    used = {index: missing.names_used(parts / f"{index}.o") for index in range(len(sources))}
    return {index: sorted(hit) for index, names in used.items() if (hit := names & wanted)}


def of(failure, sources, parts):
    """Return {index in @sources: Reject} for a builder.BuildFailure; empty if no file caused it.

    @parts: folder with the programs' objects, as join_programs.py makes them.
    """
    found = {}
    for step in failure.steps:
        index = missing.compiled(step, sources)
        if index is not None:
            found[index] = Reject("does not compile", step.output)
        for match in filter(None, map(_NO_MAIN.match, step.output)):
            found[int(match[1])] = Reject("has no main()", [])
        for index, names in _unlinked(step, sources, parts).items():
            found[index] = Reject("does not link", [f"undefined symbol: {name}" for name in names])
    for reject in found.values():
        reject.messages += [f"hint: {hint}" for hint in builder.hints("\n".join(reject.messages))]
    return found


def _library(failure, library):
    """Return the missing.Missing of the files that all programs share: no program can run without them."""
    found = missing.Missing()
    for step in failure.steps:
        index = missing.compiled(step, library)
        if index is not None:
            found.add_messages(step.output, base.relative(library[index]))
    return found


def in_memory(path):
    """Return how many bytes of memory the object file @path takes."""
    return sum(section.size for section in File.open(path).sections if section.flags & SHF_ALLOC)


def divide(indexes, sizes):
    """Return lists of @indexes, in their order, each of programs that fit in one image. @sizes: bytes of
    memory of each of them."""
    groups, room = [], 0
    for index, size in zip(indexes, sizes, strict=True):
        if not groups or size > room:
            groups.append([])
            room = ROOM
        groups[-1].append(index)
        room -= size
    return groups


def _sizes(failure, program, place):
    """Return the bytes of memory of each program of the builder.Program @program, whose image was not linked;
    [] if the builder.BuildFailure @failure is of something else. @place: the build folder."""
    images = {f"{program.name}{suffix}" for suffix in (".o", ".pass1", ".elf")}
    if not any(Path(step.target).name in images for step in failure.steps):
        return []
    parts = [place / f"{program.name}.parts" / f"{index}.o" for index in range(len(program.sources))]
    return [in_memory(part) for part in parts] if all(part.is_file() for part in parts) else []


def _too_large(size, failure):
    """Return the Reject of a program of @size bytes that does not fit in an image of its own."""
    hint = "hint: large arrays can come from malloc(), as --mem gives memory"
    lines = [line for step in failure.steps for line in step.output]
    return Reject(f"is too large for the kernel's image: {size >> 20} MiB of memory", [*lines, hint])


def build(preset, program, folder, sizes=None, spare=False, look=None):
    """Build the Program @program, which has many files, without those that cannot be programs.

    One image has all of them if it has room; otherwise there are several, each with the next ones. @sizes:
    bytes of memory of each program, if known. Otherwise those of the compiled programs count, once one image
    turns out to be too small. @spare: the library may do without files that do not compile. @look: see
    builder.build().

    Return ([(builder.Image, [index in program.sources])], {index in program.sources: Reject}). Raise Failure
    for anything else that goes wrong.
    """
    rejects, images = {}, []
    everything = range(len(program.sources))
    waiting = divide(everything, sizes) if sizes else [list(everything)]
    while waiting:
        left = [index for index in waiting.pop(0) if index not in rejects]
        if not left:
            continue
        part = replace(program, sources=[program.sources[index] for index in left])
        found, large = {}, []

        def examine(failure, place, part=part, found=found, large=large):
            found.update(of(failure, part.sources, place / f"{part.name}.parts"))
            large += _sizes(failure, part, place)

        # Images have one name, and so each gets a folder.
        target = folder / f"image{len(images)}"
        target.mkdir(exist_ok=True)
        try:
            built = builder.build(preset, programs=[part], copy_to=target, examine=examine, look=look)
        except builder.BuildFailure as failure:
            broken = _library(failure, part.library)
            lost = {missing.compiled(step, part.library) for step in failure.steps} - {None}
            if spare and lost:
                files = [part.library[index] for index in sorted(lost)]
                names = ", ".join(base.relative(file) for file in files[:5]) + (
                    " ..." if len(files) > 5 else ""
                )
                base.say(f"--tests: left out, because they do not compile here: {names}")
                program = replace(program, library=[file for file in program.library if file not in files])
                waiting.insert(0, left)
                continue
            if not broken.found and found:
                rejects |= {left[index]: reject for index, reject in found.items()}
                waiting.insert(0, left)
            elif sum(large) > ROOM and len(left) > 1:
                groups = divide(left, large)
                base.say(
                    f"{len(left)} programs with {sum(large) >> 20} MiB of memory are too many for one image; "
                    f"they get {len(groups)}"
                )
                waiting = groups + waiting
            elif sum(large) > ROOM:
                rejects[left[0]] = _too_large(large[0], failure)
            else:
                failure.table = broken
                raise
        else:
            images.append((built[program.name], left))
    return images, rejects
