# SPDX-License-Identifier: MIT
# Functions that compilers call instead of making code, such as __udivti3() for a division of 128 bits. Programs get the
# files that they use; the kernel itself uses none. They access no memory, so checks would find nothing.
set(REDZONE_BUILTINS_FP_SOURCES
    atomics.c
    complex.c
    convert.c
    float128.c
    int128.c)
set(REDZONE_BUILTINS_FP_UNINSTRUMENTED ${REDZONE_BUILTINS_FP_SOURCES})
