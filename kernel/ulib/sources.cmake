# SPDX-License-Identifier: MIT
# The C library of the programs that run in the kernel. Compiled with -isystem kernel/ulib/include.
set(REDZONE_ULIB_SOURCES
    console.c
    ctype.c
    each.c
    errno.c
    format.c
    image_file.c
    malloc.c
    program.c
    scan.c
    setjmp.S
    stdio.c
    stdlib.c
    string.c
    strto.c)

# console.c writes inside reports.
set(REDZONE_ULIB_UNINSTRUMENTED console.c)
