# SPDX-License-Identifier: MIT
"""Plants bugs in one library until enough of them have an effect, and gets the verdicts of both tools."""

from dataclasses import dataclass
from pathlib import Path

from redzone.core import base
from redzone.testing.mutation import compare, explained, guest, native, picker, verdict

# Why a pick is no bug.
NO_BUILD, SAME_CODE, NO_EFFECT = "does not compile", "the same machine code", "no visible effect"


@dataclass
class Mutant:
    """@number: in the order of the picks. @tree: where its files are; @unit: the one that is compiled.
    @native, @guest: what ASan and Redzone say. @why: the explanation of a difference, None if there is none.
    """

    number: int
    pick: picker.Pick
    tree: Path
    unit: Path
    native: verdict.Verdict
    guest: verdict.Verdict | None = None
    why: str | None = None

    @property
    def alike(self):
        return compare.alike(self.native, self.guest)


class Experiment:
    """The bugs of one library. @mode: of the kernel. @seed: a number. @folder: for all that is made. @jobs:
    compilers at once. @keep: called with a name and a text for each log; @say: with a line about what comes.

    places: how many places there are. discarded: {reason: number of picks that were no bug}.
    """

    def __init__(self, library, mode, seed, folder, jobs, keep, say):
        self.keep, self.say = keep, say
        self.folder = folder.resolve()
        self.native = native.Native(library, self.folder / "native", jobs)
        self.kernel = guest.Kernel(mode, self.folder / "kernel")
        self.discarded = dict.fromkeys((NO_BUILD, SAME_CODE, NO_EFFECT), 0)
        self.name = library.name
        self._controls = {}
        self._number = 0
        covered = {case: self.native.coverage(case) for case in native.cases(library)}
        self._used = {case: {unit: self.native.used(case, unit) for unit in case.units} for case in covered}
        picks = picker.candidates(library, covered, self._used)
        self.places = len(picks)
        self._sequence = picker.sequence(picks, f"{seed} {library.name}")

    def _tree(self, number):
        return self.folder / "trees" / str(number)

    @staticmethod
    def _original(pick):
        """Return the Path of the unit of @pick without a bug."""
        wanted = (pick.case.library.root / pick.unit).resolve()
        return next(unit for unit in pick.case.units if unit.resolve() == wanted)

    def _plant(self, pick, number, broken=True):
        files = self._used[pick.case][self._original(pick)]
        return picker.plant(pick, files, self._tree(number), broken)

    def _mutant(self, pick):
        """Return the Mutant of @pick with ASan's verdict, or None if it is no bug."""
        self._number += 1
        tree, original = self._tree(self._number), self._original(pick)
        unit = self._plant(pick, self._number)
        broken = tree / "mutant.o"
        if self.native.compile(pick.case, "asan", original, tree, broken) is not None:
            self.discarded[NO_BUILD] += 1
            return None
        if broken.read_bytes() == self.native.object(pick.case, "asan", original).read_bytes():
            self.discarded[SAME_CODE] += 1
            return None
        if pick.case not in self._controls:
            self._controls[pick.case] = self.native.control(pick.case)
        objects = self.native.objects(pick.case, "asan") | {original: broken}
        self.native.link("asan", objects.values(), tree / "mutant")
        mutant = Mutant(self._number, pick, tree, unit, None)
        mutant.native = self._again(mutant)
        return mutant

    def _again(self, mutant, options=()):
        """Run @mutant under ASan with more of ASAN_OPTIONS. Return the Verdict."""
        run = self.native.asan(mutant.pick.case, mutant.tree / "mutant", options)
        self.keep(f"{self.name}/{mutant.number}.{'asan' if not options else options[0]}", run.errors)
        return verdict.of_native(run, mutant.pick, mutant.tree, *self._controls[mutant.pick.case])

    def _without_value(self, mutant):
        """Run @mutant under MSan. Return the function and the line of its first report that the program
        without a bug does not have, or None if there is none."""
        case, original = mutant.pick.case, self._original(mutant.pick)
        objects = self.native.objects(case, "msan")
        binary, broken = mutant.tree / "msan", mutant.tree / "msan.o"
        message = self.native.compile(case, "msan", original, mutant.tree, broken)
        if message is not None:
            raise base.Failure(f"{mutant.pick.title} does not compile for MSan:\n{message}")
        found = {}
        for name, parts in (("msan-control", objects), ("msan", objects | {original: broken})):
            self.native.link("msan", parts.values(), binary)
            run = self.native.msan(case, binary)
            self.keep(f"{self.name}/{mutant.number}.{name}", run.errors)
            found[name] = verdict.without_value(run, mutant.pick, mutant.tree)
        return next((place for place in found["msan"] if place not in found["msan-control"]), None)

    def _in_kernel(self, mutants):
        """Give @mutants Redzone's verdicts."""
        for case in dict.fromkeys(mutant.pick.case for mutant in mutants):
            group = [mutant for mutant in mutants if mutant.pick.case == case]
            control = self._plant(group[0].pick, 0, broken=False)
            size = self.native.size(case)
            guests = self.kernel.run(case, [mutant.unit for mutant in group], control, size)
            stable = self._controls[case][1]
            for mutant, run in zip(group, guests, strict=True):
                if run is None:
                    continue
                self.keep(f"{self.name}/{mutant.number}.redzone", "\n".join([*run.console, ""]))
                mutant.guest = verdict.of_guest(
                    run, mutant.pick, mutant.tree, self.kernel.control(case), stable
                )

    def _explain(self, mutant):
        pick = mutant.pick
        return compare.explain(
            mutant.native,
            mutant.guest,
            self.kernel.mode,
            lambda options: self._again(mutant, options),
            lambda: self._without_value(mutant),
            explained.EXPLAINED,
            (self.name, pick.title, pick.place.rule),
        )

    def run(self, wanted):
        """Yield @wanted Mutants, fewer if there are not enough places."""
        found = 0
        while found < wanted:
            batch = []
            self.say(f"{self.name}: runs under ASan, for {base.plural(wanted - found, 'bug')}")
            for pick in self._sequence:
                mutant = self._mutant(pick)
                if mutant is not None:
                    batch.append(mutant)
                # Some have no effect, and more than are needed cost time.
                if len(batch) > (wanted - found) * 5 // 4:
                    break
            if not batch:
                return
            self.say(f"{self.name}: {base.plural(len(batch), 'bug')} in the kernel")
            self._in_kernel(batch)
            for mutant in batch:
                if mutant.guest is None:
                    self.discarded[NO_BUILD] += 1
                elif mutant.native.end == mutant.guest.end == verdict.OK:
                    self.discarded[NO_EFFECT] += 1
                elif found < wanted:
                    found += 1
                    if not mutant.alike:
                        mutant.why = self._explain(mutant)
                    yield mutant
