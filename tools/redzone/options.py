# SPDX-License-Identifier: MIT
"""What the options of several verbs share: the types of their values, the checks of files, and --yes."""

import os
import re
from pathlib import Path

import click

from redzone import base, machine, tools
from redzone.base import Failure


class Choice(click.ParamType):
    """One of a few words; the message says which."""

    def __init__(self, accepted):
        self.accepted = tuple(accepted)
        self.name = "|".join(self.accepted)

    def get_metavar(self, param, ctx=None):
        return self.name

    def convert(self, value, param, context):
        if value not in self.accepted:
            self.fail(f"'{value}' is not accepted; accepted: {', '.join(self.accepted)}")
        return value


class Number(click.ParamType):
    """A number in a range. @kind: int or float."""

    def __init__(self, kind, low, high, what):
        self.kind, self.low, self.high, self.what = kind, low, high, what
        self.name = what

    def get_metavar(self, param, ctx=None):
        return self.what

    def convert(self, value, param, context):
        try:
            number = self.kind(value)
        except ValueError:
            number = None
        if number is None or not self.low <= number <= self.high:
            word = "an integer" if self.kind is int else "a number"
            self.fail(f"'{value}' is not accepted; accepted: {word} from {self.low} to {self.high}")
        return number


class Memory(click.ParamType):
    """A memory size."""

    name = "SIZE"

    def convert(self, value, param, context):
        try:
            return machine.memory_size(value)
        except ValueError:
            self.fail(f"'{value}' is not accepted; accepted: 64M to 64G, as in 256M or 2G")


class Macro(click.ParamType):
    """What may follow #define: NAME, NAME=VALUE, NAME(PARAMETERS)=VALUE."""

    name = "MACRO[=VALUE]"

    def convert(self, value, param, context):
        name, _, text = value.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*(\([\w\s,.]*\))?", name, re.ASCII) or "\n" in text:
            self.fail(f"'{value}' is not accepted; accepted: NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE")
        return value


class Pair(click.ParamType):
    """NAME=VALUE, kept as text."""

    name = "NAME=HOSTPATH"

    def convert(self, value, param, context):
        name, equals, path = value.partition("=")
        if not (name and equals and path):
            self.fail(f"'{value}' is not accepted; accepted: NAME=HOSTPATH")
        return value


class Words(click.ParamType):
    """Words separated by commas, each one of a few."""

    def __init__(self, accepted):
        self.accepted = tuple(accepted)
        self.name = ",".join(self.accepted)

    def get_metavar(self, param, ctx=None):
        return "LIST"

    def convert(self, value, param, context):
        words = value.split(",")
        for word in words:
            if word not in self.accepted:
                self.fail(f"'{word}' is not accepted; accepted: {', '.join(self.accepted)}")
        return words


def check_output(option, name, inputs=()):
    """Raise Failure if the file @name of @option cannot be written, or is one of the @inputs (paths).

    name: None if the option was not given.
    """
    if name is None:
        return
    path = Path(name)
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
    return value or tools.assume_yes()


YES = click.option(
    "--yes",
    is_flag=True,
    callback=_or_environment,
    help="Install missing packages without asking (so does CI=true).",
)
