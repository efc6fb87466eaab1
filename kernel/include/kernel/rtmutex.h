/* SPDX-License-Identifier: MIT */
/*
 * rtmutex.h - sleeping locks whose owner runs with the priority of the most urgent task that waits.
 *
 * Without that, a task of low priority that holds a lock keeps an urgent one waiting for as long as tasks of any
 * priority in between want the CPU. With it, the urgent task waits for the owner's critical section only. An owner
 * that waits for another lock passes the priority on, through any number of locks.
 *
 * Waiters are served by priority, and in the order of arrival within one. The lock does not go to the first waiter by
 * itself: whoever is more urgent and comes before that waiter runs takes it.
 *
 * Only the owner may release it. Thread context; taking it may sleep. In a real-time kernel, mutexes, spin locks and
 * rwlocks are built on struct rt_mutex_base.
 */
#ifndef KERNEL_RTMUTEX_H
#define KERNEL_RTMUTEX_H

#include <kernel/lockdep.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>
#include <kernel/sync_types.h>

/* How many tasks a chain of waiters and owners may have. A longer one is taken for a deadlock. */
#define RT_MUTEX_MAX_CHAIN 1024U

/** struct rt_mutex - @base: the lock. @dep_map: for the lock validator. */
struct rt_mutex {
	struct rt_mutex_base base;
	struct lockdep_map dep_map;
};

#define __RT_MUTEX_INITIALIZER(name) {.base = RT_MUTEX_BASE_INIT, LOCKDEP_MAP(name, LD_WAIT_SLEEP)}
#define DEFINE_RT_MUTEX(name)	     struct rt_mutex name = __RT_MUTEX_INITIALIZER(name)

/** rt_mutex_base_init() - make @lock free. */
void rt_mutex_base_init(struct rt_mutex_base *lock);

void __rt_mutex_init(struct rt_mutex *lock, const char *name, const struct lock_class_key *key);

/** rt_mutex_init() - make @lock free. The locks of one call are of one class. */
#define rt_mutex_init(lock)                           \
	do {                                          \
		static struct lock_class_key __key;   \
                                                      \
		__rt_mutex_init(lock, #lock, &__key); \
	} while (0)

/** rt_mutex_lock() - take @lock, sleep until that is possible. If the wait can never end, because this task or one that
 *  waits for it owns the lock, that is reported, and the task sleeps for ever. */
void rt_mutex_lock(struct rt_mutex *lock);

/** rt_mutex_lock_nested() - the same for a second lock of its class, see lock_acquire(). */
void rt_mutex_lock_nested(struct rt_mutex *lock, unsigned int subclass);

/**
 * rt_mutex_timed_lock() - take @lock, but wait no longer than @timeout ticks
 * @timeout: MAX_SCHEDULE_TIMEOUT: no limit; 0: do not wait.
 *
 * Return: 0 if taken; -ETIMEDOUT; -EDEADLK if the wait could only end by its timeout: then it does not even begin.
 * Only the last task to close a circle of waits gets -EDEADLK.
 */
int __must_check rt_mutex_timed_lock(struct rt_mutex *lock, long timeout);

/** rt_mutex_trylock() - Return: true if taken. Never sleeps. */
bool rt_mutex_trylock(struct rt_mutex *lock);

/** rt_mutex_unlock() - release @lock. Warns if the running task is not the owner. */
void rt_mutex_unlock(struct rt_mutex *lock);

/** rt_mutex_base_is_locked() - Return: true if a task owns @lock; a hint. */
static inline bool rt_mutex_base_is_locked(const struct rt_mutex_base *lock)
{
	return (READ_ONCE(lock->owner) & ~RT_MUTEX_HAS_WAITERS) != 0;
}

static inline bool rt_mutex_is_locked(const struct rt_mutex *lock)
{
	return rt_mutex_base_is_locked(&lock->base);
}

/** rt_mutex_base_owned() - Return: true if the running task owns @lock. */
static inline bool rt_mutex_base_owned(const struct rt_mutex_base *lock)
{
	return (READ_ONCE(lock->owner) & ~RT_MUTEX_HAS_WAITERS) == (unsigned long)current;
}

/* --- For the scheduler --------------------------------------------------------------------------------- */

/** rt_mutex_task_init() - @task is new: it waits for nothing, and no task waits for it. */
void rt_mutex_task_init(struct task *task);

/** rt_mutex_abandon() - the running task ends where it never should have: the locks that it holds stay locked, but it may
 *  sleep. */
void rt_mutex_abandon(void);

/** rt_mutex_task_exit() - the running task ends. Its structure stays for ever if it owns locks, because those who wait
 *  for them look at it. */
void rt_mutex_task_exit(void);

/** rt_mutex_adjust_pi() - the prio of @task has changed other than by rt_mutex_setprio(): if it waits for a lock, bring
 *  it into its new place there and pass the priority on. No lock of the scheduler is held. Any context. */
void rt_mutex_adjust_pi(struct task *task);

/* --- For tests ------------------------------------------------------------------------------------------ */

/** rt_mutex_set_inheritance() - false: owners keep their own priority, from the next time on that it would change. */
void rt_mutex_set_inheritance(bool on);

#endif
