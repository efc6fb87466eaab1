# SPDX-License-Identifier: MIT
"""Configures and builds Linux, with its own KASAN or with Redzone, in build/linux/ARCH-MODE."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.core.process import call

from . import apply
from .source import HOME

CONFIG = Path(__file__).parents[1] / "config"
MODES = ("generic-inline", "generic-outline", "sw_tags", "hw_tags")
# Without KASAN.
PLAIN = "none"
# Keys of redzone.core.outside.
TOOLS = ("make", "clang-19", "lld", "objcopy", "ar", "nm", "libc", "flex", "bison", "bc")


@dataclass(frozen=True)
class Arch:
    """name: the architecture in Linux's words. image: what is booted, in its build folder."""

    name: str
    image: str


ARCHES = {
    "arm64": Arch("arm64", "arch/arm64/boot/Image"),
}


@dataclass
class Image:
    """A kernel. image: for the boot. elf: with symbols. own: it has Linux's own KASAN."""

    image: Path
    elf: Path
    arch: str
    mode: str
    own: bool


def fragments(arch, mode):
    """Return the files whose options come on top of tinyconfig."""
    return [CONFIG / f"{name}.config" for name in (arch, *(("kasan", mode) if mode != PLAIN else ()))]


def wanted(files):
    """Return {option: value} of the fragments @files; "n" for `# CONFIG_X is not set`."""
    options = {}
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("CONFIG_"):
                name, _, value = line.partition("=")
                options[name] = value
            elif line.startswith("# CONFIG_") and line.endswith(" is not set"):
                options[line.split()[1]] = "n"
    return options


def lacking(options, text):
    """Return the sorted names of @options whose value the configuration @text does not have."""
    has = dict(line.split("=", 1) for line in text.splitlines() if line.startswith("CONFIG_") and "=" in line)
    return sorted(name for name, value in options.items() if has.get(name, "n") != value)


def make(tree, output, arch, jobs, *targets):
    """Run Linux's make for @targets in the build folder @output. Raise Failure, which names the log, if it
    fails."""
    log = output / "make.log"
    command = ["make", "-C", str(tree), f"O={output}", f"ARCH={ARCHES[arch].name}", "LLVM=-19", f"-j{jobs}"]
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "CFLAGS")}
    status, text = call(
        [*command, *targets], timeout=None, env={**environment, "KBUILD_BUILD_TIMESTAMP": "2026-01-01"}
    )
    log.write_text(text, encoding="utf-8")
    if status:
        lines = [line for line in text.splitlines() if "error" in line.lower() or "undefined" in line]
        first = f": {lines[0].strip()}" if lines else ""
        raise Failure(f"make {' '.join(targets)} failed{first} (log: {base.relative(log)})")


def _configure(tree, output, arch, mode, jobs):
    """Write the configuration, unless the fragments are those that it was made from."""
    files = fragments(arch, mode)
    stamp = output / "fragments"
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    if (output / ".config").is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == text:
        return
    output.mkdir(parents=True, exist_ok=True)
    make(tree, output, arch, jobs, "tinyconfig")
    options = wanted(files)
    config = output / ".config"
    kept = [
        line
        for line in config.read_text(encoding="utf-8").splitlines()
        if line.removeprefix("# ").partition("=")[0].split(" ")[0] not in options
    ]
    own = [f"# {name} is not set" if value == "n" else f"{name}={value}" for name, value in options.items()]
    config.write_text("\n".join([*kept, *own]) + "\n", encoding="utf-8")
    make(tree, output, arch, jobs, "olddefconfig")
    missing = lacking(options, config.read_text(encoding="utf-8"))
    if missing:
        raise Failure(f"Linux does not accept {missing[0]} of {base.relative(files[0].parent)}, {mode}")
    stamp.write_text(text, encoding="utf-8")


def build(tree, mode, arch="arm64", own=False, jobs=2):
    """Build the kernel of @mode from the tree of Linux in @tree. @own: with Linux's own KASAN. Return the
    Image.

    The two share what is not KASAN: it is compiled once."""
    output = HOME / f"{arch}-{mode}"
    with base.locked(HOME):
        (apply.revert if own else apply.apply)(tree)
        _configure(tree, output, arch, mode, jobs)
        what = "without KASAN" if mode == PLAIN else "with its own KASAN" if own else "with Redzone"
        base.say(f"building Linux {apply.Tree(tree).version()} for {arch}, {mode}, {what}")
        make(tree, output, arch, jobs, Path(ARCHES[arch].image).name)
        kept = HOME / "images" / f"{arch}-{mode}{'-own' if own else ''}"
        kept.mkdir(parents=True, exist_ok=True)
        for path in (
            output / ARCHES[arch].image,
            output / "vmlinux",
            output / "System.map",
            output / ".config",
        ):
            shutil.copyfile(path, kept / path.name)
    return Image(kept / Path(ARCHES[arch].image).name, kept / "vmlinux", arch, mode, own)
