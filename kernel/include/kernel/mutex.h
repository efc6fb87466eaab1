/* SPDX-License-Identifier: MIT */
/*
 * mutex.h - sleeping locks with an owner.
 *
 * Only the task that locked a mutex may unlock it. Waiters are served in order of arrival: unlocking hands
 * the mutex to the first one. Not for interrupt handlers, and not under a spin lock. In a real-time kernel waiters are
 * served by priority, and lend it to the owner: see <kernel/rtmutex.h>.
 *
 * The _nested form takes a second mutex of the same class: the caller's subclasses say in which order. With the
 * _nest_lock form the order does not matter, because @outer, which is held, allows one such task at a time.
 */
#ifndef KERNEL_MUTEX_H
#define KERNEL_MUTEX_H

#include <kernel/list.h>
#include <kernel/spinlock.h>

struct task;

#if PREEMPT_RT
#include <ext/rt_mutex.h>
#else

struct mutex {
	raw_spinlock_t lock;
	struct task *owner;
	struct list_head waiters;
	struct lockdep_map dep_map;
};

#define __MUTEX_INITIALIZER(name)                       \
	{.lock = __RAW_SPIN_LOCK_UNLOCKED((name).lock), \
	 .waiters = LIST_HEAD_INIT((name).waiters),     \
	 LOCKDEP_MAP(name, LD_WAIT_SLEEP)}

/** mutex_is_locked() - Return: true if a task owns it; a hint. */
static inline bool mutex_is_locked(const struct mutex *mutex)
{
	return READ_ONCE(mutex->owner) != NULL;
}

#endif

#define DEFINE_MUTEX(name) struct mutex name = __MUTEX_INITIALIZER(name)

/** mutex_init() - make @mutex free. The mutexes of one call are of one class for the lock validator. */
void mutex_init(struct mutex *mutex);

#ifdef CONFIG_LOCKDEP
#define mutex_init(mutex)                                                              \
	do {                                                                           \
		static struct lock_class_key __key;                                    \
                                                                                       \
		(mutex_init)(mutex);                                                   \
		lockdep_init_map(&(mutex)->dep_map, #mutex, &__key, 0, LD_WAIT_SLEEP); \
	} while (0)
#endif

/** mutex_lock() - take the mutex, sleep until it is free. Locking it twice panics. */
void mutex_lock(struct mutex *mutex);

#ifdef CONFIG_LOCKDEP
void mutex_lock_nested(struct mutex *mutex, unsigned int subclass);
void mutex_lock_nest(struct mutex *mutex, const struct lockdep_map *outer);
#else
#define mutex_lock_nested(mutex, subclass) mutex_lock(mutex)
#define mutex_lock_nest(mutex, outer)	   mutex_lock(((void)(outer), (mutex)))
#endif
#define mutex_lock_nest_lock(mutex, outer) mutex_lock_nest(mutex, &(outer)->dep_map)

/** mutex_trylock() - Return: true if taken. Never sleeps. */
bool mutex_trylock(struct mutex *mutex);

/** mutex_unlock() - release the mutex. Warns if the running task is not the owner. */
void mutex_unlock(struct mutex *mutex);

#endif
