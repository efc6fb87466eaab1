# SPDX-License-Identifier: MIT
"""The wheel: made as a release, installed into fresh environments of each Python here, and used without the
tree.

The packages come from the Python package index. A Python that is not on this machine is skipped by name. With
the first one, all that builds kernels is tried, with and without the objects in the wheel: nothing is written
but below the user's cache folder.
"""

import contextlib
import os
import re
import shutil
import threading
import time
import zipfile
from pathlib import Path

from redzone.core import base, process
from redzone.core.arch import PRESET
from redzone.core.base import ROOT
from redzone.testing.runner import PASS, SKIP, Result, result, when

SLOW = True
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
TIMEOUT = 600

BUG = """\
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char *text = malloc(8);

	memset(text, argc, sizeof("12345678"));
	free(text);
	return 0;
}
"""
CLEAN = "int main(void) { return 0; }\n"
FUZZ = """\
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return size > 1 && data[0] == data[1] ? -1 : 0;
}
"""
DATABASE = '[{"directory": ".", "file": "bug.c", "arguments": ["cc", "-c", "bug.c"]}]\n'
CLONE = r"needs a clone of the Redzone repository"

# (name, arguments, exit status, what the output has)
USES = (
    ("version", ("--version",), 0, r"^redzone \d+\.\d+\.\d+$"),
    ("help", ("--help",), 0, r"^ +decode "),
    ("decode", ("decode", "console.log"), 1, r"KASAN: slab-use-after-free Read in read_after_free"),
    ("decode-nothing", ("decode", "empty.log"), 0, r"no report"),
    ("decode-html", ("decode", "console.log", "--html", "bugs.html"), 1, r"1 report"),
    ("flags", ("flags", "--shadow-offset", "0x1000000000"), 0, r"-fsanitize=kernel-address"),
    ("amalgamate", ("amalgamate", "copy"), 0, r"kasan\.c: \d+ lines"),
    ("audit", ("audit", "image"), 1, r"no symbol table names a function"),
    ("ksyms", ("ksyms", "image", "--output", "names.c"), 2, r"has no symbol table"),
    ("size", ("size", "--help"), 0, r"redzone size"),
    ("run", ("run", "-q", "bug.c"), 1, r"slab-out-of-bounds: write of 9 bytes.*\n +at bug\.c:8 in main"),
    ("test", ("test",), 2, CLONE),
    ("bench", ("bench",), 2, CLONE),
    ("doctor", ("doctor",), 0, r"^ +ok +.*redzone/tree/prebuilt/musl_"),
)
# The same, with one Python: what builds.
BUILDS = (
    ("traces", ("run", "bug.c"), 1, r" malloc\+\S+ +kernel/program/heap\.c:\d+$"),
    ("json", ("run", "-q", "--json", "run.json", "bug.c"), 1, r"slab-out-of-bounds"),
    ("each", ("run", "--each", "bug.c", "clean.c"), 1, r"^ok 2 clean\.c$"),
    ("each-again", ("run", "--each", "bug.c", "clean.c"), 1, r"^ok 2 clean\.c .*\(cached\)$"),
    ("project", ("run", "-q", "--project", "compile_commands.json"), 1, r"slab-out-of-bounds"),
    ("module", ("run", "-q", "--module", "module.c"), 1, r"slab-out-of-bounds"),
    ("fuzz", ("fuzz", "fuzz.c", "--runs", "200"), 0, r" 0 findings"),
    (
        "fuzz-cover",
        ("fuzz", "fuzz.c", "--runs", "200", "--cover", "{tree}/kernel/lib/sort.c"),
        0,
        r"of [2-9]\d edges,.* 0 findings",
    ),
    ("example", ("run", "-q"), 1, r"2\. slab-use-after-free"),
    ("clean", ("clean",), 0, rf"removed \S+/redzone/installed/[\w.-]+/{PRESET}$"),
)


def _find(version):
    """Return the interpreter of Python @version, None if there is none that runs."""
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for found in (shutil.which(f"python{version}"), *sorted(home.glob(f"{version}.*/bin/python{version}"))):
        if found and _call([found, "-c", "import venv, ensurepip"])[0] == 0:
            return found
    return None


def _environment(cache=None):
    # The tree's own packages must not be found in place of the wheel's.
    found = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", base.PLACE)}
    return found if cache is None else {**found, "XDG_CACHE_HOME": str(cache)}


def _call(command, cache=None, **options):
    return process.call(command, env=_environment(cache), timeout=TIMEOUT, **options)


def _install(python, folder, *packages):
    """Make a virtual environment of @python in @folder with @packages. Return "", or what went wrong."""
    for command in (
        [python, "-m", "venv", folder],
        [folder / "bin" / "pip", "-q", "--disable-pip-version-check", "install", *packages],
    ):
        status, output = _call(command)
        if status:
            return output
    return ""


class _Installed:
    """An installed wheel in @folder, with a work folder and a cache folder of its own."""

    def __init__(self, context, name, folder):
        self._context, self._name, self.folder = context, name, folder
        self.cache, self.work = folder / "cache", folder / "work"
        self.command = folder / "env" / "bin" / "redzone"
        self.tree = next((folder / "env").glob("lib/python*/site-packages/redzone/tree"))
        self.work.mkdir()
        shutil.copy(ROOT / "tests" / "golden" / "slab-use-after-free.log", self.work / "console.log")
        shutil.copy(ROOT / "examples" / "module_oob.c", self.work / "module.c")
        shutil.copy(shutil.which("true"), self.work / "image")
        files = {"empty.log": "booting\ndone\n", "bug.c": BUG, "clean.c": CLEAN, "fuzz.c": FUZZ}
        for file, text in (*files.items(), ("compile_commands.json", DATABASE)):
            (self.work / file).write_text(text, encoding="utf-8")

    def use(self, name, words, expected, pattern):
        """Return (Result of the command redzone @words, seconds that it took)."""
        words = [word.format(tree=self.tree) for word in words]
        started = time.monotonic()
        status, output = _call([self.command, *words], self.cache, cwd=self.work)
        seconds = time.monotonic() - started
        wrong = [] if status == expected else [f"ended with status {status}, expected {expected}"]
        wrong += when(not re.search(pattern, output, re.M), f"the output has nothing like '{pattern}'")
        wrong += when("./redzone" in output, "the output names ./redzone, which is not there")
        log = self._context.write_log(f"{self._name}-{name}", output)
        return result(f"{self._name}.{name}", wrong, log), seconds

    def all_of(self, uses):
        for one in uses:
            yield self.use(*one)[0]

    def built(self):
        """Return the names of the folders of this cache in which the kernel's own files were compiled."""
        return [path.parts[-3] for path in self.cache.glob("redzone/installed/*/*/CMakeFiles/kernel.dir")]

    def files(self):
        """Return {file: its time and size} of the package, without what Python itself writes."""
        found = [path for path in self.tree.parent.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in found}

    def start(self, *words):
        """Start the command redzone @words. Return the process."""
        return process.start([self.command, *words], cwd=self.work, env=_environment(self.cache))


def _first_run(context, one):
    """Yield Results: a first run compiles the user's files only; with other sources, all."""
    before = one.files()
    use = ("first-run", ("run", "-q", "bug.c"), 1, r"^1\. slab-out-of-bounds")
    ended, seconds = one.use(*use)
    context.note(f"a first run took {seconds:.1f} s, with the objects of the wheel")
    yield ended
    yield result("first-run.compiled", when(one.built(), f"the kernel was compiled for {one.built()}"))
    yield from one.all_of(BUILDS)
    changed = sorted(map(str, before.items() ^ one.files().items()))
    yield result("first-run.package-unchanged", changed)
    # Without them, or with others: their key is that of other sources.
    shutil.rmtree(one.cache)
    with open(one.tree / "prebuilt" / PRESET / "key", "a", encoding="utf-8") as file:
        file.write("0")
    ended, seconds = one.use("first-run-of-sources", *use[1:])
    context.note(f"a first run took {seconds:.1f} s, without them")
    yield ended
    wrong = when(one.built() != [PRESET], "the objects of the wheel were used, and their key is another")
    yield result("first-run-of-sources.compiled", wrong)


def _until(running, pattern):
    """Return what @running prints, up to a line with @pattern, or to its end."""
    said = ""
    for line in running.stdout:
        said += line
        if re.search(pattern, line):
            break
    return said


@contextlib.contextmanager
def _limited(running):
    guard = threading.Timer(TIMEOUT, running.kill)
    guard.start()
    try:
        yield running
    finally:
        guard.cancel()
        running.kill()
        running.wait()


def _watch(one):
    """Return the Result of --watch: a save runs the program again."""
    with _limited(one.start("run", "-q", "--watch", "bug.c")) as running:
        first = _until(running, "watching;")
        (one.work / "bug.c").write_text(CLEAN, encoding="utf-8")
        second = _until(running, "watching;")
        # A shell that starts this in the background has it ignore Ctrl-C's signal.
        running.terminate()
        running.wait(30)
    (one.work / "bug.c").write_text(BUG, encoding="utf-8")
    wrong = when("slab-out-of-bounds" not in first, f"no report at first:\n{first}")
    wrong += when("no KASAN report" not in second, f"the save did not run it again:\n{second}")
    return result("watch", wrong)


def _debugger(one):
    """Return the Result of --gdb: files of the kernel are found where the package is."""
    if shutil.which("gdb-multiarch") is None:
        return Result("gdb", SKIP, "gdb-multiarch is not installed")
    with _limited(one.start("run", "--gdb", "bug.c")) as running:
        said = _until(running, "lldb -s")
        script = re.search(r"-x (\S+/gdb)$", said, re.M)
        words = ["-ex", "continue", "-ex", "redzone", "-ex", "list kasan_depot_fetch", "-ex", "kill"]
        output = ""
        if script:
            _, output = _call(["gdb-multiarch", "-batch", "-x", script[1], *words], cwd=one.work)
    expected = (
        r"is at the start of an allocated object",
        r"^ +malloc +kernel/program/heap\.c:\d+$",
        r"^\d+\t\{$",
    )
    return result(
        "gdb",
        [f"nothing like '{text}':\n{said}{output}" for text in expected if not re.search(text, output, re.M)],
    )


def _contents(wheel):
    """Return what is wrong with the files in @wheel."""
    wrong = []
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        wrong += [f"{name} names {ROOT}" for name in names if f"{ROOT}/".encode() in archive.read(name)]
    for name in (
        f"{PRESET}/libc/printf.o",
        f"{PRESET}/CMakeFiles/kernel.dir/kernel/mm/slub.c.obj",
        "musl-COPYRIGHT",
    ):
        wrong += when(f"redzone/tree/prebuilt/{name}" not in names, f"it has no {name}")
    return wrong


def run(context):
    with base.scratch("wheel-") as folder:
        # One mode is enough here, and takes a third of the time.
        status, output = process.call([ROOT / "redzone", "release", "--modes", "generic", "-o", folder])
        log = context.write_log("release", output)
        wheels = list(folder.glob("*.whl"))
        made = result("release", output[-2000:] if status or len(wheels) != 1 else "", log)
        yield made
        if made.status != PASS:
            return
        context.note(f"the wheel has {wheels[0].stat().st_size >> 10} KB")
        yield result("contents", _contents(wheels[0]))
        first = True
        for version in PYTHONS:
            python = _find(version)
            if python is None:
                yield Result(version, SKIP, f"there is no Python {version} with venv on this machine")
                continue
            place = folder / version
            place.mkdir()
            problem = _install(python, place / "env", wheels[0])
            log = context.write_log(f"{version}-install", problem)
            yield result(f"{version}.install", problem[-2000:], log)
            if problem:
                continue
            one = _Installed(context, version, place)
            yield from one.all_of(USES)
            if first:
                yield _watch(one)
                yield _debugger(one)
                shutil.rmtree(one.cache)
                yield from _first_run(context, one)
            first = False
