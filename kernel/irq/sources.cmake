# SPDX-License-Identifier: MIT
set(REDZONE_IRQ_SOURCES
    entry.c
    manage.c
    softirq.c
    tasklet.c)
# A real-time kernel runs soft interrupts in threads only: kernel/ext/rt.
if(NOT REDZONE_PREEMPT_RT)
  list(APPEND REDZONE_IRQ_SOURCES softirq_run.c)
endif()
set(REDZONE_IRQ_UNINSTRUMENTED entry.c)
