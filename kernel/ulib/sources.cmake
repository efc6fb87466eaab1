# SPDX-License-Identifier: MIT
# The C library of the programs that run in the kernel. Compiled with -isystem kernel/ulib/include.
#
# These files bind it to the kernel. Kernel threads and reports run some of them, so they have no floating point.
set(REDZONE_ULIB_SOURCES
    each.c
    host.c
    image_file.c
    leaks.c
    malloc.c
    program.c)

# It asks what programs have poisoned.
set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/malloc.c APPEND PROPERTY INCLUDE_DIRECTORIES
             ${CMAKE_CURRENT_LIST_DIR}/../sanitizer/include)

# Ordinary C, which only the threads of programs run: compiled as programs are.
set(REDZONE_ULIB_FP_SOURCES
    ctype.c
    errno.c
    format.c
    scan.c
    setjmp.S
    stdio.c
    stdlib.c
    string.c
    strto.c)
