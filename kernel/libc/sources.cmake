# SPDX-License-Identifier: MIT
# What the C library of programs calls: system calls with Linux's numbers, as functions of the kernel.
set(REDZONE_LIBC_SOURCES
    clock.c
    fault.c
    files.c
    futex.c
    handler.c
    memory.c
    missing.c
    names.c
    pipe.c
    program.c
    save.c
    signal.c
    syscall.c
    threads.c)
