// SPDX-License-Identifier: MIT
/*
 * softirq.c - soft interrupts in a real-time kernel: only threads run them, and can be preempted meanwhile.
 *
 * A lock of each CPU keeps soft interrupts, and tasks under local_bh_disable(), from each other. Whoever waits for it lends
 * its priority, so an urgent task waits for one function at most: the threads release the lock after each one.
 */
#include <kernel/kernel.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/softirq.h>
#include <kernel/spinlock.h>

#include "../../irq/internal.h"

static DEFINE_PER_CPU(spinlock_t, softirq_lock);

void softirq_lock_init(void)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		spin_lock_init(per_cpu_ptr(&softirq_lock, cpu));
}

static void lock_softirqs(void)
{
	migrate_disable();
	spin_lock(this_cpu_ptr(&softirq_lock));
	rcu_read_lock();
}

static void unlock_softirqs(void)
{
	rcu_read_unlock();
	spin_unlock(this_cpu_ptr(&softirq_lock));
	migrate_enable();
}

void local_bh_disable(void)
{
	if (!current->softirq_count) {
		WARN_ON_ONCE(in_hardirq());
		lock_softirqs();
	}
	WRITE_ONCE(current->softirq_count, current->softirq_count + SOFTIRQ_DISABLE_OFFSET);
}

void local_bh_enable(void)
{
	if (current->softirq_count == SOFTIRQ_DISABLE_OFFSET)
		lockdep_softirqs_on(_RET_IP_);
	WRITE_ONCE(current->softirq_count, current->softirq_count - SOFTIRQ_DISABLE_OFFSET);
	/* Whoever raised a soft interrupt meanwhile has woken its thread. */
	if (!current->softirq_count)
		unlock_softirqs();
}

/* Nothing is left for the end of an interrupt. */
void irq_exit_softirq(void)
{
}

/* Return: the first pending one of @mask, as a mask, which pends no longer; 0: none. */
static u32 take_first(u32 mask)
{
	u32 first;

	local_irq_disable();
	first = local_softirq_pending() & mask;
	first &= -first;
	this_cpu_write(softirq_pending, local_softirq_pending() & ~first);
	local_irq_enable();
	return first;
}

void softirq_run_in_thread(u32 mask)
{
	u32 first;

	while ((first = take_first(mask))) {
		lock_softirqs();
		WRITE_ONCE(current->softirq_count, SOFTIRQ_OFFSET);
		softirq_run_actions(first);
		WRITE_ONCE(current->softirq_count, 0);
		unlock_softirqs();
	}
}
