# SPDX-License-Identifier: MIT
"""Judges what the fuzzer found: which bug it is, the smallest input, and the command that repeats it.

The executable leaves NAME.input, NAME.console and NAME.title in the folder `new`; the last one's second line
is the number of the input. Each bug becomes a folder, named by its signature of `./redzone decode`.
"""

import contextlib
import hashlib
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from redzone.decode import decoder, symbols, terminal

# The time for making one input small, in seconds, and how long the process may then need to end.
MINIMIZE = 20
GRACE = 180


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


def _decode(console, elf):
    """Return (signature, title, report) of the console's first bug; the first two are None if it has none."""
    with symbols.Symbols([str(elf)], None) as found:
        one = decoder.Decoder(found)
        decoder.read_file(one, str(console))
        log = one.finish()
    text = console.with_suffix(".text")
    with open(text, "w", encoding="utf-8", errors="surrogateescape") as file:
        terminal.show(log, everything=True, stream=file)
    report = text.read_text(encoding="utf-8", errors="surrogateescape")
    text.unlink()
    bug = log.bugs[0] if log.bugs else None
    return (bug.signature, bug.title, report) if bug else (None, None, report)


def _minimize(target, source, made):
    """Let the executable make the input @source smaller, as the file @made. If it cannot, @made is a copy.

    Return False if nothing happens with the input in a fresh kernel.
    """
    environment = dict(os.environ, REDZONE_FUZZ_MINIMIZE=str(source), REDZONE_FUZZ_TO=str(made))
    environment["REDZONE_FUZZ_MS"] = str(MINIMIZE * 1000)
    try:
        result = subprocess.run(
            [target.executable],
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=MINIMIZE + GRACE,
        )
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

    def waiting(self):
        """Return the names of the findings that take() has not seen yet."""
        return sorted(path.stem for path in self.new.glob("*.title"))

    def take(self, name, target):
        """Judge one of waiting(). Return the Finding if it is a new one, else None."""
        parts = {part: self.new / f"{name}.{part}" for part in ("input", "console", "title")}
        said, _, number = parts["title"].read_text(errors="replace").rstrip("\n").partition("\n")
        signature, title, report = _decode(parts["console"], target.elf)
        if signature is None:
            signature, title = hashlib.sha256(said.encode()).hexdigest()[:16], said
        place = self.folder / signature
        finding = None
        if not place.exists():
            finding = self._keep(place, title, report, parts, target)
            finding.number = int(number or 0)
        for part in ("title", "console", "input"):
            parts[part].unlink(missing_ok=True)
        return finding

    def _keep(self, place, title, report, parts, target):
        fresh = self.folder / f"new/{place.name}.folder"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        shutil.copyfile(parts["input"], fresh / "original")
        shutil.copyfile(parts["console"], fresh / "console.log")
        repeats = _minimize(target, fresh / "original", fresh / "input")
        command = self.command(place / "input")
        if not repeats:
            title += " (not repeated by this input alone)"
        (fresh / "title").write_text(title + "\n", encoding="utf-8", errors="surrogateescape")
        (fresh / "report.txt").write_text(report, encoding="utf-8", errors="surrogateescape")
        (fresh / "command").write_text(command + "\n", encoding="utf-8", errors="surrogateescape")
        size = (fresh / "input").stat().st_size
        fresh.rename(place)
        return Finding(place.name, title, place, size)

    def command(self, path):
        """Return the shell's line that repeats the input @path."""
        return shlex.join(self._repeat(path))
