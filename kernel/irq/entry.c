// SPDX-License-Identifier: MIT
/*
 * entry.c - what happens in which order when an interrupt begins and ends, and before a task returns to user mode.
 *
 * Not instrumented, like the exception entry that calls it.
 */
#include <kernel/arch.h>
#include <kernel/gfp.h>
#include <kernel/irq_entry.h>
#include <kernel/kernel.h>
#include <kernel/process.h>
#include <kernel/sched.h>
#include <kernel/softirq.h>
#include <kernel/vmalloc.h>

static inline void handle(void)
{
	irq_enter();
	arch_handle_irq();
	arch_check_async_faults();
	irq_exit();
}

const void *kernel_irq(const struct pt_regs *regs)
{
	const void *outer = current->irq_frame;

	/* Stays set as long as this frame exists, even if another task runs in between. */
	current->irq_frame = regs;
	current->trace_top = NULL;
	handle();
	/* The interrupted code had interrupts on. The interrupt itself may have used memory that the thread keeps for its
	 * stack. */
	if (unlikely(current->demand))
		(void)stack_refill(GFP_ATOMIC);
	return outer;
}

void kernel_irq_end(const void *outer)
{
	irq_exit_softirq();
	/* The interrupted code had interrupts on, so it may be preempted. */
	if (need_resched() && preempt_count() == 0)
		preempt_schedule_irq();
	current->irq_frame = outer;
	if (!outer)
		current->trace_top = task_trace_top(current);
	irqsoff_end();
}

void user_irq(void)
{
	handle();
}

void exit_to_user_mode(void)
{
	irqsoff_begin();
	/* A lock that a system call left held would stay held for ever. */
	if (WARN(preempt_count(), "return to user mode with preempt_count %d", preempt_count()))
		current->preempt_count = 0;
	lockdep_user_exit();
	/* First, so that the report does not depend on other tasks that want this CPU now. */
	arch_check_async_faults();
	for (;;) {
		unsigned long flags = READ_ONCE(current->flags);

		if (!(flags & (BIT(TIF_NEED_RESCHED) | BIT(TIF_KILL) | BIT(TIF_PROCESS_KILL))))
			return;
		if (flags & BIT(TIF_PROCESS_KILL)) {
			local_irq_enable();
			process_exit_killed();
		}
		preempt_schedule_irq();
	}
}
