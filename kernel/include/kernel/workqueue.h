/* SPDX-License-Identifier: MIT */
/*
 * workqueue.h - call a function soon, in a kernel thread that may sleep.
 *
 * Each CPU has a pool of worker threads that all workqueues share. One of them runs at a time. When it
 * sleeps inside a function, another takes over, so functions may wait for each other. Two workers never run
 * the same item at once, as long as it is always queued to the same workqueue. An item may free itself, or
 * queue itself again.
 */
#ifndef KERNEL_WORKQUEUE_H
#define KERNEL_WORKQUEUE_H

#include <kernel/list.h>
#include <kernel/lockdep.h>
#include <kernel/timer.h>
#include <kernel/types.h>

struct work_struct;
struct worker_pool;
struct pool_workqueue;
struct workqueue_struct;

typedef void (*work_func_t)(struct work_struct *work);

/**
 * struct work_struct - a function to be called
 * @flags: WORK_* of kernel/workqueue/, changed atomically.
 * @data: the same word, under its name in Linux.
 * @pwq: the part of the workqueue where it is queued; NULL if it is not queued.
 * @pool: the pool where it is queued, or was queued last.
 * @entry: link in a list of the pool or of the workqueue.
 * @dep_map: for the lock validator: the item as a lock that its function holds, and that flush_work() takes.
 */
struct work_struct {
	union {
		unsigned long flags;
		unsigned long data;
	};
	struct pool_workqueue *pwq;
	struct worker_pool *pool;
	struct list_head entry;
	work_func_t func;
	struct lockdep_map dep_map;
};

/** struct delayed_work - an item that a timer queues, on @cpu of @wq. */
struct delayed_work {
	struct work_struct work;
	struct timer_list timer;
	struct workqueue_struct *wq;
	unsigned int cpu;
};

#define WORK_STRUCT_PENDING 1UL

#define __WORK_INITIALIZER(n, f) \
	{.entry = LIST_HEAD_INIT((n).entry), .func = (f), LOCKDEP_MAP(n, LD_WAIT_SLEEP)}
#define DECLARE_WORK(n, f) struct work_struct n = __WORK_INITIALIZER(n, f)
#define DECLARE_DELAYED_WORK(n, f)                                  \
	struct delayed_work n = {                                   \
		.work = __WORK_INITIALIZER((n).work, f),            \
		.timer = {.entry = LIST_HEAD_INIT((n).timer.entry), \
			  .function = delayed_work_timer_fn,        \
			  .flags = TIMER_IRQSAFE},                  \
	}

/** delayed_work_timer_fn() - the timer function of every delayed work. */
void delayed_work_timer_fn(struct timer_list *timer);

static inline void init_work(struct work_struct *work, work_func_t func, const char *name,
			     const struct lock_class_key *key)
{
	*work = (struct work_struct){.func = func};
	INIT_LIST_HEAD(&work->entry);
	lockdep_init_map(&work->dep_map, name, key, 0, LD_WAIT_SLEEP);
}

/** INIT_WORK() - prepare @work. The items of one call are of one class for the lock validator. */
#define INIT_WORK(work, func)                         \
	do {                                          \
		static struct lock_class_key __key;   \
                                                      \
		init_work(work, func, #work, &__key); \
	} while (0)
#define INIT_WORK_ONSTACK(work, func) INIT_WORK(work, func)
#define INIT_DELAYED_WORK(dwork, func)                                              \
	do {                                                                        \
		INIT_WORK(&(dwork)->work, func);                                    \
		timer_setup(&(dwork)->timer, delayed_work_timer_fn, TIMER_IRQSAFE); \
	} while (0)

static inline struct delayed_work *to_delayed_work(struct work_struct *work)
{
	return container_of(work, struct delayed_work, work);
}

/** work_pending() - Return: true if it is queued, or its timer runs. A hint: it may change at any time. */
#define work_pending(work)	(READ_ONCE((work)->flags) & WORK_STRUCT_PENDING)
#define delayed_work_pending(w) work_pending(&(w)->work)

/* Any CPU, preferably this one. */
#define WORK_CPU_UNBOUND NR_CPUS

/* Flags of alloc_workqueue(). */
#define WQ_UNBOUND 1U /* functions run on any CPU, all at once */
#define WQ_MEM_RECLAIM \
	2U /* its items free memory: no effect, because every pool has a worker in reserve */
#define WQ_HIGHPRI 4U /* ahead of others in its pool's list */

#define WQ_MAX_ACTIVE 512U
#define WQ_DFL_ACTIVE 256U

/* They always exist. Queue functions that take long to system_long_wq or system_unbound_wq. */
extern struct workqueue_struct *system_wq;
extern struct workqueue_struct *system_long_wq;
extern struct workqueue_struct *system_unbound_wq;

/**
 * alloc_workqueue() - make a workqueue
 * @fmt: printf format of its name.
 * @flags: WQ_*.
 * @max_active: number of its items that may run or sleep at once on one CPU; 0 means WQ_DFL_ACTIVE.
 *
 * May sleep. Return: NULL if there is no memory.
 */
struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags,
					 unsigned int max_active, ...) __printf(1, 4);

#ifdef CONFIG_LOCKDEP
/** wq_init_lockdep() - name the class of @wq. Return: @wq, which may be NULL. */
struct workqueue_struct *wq_init_lockdep(struct workqueue_struct *wq, const char *name,
					 const struct lock_class_key *key);

#define alloc_workqueue(fmt, ...)                                                  \
	({                                                                         \
		static struct lock_class_key __key;                                \
                                                                                   \
		wq_init_lockdep((alloc_workqueue)(fmt, __VA_ARGS__), fmt, &__key); \
	})
#endif

/** alloc_ordered_workqueue() - items run one after the other in the order of queueing. */
#define alloc_ordered_workqueue(fmt, flags, ...) \
	alloc_workqueue(fmt, WQ_UNBOUND | (flags), 1, ##__VA_ARGS__)

/** create_workqueue() - one function at a time on each CPU, and it may free memory. */
#define create_workqueue(name) alloc_workqueue("%s", WQ_MEM_RECLAIM, 1, (name))

/** destroy_workqueue() - wait for all items, including those that they queue, and free the workqueue.
 *  Sleeps. */
void destroy_workqueue(struct workqueue_struct *wq);

/** drain_workqueue() - wait until the workqueue is empty. Meanwhile only its own items may queue more.
 *  Sleeps. */
void drain_workqueue(struct workqueue_struct *wq);

/** queue_work_on() - queue @work on @cpu, which is online. Any context. Return: false if it was queued
 *  already, and will run. */
bool queue_work_on(unsigned int cpu, struct workqueue_struct *wq, struct work_struct *work);

/** queue_delayed_work_on() - queue @dwork in @delay ticks from now. Any context. Return: as
 *  queue_work_on(). */
bool queue_delayed_work_on(unsigned int cpu, struct workqueue_struct *wq,
			   struct delayed_work *dwork, unsigned long delay);

/** mod_delayed_work_on() - queue @dwork in @delay ticks from now, even if it was to be queued at another
 *  time. Any context. Return: true if it was pending. */
bool mod_delayed_work_on(unsigned int cpu, struct workqueue_struct *wq, struct delayed_work *dwork,
			 unsigned long delay);

static inline bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	return queue_work_on(WORK_CPU_UNBOUND, wq, work);
}

static inline bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
				      unsigned long delay)
{
	return queue_delayed_work_on(WORK_CPU_UNBOUND, wq, dwork, delay);
}

static inline bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
				    unsigned long delay)
{
	return mod_delayed_work_on(WORK_CPU_UNBOUND, wq, dwork, delay);
}

#define schedule_work(work)		queue_work(system_wq, work)
#define schedule_work_on(cpu, work)	queue_work_on(cpu, system_wq, work)
#define schedule_delayed_work(dwork, n) queue_delayed_work(system_wq, dwork, n)

/** schedule_on_each_cpu() - call @func on every online CPU and wait for it. Sleeps. Return: 0 or
 *  -ENOMEM. */
int schedule_on_each_cpu(work_func_t func);

/** flush_work() - wait until @work has run, if it was queued before the call. Sleeps. Return: false if it
 *  was idle. flush_delayed_work() does not wait for the timer, but queues the item at once. */
bool flush_work(struct work_struct *work);
bool flush_delayed_work(struct delayed_work *dwork);

/** flush_workqueue() - wait for all items that were queued before the call. Sleeps. */
void flush_workqueue(struct workqueue_struct *wq);

/** cancel_work(), cancel_delayed_work() - take it out of the queue; its function may still be running. Any
 *  context. Return: true if it was pending. */
bool cancel_work(struct work_struct *work);
bool cancel_delayed_work(struct delayed_work *dwork);

/** cancel_work_sync(), cancel_delayed_work_sync() - take it out of the queue, and wait until its function
 *  has ended. Stops an item that queues itself again. Sleeps. The function itself must not call it. */
bool cancel_work_sync(struct work_struct *work);
bool cancel_delayed_work_sync(struct delayed_work *dwork);

/** current_work() - Return: the item whose function this thread runs; NULL if there is none. */
struct work_struct *current_work(void);

/* --- Called by the kernel --------------------------------------------------------------------- */

/** workqueue_init() - make the pools and the system's workqueues. After sched_init(). */
void workqueue_init(void);

/** wq_worker_sleeping(), wq_worker_running() - schedule() calls them before and after a worker sleeps, so
 *  that another one takes over. Only for tasks with PF_WQ_WORKER. */
void wq_worker_sleeping(void);
void wq_worker_running(void);

/** wq_worker_dying() - a worker is about to end inside a function, because of a bug in it. */
void wq_worker_dying(void);

#endif
