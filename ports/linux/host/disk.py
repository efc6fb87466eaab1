# SPDX-License-Identifier: MIT
"""Makes initial RAM disks: programs of module/, modules of Linux, and a script for script.c."""

from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.core.process import call

from . import build

FOLDER = Path(__file__).parents[1] / "module"


def archive(files):
    """Return an initial RAM disk, cpio's "newc" format, with {name: bytes} of the executable @files."""
    out = b""
    entries = [(name, data, 0o100755) for name, data in files.items()] + [("TRAILER!!!", b"", 0)]
    for number, (name, data, mode) in enumerate(entries, 1):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        head += b"\0" * (-len(head) % 4)
        out += head + data + b"\0" * (-len(data) % 4)
    return out


def write(path, files):
    """Write archive(files) to @path. Return @path."""
    path.write_bytes(archive(files))
    return path


def modules(make, *paths):
    """Build the modules @paths of Linux's tree for the kernel of @make. Return {name: bytes}."""
    make("modules_prepare")
    make("KBUILD_MODPOST_WARN=1", *paths)
    return {Path(path).name: (make.output / path).read_bytes() for path in paths}


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
