/* SPDX-License-Identifier: MIT */
/*
 * flush.c - waiting for work items.
 *
 * For one item a barrier, an item of its own, is put right behind it, for the same worker. For a
 * whole workqueue there are two colors: a flush lets new items take the other one, and waits until
 * none of the old color is in flight.
 */
#include <kernel/slab.h>

#include "internal.h"

struct barrier {
	struct work_struct work;
	struct completion done;
};

static void barrier_reached(struct work_struct *work)
{
	complete(&container_of(work, struct barrier, work)->done);
}

/* With the pool locked: put @barrier behind @work if it is queued, else behind the worker's run of it.
 * Return: false if it is neither queued nor running. */
static bool insert_barrier(struct worker_pool *pool, struct work_struct *work,
			   struct barrier *barrier)
{
	unsigned long flags = WORK_STRUCT_PENDING | WORK_BARRIER;
	struct worker *worker;

	barrier->work.pool = pool;
	if (work->pwq && !list_empty(&work->entry)) {
		/* What was linked to the item stays so, behind the barrier. */
		flags |= work_flags(work) & WORK_LINKED;
		work_set(work, WORK_LINKED);
		work_set(&barrier->work, flags);
		list_add(&barrier->work.entry, &work->entry);
		return true;
	}
	worker = find_worker_executing(pool, work);
	if (!worker)
		return false;
	work_set(&barrier->work, flags);
	list_add(&barrier->work.entry, &worker->scheduled);
	return true;
}

bool flush_work(struct work_struct *work)
{
	struct worker_pool *pool;
	struct barrier barrier;
	unsigned long flags;
	bool wait;

	might_sleep();
	if (WARN_ON_ONCE(current_work() == work))
		return false;
	INIT_WORK_ONSTACK(&barrier.work, barrier_reached);
	init_completion(&barrier.done);
	pool = lock_work_pool(work, &flags);
	if (!pool)
		return false;
	wait = insert_barrier(pool, work, &barrier);
	spin_unlock_irqrestore(&pool->lock, flags);
	if (wait)
		wait_for_completion(&barrier.done);
	return wait;
}

bool flush_delayed_work(struct delayed_work *dwork)
{
	if (del_timer_sync(&dwork->timer)) {
		unsigned long flags;

		local_irq_save(flags);
		delayed_work_timer_fn(&dwork->timer);
		local_irq_restore(flags);
	}
	return flush_work(&dwork->work);
}

/* --- Workqueues ------------------------------------------------------------------------------------ */

static bool in_flight(struct workqueue_struct *wq, unsigned int color)
{
	bool some = false;

	for (unsigned int i = 0; i < wq->nr_pwqs && !some; i++) {
		spin_lock_irq(&wq->pwqs[i].pool->lock);
		some = wq->pwqs[i].in_flight[color];
		spin_unlock_irq(&wq->pwqs[i].pool->lock);
	}
	return some;
}

void flush_workqueue(struct workqueue_struct *wq)
{
	unsigned int old;

	might_sleep();
	WARN_ONCE(current_wq() == wq, "workqueue: %s is flushed by its own item\n", wq->name);
	mutex_lock(&wq->flush_mutex);
	/* All of a workqueue's parts have the same color between flushes. */
	old = wq->pwqs[0].color;
	for (unsigned int i = 0; i < wq->nr_pwqs; i++) {
		spin_lock_irq(&wq->pwqs[i].pool->lock);
		wq->pwqs[i].color = !old;
		spin_unlock_irq(&wq->pwqs[i].pool->lock);
	}
	wait_event(wq->flush_wait, !in_flight(wq, old));
	mutex_unlock(&wq->flush_mutex);
}

void drain_workqueue(struct workqueue_struct *wq)
{
	unsigned int rounds = 0;

	WRITE_ONCE(wq->draining, true);
	do {
		flush_workqueue(wq);
		/* An item that queues itself for ever makes this wait for ever: say so. */
		if (++rounds == 10 || rounds % 100 == 0)
			pr_warn("workqueue %s: drain isn't complete after %u tries\n", wq->name,
				rounds);
	} while (in_flight(wq, 0) || in_flight(wq, 1));
	WRITE_ONCE(wq->draining, false);
}

int schedule_on_each_cpu(work_func_t func)
{
	struct work_struct *works = kcalloc(nr_cpu_ids, sizeof(*works), GFP_KERNEL);
	unsigned int cpu;

	if (!works)
		return -ENOMEM;
	for_each_online_cpu (cpu) {
		INIT_WORK(&works[cpu], func);
		schedule_work_on(cpu, &works[cpu]);
	}
	for_each_online_cpu (cpu)
		flush_work(&works[cpu]);
	kfree(works);
	return 0;
}
