# SPDX-License-Identifier: MIT
"""Remembers which programs of `./redzone run --each` have passed, so that they need not run again unchanged.

A key is made of all that a verdict depends on: the program's object file, which the compiler has made of the
source, its headers and the options; the kernel's object files; the emulator; and what the machine and the
program get. Only passed programs are remembered: whoever has a bug wants to see its report again.
"""

import contextlib
import hashlib
import json
import os
import shutil
import time
from pathlib import Path

from redzone.core import base
from redzone.core.base import BUILD, ROOT
from redzone.machine import accel, qemu

# Tests that run at the same time have one each.
FOLDER = Path(os.environ.get("REDZONE_VERDICTS") or BUILD / "verdicts")
# Keys that are kept: about 5 MB. The oldest go first.
MOST = 50000
_FILE = FOLDER / "passed.json"


def _hash(*parts):
    """Return the SHA-256 of @parts: bytes, or what JSON can hold."""
    result = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        result.update(len(data).to_bytes(8, "big") + data)
    return result.hexdigest()


def _kernel(place):
    """Return a text that differs if the kernel built in the folder @place does, or how it is linked."""
    parts = []
    folders = [*place.glob("CMakeFiles/kernel*.dir"), *place.glob("CMakeFiles/runtime*.dir")]
    files = [path for folder in folders for path in folder.rglob("*.obj")]
    files += [*place.glob("kernel.lds"), *place.glob("libc.json"), *place.glob("compiler")]
    files += (base.PREBUILT / place.name).glob("key")
    for path in sorted([*files, *(ROOT / "tools" / "build-scripts").glob("*.py")]):
        parts += [str(path), base.sha256(path)]
    return _hash(*parts)


def _emulator(machine):
    """Return what tells the emulator from another version of it."""
    command = qemu.emulator(machine)
    found = []
    for word in command:
        path = shutil.which(word)
        if path is not None:
            info = os.stat(path)
            found += [os.path.realpath(path), info.st_size, info.st_mtime_ns]
    return [command, found, accel.choose(machine, qemu.emulator)]


def built(place, objects):
    """Return what a key depends on in the build folder @place, for keys(), before another command builds
    there. @objects: the user's own objects and archives."""
    library = [place / "CMakeFiles" / "programs.library.dir", *objects]
    shared = []
    for path in library:
        for file in sorted(path.rglob("*.obj")) if path.is_dir() else [path]:
            if file.exists():
                shared += [str(file), base.sha256(file)]
    names = filter(None, (place / "programs.o.rsp").read_text(encoding="utf-8").split("\n"))
    return [_kernel(place), shared], [base.sha256(place / name) for name in names]


def keys(work, machine, indexes, built):
    """Return {index: key} of those of @indexes, among the sources of the job.Job @work, that were compiled
    just now. @machine: the qemu.Machine that they get. @built: from built()."""
    options, (common, objects) = work.options, built
    stdin = Path(options.stdin).read_bytes() if options.stdin else b""
    data = [[name, base.sha256(path)] for name, path in work.files]
    common = _hash(
        common, _emulator(machine), stdin, data, list(options.arguments), options.env,
        list(machine.append), [machine.cpu, machine.smp, machine.memory, machine.icount, machine.mode,
        machine.seed], options.timeout, options.stack,
    )  # fmt: skip
    found = {}
    for index, compiled in zip(indexes, objects, strict=True):
        test = work.tests[index] if work.tests is not None else None
        own = [test.arguments, test.env, test.fails, test.skip] if test is not None else []
        found[index] = _hash(common, work.sources[index].stem, own, compiled)
    return found


class Passed:
    """The keys of programs that have passed, by the time when each was last seen. @used: if not, it knows
    none, and remembers none."""

    def __init__(self, used=True):
        self.used, self._new = used, set()
        self._known = self._read() if used else {}

    @staticmethod
    def _read():
        with contextlib.suppress(OSError, ValueError):
            data = json.loads(_FILE.read_text(encoding="utf-8"))
            if isinstance(data, dict):
                return data
        return {}

    def __contains__(self, key):
        if key in self._known:
            self._new.add(key)
        return key in self._known

    def add_all(self, keys):
        self._new.update(keys)

    def save(self):
        """Write the file, with what other commands have added meanwhile."""
        if not (self.used and self._new):
            return
        with base.locked(FOLDER):
            known = self._read() | dict.fromkeys(self._new, int(time.time()))
            if len(known) > MOST:
                # Room for a while, so that not every run has to sort.
                known = dict(sorted(known.items(), key=lambda item: item[1])[len(known) - MOST * 9 // 10 :])
            new = _FILE.with_suffix(".new")
            new.write_text(json.dumps(known), encoding="utf-8")
            new.replace(_FILE)


def ranges(numbers, room):
    """Return @numbers, ascending, as in "2,5-9", in at most @room characters: if need be, with some
    between."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])

    def text():
        return ",".join(f"{low}-{high}" if high > low else str(low) for low, high in parts)

    while len(text()) > room:
        # Close half of the gaps, the smallest first.
        gaps = sorted(range(1, len(parts)), key=lambda at: parts[at][0] - parts[at - 1][1])
        for at in sorted(gaps[: (len(gaps) + 1) // 2], reverse=True):
            parts[at - 1][1] = parts[at][1]
            del parts[at]
    return text()
