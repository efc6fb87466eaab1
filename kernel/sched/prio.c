/* SPDX-License-Identifier: MIT */
/*
 * prio.c - the priority of a task: its own, what is lent to it, and the one in effect.
 *
 * All of them change under the task's wake_lock, which keeps it from being queued meanwhile, and under the lock of
 * its run queue, which keeps it from being picked.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/rtmutex.h>
#include <kernel/sched.h>
#include <asm/barrier.h>

#include "sched.h"

/* Bring @task's prio in line with what it results from. Its wake_lock is held. */
static void update_prio(struct task *task)
{
	int lent = min(task->pi_prio, task->rcu_prio);
	int prio = min(task->normal_prio, lent);
	int old = task->prio;
	struct rq *rq;

	if (prio == old)
		return;
	rq = lock_task_rq(task);
	if (!list_empty(&task->run_list)) {
		dequeue(rq, task);
		task->prio = prio;
		/* A task that gives back what was lent has not had its turn yet. */
		enqueue(rq, task, prio > old);
		if (prio < rq->curr_prio)
			resched_curr(rq);
		else if (rt_prio(prio))
			rt_push(rq);
	} else {
		task->prio = prio;
		if (rq->curr == task) {
			WRITE_ONCE(rq->curr_prio, prio);
			/* As in pick_any(). */
			smp_mb();
			if (prio > old && rt_must_pick(rq))
				resched_curr(rq);
		}
	}
	raw_spin_unlock(&rq->lock);
}

int sched_setscheduler(struct task *task, unsigned int policy, unsigned int rt_priority)
{
	unsigned long flags;

	switch (policy) {
	case SCHED_NORMAL:
		if (rt_priority)
			return -EINVAL;
		break;
	case SCHED_FIFO:
		if (rt_priority < 1 || rt_priority >= MAX_RT_PRIO)
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}
	if (task->kflags & PF_IDLE)
		return -EINVAL;
	raw_spin_lock_irqsave(&task->wake_lock, flags);
	task->policy = policy;
	task->rt_priority = rt_priority;
	task->normal_prio =
		policy == SCHED_FIFO ? MAX_RT_PRIO - 1 - (int)rt_priority : DEFAULT_PRIO;
	update_prio(task);
	raw_spin_unlock_irqrestore(&task->wake_lock, flags);
	rt_mutex_adjust_pi(task);
	return 0;
}

void sched_set_fifo(struct task *task)
{
	WARN_ON(sched_setscheduler(task, SCHED_FIFO, MAX_RT_PRIO / 2));
}

void sched_set_fifo_low(struct task *task)
{
	WARN_ON(sched_setscheduler(task, SCHED_FIFO, 1));
}

void sched_set_normal(struct task *task)
{
	WARN_ON(sched_setscheduler(task, SCHED_NORMAL, 0));
}

void rt_mutex_setprio(struct task *task, int prio)
{
	unsigned long flags;

	/* An idle task never waits, and nothing can run in its place. */
	if (WARN_ON(task->kflags & PF_IDLE))
		return;
	raw_spin_lock_irqsave(&task->wake_lock, flags);
	task->pi_prio = prio;
	update_prio(task);
	raw_spin_unlock_irqrestore(&task->wake_lock, flags);
}

void rcu_setprio(struct task *task, int prio)
{
	unsigned long flags;

	/* An idle task is a reader only while it is not preempted. */
	raw_spin_lock_irqsave(&task->wake_lock, flags);
	task->rcu_prio = prio;
	update_prio(task);
	raw_spin_unlock_irqrestore(&task->wake_lock, flags);
}
