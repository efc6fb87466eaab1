# SPDX-License-Identifier: MIT
# The program that the benchmark runs in user mode. It starts and calls the kernel as the tests' program does.
set(REDZONE_USER_PROGRAM_SOURCES
    main.c
    mix.c
    ../../user/lib.c
    ../../../arch/${REDZONE_ARCH}/tests/user_start.S)
