#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks in code that was compiled elsewhere for uses of the registers that a shadow call stack takes:
x18 on arm64, the pointer to it; on riscv64 gp, which is that, and s11, the running task.

usage: shadow_calls.py OBJDUMP FILE

Code may push a return address, take one back, and copy the pointer. Every other use loses it. The task may be
read. Fails with a line for each function that has a wrong use, at most five. It runs inside the build, so it
needs only Python.
"""

import re
import subprocess
import sys

_FUNCTION = re.compile(r"^<(.+)>:$")
_FORMAT = re.compile(r"file format elf64-little(\w+)$")
_POINTER = "the shadow call stack's pointer"
# {the format's name: [(register, what it holds, a use, uses that are right, the compiler's option)]}
_REGISTERS = {
    "aarch64": [
        (
            *("x18", _POINTER),
            # Not the hexadecimal number #0x18, nor a name that has x18 in it.
            re.compile(r"(?<![\w.#+-])[xw]18(?!\w)"),
            # "str x30, [x18], #8", "ldr x30, [x18, #-8]!", and "mov x9, x18".
            re.compile(r"^(?:str\s+x30, \[x18\], #0x8|ldr\s+x30, \[x18, #-0x8\]!|mov\s+x(?!18)\d+, x18)$"),
            "-ffixed-x18",
        )
    ],
    "riscv": [
        (
            *("gp", _POINTER),
            re.compile(r"(?<![\w.])gp(?!\w)"),
            re.compile(r"^(?:addi\s+gp, gp, -?0x8|[ls]d\s+ra, -0x8\(gp\)|mv\s+(?!gp)\w+, gp)$"),
            "-ffixed-x3",
        ),
        (
            *("s11", "the running task"),
            # The first operand, other than of a store or a branch, is written to.
            re.compile(r"^(?!f?s[bhwdq]\s|b)\S+\s+s11(?!\w)"),
            re.compile("(?!)"),
            "-ffixed-x27",
        ),
    ],
}


def users(objdump, path):
    """Return {function: (instruction, register, what it holds, option)}: the first wrong use in each of the
    ELF file @path."""
    command = [objdump, "-d", "--no-show-raw-insn", "--no-leading-addr", str(path)]
    listing = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, errors="replace").stdout
    found, function, registers = {}, "?", []
    for line in listing.splitlines():
        name = _FUNCTION.match(line)
        if name:
            function = name[1]
            continue
        if made := _FORMAT.search(line):
            registers = _REGISTERS[made[1]]
            continue
        code = line.split("//")[0].split("<")[0].strip()
        for register, what, use, right, option in registers:
            if use.search(code) and not right.match(code):
                found.setdefault(function, (" ".join(code.split()), register, what, option))
    return found


def main(objdump, path):
    found = users(objdump, path)
    for function, (code, register, what, option) in list(found.items())[:5]:
        print(
            f"error: {function}() uses register {register} ('{code}'), where {what} is: "
            f"compile its file with {option}, or run without --shadow-call-stack",
            file=sys.stderr,
        )
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
