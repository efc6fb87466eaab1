# SPDX-License-Identifier: MIT
"""What `./redzone audit --early` lists: functions with checks that run before the shadow exists.

It follows direct calls and jumps from a function. It sees neither calls through pointers nor what a condition
rules out, so the list is where to look, and not a proof.
"""

import bisect

from redzone.core import base
from redzone.core.base import Failure
from redzone.kit import audit_code

_FULL = 12
_MAX_PATH = 8


class _Code:
    """The code of the linked @image, by address."""

    def __init__(self, image):
        self._image = image
        self.functions = {}
        for function in image.functions:
            known = self.functions.setdefault(function.address, function)
            known.calls, known.maybe = known.calls | function.calls, known.maybe | function.maybe
        self._starts = sorted(self.functions)

    def name(self, address):
        function = self.functions.get(address)
        if function is not None:
            return function.name
        return min(self._image.names_by_address.get(address, [hex(address)]))

    def at(self, address):
        """Return where the function around @address starts; @address itself if it is only a label."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0:
            return address
        function = self.functions[self._starts[at]]
        return function.address if address < function.address + max(function.size, 1) else address

    def targets(self, address):
        """Yield where the function at @address jumps or calls to, outside of itself."""
        function = self.functions.get(address)
        at = bisect.bisect_right(self._starts, address)
        for section in self._image.sections:
            end = section.address + section.size
            if not (section.is_code and section.address <= address < end):
                continue
            # Assembly has no sizes: it ends where the next function starts.
            end = min(end, self._starts[at]) if at < len(self._starts) else end
            if function is not None and function.size:
                end = address + function.size
            code = section.data[address - section.address : end - section.address]
            thumb = function is not None and function.thumb
            for step in audit_code.steps(
                "thumb" if thumb else self._image.arch, code, address, self._fixed()
            ):
                if step.target is not None and not address <= step.target < end:
                    yield self.at(step.target)

    def _fixed(self):
        pointer = self._image.symbols.get("__global_pointer$")
        return {} if pointer is None else {audit_code.RISCV_GP: pointer}


def _why(function):
    """Return what the @function has that needs the shadow, "" if it has nothing."""
    if function.traps or function.calls:
        return "has checks"
    names = sorted(name.rpartition("_")[2] for name in function.maybe)
    return f"calls {', '.join(f'{name}()' for name in names)}, which checks" if names else ""


def reached(images, entries, is_runtimes):
    """Return [{entry, function, file, why, path}] of the functions with checks that @entries reach in the
    linked @images. @is_runtimes(function): does it belong to the runtime? Its own calls do not count."""
    result = []
    if not images:
        raise Failure("--early needs a linked image: an object or archive does not say what calls what")
    for entry in entries:
        holders = [image for image in images if entry in image.symbols]
        if not holders:
            raise Failure(f"--early {entry}: the image has no such symbol")
        for image in holders:
            code = _Code(image)
            start = image.symbols[entry]
            before, waiting = {start: None}, [start]
            while waiting:
                here = waiting.pop(0)
                function = code.functions.get(here)
                if function is not None and is_runtimes(function):
                    continue
                why = _why(function) if function is not None else ""
                if why:
                    result.append(
                        {
                            "entry": entry,
                            "function": function.name,
                            "file": function.unit.label if function.unit else "",
                            "why": why,
                            "path": _path(code, before, here),
                        }
                    )
                for target in code.targets(here):
                    if target not in before:
                        before[target] = here
                        waiting.append(target)
    return result


def _path(code, before, here):
    """Return the names of the functions from the entry to @here, both included."""
    path = []
    while here is not None:
        path.append(code.name(here))
        here = before[here]
    return path[::-1]


def text(found, everything):
    """Return the lines of the text form."""
    if not found:
        return ["early: no function with checks is reached by direct calls"]
    lines = [f"early: {base.plural(len(found), 'function')} with checks, reached by direct calls"]
    for one in found if everything else found[:_FULL]:
        path = one["path"]
        shown = path if len(path) <= _MAX_PATH else [*path[:2], "...", *path[-_MAX_PATH + 3 :]]
        where = f" ({one['file']})" if one["file"] else ""
        lines.append(f"  {one['function']}{where} {one['why']}: {' > '.join(shown)}")
    if len(found) > _FULL and not everything:
        lines.append(f"  and {len(found) - _FULL} more (--all)")
    return lines
