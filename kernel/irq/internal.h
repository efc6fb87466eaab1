/* SPDX-License-Identifier: MIT */
/* internal.h - soft interrupts, as softirq.c and kernel/ext/rt/softirq.c share them. */
#ifndef IRQ_INTERNAL_H
#define IRQ_INTERNAL_H

#include <kernel/types.h>

/** softirq_run_actions() - call the functions of the soft interrupts @pending, a mask. in_serving_softirq(). */
void softirq_run_actions(u32 pending);

/** softirq_run_in_thread() - run what is pending of the soft interrupts @mask, in a thread of this CPU. */
void softirq_run_in_thread(u32 mask);

/** softirq_rt_init() - at boot, once. */
#ifdef CONFIG_PREEMPT_RT
void softirq_rt_init(void);
#else
static inline void softirq_rt_init(void)
{
}
#endif

#endif
