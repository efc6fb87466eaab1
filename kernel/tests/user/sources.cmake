# SPDX-License-Identifier: MIT
# The program that the KUnit suites run in user mode. An architecture supplies its start, <syscall.h>, and <forbidden.h>: what
# such a program may not do.
set(REDZONE_USER_PROGRAM_SOURCES
    calls.c
    crash.c
    lib.c
    main.c
    memory.c
    pipes.c
    stackleak.c
    ../../arch/${REDZONE_ARCH}/tests/user_start.S)
