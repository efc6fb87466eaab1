/* SPDX-License-Identifier: MIT */
/*
 * queue.c - workqueues: making them, queueing items now or later, and taking items out again.
 */
#include <kasan/kasan.h>
#include <kernel/slab.h>

#include "internal.h"

struct workqueue_struct *system_wq;
struct workqueue_struct *system_long_wq;
struct workqueue_struct *system_unbound_wq;

#ifdef REDZONE_WORKQUEUE_HOOK
void (*workqueue_hook)(enum workqueue_point point, struct work_struct *work,
		       struct worker_pool *pool);
#endif

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

void pwq_landed(struct pool_workqueue *pwq, unsigned int color)
{
	pwq->nr_active--;
	if (!list_empty(&pwq->inactive) && pwq->nr_active < pwq->wq->max_active)
		pwq_activate(pwq, list_first_entry(&pwq->inactive, struct work_struct, entry));
	/* Inside the lock: destroy_workqueue() takes it once before it frees the workqueue. */
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

bool is_current_work(const struct work_struct *work)
{
	return in_task() && current->kflags & PF_WQ_WORKER &&
	       worker_executes(current->wq_worker, work);
}

/* --- Queueing ------------------------------------------------------------------------------------- */

/*
 * The item's pool may change before it is locked, and while it is locked: __queue_work() on another CPU may
 * be putting the item into another pool, and holds that pool's lock only. It writes work->pool before
 * work->pwq. So if this function sees the new pwq, it sees the new pool too, and tries again. A pwq of
 * the locked pool stays until the pool is unlocked, because it is changed under that lock only. Until the
 * pool is known to be the right one the pwq is not followed: its workqueue may be gone.
 */
struct worker_pool *lock_work_pool(struct work_struct *work, struct pool_workqueue **pwq)
{
	for (;;) {
		struct worker_pool *pool = READ_ONCE(work->pool);

		if (!pool)
			return NULL;
		raw_spin_lock(&pool->lock);
		wq_point(WQ_POOL_LOCKED, work, pool);
		*pwq = smp_load_acquire(&work->pwq);
		if (pool == READ_ONCE(work->pool)) {
			wq_point(WQ_POOL_FOUND, work, pool);
			return pool;
		}
		raw_spin_unlock(&pool->lock);
	}
}

/*
 * Lock the pool that @work goes to. That is @pwq's, unless @work runs in another pool for the same
 * workqueue: it then goes there, because it must not run twice at once. Return: the part of the workqueue
 * in the locked pool.
 */
static struct pool_workqueue *lock_target(struct pool_workqueue *pwq, struct work_struct *work)
{
	struct worker_pool *last = READ_ONCE(work->pool);
	struct worker *worker;

	if (last && last != pwq->pool) {
		raw_spin_lock(&last->lock);
		worker = find_worker_executing(last, work);
		if (worker && worker->pwq && worker->pwq->wq == pwq->wq)
			return worker->pwq;
		raw_spin_unlock(&last->lock);
	}
	raw_spin_lock(&pwq->pool->lock);
	return pwq;
}

/*
 * The owner of the pending bit keeps interrupts off until the item is queued, its timer is set or the bit
 * is clear: an interrupt handler on this CPU might wait for that in grab(), and would wait for ever.
 * Return: true if the bit was clear: the caller owns it now.
 */
static bool take_pending(struct work_struct *work)
{
	if (!work_take_pending(work))
		return false;
	wq_point(WQ_PENDING, work, NULL);
	return true;
}

/* Interrupts are off, and the caller owns the pending bit. */
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
	wq_point(WQ_TARGET_LOCKED, work, pwq->pool);
	pwq->in_flight[pwq->color]++;
	if (pwq->color)
		work_set(work, WORK_COLOR);
	else
		work_clear(work, WORK_COLOR);
	/* lock_work_pool() relies on this order. */
	WRITE_ONCE(work->pool, pwq->pool);
	smp_store_release(&work->pwq, pwq);
	if (pwq->nr_active < wq->max_active) {
		pwq->nr_active++;
		insert_active(pwq, work);
		pool_kick(pwq->pool);
	} else {
		work_set(work, WORK_INACTIVE);
		list_add_tail(&work->entry, &pwq->inactive);
	}
	raw_spin_unlock(&pwq->pool->lock);
}

bool queue_work_on(unsigned int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	unsigned long flags;
	bool taken;

	local_irq_save(flags);
	taken = take_pending(work);
	if (taken) {
		kasan_record_aux_stack(work);
		__queue_work(cpu, wq, work);
	}
	local_irq_restore(flags);
	return taken;
}

/* --- Queueing later -------------------------------------------------------------------------- */

void delayed_work_timer_fn(struct timer_list *timer)
{
	struct delayed_work *dwork = from_timer(dwork, timer, timer);

	/* Interrupts are off. An interrupt that wants the item waits for the end of this: see grab(). */
	__queue_work(dwork->cpu, dwork->wq, &dwork->work);
}

/* Interrupts are off, and the caller owns the pending bit. Always inline: the recorded stack then begins with the
 * public function. */
static __always_inline void start_delayed(unsigned int cpu, struct workqueue_struct *wq,
					  struct delayed_work *dwork, unsigned long delay)
{
	WARN_ON_ONCE(!wq);
	/* Here and not in the timer, so that a report shows the caller. */
	kasan_record_aux_stack(dwork);
	dwork->wq = wq;
	dwork->cpu = cpu;
	if (delay)
		mod_timer(&dwork->timer, jiffies + delay);
	else
		__queue_work(cpu, wq, &dwork->work);
}

bool queue_delayed_work_on(unsigned int cpu, struct workqueue_struct *wq,
			   struct delayed_work *dwork, unsigned long delay)
{
	unsigned long flags;
	bool taken;

	local_irq_save(flags);
	taken = take_pending(&dwork->work);
	if (taken)
		start_delayed(cpu, wq, dwork, delay);
	local_irq_restore(flags);
	return taken;
}

/* --- Taking out ------------------------------------------------------------------------------------ */

/* Take @work out. @pwq has it queued, in @pool, which is locked. The caller owns the pending bit
 * afterwards. */
static void steal(struct worker_pool *pool, struct pool_workqueue *pwq, struct work_struct *work)
{
	wq_point(WQ_CHANGE, work, pool);
	/* A barrier after it must get into the pool's list, where a worker will run it. */
	if (work_flags(work) & WORK_INACTIVE)
		pwq_activate(pwq, work);
	list_del_init(&work->entry);
	WRITE_ONCE(work->pwq, NULL);
	work_clear(work, WORK_LINKED);
	pwq_landed(pwq, work_flags(work) & WORK_COLOR ? 1 : 0);
}

/* One try of grab(), with interrupts off. */
static bool try_grab(struct work_struct *work, struct delayed_work *dwork, bool *was_pending)
{
	struct pool_workqueue *pwq;
	struct worker_pool *pool;

	*was_pending = true;
	if (dwork && del_timer(&dwork->timer))
		return true;
	if (work_take_pending(work)) {
		*was_pending = false;
		return true;
	}
	pool = lock_work_pool(work, &pwq);
	if (!pool)
		return false;
	if (pwq)
		steal(pool, pwq, work);
	raw_spin_unlock(&pool->lock);
	return pwq != NULL;
}

/**
 * grab() - get the pending bit, and with it the right to queue @work
 * @dwork: the delayed work that @work is part of, or NULL.
 * @was_pending: filled with true if it had been queued or its timer was running.
 * @flags: filled with the interrupt state. On success interrupts are off, and the caller restores them once
 *	it has given the bit up.
 *
 * Waits while another CPU moves @work from the timer, or from the caller of queue_work(), into a list.
 *
 * Return: false if a caller of cancel_work_sync() has the bit. Interrupts are as before then.
 */
static bool grab(struct work_struct *work, struct delayed_work *dwork, bool *was_pending,
		 unsigned long *flags)
{
	for (;;) {
		local_irq_save(*flags);
		if (try_grab(work, dwork, was_pending)) {
			wq_point(WQ_PENDING, work, NULL);
			return true;
		}
		local_irq_restore(*flags);
		if (work_flags(work) & WORK_CANCELING)
			return false;
		cpu_relax();
	}
}

static bool cancel(struct work_struct *work, struct delayed_work *dwork)
{
	unsigned long flags;
	bool was_pending;

	if (!grab(work, dwork, &was_pending, &flags))
		return false;
	work_clear(work, WORK_STRUCT_PENDING);
	local_irq_restore(flags);
	return was_pending;
}

static bool cancel_sync(struct work_struct *work, struct delayed_work *dwork)
{
	unsigned long flags;
	bool was_pending;

	might_sleep();
	/* Another canceller has the bit, and waits for the function to end: so does this one. */
	while (!grab(work, dwork, &was_pending, &flags))
		schedule_timeout_uninterruptible(1);
	/* As long as this thread owns the bit, nothing can queue the item, not even its own function. With
	 * this mark no CPU waits for the bit, so interrupts may come. */
	work_set(work, WORK_CANCELING);
	local_irq_restore(flags);
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
	unsigned long flags;
	bool was_pending;

	if (!grab(&dwork->work, dwork, &was_pending, &flags))
		return false;
	start_delayed(cpu, wq, dwork, delay);
	local_irq_restore(flags);
	return was_pending;
}

/* --- Workqueues ------------------------------------------------------------------------------------ */

#ifdef CONFIG_LOCKDEP
struct workqueue_struct *wq_init_lockdep(struct workqueue_struct *wq, const char *name,
					 const struct lock_class_key *key)
{
	if (wq)
		lockdep_init_map(&wq->dep_map, name, key, 0, LD_WAIT_SLEEP);
	return wq;
}
#endif

struct workqueue_struct *(alloc_workqueue)(const char *fmt, unsigned int flags,
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
	/* The worker that ran the last item may still hold the lock, and use the workqueue. */
	for (unsigned int i = 0; i < wq->nr_pwqs; i++) {
		raw_spin_lock_irq(&wq->pwqs[i].pool->lock);
		raw_spin_unlock_irq(&wq->pwqs[i].pool->lock);
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
