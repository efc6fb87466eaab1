# SPDX-License-Identifier: MIT
"""Differences between ASan and Redzone that somebody has looked into: {(library, file:line, rule): text}.

Only what compare.py cannot work out by itself stands here.
"""

EXPLAINED = {
    ("brotli", "c/enc/backward_references_hq.c:815", "early-free"): (
        "the free also sets the pointer to null. The host's compiler takes it that no null pointer is read; "
        "code of a kernel has -fno-delete-null-pointer-checks, and reads it"
    ),
    ("brotli", "c/dec/decode.c:934", "length"): (
        "the host's compiler knows memcpy() and keeps both objects in a register, so no access is left; "
        "code of a kernel has -fno-builtin, and calls memcpy()"
    ),
    ("brotli", "c/enc/encode.c:812", "dead-result"): (
        "the host's compiler inlines the function that has the copy, so the frame is live, and the copy is "
        "out of scope in it; the kernel's calls the function, so the frame is in use again"
    ),
    ("sqlite", "sqlite3.c:127795", "comparison"): (
        "the loop reads one number too many from an array that is a part of a larger block, and takes it as "
        "an index of other objects. The number is chance, and so is where it leads: on the host to freed "
        "memory, in the kernel to memory of a live object"
    ),
    ("xz", "src/liblzma/common/common.c:70", "half-size"): (
        "the first access is 27,256 bytes beyond the table of half the size: on the host in another object, "
        "in the kernel on a free page. ASan reports the next access, 528 bytes beyond"
    ),
    ("zstd", "lib/compress/zstdmt_compress.c:131", "double-free"): (
        "the second free copies a structure of the freed memory as its argument. ASan takes the check of "
        "this copy for the one before the first free, and leaves it out: with -mllvm -asan-opt-same-temp=0 "
        "it reports what Redzone does. On arm64 the copy is made of loads, each with a check"
    ),
    ("zstd", "lib/decompress/huf_decompress.c:1579", "index"): (
        "the kernel's compiler inlined the function that has the access, and joined code of several lines. "
        "So the address has neither a line nor the name of an inlined function. Redzone names the function "
        "that has the code"
    ),
}
