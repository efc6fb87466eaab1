# SPDX-License-Identifier: MIT
"""Gives the runtime's names a prefix, because Linux has functions and types of the same names.

The result is two headers: names.h renames each name with #define, names_end.h takes that back. The runtime is
compiled with the first. A file of the port, which sees Linux's headers too, includes the runtime's headers
between the two.
"""

import re

OWN, PREFIX = "kasan_", "redzone_"
# The port supplies these; nothing in Linux is called so.
PORTS = "kasan_port_"

_NAME = re.compile(rf"(?<![\w.\"/<]){OWN}[a-z0-9_]+\b(?!\.[ch]\b)")
_MACRO = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+({OWN}\w+)", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def renamed(texts):
    """Return the sorted names of the runtime in its sources @texts that need the prefix: all that begin with
    OWN, without those of the port and without macros, which no linker sees."""
    found, macros = set(), set()
    for text in texts:
        code = _COMMENT.sub(" ", text)
        macros |= set(_MACRO.findall(code))
        found |= set(_NAME.findall(code))
    return sorted(name for name in found - macros if not name.startswith(PORTS))


def headers(names):
    """Return the texts of names.h and names_end.h for @names."""
    top = "/* SPDX-License-Identifier: MIT */\n/* Made by `./redzone port linux`: {}. */\n"
    begin = [f"#define {name} {PREFIX}{name.removeprefix(OWN)}" for name in names]
    end = [f"#undef {name}" for name in names]
    return (
        top.format("the runtime's names get a prefix") + "\n".join(begin) + "\n",
        top.format("the end of what names.h began") + "\n".join(end) + "\n",
    )
