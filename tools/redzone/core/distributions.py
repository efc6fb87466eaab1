# SPDX-License-Identifier: MIT
"""Owns the names of packages on systems other than Debian, and the commands that install them there.

Only Debian's and Ubuntu's are installed by `doctor` itself: the others are shown, because no test of this
project runs on those systems. Standard library only, as `doctor` is.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

OS_RELEASE = Path("/etc/os-release")


@dataclass(frozen=True)
class Distribution:
    """key: its column of the table. ids: its ID in os-release, and that of systems which are like it.
    command: what the names of packages follow. after: what else is to be done there."""

    key: str
    title: str
    ids: tuple
    command: str
    after: str = ""

    def packages(self, tools):
        """Return (the packages that have @tools, outside.Tools; those of @tools for which none is known)."""
        found, unknown = {}, []
        for tool in tools:
            row = _ROWS.get(tool.key) or _ROWS.get(tool.package)
            names = [tool.package] if self.key == "debian" else row[self.key] if row else []
            found |= dict.fromkeys(names)
            if not names:
                unknown.append(tool)
        return list(found), unknown

    def install(self, tools):
        """Return the command that installs @tools, "" if no package of them is known."""
        names, _ = self.packages(tools)
        return f"{self.command} {' '.join(names)}" if names else ""


DEBIAN = Distribution("debian", "Debian and Ubuntu", ("debian", "ubuntu"),
                      "sudo apt-get install --no-install-recommends")  # fmt: skip
ALL = (
    DEBIAN,
    Distribution("fedora", "Fedora", ("fedora",), "sudo dnf install"),
    Distribution("arch", "Arch Linux", ("arch",), "sudo pacman -S --needed"),
    Distribution("alpine", "Alpine Linux", ("alpine",), "sudo apk add"),
    Distribution("homebrew", "macOS with Homebrew", (), "brew install",
                 'export PATH="$(brew --prefix llvm)/bin:$PATH"'),
    Distribution("nix", "Nix", ("nixos",), "nix-shell -p"),
)  # fmt: skip

# The first column is Debian's name, or a program's key in outside.TOOLS where one of Debian's packages is
# several elsewhere. A comma joins packages, `-` stands for none.
_TABLE = """
debian                 fedora                   arch                  alpine               homebrew nix
cmake                  cmake                    cmake                 cmake                cmake    cmake
ninja-build            ninja-build              ninja                 ninja-is-really-ninja ninja   ninja
clang-19               clang                    clang                 clang                llvm     llvmPackages_19.clang-unwrapped
lld-19                 lld                      lld                   lld                  lld      llvmPackages_19.lld
llvm-19                llvm                     llvm                  llvm                 llvm     llvmPackages_19.llvm
qemu-arm64             qemu-system-aarch64      qemu-system-aarch64   qemu-system-aarch64  qemu     qemu
python3-venv           python3                  python                python3              python   python3
clang-22               clang                    clang                 clang                llvm     -
gcc-aarch64-linux-gnu  gcc-aarch64-linux-gnu    aarch64-linux-gnu-gcc -                    -        -
gcc-riscv64-linux-gnu  gcc-riscv64-linux-gnu    riscv64-linux-gnu-gcc -                    -        -
g++-aarch64-linux-gnu  gcc-c++-aarch64-linux-gnu aarch64-linux-gnu-gcc -                   -        -
g++-riscv64-linux-gnu  gcc-c++-riscv64-linux-gnu riscv64-linux-gnu-gcc -                   -        -
gcc-s390x-linux-gnu    gcc-s390x-linux-gnu      -                     -                    -        -
gcc-powerpc64le-linux-gnu gcc-powerpc64le-linux-gnu -               -                    -        -
libc6-dev-s390x-cross  -                        -                     -                    -        -
libc6-dev-riscv64-cross -                       -                     -                    -        -
gcc-arm-linux-gnueabihf -                       -                     -                    -        -
gcc-arm-none-eabi      arm-none-eabi-gcc-cs,arm-none-eabi-gcc-cs-c++ arm-none-eabi-gcc gcc-arm-none-eabi,g++-arm-none-eabi - gcc-arm-embedded
qemu-arm               qemu-system-arm          qemu-system-arm       qemu-system-arm      qemu     qemu
gcc                    gcc                      gcc                   gcc                  gcc      gcc
qemu-system-misc       qemu-system-riscv        qemu-system-riscv     qemu-system-riscv32,qemu-system-riscv64 qemu qemu
qemu-system-x86        qemu-system-x86          qemu-system-x86       qemu-system-x86_64   qemu     qemu
make                   make                     make                  make                 make     gnumake
pkg-config             pkgconf-pkg-config       pkgconf               pkgconf              pkgconf  pkg-config
libc6-dev              glibc-devel              glibc                 musl-dev             -        -
clang-format-19        clang-tools-extra        clang                 clang-extra-tools    llvm     llvmPackages_19.clang-tools
clang-tidy-19          clang-tools-extra        clang                 clang-extra-tools    llvm     llvmPackages_19.clang-tools
git                    git                      git                   git                  git      git
golang-go              golang                   go                    go                   go       go
cargo                  cargo                    rust                  cargo                rust     cargo
chromium               chromium                 chromium              chromium             -        chromium
chromium-driver        chromedriver             chromium              chromium-chromedriver -       chromedriver
zstd                   zstd                     zstd                  zstd                 zstd     zstd
mmdebstrap             -                        -                     -                    -        -
util-linux             util-linux               util-linux            util-linux           -        util-linux
libclang-rt-19-dev     compiler-rt              compiler-rt           compiler-rt          llvm     llvmPackages_19.compiler-rt
afl++                  american-fuzzy-lop       afl++                 -                    afl++    aflplusplus
tar                    tar                      tar                   tar                  gnu-tar  gnutar
xz-utils               xz                       xz                    xz                   xz       xz
"""  # noqa: E501 (a table reads better in one piece)


def _rows():
    head, *lines = [line.split() for line in _TABLE.strip().splitlines()]
    return {
        line[0]: {
            key: [] if word == "-" else word.split(",") for key, word in zip(head[1:], line[1:], strict=True)
        }
        for line in lines
    }


_ROWS = _rows()


def os_release():
    """Return the fields of os-release, {} where there is none."""
    try:
        lines = OS_RELEASE.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in lines if "=" in line)
    return {name: value.strip("\"'") for name, value in pairs}


def here():
    """Return the Distribution of this machine, None if it is another one."""
    fields = os_release()
    names = [fields.get("ID", ""), *fields.get("ID_LIKE", "").split()]
    if sys.platform == "darwin":
        return next(one for one in ALL if one.key == "homebrew")
    return next((one for name in names for one in ALL if name in one.ids), None)
