# SPDX-License-Identifier: MIT
"""Helpers of the porting kit's tests: compilers, builds of the example, boots."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TEMPLATE = ROOT / "ports" / "template"
sys.path.insert(0, str(ROOT / "tools"))

CLANG_TARGET = {
    "arm64": "aarch64-none-elf",
    "riscv64": "riscv64-unknown-elf",
    "x86_64": "x86_64-unknown-linux-gnu",
    "arm": "armv7a-none-eabi",
}
GCC = {
    "arm64": "aarch64-linux-gnu-gcc",
    "riscv64": "riscv64-linux-gnu-gcc",
    "x86_64": "x86_64-linux-gnu-gcc",
    "arm": "arm-linux-gnueabihf-gcc",
}
QEMU = {
    "arm64": ["qemu-system-aarch64", "-cpu", "cortex-a53", "-semihosting"],
    "riscv64": ["qemu-system-riscv64", "-bios", "none"],
}


def need(*commands):
    """Skip the test if an outside program is missing."""
    for command in commands:
        if not shutil.which(command):
            pytest.skip(f"{command} is not installed")


def compiler(cc, arch):
    """Return the command line of a compiler as a list."""
    if cc == "gcc":
        need(GCC[arch])
        return [GCC[arch]]
    need(cc)
    return [cc, f"--target={CLANG_TARGET[arch]}"]


def call(command, cwd, ok=True):
    """Run a command; return its output. Fails the test if it fails (or, with ok=False, if it does not)."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", "MAKEFLAGS")
    }
    result = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert (result.returncode == 0) == ok, f"{' '.join(map(str, command))}\n{result.stdout[-3000:]}"
    return result.stdout


def boot(arch, elf):
    """Boot the example; return (QEMU's exit status, console)."""
    need(QEMU[arch][0])
    command = [
        *QEMU[arch],
        "-machine",
        "virt",
        "-m",
        "128M",
        "-nographic",
        "-nic",
        "none",
        "-kernel",
        str(elf),
    ]
    result = subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return result.returncode, result.stdout.replace("\r", "")


def bugs():
    """Return {name: type or None} of what the example plants."""
    text = (TEMPLATE / "main.c").read_text(encoding="utf-8")
    found = re.findall(r'^\t\{"(\w+)", (?:"([\w-]+)"|NULL), \w+\},$', text, re.MULTILINE)
    return {name: kind or None for name, kind in found}


def expect_all_reported(arch, elf):
    """Boot the example: each bug must be reported as what it is, with stacks, and nothing else."""
    status, console = boot(arch, elf)
    assert status == 0, console
    assert "template: done, all as expected" in console
    planted = bugs()
    assert len(planted) >= 13
    for name in planted:
        assert f"template: ok {name}\n" in console
    kinds = re.findall(r"^BUG: KASAN: ([\w-]+) in ", console, re.MULTILINE)
    assert kinds == [kind for kind in planted.values() if kind]
    assert "Allocated by task 0:" in console and "Freed by task 0:" in console


def make_template(tree, arch, cc, *variables, redzone=ROOT, ok=True):
    """Build the example with its Makefile; return (ELF, output)."""
    need("make", "ld.lld-19")
    command = [
        "make",
        "-j2",
        f"REDZONE={redzone}",
        f"ARCH={arch}",
        f"CC={' '.join(compiler(cc, arch))}",
        *variables,
    ]
    output = call(command, tree, ok)
    assert "warning" not in output, output
    return tree / "build" / "template.elf", output
