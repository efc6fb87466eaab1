# SPDX-License-Identifier: MIT
"""Bugs planted in public C libraries: what Redzone and the host's ASan report, side by side.

Each library of redzone/libraries/catalogue.py gets --rounds bugs (20), at places that follow from --seed (1):
one after the other breaks a bound and a lifetime. A difference without an explanation is a failure. --filter
chooses libraries; docs/dev/mutations.md has results.
"""

import fnmatch
import time
from collections import Counter

from redzone.build.builder import KERNEL, preset_name
from redzone.core import base
from redzone.core.base import BUILD, Failure
from redzone.libraries import catalogue, recipe
from redzone.testing.mutation import experiment
from redzone.testing.runner import FAIL, SKIP, Result, result

SLOW = True
TOOLS = (*KERNEL, "clang-19", "symbolizer", "asan", "libc", "llvm-cov", "llvm-profdata")
MODES = ("generic", "sw_tags", "hw_tags")
OPTIONS = ("filter", "seed", "rounds")
BUGS, SEED = 20, 1
FOLDER = BUILD / "mutations"


def _code(text):
    """Return @text as code in a cell of a Markdown table."""
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def _row(mutant):
    """Return the row of the table for @mutant."""
    place = mutant.pick.place
    end = "same" if mutant.alike else mutant.why or "**no explanation**"
    cells = [
        str(mutant.number),
        mutant.pick.title,
        place.rule,
        f"{_code(place.before)} {_code(place.after)}",
        mutant.native.text(),
        mutant.guest.text(),
        end,
    ]
    return f"| {' | '.join(cells)} |"


def _count(mutants):
    """Return one line about what was reported of @mutants."""
    pairs = Counter((mutant.native.end == "report", mutant.guest.end == "report") for mutant in mutants)
    return (
        f"{len(mutants)} bugs: {pairs[True, True]} reported by both, {pairs[True, False]} by ASan only, "
        f"{pairs[False, True]} by Redzone only, {pairs[False, False]} by none; "
        f"{sum(not mutant.alike for mutant in mutants)} differences"
    )


def _library(context, library, mode, seed, wanted):
    """Yield the Results of @library."""
    started = time.monotonic()
    context.note(f"{library.name}: counts what its tests execute")
    folder = FOLDER / mode / library.name
    work = experiment.Experiment(library, mode, seed, folder, context.jobs, context.write_log, context.note)
    context.note(f"{library.name}: {work.places} places in code that its tests execute")
    context.note("| | place | rule | was, is | ASan | Redzone | |")
    mutants = []
    for mutant in work.run(wanted):
        mutants.append(mutant)
        context.note(_row(mutant))
        detail = ""
        if not mutant.alike and mutant.why is None:
            detail = "\n".join(
                [
                    f"ASan and Redzone differ for an unknown reason: {mutant.pick.title}, "
                    f"{mutant.pick.place.rule}: {mutant.pick.place.before} -> {mutant.pick.place.after}",
                    f"ASan: {mutant.native.text()} {mutant.native.line} {mutant.native.where}",
                    f"Redzone: {mutant.guest.text()} {mutant.guest.line} {mutant.guest.where}",
                    f"program: {base.relative(mutant.tree)}",
                ]
            )
        yield result(f"{library.name}.{mutant.number}", detail)
    if len(mutants) < wanted:
        yield Result(f"{library.name}.places", FAIL, f"there are only {len(mutants)} places with an effect")
    discarded = ", ".join(f"{count} {reason}" for reason, count in work.discarded.items() if count)
    context.note(f"{library.name}: {_count(mutants)}; discarded: {discarded or 'none'}")
    context.note(f"{library.name}: {time.monotonic() - started:.0f} s")


def run(context):
    chosen = [
        library
        for library in catalogue.LIBRARIES
        if context.filter is None or fnmatch.fnmatch(library.name, context.filter)
    ]
    if not chosen:
        raise Failure(f"--filter '{context.filter}' matches no library")
    seed = SEED if context.seed is None else context.seed
    mode = context.mode or "generic"
    reason = context.missing_for(preset_name(mode))
    if reason:
        yield Result("all", SKIP, reason)
        return
    context.note(f"--seed {seed}, mode {mode}")
    for library in chosen:
        try:
            library.fetch(context.yes)
        except recipe.Unavailable as error:
            yield Result(library.name, SKIP, str(error))
            continue
        yield from _library(context, library, mode, seed, context.rounds or BUGS)
