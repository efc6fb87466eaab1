#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks in code that was compiled elsewhere for uses of x18, where a kernel with a shadow call stack has the
pointer to it.

usage: shadow_calls.py OBJDUMP FILE

Code may push a return address, take one back, and copy the pointer. Every other use loses it. Fails with a
line for each function that has one, at most five. It runs inside the build, so it needs only Python.
"""

import re
import subprocess
import sys

_FUNCTION = re.compile(r"^<(.+)>:$")
# Not the hexadecimal number #0x18, nor a name that has x18 in it.
_USE = re.compile(r"(?<![\w.#+-])[xw]18(?!\w)")
# "str x30, [x18], #8", "ldr x30, [x18, #-8]!", and "mov x9, x18".
_RIGHT = re.compile(r"^(?:str\s+x30, \[x18\], #0x8|ldr\s+x30, \[x18, #-0x8\]!|mov\s+x(?!18)\d+, x18)$")


def users(objdump, path):
    """Return {function: instruction}: the first wrong use in each function of the ELF file @path."""
    command = [objdump, "-d", "--no-show-raw-insn", "--no-leading-addr", str(path)]
    listing = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, errors="replace").stdout
    found, function = {}, "?"
    for line in listing.splitlines():
        name = _FUNCTION.match(line)
        if name:
            function = name[1]
            continue
        code = line.split("//")[0].split("<")[0].strip()
        if _USE.search(code) and not _RIGHT.match(code):
            found.setdefault(function, " ".join(code.split()))
    return found


def main(objdump, path):
    found = users(objdump, path)
    for function, code in list(found.items())[:5]:
        print(
            f"error: {function}() uses register x18 ('{code}'), where the shadow call stack's pointer is: "
            "compile its file with -ffixed-x18, or run without --shadow-call-stack",
            file=sys.stderr,
        )
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
