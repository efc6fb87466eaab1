/* SPDX-License-Identifier: MIT */
/* rt.h - what a real-time kernel answers to the questions of <kernel/rt.h>. */
#ifndef EXT_RT_H
#define EXT_RT_H

#define PREEMPT_RT 1

/* The same as bits 8..15 of preempt_count(), see <kernel/preempt.h>; the state that a task had before it waits for a lock; how
 * many locks it holds, or waits for, that spin in other kernels. */
#define RT_TASK_MEMBERS           \
	int softirq_count;        \
	unsigned int saved_state; \
	unsigned int rtlocks;

/* Soft interrupts are threads that may be preempted. */
#define RT_SOFTIRQ_COUNT(count) READ_ONCE(current->softirq_count)

#endif
