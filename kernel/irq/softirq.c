// SPDX-License-Identifier: MIT
/*
 * softirq.c - soft interrupts: when they run, and for how long.
 *
 * A CPU's pending bits are changed by that CPU only, with interrupts off. Whoever sets a bit outside of an interrupt and
 * with soft interrupts allowed also wakes the thread, because no code would look at the bit afterwards. What runs at the
 * end of an interrupt is in softirq_run.c; in a real-time kernel threads run everything, kernel/ext/rt/softirq.c.
 *
 * Soft interrupts use the stack of the interrupted task, as interrupts do, and a shadow call stack of the CPU. Traces of
 * allocations end where they begin: see struct task, @irq_frame.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/rt.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/softirq.h>
#include <kernel/timer.h>

#include "internal.h"

/* The threads of each CPU, and which soft interrupts each one runs, as a mask. */
static const struct {
	const char *name;
	u32 mask;
	bool fifo;
} threads[] = {
	{.name = "ksoftirqd", .mask = ~(PREEMPT_RT ? 1U << TIMER_SOFTIRQ : 0U)},
	{.name = "ktimers", .mask = PREEMPT_RT ? 1U << TIMER_SOFTIRQ : 0U, .fifo = true},
};

DEFINE_DECLARED_PER_CPU(softirq_pending);
struct softirq_cpu {
	struct task *task[ARRAY_SIZE(threads)];
};
static DEFINE_PER_CPU(struct softirq_cpu, cpus);
static void (*actions[NR_SOFTIRQS])(void);

void open_softirq(enum softirq nr, void (*action)(void))
{
	actions[nr] = action;
}

/* Wake the thread of this CPU that runs the soft interrupts @mask. Interrupts are off. */
void softirq_wake_thread(u32 mask)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++) {
		/* Before the thread exists, the next interrupt runs what is pending, or the thread does that first. */
		struct task *task = this_cpu_ptr(&cpus)->task[i];

		if (task && threads[i].mask & mask)
			wake_up_process(task);
	}
}

void raise_softirq_irqoff(enum softirq nr)
{
	this_cpu_write(softirq_pending, this_cpu_read(softirq_pending) | 1U << nr);
	/* Otherwise the end of the interrupt looks at the bit. */
	if (PREEMPT_RT || !in_interrupt())
		softirq_wake_thread(1U << nr);
}

void raise_softirq(enum softirq nr)
{
	unsigned long flags;

	local_irq_save(flags);
	raise_softirq_irqoff(nr);
	local_irq_restore(flags);
}

/* --- Running ---------------------------------------------------------------------------------- */

/* Interrupts are on. @pending: what to run, as a mask. */
void softirq_run_actions(u32 pending)
{
	for (unsigned int nr = 0; nr < NR_SOFTIRQS; nr++) {
		const int count = preempt_count();

		if (!(pending & 1U << nr))
			continue;
		actions[nr]();
		if (WARN(preempt_count() != count, "softirq %u: preempt_count %08x, not %08x\n", nr,
			 preempt_count(), count))
			current->preempt_count = count;
	}
	/* A bad access that the CPU has only noted belongs to the soft interrupts, not to the code below them. */
	arch_check_async_faults();
}

/* --- The threads ------------------------------------------------------------------------------ */

/* @mask: of the soft interrupts that this thread runs. */
static int softirq_loop(void *mask)
{
	const u32 mine = (u32)(uintptr_t)mask;

	while (!kthread_should_stop()) {
		/* Bits are set on this CPU only, so none is missed between the look and the sleep: an interrupt that
		 * sets one wakes this thread, or runs it by itself. */
		set_current_state(TASK_INTERRUPTIBLE);
		if (!(local_softirq_pending() & mine))
			schedule();
		__set_current_state(TASK_RUNNING);
		softirq_run_in_thread(mine);
		cond_resched();
	}
	return 0;
}

void softirq_init(void)
{
	softirq_lock_init();
	timers_init();
	tasklet_init();
}

int softirq_init_cpu(unsigned int cpu)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++) {
		struct task *task;

		if (!threads[i].mask)
			continue;
		task = kthread_create(softirq_loop, (void *)(uintptr_t)threads[i].mask, "%s/%u",
				      threads[i].name, cpu);

		if (IS_ERR(task))
			return -ENOMEM;
		kthread_bind(task, cpu);
		if (threads[i].fifo)
			sched_set_fifo_low(task);
		per_cpu_ptr(&cpus, cpu)->task[i] = task;
		wake_up_process(task);
	}
	return 0;
}
