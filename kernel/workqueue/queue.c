/* SPDX-License-Identifier: MIT */
/*
 * queue.c - workqueues and what goes into them: making, queueing at once or later.
 */
#include <kasan/kasan.h>
#include <kernel/slab.h>

#include "internal.h"

struct workqueue_struct *system_wq;
struct workqueue_struct *system_long_wq;
struct workqueue_struct *system_unbound_wq;

/* --- Active and inactive ------------------------------------------------------------------------- */

static void insert_active(struct pool_workqueue *pwq, struct work_struct *work)
{
	if (pwq->wq->flags & WQ_HIGHPRI)
		list_add(&work->entry, &pwq->pool->worklist);
	else
		list_add_tail(&work->entry, &pwq->pool->worklist);
}

void pwq_activate(struct pool_workqueue *pwq, struct work_struct *work)
{
	work_clear(work, WORK_INACTIVE);
	pwq->nr_active++;
	move_linked_works(work, &pwq->pool->worklist);
	pool_kick(pwq->pool);
}

void pwq_landed(struct pool_workqueue *pwq, unsigned int color, bool inactive)
{
	if (!inactive) {
		pwq->nr_active--;
		if (!list_empty(&pwq->inactive) && pwq->nr_active < pwq->wq->max_active)
			pwq_activate(pwq,
				     list_first_entry(&pwq->inactive, struct work_struct, entry));
	}
	/* Inside the lock: who frees the workqueue takes it once before. */
	if (!--pwq->in_flight[color])
		wake_up_all(&pwq->wq->flush_wait);
}

struct workqueue_struct *current_wq(void)
{
	struct worker *worker =
		in_task() && current->kflags & PF_WQ_WORKER ? current->wq_worker : NULL;

	return worker && worker->pwq ? worker->pwq->wq : NULL;
}

struct work_struct *current_work(void)
{
	return in_task() && current->kflags & PF_WQ_WORKER ? current->wq_worker->work : NULL;
}

/* --- Queueing ------------------------------------------------------------------------------------- */

struct worker_pool *lock_work_pool(struct work_struct *work, unsigned long *flags)
{
	for (;;) {
		struct worker_pool *pool = READ_ONCE(work->pool);

		if (!pool)
			return NULL;
		spin_lock_irqsave(&pool->lock, *flags);
		if (pool == READ_ONCE(work->pool))
			return pool;
		spin_unlock_irqrestore(&pool->lock, *flags);
	}
}

/* Lock the pool that @work goes to. Not @pwq's if it runs elsewhere: it must not run twice at once. */
static struct pool_workqueue *lock_target(struct pool_workqueue *pwq, struct work_struct *work)
{
	struct worker_pool *last = READ_ONCE(work->pool);
	struct worker *worker;

	if (last && last != pwq->pool) {
		spin_lock(&last->lock);
		worker = find_worker_executing(last, work);
		if (worker && worker->pwq && worker->pwq->wq == pwq->wq)
			return worker->pwq;
		spin_unlock(&last->lock);
	}
	spin_lock(&pwq->pool->lock);
	return pwq;
}

/* Interrupts are off and the pending bit is the caller's. */
static void __queue_work(unsigned int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	struct pool_workqueue *pwq;

	if (WARN_ONCE(READ_ONCE(wq->draining) && current_wq() != wq,
		      "workqueue: cannot queue %pS on wq %s\n", (void *)work->func, wq->name)) {
		work_clear(work, WORK_STRUCT_PENDING);
		return;
	}
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		cpu = smp_processor_id();
	pwq = lock_target(&wq->pwqs[wq->flags & WQ_UNBOUND ? 0 : cpu], work);
	pwq->in_flight[pwq->color]++;
	if (pwq->color)
		work_set(work, WORK_COLOR);
	else
		work_clear(work, WORK_COLOR);
	work->pwq = pwq;
	WRITE_ONCE(work->pool, pwq->pool);
	if (pwq->nr_active < wq->max_active) {
		pwq->nr_active++;
		insert_active(pwq, work);
		pool_kick(pwq->pool);
	} else {
		work_set(work, WORK_INACTIVE);
		list_add_tail(&work->entry, &pwq->inactive);
	}
	spin_unlock(&pwq->pool->lock);
}

bool queue_work_on(unsigned int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	unsigned long flags;

	if (!work_take_pending(work))
		return false;
	kasan_record_aux_stack(work);
	local_irq_save(flags);
	__queue_work(cpu, wq, work);
	local_irq_restore(flags);
	return true;
}

/* --- Later ---------------------------------------------------------------------------------------- */

void delayed_work_timer_fn(struct timer_list *timer)
{
	struct delayed_work *dwork = from_timer(dwork, timer, timer);

	/* Interrupts are off in timers. */
	__queue_work(dwork->cpu, dwork->wq, &dwork->work);
}

/* The pending bit is the caller's. */
static void start_delayed(unsigned int cpu, struct workqueue_struct *wq, struct delayed_work *dwork,
			  unsigned long delay)
{
	unsigned long flags;

	WARN_ON_ONCE(!wq);
	dwork->wq = wq;
	dwork->cpu = cpu;
	if (delay) {
		mod_timer(&dwork->timer, jiffies + delay);
		return;
	}
	local_irq_save(flags);
	__queue_work(cpu, wq, &dwork->work);
	local_irq_restore(flags);
}

bool queue_delayed_work_on(unsigned int cpu, struct workqueue_struct *wq,
			   struct delayed_work *dwork, unsigned long delay)
{
	if (!work_take_pending(&dwork->work))
		return false;
	/* Here, and not in the timer: the reader of a report wants to know who asked. */
	kasan_record_aux_stack(dwork);
	start_delayed(cpu, wq, dwork, delay);
	return true;
}

/* --- Taking out ------------------------------------------------------------------------------------ */

/* With its pool locked: take @work out if it is in a list. */
static bool steal(struct work_struct *work)
{
	struct pool_workqueue *pwq = work->pwq;

	if (!pwq || list_empty(&work->entry))
		return false;
	/* What is linked to it must get into the pool's list, where somebody will run it. */
	if (work_flags(work) & WORK_INACTIVE)
		pwq_activate(pwq, work);
	list_del_init(&work->entry);
	work->pwq = NULL;
	work_clear(work, WORK_LINKED);
	pwq_landed(pwq, work_flags(work) & WORK_COLOR ? 1 : 0, false);
	return true;
}

/**
 * grab() - get the pending bit, and so the right to queue
 * @dwork: @work's, if it is one.
 * @was_pending: it had been queued.
 *
 * Return: false if somebody in cancel_work_sync() has it.
 */
static bool grab(struct work_struct *work, struct delayed_work *dwork, bool *was_pending)
{
	for (;;) {
		struct worker_pool *pool;
		unsigned long flags;

		*was_pending = true;
		if (dwork && del_timer(&dwork->timer))
			return true;
		if (work_take_pending(work)) {
			*was_pending = false;
			return true;
		}
		pool = lock_work_pool(work, &flags);
		if (pool) {
			bool stolen = steal(work);

			spin_unlock_irqrestore(&pool->lock, flags);
			if (stolen)
				return true;
		}
		if (work_flags(work) & WORK_CANCELING)
			return false;
		/* On its way from the timer, or from whoever queues it, into a list. */
		cpu_relax();
	}
}

static bool cancel(struct work_struct *work, struct delayed_work *dwork)
{
	bool was_pending;

	if (!grab(work, dwork, &was_pending))
		return false;
	work_clear(work, WORK_STRUCT_PENDING);
	return was_pending;
}

static bool cancel_sync(struct work_struct *work, struct delayed_work *dwork)
{
	bool was_pending;

	might_sleep();
	/* Another canceller waits for the function: so does this one. */
	while (!grab(work, dwork, &was_pending))
		schedule_timeout_uninterruptible(1);
	/* While the bit is ours nobody can queue it, itself included. */
	work_set(work, WORK_CANCELING);
	flush_work(work);
	work_clear(work, WORK_CANCELING | WORK_STRUCT_PENDING);
	return was_pending;
}

bool cancel_work(struct work_struct *work)
{
	return cancel(work, NULL);
}

bool cancel_delayed_work(struct delayed_work *dwork)
{
	return cancel(&dwork->work, dwork);
}

bool cancel_work_sync(struct work_struct *work)
{
	return cancel_sync(work, NULL);
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	return cancel_sync(&dwork->work, dwork);
}

bool mod_delayed_work_on(unsigned int cpu, struct workqueue_struct *wq, struct delayed_work *dwork,
			 unsigned long delay)
{
	bool was_pending;

	if (!grab(&dwork->work, dwork, &was_pending))
		return false;
	kasan_record_aux_stack(dwork);
	start_delayed(cpu, wq, dwork, delay);
	return was_pending;
}

/* --- Workqueues ------------------------------------------------------------------------------------ */

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags,
					 unsigned int max_active, ...)
{
	struct workqueue_struct *wq = kzalloc(sizeof(*wq), GFP_KERNEL);
	va_list args;

	if (!wq)
		return NULL;
	va_start(args, max_active);
	vsnprintf(wq->name, sizeof(wq->name), fmt, args);
	va_end(args);
	wq->flags = flags;
	wq->max_active = max_active ? min(max_active, WQ_MAX_ACTIVE) : WQ_DFL_ACTIVE;
	mutex_init(&wq->flush_mutex);
	init_waitqueue_head(&wq->flush_wait);
	wq->nr_pwqs = flags & WQ_UNBOUND ? 1 : nr_cpu_ids;
	for (unsigned int i = 0; i < wq->nr_pwqs; i++) {
		struct pool_workqueue *pwq = &wq->pwqs[i];

		pwq->wq = wq;
		pwq->pool = cpu_pool(flags & WQ_UNBOUND ? NR_CPUS : i);
		INIT_LIST_HEAD(&pwq->inactive);
	}
	return wq;
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	drain_workqueue(wq);
	/* A worker that has just landed the last item may still be in the lock. */
	for (unsigned int i = 0; i < wq->nr_pwqs; i++) {
		spin_lock_irq(&wq->pwqs[i].pool->lock);
		spin_unlock_irq(&wq->pwqs[i].pool->lock);
	}
	kfree(wq);
}

void workqueue_init(void)
{
	pools_init();
	system_wq = alloc_workqueue("events", 0, 0);
	system_long_wq = alloc_workqueue("events_long", 0, 0);
	system_unbound_wq = alloc_workqueue("events_unbound", WQ_UNBOUND, 0);
	if (!system_wq || !system_long_wq || !system_unbound_wq)
		panic("workqueue: no memory for the system's workqueues");
}
