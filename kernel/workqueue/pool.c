/* SPDX-License-Identifier: MIT */
/*
 * pool.c - the worker threads: which one runs, which one takes over, how many there are.
 *
 * One worker of each CPU runs at a time. When it is about to sleep in a function, the scheduler says so,
 * and an idle worker is woken if there is more to do. To have one to wake, a worker that finds no idle one
 * makes another before it starts on an item. The unbound pool does not count running workers: every item
 * may have a worker at once.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/slab.h>
#include <kernel/stacktrace.h>

#include "internal.h"

static struct worker_pool pools[NR_CPUS + 1];

struct worker_pool *cpu_pool(unsigned int cpu)
{
	return &pools[cpu];
}

static bool is_bound(const struct worker_pool *pool)
{
	return pool->cpu < NR_CPUS;
}

void pool_kick(struct worker_pool *pool)
{
	struct worker *worker;

	if (list_empty(&pool->worklist) || (is_bound(pool) && pool->nr_running) ||
	    list_empty(&pool->idle))
		return;
	worker = list_first_entry(&pool->idle, struct worker, entry);
	wake_up_process(worker->task);
}

struct worker *find_worker_executing(struct worker_pool *pool, const struct work_struct *work)
{
	struct worker *worker;

	list_for_each_entry (worker, &pool->busy, entry) {
		if (worker_executes(worker, work))
			return worker;
	}
	return NULL;
}

void move_linked_works(struct work_struct *work, struct list_head *to)
{
	struct work_struct *next;
	bool linked;

	do {
		linked = work_flags(work) & WORK_LINKED;
		/* At the end of the list this is not an item, but then nothing is linked. */
		next = list_next_entry(work, entry);
		list_move_tail(&work->entry, to);
		work = next;
	} while (linked);
}

/* --- Making workers ---------------------------------------------------------------------------- */

static int worker_thread(void *arg);

/* Return: false without memory. */
static bool create_worker(struct worker_pool *pool)
{
	struct worker *worker = kzalloc(sizeof(*worker), GFP_KERNEL);
	unsigned int id = __atomic_fetch_add(&pool->next_id, 1, __ATOMIC_RELAXED);
	struct task *task;

	if (!worker)
		return false;
	worker->pool = pool;
	INIT_LIST_HEAD(&worker->scheduled);
	if (is_bound(pool))
		task = kthread_create(worker_thread, worker, "kworker/%u:%u", pool->cpu, id);
	else
		task = kthread_create(worker_thread, worker, "kworker/u:%u", id);
	if (IS_ERR(task)) {
		kfree(worker);
		return false;
	}
	if (is_bound(pool))
		kthread_bind(task, pool->cpu);
	worker->task = task;
	task->wq_worker = worker;
	task->kflags |= PF_WQ_WORKER;
	raw_spin_lock_irq(&pool->lock);
	pool->nr_workers++;
	pool->nr_idle++;
	worker->idle = true;
	list_add(&worker->entry, &pool->idle);
	raw_spin_unlock_irq(&pool->lock);
	wake_up_process(task);
	put_task_struct(task);
	return true;
}

/*
 * Without memory there may be no idle worker when the last one that runs goes to sleep. If that one waits
 * for an item after it, no worker would ever run the item, even once there is memory again. So this
 * thread, which is made at boot, tries until it succeeds.
 */
static struct task *rescuer;

/* The pool is locked. */
static void call_rescuer(struct worker_pool *pool)
{
	pool->wanting = true;
	if (rescuer)
		wake_up_process(rescuer);
}

/*
 * Make workers until one is idle and can take over. The pool is locked on entry and return, and unlocked in
 * between: the new worker may take an item before this one does, and leaves it to this one, which is still
 * creating, to make the next. So look again after each. Return: false without memory.
 */
static bool make_until_idle(struct worker_pool *pool)
{
	bool made = true;

	while (made && !pool->nr_idle && !pool->creating && pool->nr_workers < MAX_WORKERS) {
		pool->creating = true;
		raw_spin_unlock_irq(&pool->lock);
		made = create_worker(pool);
		raw_spin_lock_irq(&pool->lock);
		pool->creating = false;
	}
	return made;
}

static void keep_one_idle(struct worker_pool *pool)
{
	if (!make_until_idle(pool))
		call_rescuer(pool);
}

/* How long the rescuer waits for memory before it tries again. */
#define RESCUE_TICKS max(HZ / 50, 1)

/* Return: false if @pool still wants a worker. */
static bool rescue(struct worker_pool *pool)
{
	bool made;

	if (!READ_ONCE(pool->wanting))
		return true;
	raw_spin_lock_irq(&pool->lock);
	made = make_until_idle(pool);
	pool->wanting = !made;
	raw_spin_unlock_irq(&pool->lock);
	return made;
}

static int rescuer_thread(void *arg)
{
	for (;;) {
		bool done = true;

		set_current_state(TASK_UNINTERRUPTIBLE);
		for (unsigned int cpu = 0; cpu <= NR_CPUS; cpu++) {
			if (READ_ONCE(pools[cpu].wanting))
				done = false;
		}
		if (done) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		done = true;
		for (unsigned int cpu = 0; cpu <= NR_CPUS; cpu++)
			done &= rescue(&pools[cpu]);
		if (!done)
			msleep(RESCUE_TICKS * 1000 / HZ);
	}
	return 0;
}

/* --- Running items ------------------------------------------------------------------------------- */

static void check_context(work_func_t func)
{
	if (likely(!in_atomic() && !irqs_disabled() && !current->rcu_read_lock_nesting))
		return;
	pr_err("BUG: workqueue leaked atomic, lock or RCU: %s[%d]\n"
	       "     preempt=0x%08x irqs_disabled=%d RCU=%d workfn=%pS\n",
	       current->comm, current->pid, (unsigned int)preempt_count(), irqs_disabled(),
	       current->rcu_read_lock_nesting, (void *)func);
	dump_stack();
	local_irq_enable();
	current->preempt_count = 0;
}

#ifdef CONFIG_LOCKDEP
/* The item may be freed by its function, so the worker holds a copy of its map. A static item has no key but its map's
 * address, which the copy would lose. */
static struct lockdep_map copy_map(const struct lockdep_map *map)
{
	struct lockdep_map copy = *map;

	if (!copy.key)
		copy.key = (const struct lock_class_key *)map;
	return copy;
}

/*
 * A function runs inside of its item and of its workqueue, as if they were locks, because a flush waits for it. But to
 * begin it has not waited, so these count as tries: they depend on nothing, and what the function takes depends
 * on them. An exception is a workqueue that runs one item at a time: there it has waited for the items before it.
 */
static void enter_work(const struct worker *worker, struct lockdep_map *map)
{
	struct workqueue_struct *wq = worker->pwq ? worker->pwq->wq : NULL;

	if (wq)
		lock_acquire(&wq->dep_map, 0, wq->max_active > 1, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
	lock_acquire(map, 0, true, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
}

static void leave_work(const struct worker *worker, struct lockdep_map *map)
{
	lock_release(map, _THIS_IP_);
	if (worker->pwq)
		lock_release(&worker->pwq->wq->dep_map, _THIS_IP_);
}
#else
static struct lockdep_map copy_map(const struct lockdep_map *map)
{
	return *map;
}

static void enter_work(const struct worker *worker, struct lockdep_map *map)
{
}

static void leave_work(const struct worker *worker, struct lockdep_map *map)
{
}
#endif

/* Run @work, the first of @worker's own list. The pool is locked, and unlocked while the function runs. */
static void process_one_work(struct worker *worker, struct work_struct *work)
{
	struct worker_pool *pool = worker->pool;
	unsigned long flags = work_flags(work);
	work_func_t func = work->func;
	struct lockdep_map map = copy_map(&work->dep_map);

	worker->work = work;
	worker->func = func;
	worker->pwq = flags & WORK_BARRIER ? NULL : work->pwq;
	worker->color = flags & WORK_COLOR ? 1 : 0;
	WRITE_ONCE(work->pwq, NULL);
	list_del_init(&work->entry);
	/* From here on it can be queued again, or be freed by its function: nothing below follows it. */
	work_clear(work, WORK_STRUCT_PENDING | WORK_LINKED | WORK_BARRIER);
	raw_spin_unlock_irq(&pool->lock);
	enter_work(worker, &map);
	func(work);
	leave_work(worker, &map);
	/* Report a bad access of the function before flush_work() returns. */
	arch_check_async_faults_in((void *)func);
	check_context(func);
	raw_spin_lock_irq(&pool->lock);
	worker->work = NULL;
	if (worker->pwq)
		pwq_landed(worker->pwq, worker->color);
	worker->pwq = NULL;
}

static void process_scheduled(struct worker *worker)
{
	while (!list_empty(&worker->scheduled))
		process_one_work(worker,
				 list_first_entry(&worker->scheduled, struct work_struct, entry));
}

/* Run the first item of the pool, or hand it to the worker that must run it. */
static void take_work(struct worker *worker)
{
	struct worker_pool *pool = worker->pool;
	struct work_struct *work = list_first_entry(&pool->worklist, struct work_struct, entry);
	struct worker *other = find_worker_executing(pool, work);

	if (other) {
		/* It was queued again while it runs: the same worker runs it again afterwards. */
		move_linked_works(work, &other->scheduled);
		return;
	}
	move_linked_works(work, &worker->scheduled);
	pool_kick(pool);
	process_scheduled(worker);
}

static void leave_idle(struct worker *worker)
{
	worker->idle = false;
	worker->pool->nr_idle--;
	worker->pool->nr_running++;
	list_move(&worker->entry, &worker->pool->busy);
}

/* Return: false if enough workers are idle: this one has left the pool and must end. */
static bool enter_idle(struct worker *worker)
{
	struct worker_pool *pool = worker->pool;

	pool->nr_running--;
	list_del_init(&worker->entry);
	if (pool->nr_idle >= MAX_IDLE) {
		pool->nr_workers--;
		return false;
	}
	worker->idle = true;
	pool->nr_idle++;
	list_add(&worker->entry, &pool->idle);
	return true;
}

static int worker_thread(void *arg)
{
	struct worker *worker = arg;
	struct worker_pool *pool = worker->pool;

	for (;;) {
		raw_spin_lock_irq(&pool->lock);
		if (!list_empty(&pool->worklist) && (!is_bound(pool) || !pool->nr_running)) {
			leave_idle(worker);
			do {
				keep_one_idle(pool);
				if (!list_empty(&pool->worklist))
					take_work(worker);
				/* A second worker may run, after a sleep in its function: then this one
				 * stops. */
			} while (!list_empty(&pool->worklist) &&
				 (!is_bound(pool) || pool->nr_running <= 1));
			if (!enter_idle(worker)) {
				raw_spin_unlock_irq(&pool->lock);
				break;
			}
		}
		/* Others may have become idle while this one was made: then there is one too many. */
		if (pool->nr_idle > MAX_IDLE) {
			leave_idle(worker);
			if (!enter_idle(worker)) {
				raw_spin_unlock_irq(&pool->lock);
				break;
			}
		}
		__set_current_state(TASK_UNINTERRUPTIBLE);
		raw_spin_unlock_irq(&pool->lock);
		schedule();
	}
	current->kflags &= ~PF_WQ_WORKER;
	current->wq_worker = NULL;
	kfree(worker);
	return 0;
}

/* --- Calls from the scheduler ---------------------------------------------------------------------- */

void wq_worker_sleeping(void)
{
	struct worker *worker = current->wq_worker;
	struct worker_pool *pool;
	unsigned long flags;

	if (worker->idle || worker->sleeping)
		return;
	pool = worker->pool;
	raw_spin_lock_irqsave(&pool->lock, flags);
	worker->sleeping = true;
	pool->nr_running--;
	pool_kick(pool);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

void wq_worker_running(void)
{
	struct worker *worker = current->wq_worker;
	unsigned long flags;

	if (!worker->sleeping)
		return;
	raw_spin_lock_irqsave(&worker->pool->lock, flags);
	worker->sleeping = false;
	worker->pool->nr_running++;
	raw_spin_unlock_irqrestore(&worker->pool->lock, flags);
}

void wq_worker_dying(void)
{
	struct worker *worker = current->wq_worker;
	struct worker_pool *pool = worker->pool;
	bool last;

	raw_spin_lock_irq(&pool->lock);
	pool->nr_running--;
	pool->nr_workers--;
	list_del(&worker->entry);
	/* The item counts as run, so that a flush ends. */
	if (worker->pwq)
		pwq_landed(worker->pwq, worker->color);
	list_splice_init(&worker->scheduled, &pool->worklist);
	pool_kick(pool);
	last = !pool->nr_idle && !pool->creating;
	raw_spin_unlock_irq(&pool->lock);
	current->kflags &= ~PF_WQ_WORKER;
	current->wq_worker = NULL;
	kfree(worker);
	if (last && !create_worker(pool)) {
		raw_spin_lock_irq(&pool->lock);
		call_rescuer(pool);
		raw_spin_unlock_irq(&pool->lock);
	}
}

/* --- Start ---------------------------------------------------------------------------------------- */

void pools_init(void)
{
	for (unsigned int cpu = 0; cpu <= NR_CPUS; cpu++) {
		struct worker_pool *pool = &pools[cpu];

		pool->cpu = cpu;
		raw_spin_lock_init(&pool->lock);
		INIT_LIST_HEAD(&pool->worklist);
		INIT_LIST_HEAD(&pool->idle);
		INIT_LIST_HEAD(&pool->busy);
		if ((cpu < nr_cpu_ids || cpu == NR_CPUS) && !create_worker(pool))
			panic("workqueue: no memory for the first workers");
	}
	rescuer = kthread_run(rescuer_thread, NULL, "kworker/R");
	if (IS_ERR(rescuer))
		panic("workqueue: no memory for the rescuer");
}
