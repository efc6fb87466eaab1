/* SPDX-License-Identifier: MIT */
/*
 * flush.c - waiting for work items.
 *
 * To wait for one item, flush_work() puts a second item, the barrier, right after it, for the same worker.
 * To wait for a whole workqueue, there are two colors: a flush gives new items the other color, and waits
 * until no item of the old color is in flight.
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

/*
 * Put @barrier after @work, which is queued by @pwq; or, if that is NULL, after the worker's run of it.
 * @pool is locked, and @pwq's. Return: false if it is neither queued nor running there.
 */
static bool insert_barrier(struct worker_pool *pool, struct pool_workqueue *pwq,
			   struct work_struct *work, struct barrier *barrier)
{
	unsigned long flags = WORK_STRUCT_PENDING | WORK_BARRIER;
	struct worker *worker;

	barrier->work.pool = pool;
	if (pwq) {
		wq_point(WQ_CHANGE, work, pool);
		/* If the item was linked to the next one, the barrier between them now carries that link. */
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

#ifdef CONFIG_LOCKDEP
/* The caller waits for @map's owner, an item or a workqueue, and with it for all that its functions wait for. */
static void wait_for_map(struct lockdep_map *map, unsigned long ip)
{
	lock_acquire(map, 0, false, LOCK_EXCLUSIVE, NULL, ip);
	lock_release(map, ip);
}
#else
#define wait_for_map(map, ip) ((void)(map))
#endif

bool flush_work(struct work_struct *work)
{
	struct pool_workqueue *pwq;
	struct worker_pool *pool;
	struct barrier barrier;
	bool wait;

	might_sleep();
	if (WARN_ON_ONCE(is_current_work(work)))
		return false;
	wait_for_map(&work->dep_map, _RET_IP_);
	INIT_WORK_ONSTACK(&barrier.work, barrier_reached);
	init_completion(&barrier.done);
	local_irq_disable();
	pool = lock_work_pool(work, &pwq);
	if (!pool) {
		local_irq_enable();
		return false;
	}
	wait = insert_barrier(pool, pwq, work, &barrier);
	raw_spin_unlock_irq(&pool->lock);
	if (wait)
		wait_for_completion(&barrier.done);
	return wait;
}

bool flush_delayed_work(struct delayed_work *dwork)
{
	unsigned long flags;

	/* With the timer, the pending bit is ours: see take_pending(). */
	local_irq_save(flags);
	if (del_timer_sync(&dwork->timer)) {
		wq_point(WQ_PENDING, &dwork->work, NULL);
		delayed_work_timer_fn(&dwork->timer);
	}
	local_irq_restore(flags);
	return flush_work(&dwork->work);
}

/* --- Workqueues ------------------------------------------------------------------------------------ */

static bool in_flight(struct workqueue_struct *wq, unsigned int color)
{
	bool some = false;

	for (unsigned int i = 0; i < wq->nr_pwqs && !some; i++) {
		raw_spin_lock_irq(&wq->pwqs[i].pool->lock);
		some = wq->pwqs[i].in_flight[color];
		raw_spin_unlock_irq(&wq->pwqs[i].pool->lock);
	}
	return some;
}

void flush_workqueue(struct workqueue_struct *wq)
{
	unsigned int old;

	might_sleep();
	WARN_ONCE(current_wq() == wq, "workqueue: %s is flushed by its own item\n", wq->name);
	wait_for_map(&wq->dep_map, _RET_IP_);
	mutex_lock(&wq->flush_mutex);
	/* Between flushes all parts of a workqueue have the same color. */
	old = wq->pwqs[0].color;
	for (unsigned int i = 0; i < wq->nr_pwqs; i++) {
		raw_spin_lock_irq(&wq->pwqs[i].pool->lock);
		wq->pwqs[i].color = !old;
		raw_spin_unlock_irq(&wq->pwqs[i].pool->lock);
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
		/* If an item queues itself for ever, this never ends: say so. */
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
