# SPDX-License-Identifier: MIT
"""Which line of a trace explains a bug."""

import pytest
from redzone import base, view
from redzone.console import Frame
from redzone.symbolize import Source

pytestmark = pytest.mark.quick


def frames(*places):
    """Return a trace; a place is (function, path, line), or a list of these for inlined functions."""
    lists = [place if isinstance(place, list) else [place] for place in places]
    return [Frame(list_[-1][0], 0, 4, sources=[Source(*place) for place in list_]) for list_ in lists]


MAIN = ("main", "/u/main.c", 9)
HEADER = ("get", "/u/list.h", 3)
KERNEL = ("memcmp", str(base.ROOT / "kernel/lib/string.c"), 25)
LIBRARY = ("strlen", f"{base.BUILD}/libc/musl-1.2.5/src/string/strlen.c", 12)
COMPILERS = ("vld1q_u8", "/usr/lib/llvm-19/lib/clang/19/include/arm_neon.h", 100)


def test_own_source():
    for trace, expected in (
        ([MAIN], "main"),
        # The kernel's and the C library's functions act for their caller.
        ([KERNEL, MAIN], "main"),
        ([LIBRARY, HEADER, MAIN], "get"),
        # A header of the user's has bugs of its own, inlined or not.
        ([HEADER, MAIN], "get"),
        ([[HEADER, MAIN], MAIN], "get"),
        # Those of the compiler have none.
        ([[COMPILERS, MAIN], MAIN], "main"),
        # A named file counts wherever it is.
        ([("f", str(base.ROOT / "kernel/mine.c"), 1), MAIN], "f"),
        ([KERNEL, LIBRARY], "strlen"),
        ([KERNEL], None),
    ):
        source = view.own_source(frames(*trace), {"/u/main.c", str(base.ROOT / "kernel/mine.c")})
        assert (source.function if source else None) == expected, trace
