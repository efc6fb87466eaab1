/* SPDX-License-Identifier: MIT */
/*
 * internal.h - pools, workers and workqueues, as pool.c, queue.c and flush.c share them.
 *
 * A pool's lock guards everything in the pool, the work items that are queued there, and the
 * pool_workqueues that belong to it. It is taken with interrupts off. Its holder wakes tasks, and takes no
 * other lock.
 */
#ifndef WORKQUEUE_INTERNAL_H
#define WORKQUEUE_INTERNAL_H

#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/list.h>
#include <kernel/mutex.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/spinlock.h>
#include <kernel/wait.h>
#include <kernel/workqueue.h>
#include <asm/barrier.h>

/* work->flags, besides WORK_STRUCT_PENDING. */
#define WORK_LINKED    2UL  /* the same worker must run the next entry of the list */
#define WORK_INACTIVE  4UL  /* in the list of its pwq, because max_active others are active */
#define WORK_COLOR     8UL  /* which of the two in_flight counts it is in */
#define WORK_BARRIER   16UL /* flush_work() waits for it: not counted in in_flight */
#define WORK_CANCELING 32UL /* a caller of cancel_work_sync() owns the pending bit */

#define MAX_WORKERS 64U /* of one pool */
#define MAX_IDLE    2U	/* of one pool: a worker that finds so many idle ones ends */

/**
 * struct worker - a worker thread
 * @entry: link in the pool's idle or busy list.
 * @scheduled: items that this worker must run.
 * @work, @func, @pwq, @color: the item that it runs; @work is NULL if it runs none. The item may have freed
 *	itself: @work is compared, never followed.
 * @idle: it is in the idle list. @sleeping: it is busy, but asleep.
 */
struct worker {
	struct list_head entry;
	struct list_head scheduled;
	struct worker_pool *pool;
	struct task *task;
	struct work_struct *work;
	work_func_t func;
	struct pool_workqueue *pwq;
	unsigned int color;
	bool idle;
	bool sleeping;
};

/**
 * struct worker_pool - the workers of one CPU, or those that are bound to no CPU
 * @cpu: NR_CPUS for the unbound pool.
 * @worklist: items that may run.
 * @nr_running: number of busy workers that do not sleep.
 * @creating: a worker is making another one. @wanting: that has failed, and the rescuer tries again.
 */
struct worker_pool {
	raw_spinlock_t lock;
	unsigned int cpu;
	unsigned int nr_workers;
	unsigned int nr_idle;
	unsigned int nr_running;
	unsigned int next_id;
	bool creating;
	bool wanting;
	struct list_head worklist;
	struct list_head idle;
	struct list_head busy;
};

/**
 * struct pool_workqueue - a workqueue's part in one pool
 * @color: the color of items that are queued from now on. @in_flight: number of items of each color that
 *	are queued or run.
 * @nr_active: number of items in the pool's list or running. @inactive: items that wait for one of those.
 */
struct pool_workqueue {
	struct worker_pool *pool;
	struct workqueue_struct *wq;
	unsigned int color;
	unsigned int in_flight[2];
	unsigned int nr_active;
	struct list_head inactive;
};

/**
 * struct workqueue_struct - a workqueue
 * @pwqs: one for each CPU; if the workqueue is unbound, the first only.
 * @flush_mutex: allows one flush at a time. @flush_wait: where it waits for items to end.
 * @dep_map: for the lock validator: the workqueue as a lock that its items hold, and that flush_workqueue() takes.
 */
struct workqueue_struct {
	char name[24];
	unsigned int flags;
	unsigned int max_active;
	bool draining;
	struct mutex flush_mutex;
	struct wait_queue_head flush_wait;
	struct lockdep_map dep_map;
	unsigned int nr_pwqs;
	struct pool_workqueue pwqs[NR_CPUS];
};

static inline unsigned long work_flags(const struct work_struct *work)
{
	return __atomic_load_n(&work->flags, __ATOMIC_ACQUIRE);
}

static inline void work_set(struct work_struct *work, unsigned long flags)
{
	__atomic_fetch_or(&work->flags, flags, __ATOMIC_RELAXED);
}

static inline void work_clear(struct work_struct *work, unsigned long flags)
{
	__atomic_fetch_and(&work->flags, ~flags, __ATOMIC_RELEASE);
}

/** work_take_pending() - Return: true if the pending bit was clear: the caller owns it now. Interrupts are
 *  off: see take_pending(). */
static inline bool work_take_pending(struct work_struct *work)
{
	return !(__atomic_fetch_or(&work->flags, WORK_STRUCT_PENDING, __ATOMIC_SEQ_CST) &
		 WORK_STRUCT_PENDING);
}

/* --- For tests ------------------------------------------------------------------------------------ */

/**
 * enum workqueue_point - where a test may hold a thread back, to make a window of a few instructions wide
 * @WQ_PENDING: the thread has just got the pending bit of the item; the pool is NULL.
 * @WQ_POOL_LOCKED: lock_work_pool() has locked the pool, and has yet to check that the item is there.
 * @WQ_POOL_FOUND: it has checked that.
 * @WQ_TARGET_LOCKED: __queue_work() has locked the pool, and has not changed anything yet.
 * @WQ_CHANGE: the item is queued, and is about to be taken out or to get a barrier; the pool is locked.
 */
enum workqueue_point {
	WQ_PENDING,
	WQ_POOL_LOCKED,
	WQ_POOL_FOUND,
	WQ_TARGET_LOCKED,
	WQ_CHANGE,
};

/* Called at these points, with interrupts off, unless it is NULL. It exists only in the images that contain
 * the KUnit suites: their kernel is compiled with REDZONE_WORKQUEUE_HOOK. */
extern void (*workqueue_hook)(enum workqueue_point point, struct work_struct *work,
			      struct worker_pool *pool);

static inline void wq_point(enum workqueue_point point, struct work_struct *work,
			    struct worker_pool *pool)
{
#ifdef REDZONE_WORKQUEUE_HOOK
	void (*hook)(enum workqueue_point, struct work_struct *, struct worker_pool *) =
		READ_ONCE(workqueue_hook);

	if (hook)
		hook(point, work, pool);
#endif
}

/* --- pool.c ------------------------------------------------------------------------------------ */

/** pools_init() - make the pools, and a first worker for each. Panics without memory. */
void pools_init(void);

/** cpu_pool() - Return: the pool of @cpu; the unbound pool for NR_CPUS. */
struct worker_pool *cpu_pool(unsigned int cpu);

/** pool_kick() - wake an idle worker of @pool, which is locked, if there are items and none runs them. */
void pool_kick(struct worker_pool *pool);

/** worker_executes() - Return: true if @worker runs @work. The function is compared too: the item that
 *  the worker runs may have freed itself, and @work may be another one in the same memory. */
static inline bool worker_executes(const struct worker *worker, const struct work_struct *work)
{
	return worker->work == work && worker->func == work->func;
}

/** find_worker_executing() - the worker of @pool, which is locked, that runs @work; or NULL. */
struct worker *find_worker_executing(struct worker_pool *pool, const struct work_struct *work);

/** move_linked_works() - move @work and what is linked to it to the end of @to. */
void move_linked_works(struct work_struct *work, struct list_head *to);

/* --- queue.c ----------------------------------------------------------------------------------- */

/** pwq_activate() - let @work, which is inactive, run. The pool is locked. */
void pwq_activate(struct pool_workqueue *pwq, struct work_struct *work);

/** pwq_landed() - an item of @color has been run or taken out: count it, let the next inactive one run, and
 *  wake flush_workqueue(). The pool is locked. */
void pwq_landed(struct pool_workqueue *pwq, unsigned int color);

/** current_wq() - Return: the workqueue whose item the running thread is in, or NULL. */
struct workqueue_struct *current_wq(void);

/** is_current_work() - Return: true if the running thread is in @work's function. */
bool is_current_work(const struct work_struct *work);

/**
 * lock_work_pool() - lock the pool in which @work is queued, or was queued last
 * @pwq: filled with the part of the workqueue that has @work queued in this pool, and has it until the pool
 *	is unlocked; NULL if @work is not queued in this pool.
 *
 * Interrupts are off. Return: the pool, locked; NULL if @work was never queued, and nothing is locked.
 */
struct worker_pool *lock_work_pool(struct work_struct *work, struct pool_workqueue **pwq);

#endif
