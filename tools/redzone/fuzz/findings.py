# SPDX-License-Identifier: MIT
"""Judges what the fuzzer found: which bug it is, the smallest input, and the command that repeats it.

The executable leaves KEY-PROCESS.finding in the folder `new`: see findings.c. KEY is what it tells bugs apart
by. Each bug becomes a folder, named by its signature of `./redzone decode`, which is the coarser one. The
folder keeps the keys, so that a later process does not store the same bug again.
"""

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from redzone.core import base, process
from redzone.decode import decoder, symbols, terminal

# The time for making one input small, in seconds, and how long the process may then need to end.
MINIMIZE = 20
GRACE = 180
# Lines that say where the code lies. A guest prints them once, in front of an input's first report.
_PLACE = re.compile(rb"^.*(?:KASAN: window .* relocated by |Kernel Offset: ).*\n", re.MULTILINE)


@dataclass
class Finding:
    """One bug. @folder: with `input`, `original`, `report.txt`, `console.log`, `title` and `command`.

    @number: which input of its process has found it; 0 for those of earlier runs.
    """

    signature: str
    title: str
    folder: Path
    size: int
    number: int = 0


@dataclass
class Stored:
    """The contents of a file KEY-PROCESS.finding. @offset: where the bug's report begins in @console."""

    title: str
    number: int
    offset: int
    data: bytes
    console: bytes

    def shown(self):
        """Return the console from the report on, behind the line that its addresses need."""
        before, behind = self.console[: self.offset], self.console[self.offset :]
        return b"".join(_PLACE.findall(before)[-1:]) + behind


def read_stored(path):
    """Return the Stored of the file @path. Raise ValueError if it is none."""
    title, numbers, rest = path.read_bytes().split(b"\n", 2)
    number, offset, size = map(int, numbers.split())
    if size > len(rest):
        raise ValueError
    return Stored(title.decode(errors="replace"), number, offset, rest[:size], rest[size:])


def _decode(console, elf, scratch):
    """Return (signature, title, report) of the first bug in the bytes @console.

    The first two are None if there is none. @scratch: a folder for files that are not kept.
    """
    log_file, text = scratch / "decode.log", scratch / "decode.text"
    # Only the kernel's lines begin with a bracket (guest.c), and what the target prints proves nothing.
    log_file.write_bytes(b"\n".join(line for line in console.split(b"\n") if line.startswith(b"[")) + b"\n")
    with symbols.Symbols([str(elf)], None) as found:
        one = decoder.Decoder(found)
        decoder.read_file(one, str(log_file))
        log = one.finish()
    with open(text, "w", encoding="utf-8", errors="surrogateescape") as file:
        terminal.show(log, everything=True, stream=file)
    report = text.read_text(encoding="utf-8", errors="surrogateescape")
    bug = log.bugs[0] if log.bugs else None
    return (bug.signature, bug.title, report) if bug else (None, None, report)


def _minimize(target, source, made, key):
    """Let the executable make the input @source smaller, as the file @made. If it cannot, @made is a copy.

    Return False if the bug @key does not show with the input in a fresh kernel.
    """
    environment = dict(os.environ, REDZONE_FUZZ_MINIMIZE=str(source), REDZONE_FUZZ_TO=str(made))
    environment["REDZONE_FUZZ_KEY"] = key
    environment["REDZONE_FUZZ_MS"] = str(MINIMIZE * 1000)
    try:
        result = process.run([target.executable], env=environment, timeout=MINIMIZE + GRACE)
        good = result.returncode == 0 and made.is_file()
        repeats = result.returncode != 3
    except subprocess.TimeoutExpired:
        good, repeats = False, True
    if not good:
        shutil.copyfile(source, made)
    return repeats


class Findings:
    """The folder @folder of bugs. repeat: returns the words of the command that repeats an input's file."""

    def __init__(self, folder, repeat):
        self.folder = folder
        self.new = folder / "new"
        self.new.mkdir(parents=True, exist_ok=True)
        self._repeat = repeat

    def known(self):
        """Return the Findings of this and earlier runs, in the order of their titles."""
        found = []
        for title in self.folder.glob("*/title"):
            folder = title.parent
            with contextlib.suppress(OSError):
                size = (folder / "input").stat().st_size
                found.append(Finding(folder.name, title.read_text(errors="replace").strip(), folder, size))
        return sorted(found, key=lambda one: (one.title, one.signature))

    def keys(self):
        """Return the keys of the bugs that are known."""
        found = set()
        for path in self.folder.glob("*/keys"):
            with contextlib.suppress(OSError):
                found.update(path.read_text(errors="replace").split())
        return sorted(found)

    def waiting(self):
        """Return the names of the findings that take() has not seen yet, the oldest one first."""
        found = []
        for path in self.new.glob("*.finding"):
            with contextlib.suppress(OSError):
                found.append((path.stat().st_mtime_ns, path.stem))
        return [name for _, name in sorted(found)]

    def clean(self):
        """Remove what a process that was killed has begun to write."""
        for path in self.new.glob("*.part"):
            with contextlib.suppress(OSError):
                path.unlink()

    def take(self, name, target):
        """Judge one of waiting(). Return the Finding if it is a new one, else None."""
        path = self.new / f"{name}.finding"
        key = name.partition("-")[0]
        try:
            stored = read_stored(path)
        except ValueError:
            path.rename(path.with_suffix(".damaged"))
            base.say(f"{path.with_suffix('.damaged')} is not a finding as the fuzzer stores it")
            return None
        scratch = target.executable.parent
        signature, title, report = _decode(stored.shown(), target.elf, scratch)
        if signature is None:
            signature, title = hashlib.sha256(stored.title.encode()).hexdigest()[:16], stored.title
        place = self.folder / signature
        finding = None
        if not place.exists():
            finding = self._keep(place, title, report, stored, key, target)
            finding.number = stored.number
        elif key not in self.keys():
            with open(place / "keys", "a", encoding="utf-8") as file:
                file.write(f"{key}\n")
        path.unlink()
        return finding

    def _keep(self, place, title, report, stored, key, target):
        fresh = self.new / f"{place.name}.folder"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        (fresh / "original").write_bytes(stored.data)
        (fresh / "console.log").write_bytes(stored.console)
        repeats = _minimize(target, fresh / "original", fresh / "input", key)
        command = self.command(place / "input")
        if not repeats:
            title += " (not repeated by this input alone)"
        (fresh / "title").write_text(title + "\n", encoding="utf-8", errors="surrogateescape")
        (fresh / "report.txt").write_text(report, encoding="utf-8", errors="surrogateescape")
        (fresh / "command").write_text(command + "\n", encoding="utf-8", errors="surrogateescape")
        (fresh / "keys").write_text(f"{key}\n", encoding="utf-8")
        size = (fresh / "input").stat().st_size
        fresh.rename(place)
        return Finding(place.name, title, place, size)

    def command(self, path):
        """Return the shell's line that repeats the input @path."""
        return shlex.join(self._repeat(path))
