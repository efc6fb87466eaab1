/* SPDX-License-Identifier: MIT */
/*
 * mutex.h - sleeping locks with an owner.
 *
 * Only the task that locked a mutex may unlock it. Waiters are served in order of arrival: unlocking hands
 * the mutex to the first one. Not for interrupt handlers, and not under a spin lock.
 */
#ifndef KERNEL_MUTEX_H
#define KERNEL_MUTEX_H

#include <kernel/list.h>
#include <kernel/spinlock.h>

struct task;

struct mutex {
	spinlock_t lock;
	struct task *owner;
	struct list_head waiters;
};

#define __MUTEX_INITIALIZER(name) \
	{.lock = __SPIN_LOCK_UNLOCKED((name).lock), .waiters = LIST_HEAD_INIT((name).waiters)}
#define DEFINE_MUTEX(name) struct mutex name = __MUTEX_INITIALIZER(name)

void mutex_init(struct mutex *mutex);

/** mutex_lock() - take the mutex, sleep until it is free. Locking it twice panics. */
void mutex_lock(struct mutex *mutex);

/** mutex_trylock() - Return: true if taken. Never sleeps. */
bool mutex_trylock(struct mutex *mutex);

/** mutex_unlock() - release the mutex. Warns if the running task is not the owner. */
void mutex_unlock(struct mutex *mutex);

/** mutex_is_locked() - Return: true if a task owns it; a hint. */
static inline bool mutex_is_locked(const struct mutex *mutex)
{
	return READ_ONCE(mutex->owner) != NULL;
}

#endif
