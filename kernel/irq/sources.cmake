# SPDX-License-Identifier: MIT
set(REDZONE_IRQ_SOURCES
    manage.c
    softirq.c
    tasklet.c)
set(REDZONE_IRQ_UNINSTRUMENTED)
