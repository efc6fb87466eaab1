# SPDX-License-Identifier: MIT
set(REDZONE_USER_SOURCES
    elf.c
    file.c
    mm.c
    pgtable.c
    pipe.c
    process.c
    sys_file.c
    sys_process.c
    syscall.c)
set(REDZONE_USER_UNINSTRUMENTED)
