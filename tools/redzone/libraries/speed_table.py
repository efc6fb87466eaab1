# SPDX-License-Identifier: MIT
"""Libraries that only `./redzone bench programs` runs; recipe.py says what the fields mean."""

from redzone.libraries.recipe import Library
from redzone.libraries.registries import Debian

LIBDEFLATE = Library(
    "libdeflate",
    Debian(
        "pool/main/libd/libdeflate/libdeflate_1.14.orig.tar.gz",
        "89e7df898c37c3427b0f39aadcf733731321a278771d20fc553f92da8d4808ac",
        "libdeflate-1.14",
    ),
)
