# SPDX-License-Identifier: MIT
set(REDZONE_IRQ_SOURCES
    manage.c
    softirq.c
    tasklet.c)
if(REDZONE_PREEMPT_RT)
  list(APPEND REDZONE_IRQ_SOURCES softirq_rt.c)
endif()
set(REDZONE_IRQ_UNINSTRUMENTED)
