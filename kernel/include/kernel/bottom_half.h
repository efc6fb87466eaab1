/* SPDX-License-Identifier: MIT */
/*
 * bottom_half.h - keeping soft interrupts off this CPU. <kernel/softirq.h> has the rest of them.
 *
 * It has its own header because <kernel/spinlock.h> needs it.
 */
#ifndef KERNEL_BOTTOM_HALF_H
#define KERNEL_BOTTOM_HALF_H

#include <kernel/percpu.h>
#include <kernel/preempt.h>

/* Soft interrupts that wait to be run on each CPU, bit n: number n. Changed with interrupts off. */
DECLARE_PER_CPU(u32, softirq_pending);

#define local_softirq_pending() READ_ONCE(this_cpu_read(softirq_pending))

#if PREEMPT_RT
#include <ext/rt_bottom_half.h>
#else

/** do_softirq() - run what is pending on this CPU, unless in_interrupt(). Interrupts on. */
void do_softirq(void);

/** local_bh_disable() - start no soft interrupts on this CPU until local_bh_enable(). Calls nest. The task is not
 *  preempted in between, and must not sleep. */
static inline void local_bh_disable(void)
{
	preempt_count_add(SOFTIRQ_DISABLE_OFFSET);
}

#ifdef CONFIG_LOCKDEP
void local_bh_enable(void);
#else
/** local_bh_enable() - end the innermost local_bh_disable(), and run what became pending meanwhile if that was the
 *  outermost one. Interrupts on. */
static inline void local_bh_enable(void)
{
	/*
	 * Preemption stays off meanwhile: the task must not leave its CPU before it has looked. An interrupt that
	 * comes in between runs by itself what it has made pending.
	 */
	preempt_count_sub(SOFTIRQ_DISABLE_OFFSET - 1);
	if (unlikely(local_softirq_pending()))
		do_softirq();
	preempt_enable();
}
#endif

#endif /* !PREEMPT_RT */

#endif
