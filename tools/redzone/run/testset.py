# SPDX-License-Identifier: MIT
"""`./redzone run --project BUILD --tests`: the tests of a CMake or Meson project, as runs of --each.

CTest and Meson say which programs there are, and with what arguments and variables each test calls them. A
test's program is the file of its target that has the main(). All files of the project without one are a
library, of which each program takes what it uses, as from an archive.
"""

import hashlib
import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from redzone.core import base, process
from redzone.core.base import BUILD, Failure

_MAIN = re.compile(r"^[\w\s*]*\b(?:int|void)\s+main\s*\(", re.MULTILINE)
# Meson's status of a test that has skipped itself.
_MESON_SKIP = 77


@dataclass
class Test:
    """A test. arguments, env ([(name, value)]): of its program, besides what all programs get. fails: it is
    to return non-zero. skip: the status of a test that has skipped itself, or None.
    """

    name: str
    arguments: list = field(default_factory=list)
    env: list = field(default_factory=list)
    fails: bool = False
    skip: int | None = None


def _output(command, folder, what):
    if shutil.which(command[0]) is None:
        raise Failure(f"--tests needs {command[0]}, which made '{base.relative(folder)}'")
    ended = process.run(command, cwd=folder)
    try:
        return json.loads(ended.stdout)
    except ValueError:
        why = process.last_line(ended.stderr or ended.stdout)
        raise Failure(f"--tests: {what} of '{base.relative(folder)}' cannot be read: {why}") from None


def _ctest(folder):
    """Yield (Test, its program's path) of the tests that CTest knows."""
    for test in _output(["ctest", "--show-only=json-v1"], folder, "the list of CTest").get("tests", ()):
        properties = {one["name"]: one["value"] for one in test.get("properties", ())}
        if properties.get("DISABLED") or not test.get("command"):
            continue
        program, *arguments = test["command"]
        variables = [tuple(text.split("=", 1)) for text in properties.get("ENVIRONMENT", ()) if "=" in text]
        fails = bool(properties.get("WILL_FAIL"))
        skip = properties.get("SKIP_RETURN_CODE")
        yield Test(test["name"], arguments, variables, fails, skip), Path(program)


def _meson(folder):
    """Yield (Test, its program's path) of the tests that Meson knows."""
    for test in _output(["meson", "introspect", "--tests"], folder, "Meson's list"):
        program, *arguments = test["cmd"]
        yield Test(test["name"], arguments, sorted(test["env"].items()), skip=_MESON_SKIP), Path(program)


def _main_of(target, sources):
    """Return the one of @sources that has the main() of @target, or None."""
    found = [one for one in sources if _MAIN.search(one.read_text(encoding="utf-8", errors="replace"))]
    if len(found) > 1:
        names = ", ".join(base.relative(one) for one in found)
        raise Failure(f"--tests: target {target} has several files with a main(): {names}")
    return found[0] if found else None


def find(folder, found, pattern=None):
    """Return ([(Test, source with its main())], sources without a main()) of the tests of the
    project.Project @found, which was built in @folder. @pattern: of --filter, for names of tests."""
    folder = Path(folder)
    folder = folder if folder.is_dir() else folder.parent
    tests = list(_meson(folder) if (folder / "meson-info").is_dir() else _ctest(folder))
    if not tests:
        raise Failure(f"--tests: the project in '{base.relative(folder)}' has no tests")
    if pattern is not None:
        total = len(tests)
        tests = [(test, path) for test, path in tests if re.search(pattern, test.name)]
        if not tests:
            raise Failure(f"--filter '{pattern}': none of {base.plural(total, 'test')} has such a name")
    mains = {target: _main_of(target, sources) for target, sources in found.members.items()}
    chosen, left_out = [], []
    for test, path in tests:
        if mains.get(path.name) is None:
            left_out.append(test.name)
        else:
            chosen.append((test, mains[path.name]))
    if left_out:
        names = ", ".join(left_out[:5]) + (" and more" if len(left_out) > 5 else "")
        base.say(f"--tests: left out, because they do not start a C program of the project: {names}")
    if not chosen:
        raise Failure("--tests: no test starts a C program of the project")
    taken = set(mains.values())
    return chosen, [source for source in found.sources if source not in taken]


def own_sources(chosen, options):
    """Return a source for each of @chosen, what find() returned. Programs keep their variables for as long
    as the machine runs, so a program of several tests is there once for each: as a file that includes its
    source.

    @options: {source: [word]}; the new files get what their sources have."""
    seen, found = set(), []
    for test, source in chosen:
        if source in seen:
            place = BUILD / "again" / hashlib.sha256(f"{source}\0{test.name}".encode()).hexdigest()[:16]
            place.mkdir(parents=True, exist_ok=True)
            file, text = place / source.name, f'#include "{source}"\n'
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")
            options[file] = options.get(source, [])
            source = file
        seen.add(source)
        found.append(source)
    return found
