# SPDX-License-Identifier: MIT
"""Owns what several verbs' options share: types of values, checks of files, and --yes."""

import os
import re
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from redzone.core import base, outside
from redzone.core.base import Failure


class _Type(click.ParamType):
    """A type whose messages say what is accepted. name: stands for the value in help texts."""

    def get_metavar(self, param, ctx=None):
        return self.name

    def refuse(self, value, accepted):
        self.fail(f"'{value}' is not accepted; accepted: {accepted}")


class Choice(_Type):
    """One of a few words."""

    def __init__(self, accepted):
        self.accepted = tuple(accepted)
        self.name = "|".join(self.accepted)

    def shell_complete(self, context, param, incomplete):
        return [CompletionItem(word) for word in self.accepted if word.startswith(incomplete)]

    def convert(self, value, param, context):
        if value not in self.accepted:
            self.refuse(value, ", ".join(self.accepted))
        return value


class Words(Choice):
    """Words from a short list, separated by commas."""

    def __init__(self, accepted):
        super().__init__(accepted)
        self.name = "LIST"

    def convert(self, value, param, context):
        return [super(Words, self).convert(word, param, context) for word in value.split(",")]


class Patterns(_Type):
    """KUnit's patterns, or those of the port of Linux, separated by commas. They are one word, because they
    become a boot parameter."""

    name = "PATTERNS"

    def convert(self, value, param, context):
        if not re.fullmatch(r"[\w*?.,+\[\]!-]+", value, re.ASCII):
            self.refuse(value, "suites or suite.case with the shell's wildcards, separated by commas")
        return value


class Number(_Type):
    """A number in a range. @kind: int or float."""

    def __init__(self, kind, low, high, name):
        self.kind, self.low, self.high, self.name = kind, low, high, name

    def convert(self, value, param, context):
        try:
            number = self.kind(value)
        except ValueError:
            number = None
        if number is None or not self.low <= number <= self.high:
            word = "an integer" if self.kind is int else "a number"
            self.refuse(value, f"{word} from {self.low} to {self.high}")
        return number


class Memory(_Type):
    """A memory size, in the form that QEMU's -m takes."""

    name = "SIZE"

    def convert(self, value, param, context):
        match = re.fullmatch(r"(\d+)([KMG]?)", value.upper(), re.ASCII)
        unit = match[2] or "M" if match else "M"
        if not match or not 64 << 20 <= int(match[1]) << {"K": 10, "M": 20, "G": 30}[unit] <= 64 << 30:
            self.refuse(value, "64M to 64G, as in 256M or 2G")
        return match[1] + unit


class StackSize(_Type):
    """The size of a program's stack, in the form that the kernel takes."""

    name = "SIZE"

    def convert(self, value, param, context):
        match = re.fullmatch(r"(\d{1,9})([KMG])", value, re.ASCII | re.IGNORECASE)
        shift = {"K": 10, "M": 20, "G": 30}[match[2].upper()] if match else 0
        if not match or not 64 << 10 <= int(match[1]) << shift <= 1 << 30:
            self.refuse(value, "64K to 1G, as in 256K or 16M")
        return value.upper()


class Macro(_Type):
    """The words after #define: NAME, NAME=VALUE, NAME(PARAMETERS)=VALUE."""

    name = "MACRO[=VALUE]"

    def convert(self, value, param, context):
        name, _, text = value.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*(\([\w\s,.]*\))?", name, re.ASCII) or "\n" in text:
            self.refuse(value, "NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE")
        return value


class Part(_Type):
    """I/N: part I of N."""

    name = "I/N"

    def convert(self, value, param, context):
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", value, re.ASCII)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            self.refuse(value, "I/N with I from 1 to N, as in 1/4")
        return value


class Pair(_Type):
    """The value of --file or --save, which becomes (name in the kernel, Path on the host)."""

    name = "NAME=HOSTPATH"

    def convert(self, value, param, context):
        name, equals, path = value.partition("=")
        if not (name and equals and path):
            self.refuse(value, self.name)
        return name, Path(path)


class Variable(_Type):
    """The value of --env, which becomes (name, value)."""

    name = "NAME=VALUE"

    def convert(self, value, param, context):
        name, equals, text = value.partition("=")
        if not (name and equals):
            self.refuse(value, self.name)
        return name, text


class Output(_Type):
    """A file that is written at the end of a long run: it is checked before that begins."""

    name = "FILE"

    def convert(self, value, param, context):
        check_output(param.opts[0], value)
        return value


def check_output(option, name, inputs=()):
    """Raise Failure if the file @name of @option cannot be written, or is one of the @inputs (paths).

    name: None if the option was not given.
    """
    if name is None:
        return
    path = Path(name)
    if str(name) == "-":
        raise Failure(f"{option} '-': standard output has the console already; name a file")
    for used in inputs:
        if path.exists() and path.samefile(used):
            raise Failure(f"{option} '{name}' would overwrite '{base.relative(used)}', which this run reads")
    if path.suffix in (".c", ".h") and path.exists():
        raise Failure(f"{option} '{name}' would overwrite a source file; name another file")
    if path.is_dir():
        raise Failure(f"{option} '{name}' cannot be written: it is a directory")
    if not path.absolute().parent.is_dir():
        raise Failure(f"{option} '{name}' cannot be written: its folder does not exist")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise Failure(f"{option} '{name}' cannot be written: permission denied")


def _or_environment(context, param, value):
    return value or outside.assume_yes()


YES = click.option(
    "--yes",
    is_flag=True,
    callback=_or_environment,
    help="Install missing packages without asking (implied by CI=true).",
)
