# SPDX-License-Identifier: MIT
"""Finds the ports: the folders of ports/, and the Python code in each.

ports/README.md says what a port's folder holds. ports/u-boot becomes the package redzone.kit.ports.u_boot.
Its modules are read when something asks for them, so a broken one does not harm the others.
"""

import importlib
import importlib.machinery
import importlib.util
import sys
import traceback
from pathlib import Path

from redzone.core import base, doctor
from redzone.core.base import Failure

FOLDER = base.ROOT / "ports"


def names(part=None):
    """Return the sorted names of the ports. @part: only those with a module of that name."""
    wanted = (f"{part}.py",) if part else ("README.md", "port.py")
    return sorted({path.parent.name for file in wanted for path in FOLDER.glob(f"*/{file}")})


def suites():
    """Return {name of a suite: (port, module)}: suite.py has the port's name, suite_more.py adds `-more`."""
    found = sorted(FOLDER.glob("*/suite.py")) + sorted(FOLDER.glob("*/suite_*.py"))
    return {
        path.parent.name + path.stem.removeprefix("suite").replace("_", "-"): (path.parent.name, path.stem)
        for path in found
    }


def summary(name):
    """Return one line about the port @name: the heading of its README.md, "" if it has none."""
    path = FOLDER / name / "README.md"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), "")


def check(name):
    """Raise Failure, which names the ports that exist, unless @name is one of them."""
    if name not in names():
        raise Failure(f"there is no port '{name}'; those that exist: {', '.join(names())}")


def _package(folder):
    """Make the port's @folder known as a package. Return the package's name."""
    name = f"{__name__}.{folder.name.replace('-', '_')}"
    if name not in sys.modules:
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[name] = importlib.util.module_from_spec(spec)
    return name


# The consoles that the verb of a port has written: [(path, [ELF files])].
consoles = []


def note_console(path, *images):
    """Say that a console is in the file @path, whose machine ran the ELF files @images.

    A port calls it for each boot: it is what --html and its like show.
    """
    consoles.append((Path(path), [Path(image) for image in images]))


# What each verb's --help says; ports/README.md has the same table. status_of() is the rule.
STATUSES = """\b
Exit status:
  0  no KASAN report
  1  KASAN reported, as with --run, which plants bugs; linux --run judges Linux's tests
  2  usage or build error, or the source cannot be fetched
  3  the system crashed or hung, or what was planted was not reported
  130  interrupted
"""


def status_of(reported, stopped=False, wrong=False):
    """Return the exit status of a port's verb. @reported: did KASAN report? @stopped: did the system end
    before it was done? @wrong: is a bug that was planted not reported as it must be?"""
    if wrong:
        return base.CRASHED
    if reported:
        return base.REPORTED
    return base.CRASHED if stopped else base.OK


def get_source(find, keys, what, yes):
    """Return find(), which may fetch the source of @what with the programs named by @keys.

    A port calls it before it asks for the programs of its build: nothing is installed for a source that
    cannot be had.
    """
    doctor.require(keys, f"fetch {what}", yes)
    return find()


def option_value(text):
    """Return @text, such as a path, as a value inside of an option of QEMU, where a comma would end it."""
    return str(text).replace(",", ",,")


def _place(error, folder):
    """Return the file and line, in the port's @folder, where the exception @error comes from."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{base.relative(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    return f"{base.relative(own[-1].filename)}:{own[-1].lineno}" if own else base.relative(folder)


def load(name, part):
    """Return the module @part of the port @name. Raise Failure, which names the file, if it is broken."""
    folder = FOLDER / name
    try:
        return importlib.import_module(f"{_package(folder)}.{part}")
    except Failure:
        raise
    except (Exception, SystemExit) as error:
        text = getattr(error, "msg", None) or str(error)
        place = _place(error, folder)
        raise Failure(f"the port '{name}' is broken: {place}: {type(error).__name__}: {text}") from error


for _folder in FOLDER.glob("*"):
    if _folder.is_dir():
        _package(_folder)
