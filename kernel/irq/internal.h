/* SPDX-License-Identifier: MIT */
/* internal.h - soft interrupts: what softirq.c shares with softirq_run.c, or in a real-time kernel with kernel/ext/rt/softirq.c. */
#ifndef IRQ_INTERNAL_H
#define IRQ_INTERNAL_H

#include <kernel/types.h>

/** softirq_run_actions() - call the functions of the soft interrupts @pending, a mask. in_serving_softirq(). */
void softirq_run_actions(u32 pending);

/** softirq_run_in_thread() - run what is pending of the soft interrupts @mask, in a thread of this CPU. */
void softirq_run_in_thread(u32 mask);

/** softirq_wake_thread() - wake the threads of this CPU that run the soft interrupts @mask. Interrupts are off. */
void softirq_wake_thread(u32 mask);

/** softirq_lock_init() - at boot, once. */
void softirq_lock_init(void);

#endif
