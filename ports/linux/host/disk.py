# SPDX-License-Identifier: MIT
"""Makes initial RAM disks: programs of module/, modules of Linux, and a script for script.c."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.core.process import call

from . import build

FOLDER = Path(__file__).parents[1] / "module"


@dataclass(frozen=True)
class Link:
    """A symbolic link in a disk."""

    target: str


def archive(files):
    """Return an initial RAM disk, cpio's "newc" format, with {name: bytes or Link} of the executable @files.

    Folders are made as they are needed."""
    entries = {}
    for name, data in files.items():
        for parent in reversed(Path(name).parents[:-1]):
            entries.setdefault(str(parent), (b"", 0o040755))
        is_link = isinstance(data, Link)
        entries[name] = (data.target.encode(), 0o120777) if is_link else (data, 0o100755)
    entries["TRAILER!!!"] = (b"", 0)
    pieces = []
    for number, (name, (data, mode)) in enumerate(entries.items(), 1):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        pieces += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]
    return b"".join(pieces)


def contents(folder):
    """Return {name: bytes or Link} of the files below @folder, for archive()."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = Link(str(path.readlink()))
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def write(path, files):
    """Write archive(files) to @path. Return @path."""
    path.write_bytes(archive(files))
    return path


def modules(image, *paths):
    """Build the modules @paths of Linux's tree for the kernel @image. Return {name: bytes}."""
    make = image.make
    # Those of mm/kasan read the files of the KASAN that the kernel has.
    with build.held(make, image.own):
        make("KBUILD_MODPOST_WARN=1", *paths)
        return {Path(path).name: (make.output / path).read_bytes() for path in paths}


def own_modules(make):
    """Build the modules of module/ for the kernel of @make. Return {name: bytes}.

    Beside the folder of the kernel, which another command may copy meanwhile."""
    folder = build.HOME / "modules" / make.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(FOLDER, folder, copy_function=shutil.copyfile)
    make(f"M={folder}", "KBUILD_MODPOST_WARN=1", "modules")
    return {path.name: path.read_bytes() for path in folder.glob("*.ko")}


def program(arch, folder, name):
    """Compile a program of the initial RAM disk. Return its bytes."""
    path, source = folder / name, FOLDER / f"{name}.c"
    command = ["clang-19", f"--target={build.ARCHES[arch].target}", "-O2", "-ffreestanding", "-nostdlib"]
    status, text = call([*command, "-static", "-fuse-ld=lld", "-o", str(path), str(source)])
    if status:
        raise Failure(f"{base.relative(source)} cannot be compiled:\n{text}")
    return path.read_bytes()


def script(image, lines, files=None):
    """Make a disk whose init does what @lines say (see script.c), with {name: bytes} of @files.

    Return its path."""
    folder = image.image.parent
    text = "".join(f"{line}\n" for line in lines).encode()
    init = program(image.make.arch, folder, "script")
    return write(folder / "script.cpio", {"init": init, "script": text, **(files or {})})
