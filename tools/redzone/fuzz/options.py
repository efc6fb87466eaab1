# SPDX-License-Identifier: MIT
"""The options of a campaign, for every verb that fuzzes: `./redzone fuzz`, and ports with `--fuzz`."""

import os
from pathlib import Path

import click

from redzone.core.base import Failure
from redzone.core.options import Choice, Number
from redzone.fuzz.engine import NAMES as NAMES_OF_ENGINES

# What add() gives to a verb's function, without `jobs`.
NAMES = (
    *("folder", "seconds", "runs", "first", "seed", "hang"),
    *("max_len", "dictionary", "seeds", "engine", "libfuzzer", "afl"),
)
JOBS = click.option("--jobs", type=Number(int, 1, 256, "N"), default="1", help="Kernels at once. Default: 1.")


def add(folder):
    """Return a decorator that adds the options to a click command. folder: says what --dir is by default."""
    options = (
        click.option("--dir", "folder", metavar="DIR", help=f"For corpus and findings. Default: {folder}."),
        click.option(
            "--time", "seconds", type=Number(float, 1, 31536000, "SECONDS"), help="End after so many seconds."
        ),
        click.option("--runs", type=Number(int, 1, 1 << 62, "N"), help="End after N inputs."),
        click.option("--first", is_flag=True, help="End at the first finding."),
        click.option(
            "--seed", type=Number(int, 1, (1 << 32) - 1, "N"), help="Begin with these random numbers."
        ),
        click.option(
            "--hang",
            type=Number(float, 0.1, 3600, "SECONDS"),
            default="5",
            help="An input that takes longer is a finding. Default: 5.",
        ),
        click.option("--max-len", type=Number(int, 1, 1 << 20, "N"), help="Bytes of the longest input."),
        click.option("--dict", "dictionary", metavar="FILE", help="Words for inputs, in libFuzzer's form."),
        click.option("--seeds", multiple=True, metavar="DIR", help="Folder of inputs to begin with."),
        click.option(
            "--engine",
            type=Choice(NAMES_OF_ENGINES),
            default="libfuzzer",
            help="What makes the inputs. Default: libfuzzer.",
        ),
        click.option("--libfuzzer", multiple=True, metavar="OPTION", help="Give OPTION to libFuzzer."),
        click.option("--afl", multiple=True, metavar="OPTION", help="Give OPTION to afl-fuzz."),
    )

    def decorate(function):
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def tools_of(engine):
    """Return the keys of the programs that --engine @engine needs."""
    return ("afl++",) if engine == "afl++" else ()


def chosen(campaign, folder, own):
    """Return the campaign.Options of the values @own, or raise Failure. @folder: where --dir is not given."""
    folder = Path(own["folder"] or folder)
    if folder.exists() and not folder.is_dir():
        raise Failure(f"--dir '{folder}' is not a folder")
    for name in own["seeds"]:
        if not Path(name).is_dir():
            raise Failure(f"--seeds '{name}' is not a folder")
    for option, engine in (("libfuzzer", "libfuzzer"), ("afl", "afl++")):
        if own[option] and own["engine"] != engine:
            raise Failure(f"--{option} needs --engine {engine}")
    dictionary = own["dictionary"]
    if dictionary is not None and not Path(dictionary).is_file():
        raise Failure(f"--dict '{dictionary}' is not a file")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"--dir '{folder}' cannot be made: {error.strerror}") from None
    # Two processes take part in each job. If there are not enough CPUs, one that polls takes the other's.
    polls = 2 * own["jobs"] <= len(os.sched_getaffinity(0))
    return campaign.Options(
        folder,
        jobs=own["jobs"],
        seconds=own["seconds"],
        runs=own["runs"],
        first=own["first"],
        seed=own["seed"],
        hang=own["hang"],
        spin_us=200 if polls else 0,
        seeds=[Path(name) for name in own["seeds"]],
        dictionary=dictionary,
        max_len=own["max_len"],
        engine=own["engine"],
        extra=[*own["libfuzzer"], *own["afl"]],
    )
