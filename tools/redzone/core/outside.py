# SPDX-License-Identifier: MIT
"""The outside programs that Redzone calls: names, versions and Debian packages.

The table has the programs that Redzone itself calls; those that only one port calls are in its tools.toml.
Standard library only: `doctor` and the first use run without the virtual environment.
"""

import glob
import os
import platform
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass

from redzone.core import base, process
from redzone.core.arch import KERNELS


def _plain(command):
    """Return (NAME, NN) of the command NAME-NN, or (None, None)."""
    match = re.fullmatch(r"(.+)-(\d+)", command)
    return (match[1], int(match[2])) if match else (None, None)


@dataclass(frozen=True)
class Tool:
    """One outside program.

    key: its name in the rest of the package. command: looked up in PATH. package: on Debian and Ubuntu.
    level: "run" (./redzone run needs it), "test" (some of the default suites do), "slow" (suites that run
    when they are named), "port", "fuzz" (these verbs do). use: shown to the user. minimum: oldest version
    that works, () for any. header: a file that stands for a package without a command, with the shell's
    wildcards; several after `:`.

    Debian's programs of LLVM have their version in the name, as clang-19; use_plain_names() finds those of
    other systems.
    """

    key: str
    command: str
    package: str
    level: str
    use: str
    minimum: tuple = ()
    header: str = ""

    @property
    def name(self):
        """What the user calls it: the command, or the package if that has none of its own."""
        return self.package if self.key == "venv" else self.command or self.package

    def oldest(self):
        """Return the oldest version that works, () for any. For LLVM it is in the command's name."""
        _, version = _plain(self.command)
        return self.minimum or ((version,) if version else ())

    def files(self):
        """Return the files that stand for a package without a command."""
        return [path for pattern in self.header.split(":") for path in glob.glob(pattern)]


# LLVM's runtime for the host's own processor.
_LIBRARY = (
    f"/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.{{0}}-{platform.machine()}.a:"
    f"/usr/lib*/clang/*/lib/linux/libclang_rt.{{0}}-{platform.machine()}.a:"
    f"/usr/lib*/clang/*/lib/{platform.machine()}-*/libclang_rt.{{0}}.a"
)
_LIBFUZZER, _ASAN = _LIBRARY.format("fuzzer"), _LIBRARY.format("asan")

TOOLS = (
    Tool("cmake", "cmake", "cmake", "run", "configures the build", (3, 25)),
    Tool("ninja", "ninja", "ninja-build", "run", "runs the build"),
    Tool("clang-19", "clang-19", "clang-19", "run", "the default compiler"),
    Tool("lld", "ld.lld-19", "lld-19", "run", "links kernels"),
    Tool("objcopy", "llvm-objcopy-19", "llvm-19", "run", "makes boot images"),
    Tool("symbolizer", "llvm-symbolizer-19", "llvm-19", "run", "finds source lines"),
    Tool("qemu-arm64", "qemu-system-aarch64", "qemu-system-arm", "run", "the machine", (7, 2)),
    Tool("venv", "python3", "python3-venv", "run", "the command's own environment", (3, 11)),
    Tool("clang-22", "clang-22", "clang-22", "test", "second Clang (--cc clang-22)"),
    Tool("gcc-arm64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu", "test", "--cc gcc", (12,)),
    Tool("gcc-riscv64", "riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu", "test", "runtime builds"),
    Tool("g++-arm64", "aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu", "test", "suite porting: C++"),
    Tool("g++-riscv64", "riscv64-linux-gnu-g++", "g++-riscv64-linux-gnu", "test", "suite porting: C++"),
    Tool("gcc-arm", "arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf", "test", "runtime builds"),
    Tool("gcc-s390x", "s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu", "test", "runtime builds"),
    Tool(
        "gcc-powerpc64le", "powerpc64le-linux-gnu-gcc", "gcc-powerpc64le-linux-gnu", "test", "runtime builds"
    ),
    Tool("gcc-cortexm", "arm-none-eabi-gcc", "gcc-arm-none-eabi", "test", "Cortex-M"),
    Tool("g++-cortexm", "arm-none-eabi-g++", "gcc-arm-none-eabi", "test", "suite porting: C++"),
    Tool("qemu-arm", "qemu-system-arm", "qemu-system-arm", "test", "suite porting: Cortex-M", (7, 2)),
    Tool("gcc", "x86_64-linux-gnu-gcc", "gcc", "test", "runtime builds, unit tests"),
    Tool("qemu-riscv64", "qemu-system-riscv64", "qemu-system-misc", "test", "suite porting", (7, 2)),
    Tool("qemu-riscv32", "qemu-system-riscv32", "qemu-system-misc", "test", "suite porting", (7, 2)),
    Tool("qemu-x86_64", "qemu-system-x86_64", "qemu-system-x86", "test", "suite porting", (7, 2)),
    Tool("make", "make", "make", "test", "suite porting"),
    Tool("pkg-config", "pkg-config", "pkg-config", "test", "suite porting"),
    Tool("ar", "llvm-ar-19", "llvm-19", "test", "suite porting"),
    Tool("objdump", "llvm-objdump-19", "llvm-19", "test", "suite decode; ports look at what was linked"),
    Tool("nm", "llvm-nm-19", "llvm-19", "test", "suites decode and porting"),
    Tool("libc", "", "libc6-dev", "test", "unit tests on this machine", header="/usr/include/stdio.h"),
    Tool(
        *("libc-s390x", "", "libc6-dev-s390x-cross", "slow", "suite unit-emulated"),
        header="/usr/s390x-linux-gnu/include/stdio.h",
    ),
    Tool(
        *("libc-riscv64", "", "libc6-dev-riscv64-cross", "slow", "suite unit-emulated"),
        header="/usr/riscv64-linux-gnu/include/stdio.h",
    ),
    Tool("clang-format", "clang-format-19", "clang-format-19", "test", "suite style"),
    Tool("clang-tidy", "clang-tidy-19", "clang-tidy-19", "test", "suite style"),
    Tool("git", "git", "git", "test", "suite style"),
    Tool("go", "go", "golang-go", "test", "suite syzkaller"),
    Tool("cargo", "cargo", "cargo", "test", "fetches zlib, lz4 and SQLite"),
    Tool("chromium", "chromium", "chromium", "slow", "suite decode-page (optional)"),
    Tool("chromedriver", "chromedriver", "chromium-driver", "slow", "suite decode-page (optional)"),
    Tool("zstd", "zstd", "zstd", "test", "decode: compressed modules (.ko.zst)"),
    Tool("mmdebstrap", "mmdebstrap", "mmdebstrap", "slow", "suite fresh-machine"),
    Tool("unshare", "unshare", "util-linux", "slow", "suite fresh-machine"),
    Tool("taskset", "taskset", "util-linux", "slow", "suite fuzz-speed"),
    Tool("asan", "", "libclang-rt-19-dev", "slow", "suite mutations", header=_ASAN),
    Tool("llvm-cov", "llvm-cov-19", "llvm-19", "slow", "suite mutations"),
    Tool("llvm-profdata", "llvm-profdata-19", "llvm-19", "slow", "suite mutations"),
    Tool("libfuzzer", "", "libclang-rt-19-dev", "fuzz", "drives the target", header=_LIBFUZZER),
    Tool("afl++", "afl-fuzz", "afl++", "fuzz", "--engine afl++ (optional)"),
    Tool("tar", "tar", "tar", "port", "unpacks sources"),
    Tool("xz", "xz", "xz-utils", "port", "unpacks sources"),
)


def _of_ports(known):
    """Return what the ports' tools.toml add to @known: ([Tool], [a line about each faulty file])."""
    found, problems = {}, []
    for path in sorted(base.ROOT.glob("ports/*/tools.toml")):
        try:
            for row in tomllib.loads(path.read_text(encoding="utf-8"))["tool"]:
                tool = Tool(**{**row, "level": "port", "minimum": tuple(row.get("minimum", ()))})
                other = known.get(tool.key) or found.setdefault(tool.key, tool)
                if (other.command, other.package) != (tool.command, tool.package):
                    raise ValueError(f"the key '{tool.key}' belongs to another program already")
        except (OSError, ValueError, KeyError, TypeError) as error:
            problems.append(f"{base.relative(path)}: {type(error).__name__}: {error}")
    return [*found.values()], problems


_port_tools, PROBLEMS = _of_ports({tool.key: tool for tool in TOOLS})
TOOLS += tuple(_port_tools)
if base.INSTALLED:
    # An installed command has its environment already.
    TOOLS = tuple(tool for tool in TOOLS if tool.key != "venv")
# Packages that some releases have in a newer version under another name; that one is then installed. Debian
# 12: its cargo cannot read the registry's present index.
NEWER = {"cargo": "cargo-web"}
BY_KEY = {tool.key: tool for tool in TOOLS}


def assume_yes(argv=()):
    """May packages be installed without asking? @argv: the command line; `--` ends the options."""
    own = list(argv)
    if "--" in own:
        own = own[: own.index("--")]
    return "--yes" in own or os.environ.get("CI", "").lower() in ("1", "true", "yes")


def venv_python():
    """Return a Python (>= 3.11) that can make virtual environments, or None."""
    for name in ("python3", "/usr/bin/python3"):
        path = shutil.which(name)
        if not path:
            continue
        probe = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
        if subprocess.run([path, "-c", probe], check=False, capture_output=True).returncode == 0:
            return path
    return None


# Programs of LLVM that others than this package call, such as the makefiles of ports.
_OTHERS = ("clang++-19", "clang++-22", "llvm-ar-19", "llvm-readelf-19", "llvm-strip-19")
# Programs that look for the compiler by the name that they are called by.
_MASKS = ("ccache", "distcc", "icecc", "sccache")
LINKS = base.BUILD / "bin"


def _which_plain(name):
    """Return the path of the program @name, but not that of a compiler cache in its place."""
    for folder in os.get_exec_path():
        path = shutil.which(name, path=folder)
        if path and os.path.basename(os.path.realpath(path)) not in _MASKS:
            return path
    return None


def _newer(link, target):
    """Is the link @link to @target, and not older than it?"""
    try:
        return os.readlink(link) == target and os.lstat(link).st_mtime >= os.stat(target).st_ctime
    except OSError:
        return False


def use_plain_names():
    """Let this command, and all that it starts, find NAME where NAME-19 is asked for: LLVM's programs have no
    number on most systems. NAME has to be of that version or newer.

    They get links in a folder that comes last in PATH."""
    wanted = {tool.command for tool in TOOLS if _plain(tool.command)[0]} | {*_OTHERS}
    made = False
    for command in sorted(wanted):
        name, least = _plain(command)
        if shutil.which(command) or not (path := _which_plain(name)):
            continue
        link = LINKS / command
        if not _newer(link, path):
            found = _ask(path)
            if found is None or found[1] < (least,):
                link.unlink(missing_ok=True)
                continue
            try:
                LINKS.mkdir(parents=True, exist_ok=True)
                new = LINKS / f".{command}.{os.getpid()}"
                new.symlink_to(path)
                new.replace(link)
            except OSError:
                # The tree cannot be written, and whatever the command makes will say so.
                return
        made = True
    if made and str(LINKS) not in os.get_exec_path():
        os.environ["PATH"] = os.pathsep.join([*os.get_exec_path(), str(LINKS)])


def version(tool):
    """Return (text, tuple) of the installed version, None if the tool is missing."""
    if tool.header:
        return ("files found", ()) if tool.files() else None
    path = venv_python() if tool.key == "venv" else shutil.which(tool.command)
    if not path and _plain(tool.command)[0]:
        path = _which_plain(_plain(tool.command)[0])
    argument = "version" if tool.key == "go" else "--version"
    # Shows its version as a part of what it says to options that it does not know.
    return _ask(path, argument, (0, 1) if tool.key == "afl++" else (0,)) if path else None


def _ask(path, argument="--version", good=(0,)):
    """Return (text, tuple) of the version that the program @path says, None if it says none."""
    try:
        result = process.run([path, argument], timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = re.sub(r"\(.*?\)|\033\[[0-9;]*m", "", result.stdout)
    found = re.search(r"(\d+(?:\.\d+)+)", text) or re.search(r"(\b\d+\b)", text)
    # Apple counts the versions of its Clang otherwise.
    if result.returncode not in good or not found or "Apple" in text:
        return None
    return found.group(1), tuple(int(part) for part in found.group(1).split("."))


def trouble(command, board, cpu):
    """Start an empty machine with QEMU's @command, a list. Return why it does not start, None if it does.

    A QEMU that says its version may still find modules, or files, of another one."""
    chosen = ["-machine", board, *(["-cpu", cpu] if cpu else []), "-nic", "none", "-nographic", "-S"]
    try:
        result = process.run(
            [*command, *chosen, "-serial", "null", "-monitor", "stdio"], input="quit\n", timeout=20
        )
    except OSError as error:
        return error.strerror
    except subprocess.TimeoutExpired:
        return "no end after 20 s"
    if result.returncode == 0:
        return None
    said = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    return "; ".join(said[-3:]) or f"it ended with status {result.returncode}"


def status(tool):
    """Return ("ok" | "missing" | "old" | "broken", version text, what is wrong with a broken one)."""
    found = version(tool)
    if found is None:
        return "missing", "", None
    text, numbers = found
    if numbers < tool.oldest():
        return "old", text, None
    why = None
    if tool.command.startswith("qemu-system-"):
        # The board and CPU of the reference kernel; other ports have boards of many kinds.
        boards = {f"qemu-{name}": (kernel.machine, kernel.cpu) for name, kernel in KERNELS.items()}
        why = trouble([tool.command], *boards.get(tool.key, ("none", None)))
    return ("broken" if why else "ok"), text, why


def called(word):
    """Return the tools whose key, command or package is @word."""
    return [tool for tool in TOOLS if word and word in (tool.key, tool.command, tool.package)]


def missing(keys):
    """Return the tools named @keys that cannot be found. Cheap: it looks only at PATH."""
    result = []
    for key in keys:
        if key not in BY_KEY:
            raise base.Failure("; ".join([f"no program has the key '{key}'", *PROBLEMS]))
        tool = BY_KEY[key]
        if tool.header:
            present = bool(tool.files())
        elif key == "venv":
            present = venv_python() is not None
        else:
            present = shutil.which(tool.command) is not None
        if not present:
            result.append(tool)
    return result
