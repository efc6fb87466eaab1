/* SPDX-License-Identifier: MIT */
/*
 * rtmutex.h - what the locks on struct rt_mutex_base share: taking one, releasing one, and inheritance.
 *
 * Order of locks: a lock's wait_lock, then a task's pi_lock, then those of the scheduler. No context holds two wait_locks or
 * two pi_locks.
 */
#ifndef SYNC_RTMUTEX_H
#define SYNC_RTMUTEX_H

#include <kernel/prio_list.h>
#include <kernel/rtmutex.h>

/**
 * struct rt_mutex_waiter - a task that waits; lives on its stack
 * @node: in the lock's waiters. Changes under wait_lock.
 * @pi_node: in the pi_waiters of the lock's owner, if it is the first waiter of that lock. Changes under wait_lock and
 *	the owner's pi_lock.
 * @task: waits for @lock.
 * @wake_state: wake the task from these states.
 * @born: number of this wait; each wait of the system has a larger one than those that were there before it.
 */
struct rt_mutex_waiter {
	struct prio_node node;
	struct prio_node pi_node;
	struct task *task;
	struct rt_mutex_base *lock;
	unsigned int wake_state;
	u64 born;
};

/**
 * struct rt_mutex_chain - the rest of a chain of waiters and owners that is to be visited
 * @task: the next task, with a reference; NULL: none. @lock: the lock that it was seen waiting for.
 * @origin: the new wait that made the visit necessary: look whether the chain comes back to its task. NULL: do not.
 */
struct rt_mutex_chain {
	struct task *task;
	struct rt_mutex_base *lock;
	const struct rt_mutex_waiter *origin;
};

/* --- Owners and waiters. The wait_lock is held. ------------------------------------------------------------ */

static inline struct task *rt_mutex_owner(const struct rt_mutex_base *lock)
{
	return (struct task *)(READ_ONCE(lock->owner) & ~RT_MUTEX_HAS_WAITERS);
}

/* Return: the first waiter, or NULL. */
static inline struct rt_mutex_waiter *rt_mutex_first(const struct rt_mutex_base *lock)
{
	struct prio_node *node = prio_list_first(&lock->waiters);

	return node ? container_of(node, struct rt_mutex_waiter, node) : NULL;
}

/* --- rtmutex_pi.c ------------------------------------------------------------------------------------------ */

/** rt_mutex_block() - put @waiter of the running task among the waiters of @lock, and lend the owner its priority.
 *  @chain: filled with what remains to be done without wait_lock. Return: 0, or -EDEADLK if the running task is the
 *  owner: then nothing is changed. */
int rt_mutex_block(struct rt_mutex_base *lock, struct rt_mutex_waiter *waiter,
		   struct rt_mutex_chain *chain);

/** rt_mutex_unblock() - the running task gives up: take @waiter off @lock. @chain: as above.
 *  Return: the task that must be woken instead, with a reference, or NULL. */
struct task *rt_mutex_unblock(struct rt_mutex_base *lock, struct rt_mutex_waiter *waiter,
			      struct rt_mutex_chain *chain);

/** rt_mutex_own() - the running task is about to own @lock: it inherits from the waiters. @waiter: its own one, taken off
 *  @lock already, or NULL. */
void rt_mutex_own(struct rt_mutex_base *lock, struct rt_mutex_waiter *waiter);

/** rt_mutex_disown() - the running task is about to release @lock: it no longer inherits from @first, its first waiter. */
void rt_mutex_disown(struct rt_mutex_waiter *first);

/** rt_mutex_walk() - visit the rest of a chain; no wait_lock is held. Return: 0, or -EDEADLK if @chain->origin can never
 *  get its lock. */
int rt_mutex_walk(struct rt_mutex_chain *chain);

/* --- rtmutex.c --------------------------------------------------------------------------------------------- */

/** rt_mutex_fast_lock(), rt_mutex_fast_unlock() - Return: true if done. The second one only if no task waits. */
static __always_inline bool rt_mutex_fast_lock(struct rt_mutex_base *lock)
{
	unsigned long nobody = 0;

	return __atomic_compare_exchange_n(&lock->owner, &nobody, (unsigned long)current, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static __always_inline bool rt_mutex_fast_unlock(struct rt_mutex_base *lock)
{
	unsigned long owner = (unsigned long)current;

	return __atomic_compare_exchange_n(&lock->owner, &owner, 0, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

/**
 * rt_mutex_slow_lock() - take @lock, sleep until that is possible
 * @state: in which to sleep: TASK_UNINTERRUPTIBLE, or TASK_RTLOCK_WAIT, which set_rtlock_wait_state() has set.
 * @timeout: in ticks; with TASK_RTLOCK_WAIT MAX_SCHEDULE_TIMEOUT.
 *
 * Return: 0, -EDEADLK or -ETIMEDOUT. The state of the task is then TASK_RUNNING, or still TASK_RTLOCK_WAIT.
 */
int rt_mutex_slow_lock(struct rt_mutex_base *lock, unsigned int state, long timeout);

/** rt_mutex_slow_trylock() - Return: true if taken. For a lock without an owner, for which others wait. */
bool rt_mutex_slow_trylock(struct rt_mutex_base *lock);

/** rt_mutex_slow_unlock() - release @lock, and wake its first waiter if there is one. */
void rt_mutex_slow_unlock(struct rt_mutex_base *lock);

/** rt_mutex_sleep_for_ever() - report that the wait of the running task for @lock cannot end, and let it wait. @state: as
 *  above. */
_Noreturn void rt_mutex_sleep_for_ever(const struct rt_mutex_base *lock, unsigned int state);

#endif
