# SPDX-License-Identifier: MIT
"""Options of `./redzone run` for those who work with it all day: again, less text, a debugger, a terminal."""

import click

from redzone.core.options import Number

_OPTIONS = (
    click.option(
        "-q", "--quiet", is_flag=True, help="Show three lines a bug, and nothing else of the console."
    ),
    click.option("--watch", is_flag=True, help="Build and run again whenever a file is saved, until Ctrl-C."),
    click.option(
        "--count",
        type=Number(int, 1, 100000, "N"),
        help="Run N times, with other random numbers each time, until it fails. Uses no cached verdict.",
    ),
    click.option(
        "--gdb",
        is_flag=True,
        help="Wait for GDB or LLDB, with symbols, a stop at each report, and a command `redzone`.",
    ),
    click.option(
        "--console",
        is_flag=True,
        help="The program reads this terminal, and its output is shown at once. No --timeout by default.",
    ),
    click.option(
        "--filter",
        "pattern",
        metavar="REGEX",
        help="With --each: only the files whose name has a match of REGEX; with --tests, the tests.",
    ),
    click.option(
        "--tests",
        is_flag=True,
        help="Run all tests of the CMake or Meson project that --project names, as --each does.",
    ),
)


def options(function):
    """Add the options to a click command. It gets them by the names of job.Options."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
