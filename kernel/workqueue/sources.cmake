# SPDX-License-Identifier: MIT
set(REDZONE_WORKQUEUE_SOURCES
    flush.c
    pool.c
    queue.c)
set(REDZONE_WORKQUEUE_UNINSTRUMENTED)
