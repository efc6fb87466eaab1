// SPDX-License-Identifier: MIT
/*
 * softirq_run.c - soft interrupts that run at the end of an interrupt, on top of the task that it interrupted.
 *
 * A real-time kernel has kernel/ext/rt/softirq.c instead.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/softirq.h>

#include "internal.h"

/* An interrupt looks again for new work so often, and then leaves the rest to the thread. */
#define MAX_ROUNDS 10

void softirq_lock_init(void)
{
}

/* Run what is pending, with interrupts on, for a few rounds. Interrupts are off before and after. */
static void __do_softirq(void)
{
	unsigned int rounds = 0;
	u32 pending;

	preempt_count_add(SOFTIRQ_OFFSET);
	while ((pending = local_softirq_pending())) {
		/* The first round always takes place, or a CPU that is never idle would run nothing. */
		if (rounds++ && (rounds > MAX_ROUNDS || need_resched())) {
			softirq_wake_thread(~0U);
			break;
		}
		this_cpu_write(softirq_pending, 0);
		local_irq_enable();
		softirq_run_actions(pending);
		local_irq_disable();
	}
	preempt_count_sub(SOFTIRQ_OFFSET);
}

#ifndef CONFIG_SHADOW_CALL_STACK
/* Call @fn. @frame: set to the address above the frames that @fn makes. The tail must not be a jump. */
static noinline void scs_call_softirqs(void (*fn)(void), const void **frame)
{
	*frame = __builtin_frame_address(0);
	fn();
	barrier();
}
#endif

/* Run what is pending on top of the running task. Interrupts are off. */
static void run_on_top(void)
{
	const void *outer = current->irq_frame;
	const char *top = current->trace_top;

	current->trace_top = NULL;
	scs_call_softirqs(__do_softirq, &current->irq_frame);
	current->irq_frame = outer;
	current->trace_top = top;
}

void irq_exit_softirq(void)
{
	if (unlikely(local_softirq_pending()) && !in_interrupt())
		run_on_top();
}

void do_softirq(void)
{
	if (in_interrupt())
		return;
	/* Soft interrupts switch interrupts on, which the caller does not expect. */
	if (WARN_ON_ONCE(irqs_disabled())) {
		softirq_wake_thread(~0U);
		return;
	}
	local_irq_disable();
	if (local_softirq_pending()) {
		arch_check_async_faults();
		run_on_top();
	}
	local_irq_enable();
}

#ifdef CONFIG_LOCKDEP
void local_bh_enable(void)
{
	if (softirq_count() == SOFTIRQ_DISABLE_OFFSET && !in_hardirq())
		lockdep_softirqs_on(_RET_IP_);
	preempt_count_sub(SOFTIRQ_DISABLE_OFFSET - 1);
	if (unlikely(local_softirq_pending()))
		do_softirq();
	preempt_enable();
}
#endif

void softirq_run_in_thread(u32 mask)
{
	local_irq_disable();
	if (local_softirq_pending())
		__do_softirq();
	local_irq_enable();
}
