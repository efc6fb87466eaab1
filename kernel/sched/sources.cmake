# SPDX-License-Identifier: MIT
set(REDZONE_SCHED_SOURCES
    core.c
    fpu.c
    init_task.c
    kthread.c
    prio.c
    rt.c
    smp.c
    timer.c)
set(REDZONE_SCHED_UNINSTRUMENTED)
