# SPDX-License-Identifier: MIT
set(REDZONE_SYNC_SOURCES
    mutex.c
    spinlock.c
    wait.c)
set(REDZONE_SYNC_UNINSTRUMENTED)
