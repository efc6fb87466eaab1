# SPDX-License-Identifier: MIT
"""What the tables of `./redzone bench` share: their options, the kernels that they build, and the page that
they print and write."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from redzone.build import builder
from redzone.core import base, doctor
from redzone.core.arch import DEFAULT, KERNELS
from redzone.core.options import YES, Choice, Output

FORMAT = 1
KERNEL = "redzone-bench"

JSON = click.option("--json", "json_file", type=Output(), help="Also write the figures to FILE.")
MARKDOWN = click.option("--markdown", "markdown_file", type=Output(), help="Also write the tables to FILE.")


ARCH = click.option("--arch", type=Choice(KERNELS), default=DEFAULT, help=f"Machine. Default: {DEFAULT}.")


def options(function):
    """Add the options that every table has to the command @function."""
    return JSON(MARKDOWN(YES(function)))


def build(presets, yes, arch=DEFAULT):
    """Build the benchmark's kernels of {key: preset}, all of them for @arch. Return {key: builder.Image}."""
    needed = [key for preset in presets.values() for key in builder.tools_of(preset)]
    doctor.require([*needed, f"qemu-{arch}"], "run the benchmark", yes)
    return {key: builder.build(preset, targets=(KERNEL,))[KERNEL] for key, preset in presets.items()}


def markdown(table):
    """Return rows of text, the heading first, as a Markdown table."""
    heading, *body = table
    lines = ["| " + " | ".join(heading) + " |", "|---" + "|---:" * (len(heading) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body]) + "\n"


def show(table):
    """Print rows of text, the heading first, as a table."""
    heading, *body = table
    console = Console(width=None if Console().is_terminal else 400)
    view = Table(box=None, pad_edge=False)
    for i, text in enumerate(heading):
        view.add_column(text, justify="left" if i == 0 else "right", no_wrap=i == 0)
    for row in body:
        view.add_row(*row)
    console.print(view)


def write_json(path, **data):
    """Write @data to the file @path of --json, if there is one."""
    if path:
        Path(path).write_text(json.dumps({"format": FORMAT, **data}, indent=1) + "\n", encoding="utf-8")


class Page:
    """The tables of a measurement with what is said about them, for the terminal and as a document.

    @table: its name. @about: the first sentence of the document. @kernels: what was measured.
    """

    def __init__(self, table, about, kernels=f"{DEFAULT}, Clang 19"):
        self._document = [f"# Figures of `./redzone bench {table}`, {kernels}\n", f"{about}\n"]
        self._parts = []

    def section(self, title):
        self._document.append(f"## {title}\n")
        self._parts.append(f"{title}:")

    def table(self, rows, caption=None):
        """Add rows of text, the heading first."""
        rows = list(rows)
        self._document += [f"{caption}:\n"] if caption else []
        self._document.append(markdown(rows))
        self._parts += [*([f"{caption}:"] if caption else []), rows]

    def remarks(self, lines):
        """Add lines about the table before them."""
        lines = list(lines)
        self._document.append("\n".join(f"- {line}" for line in lines) + "\n")
        self._parts.append("\n".join(f"  {line}" for line in lines) + "\n")

    def notes(self, lines):
        """Add lines about all tables."""
        self._document.append("\n".join(lines) + "\n")
        self._parts += lines

    def markdown(self):
        """Return the page as a document."""
        return "\n".join(self._document)

    def publish(self, json_file, markdown_file, **data):
        """Print the page. Write it, and the figures @data, to the files that the user has named. Return the
        exit status."""
        for part in self._parts:
            if isinstance(part, str):
                print(part)
            else:
                show(part)
                print()
        write_json(json_file, unit="instructions", **data)
        if markdown_file:
            Path(markdown_file).write_text(self.markdown(), encoding="utf-8")
        return base.OK
