# SPDX-License-Identifier: MIT
"""`./redzone fuzz --leaks`: objects that an input leaves over are findings, which their lines repeat."""

from redzone.testing.runner import SKIP, Result, result, when
from redzone.testing.suites import _fuzz

SLOW = True
TOOLS = _fuzz.TOOLS
# The first four bytes of inputs of leaky.c; the last two leave nothing over for good.
INPUTS = ("Lose", "Huge", "Text", "Once", "Last")
TITLES = {"BUG: memory leak in lose_some", "BUG: memory leak in lose_text"}
_MODES = {
    "inline": (),
    "off": ("--mode", "off"),
    "gcc": ("--cc", "gcc"),
    "sw_tags": ("--mode", "sw_tags"),
    "hw_tags": ("--mode", "hw_tags"),
}


def _repeated(fuzz, folder):
    """Return what is wrong with the command that repeats the finding in @folder."""
    again, line = fuzz.repeat(folder)
    title = (folder / "title").read_text().strip()
    # There is no report of KASAN: the program itself says by its status that it has failed.
    if again.returncode == 0 or title not in again.stdout:
        return [f"'{title}' is not repeated by: {line}"]
    return []


def _one_mode(fuzz, name, options, seeds):
    target = (_fuzz.HERE / "leaky.c", "--leaks", "--dir", name, "--seeds", seeds)
    wrong, _, log = fuzz.ends(1, *target, *options, "--runs", 300, "--seed", 1, "--max-len", 4)
    titles = fuzz.titles(name)
    wrong += when(set(titles) != TITLES, f"the findings are {sorted(titles)}")
    if name in ("inline", "off"):
        for folder in titles.values():
            wrong += _repeated(fuzz, folder)
            wrong += when("lose_" not in (folder / "report.txt").read_text(), "a report without its trace")
    return result(name, wrong, log)


def _without(fuzz, seeds):
    """Without the option the same inputs are no findings."""
    arguments = ("--dir", "without", "--seeds", seeds, "--runs", 100, "--seed", 1, "--max-len", 4)
    wrong, _, log = fuzz.ends(0, _fuzz.HERE / "leaky.c", *arguments)
    return result("without", wrong, log)


def run(context):
    with _fuzz.campaign(context, "fuzz-leaks") as fuzz:
        seeds = _fuzz.inputs(fuzz.folder / "seeds", *INPUTS)
        for name, options in _MODES.items():
            reason = _fuzz.lacks(context, name)
            if reason:
                yield Result(name, SKIP, reason)
            else:
                yield _one_mode(fuzz, name, options, seeds)
        yield _without(fuzz, seeds)
