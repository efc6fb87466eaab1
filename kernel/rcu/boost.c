/* SPDX-License-Identifier: MIT */
/*
 * boost.c - how urgent RCU is: the priority of its threads, which is also lent to readers that hold up a grace period.
 *
 * A fair reader that was preempted by a real-time task may not run for long, and all that wait for the end of its
 * section wait too. With the priority of RCU's threads it runs before all tasks that are less urgent than those.
 */
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/rt.h>
#include <kernel/sched.h>
#include <kernel/smp.h>

#include "rcu.h"

static unsigned int kthread_prio = PREEMPT_RT ? 1 : 0;
range_param("rcutree.kthread_prio", kthread_prio, 0, 99, "a number",
	    "real-time priority of RCU's threads and of readers that keep others waiting; 0: none, "
	    "as by default in "
	    "kernels that are not real-time");

/* One for grace periods, and one for the callbacks of each CPU. They never end. */
static struct task *threads[NR_CPUS + 1];
static unsigned int nr_threads;

static void set_prio(struct task *thread)
{
	WARN_ON(sched_setscheduler(thread, kthread_prio ? SCHED_FIFO : SCHED_NORMAL, kthread_prio));
}

void rcu_add_thread(struct task *thread)
{
	threads[nr_threads++] = thread;
	set_prio(thread);
}

int rcu_boost_prio(void)
{
	unsigned int prio = READ_ONCE(kthread_prio);

	return prio ? MAX_RT_PRIO - 1 - (int)prio : MAX_PRIO;
}

unsigned int rcu_set_kthread_prio(unsigned int prio)
{
	unsigned int old = kthread_prio;

	WRITE_ONCE(kthread_prio, prio);
	for (unsigned int i = 0; i < nr_threads; i++)
		set_prio(threads[i]);
	return old;
}
