# SPDX-License-Identifier: MIT
set(REDZONE_IRQ_SOURCES
    entry.c
    manage.c
    softirq.c
    tasklet.c)
set(REDZONE_IRQ_UNINSTRUMENTED entry.c)
