# SPDX-License-Identifier: MIT
# Functions that compilers call instead of making code, such as __udivti3() for a division of 128 bits. Programs get the
# files that they use; the kernel itself uses none. They access no memory, so checks would find nothing.
file(GLOB of_arch RELATIVE ${CMAKE_CURRENT_LIST_DIR} CONFIGURE_DEPENDS
     ${CMAKE_CURRENT_LIST_DIR}/../arch/${REDZONE_ARCH}/builtins/*.c)
set(REDZONE_BUILTINS_FP_SOURCES
    ${of_arch}
    complex.c
    convert.c
    float128.c
    int128.c)
set(REDZONE_BUILTINS_FP_UNINSTRUMENTED ${REDZONE_BUILTINS_FP_SOURCES})
