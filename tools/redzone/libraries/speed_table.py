# SPDX-License-Identifier: MIT
"""Libraries that only `./redzone bench programs` and `time` run; recipe.py says what the fields mean."""

from redzone.core import crates
from redzone.core.base import ROOT
from redzone.libraries.recipe import Library, Program
from redzone.libraries.registries import Crate, Debian

LIBDEFLATE = Library(
    "libdeflate",
    Debian(
        "pool/main/libd/libdeflate/libdeflate_1.14.orig.tar.gz",
        "89e7df898c37c3427b0f39aadcf733731321a278771d20fc553f92da8d4808ac",
        "libdeflate-1.14",
    ),
)

# Packing and unpacking memory needs these files. The crate is that of the suite zlib.
_ZLIB = "adler32 compress crc32 deflate inffast inflate inftrees trees uncompr zutil"
ZLIB = Library(
    "zlib",
    Crate(crates.Crate("libz-sys", "1.1.6", ROOT / "tests" / "zlib", "src/zlib")),
    (Program("memory", library=tuple(f"{name}.c" for name in _ZLIB.split())),),
)
