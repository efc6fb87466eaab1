# SPDX-License-Identifier: MIT
"""What `./redzone audit` finds out about constructors: will those that register globals run?"""

import re
from dataclasses import dataclass, field

_START = re.compile(r"(start|begin|_list_*$|_s$)", re.IGNORECASE)
_END = re.compile(r"(end|stop|limit|_e$)", re.IGNORECASE)
REGISTER = "__asan_register_globals"
# Sizes, counts and short texts have such values everywhere; so have addresses in an image that starts at 0.
NUMBERS = 1 << 16


@dataclass
class Array:
    """Words of one section that hold addresses of constructors. words: {address of the word: constructor}.
    bounds: (first address, end) if symbols name both. names: these symbols, "" where there is none."""

    section: object
    words: dict = field(default_factory=dict)
    bounds: tuple | None = None
    names: tuple = ("", "")

    def share(self, word):
        """Return the share of the array's constructors that register globals."""
        low, high = self.bounds or (min(self.words), max(self.words) + word)
        return len(self.words) * word / max(high - low, word)


def _alike(candidates, like):
    """Return the one of @candidates whose name has the longest common prefix with @like."""
    ends = range(len(like), 0, -1)
    return max(candidates, key=lambda name: next((end for end in ends if name.startswith(like[:end])), 0))


def _arrays(image, words):
    """Return the Arrays that @words ({address of the word: constructor}) lie in, the likeliest first.

    Words belong to the array whose start is the nearest bound below them. A symbol table is not such an
    array: it holds the addresses of constructors among those of all functions.
    """
    found = {}
    functions = image.words_with({function.pointer for function in image.functions})
    for section in image.allocated():
        end = section.address + section.size
        marks = []
        for at, every in image.names_by_address.items():
            # C++ mangles the names of objects, which may lie in the array; a linker script does not.
            names = [name for name in every if not name.startswith("_Z")]
            if section.address <= at <= end:
                starts = [name for name in names if _START.search(name)]
                ends = [name for name in names if _END.search(name)]
                if starts or ends:
                    marks.append((at, starts, ends))
        marks.sort()
        for word, function in words.items():
            if not section.address <= word < end:
                continue
            below = [mark for mark in marks if mark[0] <= word]
            above = [(at, ends) for at, _, ends in marks if at > word and ends]
            start = below[-1] if below and below[-1][1] else None
            key = section.address, start and start[0]
            if key not in found:
                found[key] = Array(section)
                if start and above:
                    last = _alike(above[0][1], start[1][0])
                    found[key].bounds = start[0], above[0][0]
                    found[key].names = _alike(start[1], last), last
                else:
                    found[key].names = (start[1][0] if start else "", "")
            found[key].words[word] = function

    def is_table(array):
        low, high = array.bounds or (array.section.address, array.section.address + array.section.size)
        held = {function for word, function in functions.items() if low <= word < high}
        return not array.section.is_array and len(held) * 2 > len(image.functions)

    arrays = [array for array in found.values() if not is_table(array)]
    return sorted(
        arrays, key=lambda a: (a.section.is_array, bool(a.bounds), a.share(image.word)), reverse=True
    )


def _without_numbers(arrays):
    """Return @arrays without words that are numbers or text and have the value of a constructor's address, as
    in an image that starts at 0. A constructor is in one array, which symbols bound; without bounds, only its
    section's name or a large address tells an array from a number."""
    arrays = [
        array
        for array in arrays
        if array.bounds or array.section.is_array or max(array.words.values()) >= NUMBERS
    ]
    real, held = [], set()
    for array in sorted(arrays, key=lambda array: not array.bounds):
        functions = set(array.words.values())
        if array.bounds or functions - held:
            real.append(array)
            held |= functions
    return [array for array in arrays if array in real]


def constructors(image):
    """Return (facts, findings) on the functions that register globals."""
    registering = {function.pointer for function in image.functions if REGISTER in function.calls}
    facts = {"registering": len(registering)}
    if not registering:
        return facts, []
    if image.relocatable:
        facts["note"] = "an object or archive: the link decides"
        return facts, []
    arrays = _arrays(image, image.words_with(registering))
    # Apart from the likeliest, only those that hold little else are arrays of constructors.
    arrays = [array for array in arrays if array is arrays[0] or array.share(image.word) >= 0.5]
    arrays = _without_numbers(arrays)
    kept = set().union(*(array.words.values() for array in arrays))
    facts["kept"] = len(kept)
    findings = []
    if len(kept) < len(registering):
        lost = len(registering) - len(kept)
        findings.append(
            f"{lost} of {len(registering)} constructors are in no array: their globals have no redzones; "
            "KEEP *(.init_array .init_array.*) in the linker script"
        )
    if not kept:
        return facts, findings
    places, bounds, walked = [], [], True
    for array in arrays:
        low, high = min(array.words), max(array.words) + image.word
        places.append(f"{array.section.name} {low:#x}..{high:#x}")
        if not array.bounds:
            findings.append(
                f"no symbol bounds the {'end' if array.names[0] else 'start'} of the constructors in "
                f"{places[-1]}: no code can find them"
            )
            continue
        bounds += array.names
        if not image.refers_to(array.bounds[0]):
            walked = False
            start, end = array.names
            findings.append(
                f"no code refers to {start}: the constructors will not run; call all in {start}..{end}"
            )
    facts["array"] = places[0] if len(places) == 1 else places
    if bounds:
        facts |= {"bounds": bounds, "walked": walked}
    return facts, findings
