# SPDX-License-Identifier: MIT
"""What a program is made of: C and assembly files, objects and archives, folders of them."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from redzone.build import builder
from redzone.core import base
from redzone.core.arch import ARCHES
from redzone.core.base import Failure
from redzone.elf.file import ET_REL, ElfError, File
from redzone.elf.members import members
from redzone.run import cpio

SOURCES = (".c", ".S")
OBJECTS = (".o", ".a")
_CPLUSPLUS = (".cpp", ".cc", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx")


@dataclass
class Inputs:
    """Absolute paths. sources: to be compiled. objects: .o and .a files, to be linked."""

    sources: list = field(default_factory=list)
    objects: list = field(default_factory=list)


def in_folder(name, suffixes=(".c",)):
    """Return the names of the folder's own files with one of @suffixes, sorted, or raise Failure."""
    found = sorted(str(path) for path in Path(name).iterdir() if path.suffix in suffixes and path.is_file())
    if not found:
        raise Failure(f"the folder '{name}' has no {' or '.join(suffixes)} files")
    return found


def expand(names, suffixes=(".c",)):
    """Return @names with the files of each folder in its place."""
    return [file for name in names for file in (in_folder(name, suffixes) if Path(name).is_dir() else [name])]


def matching(names, pattern):
    """Return those of @names in which the regular expression @pattern is found; None: all. Raise Failure if
    there is none."""
    if pattern is None:
        return names
    try:
        found = [name for name in names if re.search(pattern, name)]
    except re.error as error:
        raise Failure(f"--filter '{pattern}' is not a regular expression: {error}") from None
    if not found:
        raise Failure(f"--filter '{pattern}': none of {base.plural(len(names), 'program')} has such a name")
    return found


def _check_elf(data, name, arch):
    """Raise Failure if @data, which the user calls @name, is no object for @arch."""
    try:
        found = File(data)
    except ElfError:
        raise Failure(f"{name} is not an object file") from None
    if found.type != ET_REL:
        raise Failure(f"{name} is not an object file, but a linked one")
    if found.machine != ARCHES[arch].machine:
        kind = found.machine.removeprefix("EM_").lower()
        raise Failure(f"{name} is not an object file for {arch}, but one for {kind}")


def _check_object(path, name, arch):
    """Raise Failure if the file @path is no object or archive for @arch."""
    try:
        data = path.read_bytes()
        if path.suffix != ".a":
            _check_elf(data, f"'{name}'", arch)
            return
        for member, content in members(data):
            if content is None:
                raise ElfError("is a thin archive, which its members are not part of")
            _check_elf(content, f"'{name}': its member {member}", arch)
    except OSError as error:
        raise Failure(f"'{name}' cannot be read: {error.strerror}") from None
    except ElfError as error:
        raise Failure(f"'{name}' {error}") from None


def _not_accepted(path, name, accepted):
    """Return the Failure about the file @path, whose suffix is none of @accepted."""
    if path.suffix in _CPLUSPLUS:
        return Failure(f"'{name}' is C++: programs are in C, and there is no C++ library here")
    kinds = " or ".join(filter(None, [", ".join(accepted[:-1]), accepted[-1]]))
    hint = "headers are found with -I" if path.suffix == ".h" else "data goes in with --file"
    return Failure(f"'{name}' is not a {kinds} file; {hint}")


def check(names, arch, accepted=(*SOURCES, *OBJECTS)):
    """Return the Inputs that @names stand for, or raise Failure, which says what is wrong.

    @accepted: suffixes of files that are taken; a folder stands for its sources among these.
    """
    found, taken = Inputs(), set()
    for name in expand(names, [suffix for suffix in accepted if suffix in SOURCES]):
        path = Path(name)
        if not path.exists():
            hint = "" if path.suffix in accepted else "; arguments of the program go after --"
            raise Failure(f"'{name}' does not exist{hint}")
        builder.check_path(path.resolve(), name)
        if path.suffix not in accepted:
            raise _not_accepted(path, name, accepted)
        if path.resolve() in taken:
            raise Failure(f"'{name}' is named twice")
        taken.add(path.resolve())
        base.remember_typed(name)
        if path.suffix in SOURCES:
            cpio.read(path, "the source")
            found.sources.append(path.resolve())
        else:
            _check_object(path.resolve(), name, arch)
            found.objects.append(path.resolve())
    return found


# {variable with the number of shards: (variable with the one to run, its lowest value)}: Bazel, GitLab,
# CircleCI, Buildkite.
_SHARD_VARIABLES = {
    "TEST_TOTAL_SHARDS": ("TEST_SHARD_INDEX", 0),
    "CI_NODE_TOTAL": ("CI_NODE_INDEX", 1),
    "CIRCLE_NODE_TOTAL": ("CIRCLE_NODE_INDEX", 0),
    "BUILDKITE_PARALLEL_JOB_COUNT": ("BUILDKITE_PARALLEL_JOB", 0),
}


@dataclass
class Shard:
    """Part @index, from 1, of @count. origin: the option or variable that says so."""

    index: int
    count: int
    origin: str

    def mine(self, items):
        """Return [(place from 1, item)] of this part of @items: every count-th, so slow neighbours spread."""
        numbered = list(enumerate(items, 1))
        return numbered[self.index - 1 :: self.count]


def shard_of(text, environment=None):
    """Return the Shard that --shard @text or else the environment asks for; None: all programs run."""
    environment = os.environ if environment is None else environment
    if text is not None:
        index, count = (int(part) for part in text.split("/"))
        return Shard(index, count, "--shard")
    for total, (name, lowest) in _SHARD_VARIABLES.items():
        if total not in environment or name not in environment:
            continue
        try:
            index, count = int(environment[name]) - lowest + 1, int(environment[total])
        except ValueError:
            index = count = 0
        if not 1 <= index <= count:
            raise Failure(
                f"{name}={environment[name]} and {total}={environment[total]} name no part; "
                "--shard 1/1 runs everything"
            )
        # Bazel looks for it, to see that the test knows about shards.
        status = environment.get("TEST_SHARD_STATUS_FILE")
        if status and total == "TEST_TOTAL_SHARDS":
            Path(status).touch()
        return Shard(index, count, name) if count > 1 else None
    return None
