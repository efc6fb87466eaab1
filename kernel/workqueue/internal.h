/* SPDX-License-Identifier: MIT */
/*
 * internal.h - pools, workers and workqueues, as pool.c, queue.c and flush.c share them.
 *
 * A pool's lock guards everything in it, the work items queued there, and what its pool_workqueues
 * hold. It is taken with interrupts off; inside it tasks are woken, and nothing else is locked.
 */
#ifndef WORKQUEUE_INTERNAL_H
#define WORKQUEUE_INTERNAL_H

#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/list.h>
#include <kernel/mutex.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>
#include <kernel/wait.h>
#include <kernel/workqueue.h>
#include <asm/smp.h>

/* work->flags, besides WORK_STRUCT_PENDING. */
#define WORK_LINKED    2UL  /* the next entry of the list must be run by the same worker */
#define WORK_INACTIVE  4UL  /* in its pwq's list, because max_active others are active */
#define WORK_COLOR     8UL  /* which count of flights it is in */
#define WORK_BARRIER   16UL /* somebody's wait: not counted */
#define WORK_CANCELING 32UL /* somebody in cancel_work_sync() owns the pending bit */

#define MAX_WORKERS 64U /* of one pool */
#define MAX_IDLE    2U	/* more of them end */

/**
 * struct worker - a thread
 * @entry: link in the pool's idle or busy list.
 * @scheduled: items that this one must run.
 * @work, @pwq, @color: what it runs just now, NULL: nothing.
 * @idle: it is in the idle list. @sleeping: it is busy, but asleep.
 */
struct worker {
	struct list_head entry;
	struct list_head scheduled;
	struct worker_pool *pool;
	struct task *task;
	struct work_struct *work;
	struct pool_workqueue *pwq;
	unsigned int color;
	bool idle;
	bool sleeping;
};

/**
 * struct worker_pool - a CPU's workers, or those that are bound to none
 * @cpu: NR_CPUS: none.
 * @worklist: items that may run.
 * @nr_running: busy workers that do not sleep.
 * @creating: one of them makes a new worker. @wanting: that failed: the rescuer tries again.
 */
struct worker_pool {
	spinlock_t lock;
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
 * @color: of items queued from now on. @in_flight: items of each color that are queued or run.
 * @nr_active: items in the pool's list or running. @inactive: those that must wait.
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
 * @pwqs: one for each CPU; unbound: the first only.
 * @flush_mutex: one flush at a time. @flush_wait: it waits here for flights to end.
 */
struct workqueue_struct {
	char name[24];
	unsigned int flags;
	unsigned int max_active;
	bool draining;
	struct mutex flush_mutex;
	struct wait_queue_head flush_wait;
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

/** work_take_pending() - Return: true if the pending bit was clear: the caller owns it now. */
static inline bool work_take_pending(struct work_struct *work)
{
	return !(__atomic_fetch_or(&work->flags, WORK_STRUCT_PENDING, __ATOMIC_SEQ_CST) &
		 WORK_STRUCT_PENDING);
}

/* --- pool.c ------------------------------------------------------------------------------------ */

/** pools_init() - the pools and a first worker for each. */
void pools_init(void);

/** cpu_pool() - the pool of @cpu, NR_CPUS: the unbound one. */
struct worker_pool *cpu_pool(unsigned int cpu);

/** pool_kick() - the pool, which is locked, has items: let somebody run them if nobody does. */
void pool_kick(struct worker_pool *pool);

/** find_worker_executing() - the worker of @pool, which is locked, that runs @work; or NULL. */
struct worker *find_worker_executing(struct worker_pool *pool, const struct work_struct *work);

/** move_linked_works() - move @work and what is linked to it to the end of @to. */
void move_linked_works(struct work_struct *work, struct list_head *to);

/* --- queue.c ----------------------------------------------------------------------------------- */

/** pwq_activate() - @work, which is inactive, may run. The pool is locked. */
void pwq_activate(struct pool_workqueue *pwq, struct work_struct *work);

/** pwq_landed() - an item of @color has been run or taken out. The pool is locked. */
void pwq_landed(struct pool_workqueue *pwq, unsigned int color, bool inactive);

/** current_wq() - Return: the workqueue whose item the running thread is in, or NULL. */
struct workqueue_struct *current_wq(void);

/** lock_work_pool() - lock the pool that @work is queued in or was last. @flags: interrupt state.
 *  Return: NULL if it was never queued; nothing is locked then. */
struct worker_pool *lock_work_pool(struct work_struct *work, unsigned long *flags);

#endif
