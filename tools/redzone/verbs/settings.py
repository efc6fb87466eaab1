# SPDX-License-Identifier: MIT
"""redzone.toml: the usual options of a project, for each command. Those of the command line override them."""

import os
import tomllib
from pathlib import Path

import click

from redzone.core.base import Failure

NAME = "redzone.toml"
# Parameters whose values are paths, relative to the file's folder; or NAME=PATH.
_PATHS = (
    "files",
    "includes",
    "modules",
    "library",
    "project",
    "stdin",
    "log",
    "report_file",
    "html",
    "sarif",
    "junit",
)
_PAIRS = ("data", "save")


def find(folder):
    """Return the file for commands in @folder: there, or in a folder above it up to that of the Git work
    tree; else None. Above a folder without Git nothing is read: it may be anybody's."""
    folder = Path(folder).resolve()
    above = [folder, *folder.parents]
    top = next((at for at, one in enumerate(above) if (one / ".git").exists()), 0)
    return next((one / NAME for one in above[: top + 1] if (one / NAME).is_file()), None)


def _key(parameter):
    """Return the names that @parameter has in the file: its option's without dashes, or "files"."""
    if isinstance(parameter, click.Argument):
        return [parameter.name]
    return [name.lstrip("-") for name in parameter.opts]


def _relative(path, folder):
    path = folder / str(path)
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _value(parameter, value, folder, where):
    """Return @value of the file for @parameter."""
    if parameter.multiple or parameter.nargs == -1:
        value = value if isinstance(value, list) else [value]
    elif isinstance(value, list):
        raise Failure(f"{where} takes one value, not a list")
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise Failure(f"{where} is true or false")
        return value
    many = value if isinstance(value, list) else [value]
    if not all(isinstance(one, (str, int, float)) and not isinstance(one, bool) for one in many):
        raise Failure(f"{where}: a text or a number is expected")
    many = [str(one) for one in many]
    if parameter.name in _PATHS:
        many = [_relative(one, folder) for one in many]
    elif parameter.name in _PAIRS:
        pairs = (one.partition("=") for one in many)
        many = [f"{name}={_relative(path, folder)}" if path else name for name, _, path in pairs]
    return many if isinstance(value, list) else many[0]


class Settings:
    """The file @path for the commands of the click.Group @group. defaults: as click wants it."""

    def __init__(self, path, group):
        self.path, self.defaults, self._shown = path, {}, {}
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Failure(f"'{path}' cannot be read: {error}") from None
        for verb, table in data.items():
            command = group.commands.get(verb)
            if command is None or not isinstance(table, dict):
                raise Failure(f"'{path}': [{verb}] is not a command; as in [run]")
            self._read(verb, command, table)

    def _read(self, verb, command, table):
        known = {name: one for one in command.params for name in _key(one)}
        self.defaults[verb], self._shown[verb] = {}, []
        for key, value in table.items():
            parameter = known.get(key)
            if parameter is None or key in ("help", "version"):
                raise Failure(f"'{self.path}': [{verb}] has no option '{key}' (see ./redzone {verb} --help)")
            value = _value(parameter, value, self.path.parent, f"'{self.path}': {key}")
            self.defaults[verb][parameter.name] = value
            given = table[key]
            for one in given if isinstance(given, list) else [given]:
                option = ("-" if len(key) == 1 else "--") + key
                self._shown[verb].append(
                    (
                        parameter.name,
                        {True: option, False: ""}.get(one, f"{option} {one}") if key != "files" else one,
                    )
                )

    def line(self, context):
        """Return a line about what the file gives to the command of @context, None without anything."""
        used = [
            text
            for name, text in self._shown.get(context.info_name, ())
            if context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT_MAP and text
        ]
        return f"{os.path.relpath(self.path)}: {' '.join(used)}" if used else None
