# SPDX-License-Identifier: MIT
# The program that the KUnit suites run in user mode.
set(REDZONE_USER_PROGRAM_SOURCES
    calls.c
    crash.c
    lib.c
    main.c
    memory.c
    start.S)
