# SPDX-License-Identifier: MIT
"""Configures and builds Linux, with its own KASAN or with Redzone, in build/linux/ARCH-MODE."""

import contextlib
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import click
from redzone.core import base
from redzone.core.base import Failure
from redzone.core.options import Choice, Number
from redzone.core.process import call

from . import apply
from .source import HOME

CONFIG = Path(__file__).parents[1] / "config"
MODES = ("generic-inline", "generic-outline", "sw_tags", "hw_tags")
# Without KASAN.
PLAIN = "none"
# The targets of Linux's make that a configuration starts from.
SMALL, FULL = "tinyconfig", "defconfig"
# {line of Linux: options that it does not have, because it always does what they say}
ALWAYS = {"7": ("CONFIG_ARM64_PAN",)}
# Keys of redzone.core.outside, for each build.
TOOLS = ("make", "clang-19", "lld", "objcopy", "ar", "nm", "libc", "flex", "bison", "bc")


@dataclass(frozen=True)
class Arch:
    """image: what is booted, in the build folder. target: the compilers' name. modes: of KASAN. tools,
    machine, gcc: keys of redzone.core.outside, for each build, a boot, a build with GCC ("": not possible).
    parameters: of each boot. board: QEMU's options for the machine and its CPU. flags: of the compiler,
    beside Linux's own."""

    image: str
    target: str
    modes: tuple
    tools: tuple
    machine: str
    gcc: str
    parameters: tuple
    board: tuple
    flags: str = ""


# By Linux's names.
ARCHES = {
    "arm64": Arch(
        "arch/arm64/boot/Image",
        "aarch64-linux-gnu",
        MODES,
        (),
        "qemu-arm64",
        "gcc-arm64",
        # One instruction that copies a kilobyte would count as one.
        ("console=ttyAMA0", "arm64.nomops"),
        ("-machine", "virt", "-cpu", "max"),
    ),
    "x86_64": Arch(
        "arch/x86/boot/bzImage",
        "x86_64-linux-gnu",
        ("generic-inline", "generic-outline"),
        ("libelf",),
        "qemu-x86_64",
        "gcc",
        ("console=ttyS0",),
        ("-machine", "q35", "-cpu", "max"),
    ),
    "riscv": Arch(
        "arch/riscv/boot/Image",
        "riscv64-linux-gnu",
        MODES[:2],
        (),
        "qemu-riscv64",
        "gcc-riscv64",
        # QEMU before 8.1 says which extensions there are in the older way only.
        ("console=ttyS0", "riscv_isa_fallback"),
        ("-machine", "virt", "-cpu", "rv64"),
    ),
    "s390": Arch(
        "arch/s390/boot/bzImage",
        "s390x-linux-gnu",
        MODES[:2],
        (),
        "qemu-s390x",
        "gcc-s390x",
        (),
        ("-machine", "s390-ccw-virtio", "-cpu", "max"),
    ),
    "arm": Arch(
        "arch/arm/boot/zImage",
        "arm-linux-gnueabihf",
        MODES[:2],
        (),
        "qemu-arm",
        "gcc-arm",
        ("console=ttyAMA0",),
        ("-machine", "virt", "-cpu", "cortex-a15"),
    ),
    "loongarch": Arch(
        "vmlinux",
        "loongarch64-linux-gnu",
        MODES[1:2],
        (),
        "qemu-loongarch64",
        # Debian 12 has no such GCC.
        "",
        ("console=ttyS0",),
        ("-machine", "virt", "-cpu", "la464"),
        # Linux has no option for them, and the runtime follows frames.
        "-fno-omit-frame-pointer",
    ),
    "powerpc": Arch(
        "vmlinux",
        "powerpc64le-linux-gnu",
        MODES[1:2],
        (),
        "qemu-ppc64",
        # GCC has not been tried.
        "",
        ("console=hvc0",),
        ("-machine", "pseries", "-cpu", "power9"),
    ),
}
# The modes that each compiler is used for.
OF_COMPILER = {"clang": MODES, "gcc": MODES[:2]}


def options(function):
    """Add the options that choose a kernel to the command @function."""
    for option in (
        click.option(
            "--mode",
            type=Choice(MODES),
            callback=lambda context, _, mode: mode or ARCHES[context.params["arch"]].modes[0],
            help="Default: generic-inline, or generic-outline where Linux has no other.",
        ),
        click.option(
            "--arch", type=Choice(tuple(ARCHES)), default="arm64", is_eager=True, help="Default: arm64."
        ),
        click.option("--cc", type=Choice(tuple(OF_COMPILER)), default="clang", help="Default: clang (19)."),
        click.option(
            "--config",
            multiple=True,
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Further options of Linux's configuration, one a line. May be repeated.",
        ),
        click.option("--source", metavar="DIR", help="A source tree of Linux; it is copied, not changed."),
        click.option(
            "--jobs", type=Number(int, 1, 64, "N"), default="2", help="Compile N files at once. Default: 2."
        ),
    ):
        function = option(function)
    return function


def check(arch, mode, compiler):
    """Raise Failure if there is no such kernel."""
    modes = ARCHES[arch].modes
    if mode not in modes:
        raise Failure(f"with --arch {arch} --mode is {' or '.join(modes)}")
    if compiler == "gcc" and not ARCHES[arch].gcc:
        raise Failure(f"with --arch {arch} --cc is clang")
    if mode not in OF_COMPILER[compiler]:
        raise Failure("--cc gcc is for Generic mode; leave it out, or give --mode generic-inline")


def fragments(arch, mode, start=SMALL):
    """Return the files whose options come on top of those of make @start."""
    kasan = ("kasan", mode) if mode != PLAIN else ()
    names = ("common", arch, *kasan) if start == SMALL else (*kasan, start)
    files = [CONFIG / f"{name}.config" for name in names]
    # Few architectures change something of KASAN.
    own = CONFIG / f"{arch}-kasan.config"
    return [*files, own] if kasan and own.is_file() else files


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


def tools(arch, compiler):
    """Return the keys of redzone.core.outside that a build needs."""
    return (*TOOLS, *ARCHES[arch].tools, *((ARCHES[arch].gcc,) if compiler == "gcc" else ()))


@dataclass(frozen=True)
class Make:
    """Runs Linux's make in a folder of its own for each kernel. mode: of KASAN, or PLAIN. jobs: at once.
    more: files of further options. variables: further ones of make, as in ("REDZONE_SCS=1",). start: SMALL or
    FULL."""

    tree: Path
    mode: str
    arch: str = "arm64"
    compiler: str = "clang"
    jobs: int = 2
    more: tuple = ()
    variables: tuple = ()
    start: str = SMALL

    @property
    def output(self):
        words = (self.arch, self.mode, *(("gcc",) if self.compiler == "gcc" else ()))
        words += (self.start,) if self.start != SMALL else ()
        words += (self.tree.name,) if self.tree.name.startswith("linux-") else ()
        return HOME / "+".join(("-".join(words), *(path.stem for path in self.more)))

    @property
    def name(self):
        """The kernel's. Kernels that differ only in variables share a folder: make compiles again what these
        change."""
        return "+".join((self.output.name, *(one.partition("=")[0].lower() for one in self.variables)))

    def __call__(self, *targets):
        """Make @targets. Raise Failure, which names the log, if that fails."""
        log = self.output / "make.log"
        flags = ARCHES[self.arch].flags
        chain = "LLVM=-19" if self.compiler == "clang" else f"CROSS_COMPILE={ARCHES[self.arch].target}-"
        command = [
            "make",
            "-C",
            str(self.tree),
            f"O={self.output}",
            f"ARCH={self.arch}",
            chain,
            f"-j{self.jobs}",
            *((f"KCFLAGS={flags}",) if flags else ()),
            *self.variables,
        ]
        environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "CFLAGS")}
        status, text = call(
            [*command, *targets], timeout=None, env={**environment, "KBUILD_BUILD_TIMESTAMP": "2026-01-01"}
        )
        log.write_text(text, encoding="utf-8")
        if status:
            lines = [line for line in text.splitlines() if "error: " in line or "***" in line]
            first = f": {lines[0].strip()}" if lines else ""
            raise Failure(f"make {' '.join(targets)} failed{first} (log: {base.relative(log)})")


@dataclass
class Image:
    """A kernel that @make has made. image: for the boot. elf: with symbols. own: it has Linux's own KASAN."""

    image: Path
    elf: Path
    make: Make
    own: bool

    @property
    def name(self):
        """What tells it from other kernels, in names of files."""
        return self.elf.parent.name


def _begin(make):
    """Begin the new folder of @make with what is compiled for a kernel of the same mode: make compiles again
    what other options change."""
    output = make.output
    base_name = replace(make, more=()).output.name
    # On x86_64 files of objtool name the folder: it is compiled again, and then all that it checks.
    if output.exists() or make.arch == "x86_64":
        return
    made = [stamp.parent for stamp in output.parent.glob("*/fragments")]
    alike = [folder for folder in made if folder.name.partition("+")[0] == base_name]
    if alike:
        # Whole, or not at all: a file that is cut off looks as if it were compiled.
        unfinished = output.with_name("unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(min(alike, key=lambda folder: len(folder.name)), unfinished, symlinks=True)
        unfinished.rename(output)


def _configure(make):
    """Write the configuration, unless the fragments are those that it was made from."""
    output, files = make.output, [*fragments(make.arch, make.mode, make.start), *make.more]
    stamp = output / "fragments"
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    if (output / ".config").is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == text:
        return
    output.mkdir(parents=True, exist_ok=True)
    make(make.start)
    always = ALWAYS.get(apply.Tree(make.tree).line(), ())
    options = {name: value for name, value in wanted(files).items() if name not in always}
    config = output / ".config"
    kept = [
        line
        for line in config.read_text(encoding="utf-8").splitlines()
        if line.removeprefix("# ").partition("=")[0].split(" ")[0] not in options
    ]
    own = [f"# {name} is not set" if value == "n" else f"{name}={value}" for name, value in options.items()]
    config.write_text("\n".join([*kept, *own]) + "\n", encoding="utf-8")
    make("olddefconfig")
    missing = lacking(options, config.read_text(encoding="utf-8"))
    if missing:
        named = [base.relative(path) for path in files if missing[0] in wanted([path])]
        raise Failure(f"Linux does not accept {missing[0]} of {named[-1]} in {output.name}")
    stamp.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def held(make, own):
    """Hold the tree of @make with Linux's @own KASAN or with Redzone, so that no other command changes it."""
    with base.locked(HOME):
        (apply.revert if own else apply.apply)(make.tree)
        yield


def build(make, own=False):
    """Build the kernel with the Make @make. @own: with Linux's own KASAN. Return the Image.

    The two share what is not KASAN: it is compiled once."""
    output = make.output
    with held(make, own):
        _begin(make)
        _configure(make)
        what = "without KASAN" if make.mode == PLAIN else "with its own KASAN" if own else "with Redzone"
        base.say(f"building Linux {apply.Tree(make.tree).version()} for {make.name}, {what}")
        image = output / ARCHES[make.arch].image
        make(image.name, "modules_prepare")
        kept = HOME / "images" / f"{make.name}{'-own' if own else ''}"
        kept.mkdir(parents=True, exist_ok=True)
        for path in (image, output / "vmlinux", output / "System.map", output / ".config"):
            shutil.copyfile(path, kept / path.name)
    return Image(kept / image.name, kept / "vmlinux", make, own)
