# SPDX-License-Identifier: MIT
"""Finds files of source, cuts lines out of them, and says of which type an object is.

A log may name any path. A file is read only if the debug information of an image that the user gave names it,
or if it lies below a folder that the user gave: a log must not make anyone publish other files.
"""

import re
from pathlib import Path, PurePosixPath

from redzone.core import base
from redzone.decode import roles
from redzone.decode.model import Excerpt, SourceLine
from redzone.elf import dwarf
from redzone.elf.dwarf import text as _text

# The reference kernel, the runtime, and what belongs to them: a bug is not in these folders.
PLUMBING = tuple(f"{base.ROOT / folder}/" for folder in ("runtime", "fuzz", "kernel"))
_SERVANTS = (*PLUMBING, f"{base.BUILD}/libc/")
# Nor is it, as a rule, in these: our headers and ports, headers of the compiler.
_OURS = (*_SERVANTS, *(f"{base.ROOT / folder}/" for folder in ("include", "ports")))
_COMPILERS = re.compile(r".*/lib/(?:clang|gcc|gcc-cross)/")
_CONTEXT = 2
_MAX_FILE = 8 << 20
_MAX_FILES = 64
_MAX_WIDTH = 400
# Entries of debug information that are looked at in all; a kernel has tens of millions.
_MAX_ENTRIES = 3_000_000
_SIZEOF = re.compile(
    r"sizeof\s*\(\s*(?:(?P<kind>struct|union)\s+(?P<name>\w+)|\*\s*(?P<pointer>\w+)|(?P<typedef>\w+))\s*\)|sizeof\s+\*\s*(?P<bare>\w+)"
)


class Sources:
    """folders: of --source. trusted(path): is it named in an image's debug information?"""

    def __init__(self, folders, trusted):
        self._folders = [Path(folder).resolve() for folder in folders]
        self._trusted = trusted
        self._paths = {}
        self._files = {}

    def find(self, path):
        """Return the file that @path of a Location means, None if it is not there or must not be read."""
        if path not in self._paths:
            self._paths[path] = self._find(path)
        return self._paths[path]

    def _find(self, path):
        parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..", ".")]
        for folder in self._folders:
            for skip in range(len(parts)):
                file = folder.joinpath(*parts[skip:])
                try:
                    if file.is_file() and file.resolve().is_relative_to(folder):
                        return file
                except (OSError, ValueError):
                    continue
        try:
            file = Path(path)
            return file if file.is_absolute() and self._trusted(path) and file.is_file() else None
        except (OSError, ValueError):
            return None

    def lines(self, path):
        """Return the lines of the file at @path, [] if there is none."""
        file = self.find(path)
        if file is None:
            return []
        if file not in self._files:
            if len(self._files) >= _MAX_FILES:
                self._files.pop(next(iter(self._files)))
            try:
                with open(file, "rb") as data:
                    text = data.read(_MAX_FILE).decode("utf-8", "replace")
            except OSError:
                text = ""
            self._files[file] = text.splitlines()
        return self._files[file]

    def excerpt(self, about, location, context=_CONTEXT):
        """Return the Excerpt of @location, None without its source."""
        lines = self.lines(location.path)
        if not 1 <= location.line <= len(lines):
            return None
        first, last = max(1, location.line - context), min(len(lines), location.line + context)
        return Excerpt(
            about,
            location,
            [
                SourceLine(number, _plain(lines[number - 1]), number == location.line)
                for number in range(first, last + 1)
            ],
        )


def _plain(text):
    return "".join(letter if letter.isprintable() else "?" for letter in text.expandtabs(4))[:_MAX_WIDTH]


class Types:
    """Says which type an object has, from the sizeof in the line that allocates it.

    The answer is used only if the type's size is that of the object, or divides it.
    """

    def __init__(self, sources):
        self._sources = sources
        self._units = {}
        self._left = _MAX_ENTRIES
        self._files = []

    def close(self):
        for file in self._files:
            file.close()

    def of(self, image, location, size):
        """Return "struct foo" or "struct foo[4]", "" if it is not certain."""
        lines = self._sources.lines(location.path)
        if not size or not 1 <= location.line <= len(lines):
            return ""
        # A call may go on in the next lines.
        text = " ".join(lines[location.line - 1 : location.line + 2]).split(";")[0]
        match = _SIZEOF.search(text)
        if match is None:
            return ""
        try:
            unit = self._unit(image, location.path)
            if unit is None:
                return ""
            pointer = match["pointer"] or match["bare"]
            name, each = (
                self._pointed(unit, location.function, pointer) if pointer else self._named(unit, match)
            )
        except dwarf.errors():
            return ""
        if not name or not each or size % each:
            return ""
        return name if each == size else f"{name}[{size // each}]"

    def _unit(self, image, path):
        """Return the top entry of the unit that the file @path was compiled as, None if there is none."""
        if image not in self._units:
            file = open(image.file, "rb")  # noqa: SIM115
            self._files.append(file)
            found = dwarf.information(file)
            # A user's program comes after the kernel, and each entry takes a millisecond to read.
            self._units[image] = {}, reversed(list(found.iter_CUs() if found else ()))
        known, rest = self._units[image]
        if path not in known:
            for unit in rest:
                top = unit.get_top_DIE()
                self._left -= 1
                known.setdefault(dwarf.unit_path(top), top)
                if path in known or self._left < 0:
                    break
        return known.get(path)

    def _below(self, die):
        for child in die.iter_children():
            self._left -= 1
            if self._left < 0:
                raise ValueError("too much debug information")
            yield child

    def _named(self, unit, match):
        name = match["name"] or match["typedef"]
        tags = {"struct": "DW_TAG_structure_type", "union": "DW_TAG_union_type", None: "DW_TAG_typedef"}
        for child in self._below(unit):
            if child.tag == tags[match["kind"]] and _text(child, "DW_AT_name") == name:
                shown = f"{match['kind']} {name}" if match["kind"] else name
                size = _size(child)
                if size:
                    return shown, size
        return "", 0

    def _pointed(self, unit, function, variable):
        """Return (name, size) of the type that the pointer @variable of @function points to."""
        for child in self._below(unit):
            if child.tag == "DW_TAG_subprogram" and _text(child, "DW_AT_name") == function:
                found = {_type_name(one) for one in self._variables(child, variable)}
                if len(found) == 1:
                    return found.pop()
        return "", 0

    def _variables(self, die, name):
        """Yield the types that variables @name below @die point to."""
        for child in self._below(die):
            if child.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
                if _text(child, "DW_AT_name") == name:
                    target = _strip(child.get_DIE_from_attribute("DW_AT_type"))
                    if target is not None and target.tag == "DW_TAG_pointer_type":
                        yield target.get_DIE_from_attribute("DW_AT_type")
            elif child.tag == "DW_TAG_lexical_block":
                yield from self._variables(child, name)


def _strip(die):
    """Return the type below typedefs and qualifiers."""
    for _ in range(32):
        if die is None or die.tag not in ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"):
            return die
        die = die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None
    return None


def _size(die):
    die = _strip(die)
    return (
        die.attributes["DW_AT_byte_size"].value
        if die is not None and "DW_AT_byte_size" in die.attributes
        else 0
    )


def _type_name(die):
    words = {"DW_TAG_structure_type": "struct ", "DW_TAG_union_type": "union "}
    name = _text(die, "DW_AT_name")
    return (words.get(die.tag, "") + name if name else ""), _size(die)


def is_users(path):
    """Is the file @path one of a program that runs in the reference kernel?"""
    return not path.startswith(_OURS) and not _COMPILERS.match(path)


def _has_program(stack):
    """Has @stack frames of the reference kernel? Others in it are of a program."""
    return any(one.path.startswith(PLUMBING) for frame in stack.frames for one in frame.locations)


def set_helpers(report):
    """The reference kernel and the C library act for the program that calls them: the bug is in that. A
    program's own list_add() is not Linux's."""
    for stack in report.stacks:
        for frame in stack.frames if _has_program(stack) else ():
            if frame.role == "helper" and any(is_users(one.path) for one in frame.locations):
                frame.role = ""
        program = (
            any(not one.path.startswith(_SERVANTS) for one in frame.locations) for frame in stack.frames
        )
        own = next((at for at, found in enumerate(program) if found), 0)
        for frame in stack.frames[:own]:
            frame.role = frame.role or "helper"


def add_excerpts(report, sources):
    """Fill report.excerpts: the access, the allocation, the free, and the declaration of a variable."""
    wanted = []
    for stack in report.stacks:
        if stack.kind in ("call", "allocated", "freed") and stack.kind not in {about for about, _ in wanted}:
            location = place_of(stack)
            if location is not None:
                wanted.append((stack.kind, location))
    if report.object is not None and report.object.where is not None and report.object.where.line:
        wanted.append(("variable", report.object.where))
    for one in report.excerpts:
        if all(about != one.about for about, _ in wanted):
            wanted.append((one.about, one.location))
    report.excerpts = [
        sources.excerpt(about, location) or Excerpt(about, location) for about, location in wanted
    ]


def place_of(stack):
    """Return the Location that a Stack is about: the first one of its first ordinary function, or of a helper
    if it has no other."""
    helper, with_program = None, _has_program(stack)
    for frame in stack.frames:
        if not (frame.reliable and frame.locations) or frame.role == "sanitizer":
            continue
        if frame.role == "":
            # A helper that was inlined does what this function asked for.
            own = (
                one
                for one in frame.locations
                if not _COMPILERS.match(one.path)
                and (roles.role(one.function) != "helper" or (with_program and is_users(one.path)))
            )
            return next(own, frame.locations[-1])
        helper = helper or frame.locations[0]
    return helper
