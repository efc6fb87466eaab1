# SPDX-License-Identifier: MIT
# How the kernel runs an ordinary C program: its thread, its memory, and what it gets from the host.
set(REDZONE_PROGRAM_SOURCES
    each.c
    heap.c
    host.c
    leaks.c
    program.c
    reach.c)
