// SPDX-License-Identifier: MIT
/*
 * tasklet.c - tasklets: functions that run once, in a soft interrupt.
 *
 * One lock guards all tasklets, because they are few and it is held for some instructions only. A tasklet that is scheduled
 * waits in the list of one CPU, unless it is disabled, or its function still runs from the time before. Then the call of
 * tasklet_enable() puts it into a list, or the CPU that runs the function does when that ends.
 */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/softirq.h>
#include <kernel/spinlock.h>
#include <kernel/time.h>

static DEFINE_RAW_SPINLOCK(tasklet_lock);
static DEFINE_PER_CPU(struct list_head, waiting);

void tasklet_setup(struct tasklet_struct *tasklet, void (*callback)(struct tasklet_struct *))
{
	*tasklet = (struct tasklet_struct){.callback = callback};
	INIT_LIST_HEAD(&tasklet->entry);
}

/* Let @tasklet wait on this CPU, if it is to run and can. The lock is held. */
static void enqueue(struct tasklet_struct *tasklet)
{
	if (!tasklet->scheduled || tasklet->disabled || tasklet->running ||
	    !list_empty(&tasklet->entry))
		return;
	list_add_tail(&tasklet->entry, this_cpu_ptr(&waiting));
	raise_softirq_irqoff(TASKLET_SOFTIRQ);
}

void tasklet_schedule(struct tasklet_struct *tasklet)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tasklet_lock, flags);
	tasklet->scheduled = true;
	enqueue(tasklet);
	raw_spin_unlock_irqrestore(&tasklet_lock, flags);
}

void tasklet_disable(struct tasklet_struct *tasklet)
{
	unsigned long flags;

	might_sleep();
	raw_spin_lock_irqsave(&tasklet_lock, flags);
	tasklet->disabled++;
	list_del_init(&tasklet->entry);
	raw_spin_unlock_irqrestore(&tasklet_lock, flags);
	while (READ_ONCE(tasklet->running))
		schedule_timeout_uninterruptible(1);
}

void tasklet_enable(struct tasklet_struct *tasklet)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tasklet_lock, flags);
	WARN_ON(!tasklet->disabled);
	tasklet->disabled--;
	enqueue(tasklet);
	raw_spin_unlock_irqrestore(&tasklet_lock, flags);
}

void tasklet_kill(struct tasklet_struct *tasklet)
{
	unsigned long flags;
	bool busy;

	might_sleep();
	for (;;) {
		raw_spin_lock_irqsave(&tasklet_lock, flags);
		busy = tasklet->scheduled || tasklet->running;
		raw_spin_unlock_irqrestore(&tasklet_lock, flags);
		if (!busy)
			return;
		schedule_timeout_uninterruptible(1);
	}
}

static void run_tasklets(void)
{
	LIST_HEAD(list);

	raw_spin_lock_irq(&tasklet_lock);
	/* Those that are scheduled meanwhile run in the next round. */
	list_splice_init(this_cpu_ptr(&waiting), &list);
	while (!list_empty(&list)) {
		struct tasklet_struct *tasklet =
			list_first_entry(&list, struct tasklet_struct, entry);

		list_del_init(&tasklet->entry);
		/* From here on it may be scheduled again. */
		tasklet->scheduled = false;
		WRITE_ONCE(tasklet->running, true);
		raw_spin_unlock_irq(&tasklet_lock);
		tasklet->callback(tasklet);
		raw_spin_lock_irq(&tasklet_lock);
		WRITE_ONCE(tasklet->running, false);
		enqueue(tasklet);
	}
	raw_spin_unlock_irq(&tasklet_lock);
}

void tasklet_init(void)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		INIT_LIST_HEAD(per_cpu_ptr(&waiting, cpu));
	open_softirq(TASKLET_SOFTIRQ, run_tasklets);
}
