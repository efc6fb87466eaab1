# SPDX-License-Identifier: MIT
"""The options that write a decoded log for other programs and for browsers, of every verb that has them."""

import contextlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

import click

from redzone.core.base import Failure
from redzone.core.options import check_output
from redzone.decode.output import as_github, as_gitlab, as_junit, as_sarif, as_text

_FILES = (
    (
        "--html",
        "Write one page with every bug: stacks, source, a diagram of the memory. It works offline.",
    ),
    ("--sarif", "Write the bugs in SARIF 2.1.0, for code scanning and editors."),
    ("--junit", "Write the bugs as failed tests, in the XML that CI systems read."),
    ("--code-quality", "Write the bugs as GitLab's code quality report, for merge requests."),
)
_CHUNK = 1 << 20


def options(function):
    """Add the options to a click command. It gets them by the names of Outputs."""
    function = click.option(
        "--github/--no-github",
        default=None,
        help="Print annotations for GitHub Actions, one per new bug. `run` does so by itself there.",
    )(function)
    for name, text in reversed(_FILES):
        function = click.option(name, metavar="FILE", help=text)(function)
    return function


@dataclass
class Outputs:
    """What was asked for. @html, @sarif, @junit: names of files, or None. @folders: paths in them are
    relative to the first that holds it, else to the work tree around the current folder."""

    html: str | None = None
    sarif: str | None = None
    junit: str | None = None
    code_quality: str | None = None
    github: bool | None = None
    folders: list = field(default_factory=list)

    def _files(self):
        names = (self.html, self.sarif, self.junit, self.code_quality)
        return [(option, name) for (option, _), name in zip(_FILES, names, strict=True) if name is not None]

    def wanted(self):
        """Is there anything to write?"""
        return bool(self.github or self._files())

    def check(self, inputs=(), others=()):
        """Raise Failure if a file cannot be written, is one of the @inputs, or is asked for twice.

        others: [(option, name or None)] of the verb's other files.
        """
        seen = {Path(name).absolute(): option for option, name in others if name is not None}
        for option, name in self._files():
            check_output(option, name, inputs)
            other = seen.setdefault(Path(name).absolute(), option)
            if other != option:
                raise Failure(f"{other} and {option} name the same file '{name}'")

    def plain(self):
        """Return a context: what is printed inside it has no commands for GitHub."""
        return as_github.plain(sys.stdout) if self.github else contextlib.nullcontext()

    def write_console(self, path, images=(), name="console"):
        """Decode the file @path, a console that is called @name, and write it. @images: its ELF files.

        Return the model.Log."""
        return self.write_consoles([(path, name)], images)

    def write_consoles(self, consoles, images=()):
        """Like write_console(), for several: [(path, name)] of consoles of the same @images."""
        from redzone.decode import decoder, symbols

        with contextlib.ExitStack() as stack:
            found = stack.enter_context(symbols.Symbols(images)) if images else None
            one = decoder.Decoder(found, self.folders)
            for path, name in consoles:
                one.begin(name)
                if Path(path).exists():
                    with open(path, "rb") as file:
                        while data := file.read(_CHUNK):
                            one.feed(data)
            log = one.finish()
        self.write(log)
        return log

    def write(self, log, baseline=False):
        """Write @log, a model.Log. @baseline: known bugs were marked."""
        roots = as_text.roots(self.folders)
        for option, name in self._files():
            try:
                with open(name, "w", encoding="utf-8", errors="backslashreplace") as stream:
                    self._write(option, stream, log, roots, baseline)
            except OSError as error:
                raise Failure(f"{option} '{name}' cannot be written: {error.strerror}") from None
        if self.github:
            as_github.write(sys.stdout, log, roots)

    @staticmethod
    def _write(option, stream, log, roots, baseline):
        if option == "--html":
            # Jinja is loaded only for a page.
            from redzone.decode.output import as_html

            as_html.write(stream, log, roots)
        elif option == "--sarif":
            as_sarif.write(stream, log, roots, baseline)
        elif option == "--code-quality":
            as_gitlab.write(stream, log, roots)
        else:
            as_junit.write(stream, log, roots)
