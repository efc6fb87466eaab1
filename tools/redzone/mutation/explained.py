# SPDX-License-Identifier: MIT
"""Differences between ASan and Redzone that somebody has looked into: {(library, file:line, rule): text}.

Only what compare.py cannot work out by itself stands here.
"""

EXPLAINED = {
    ("brotli", "c/enc/backward_references_hq.c:815", "early-free"): (
        "the free also sets the pointer to null. The host's compiler takes it that no null pointer is read; "
        "code of a kernel has -fno-delete-null-pointer-checks, and reads it"
    ),
    ("brotli", "c/dec/decode.c:1792", "dead-argument"): (
        "the variable gets no value, because only its copy is written. The program makes an address of it: "
        "which one is chance"
    ),
    ("brotli", "c/dec/decode.c:934", "length"): (
        "the host's compiler knows memcpy() and keeps both objects in a register, so no access is left; "
        "code of a kernel has -fno-builtin, and calls memcpy()"
    ),
    ("brotli", "c/enc/encode.c:812", "dead-result"): (
        "the host's compiler inlines the function that has the copy, so the frame is live, and the copy is "
        "out of scope in it; the kernel's calls the function, so the frame is in use again"
    ),
}
