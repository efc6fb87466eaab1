/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - mutexes of a real-time kernel: struct rt_mutex_base.
 *
 * Waiters are served by priority, and in the order of arrival within one.
 */
#include <kernel/kernel.h>
#include <kernel/lock_events.h>
#include <kernel/mutex.h>
#include <kernel/sched.h>

#include "../../sync/rtmutex.h"

void(mutex_init)(struct mutex *mutex)
{
	rt_mutex_base_init(&mutex->base);
}

bool mutex_trylock(struct mutex *mutex)
{
	if (!rt_mutex_fast_lock(&mutex->base) && !rt_mutex_slow_trylock(&mutex->base))
		return false;
	current->rt_mutexes_held++;
	lock_acquire(&mutex->dep_map, 0, true, LOCK_EXCLUSIVE, NULL, _RET_IP_);
	return true;
}

static noinline void wait_for(struct mutex *mutex, unsigned long ip)
{
	if (rt_mutex_base_owned(&mutex->base))
		panic("mutex recursion, %s/%d, mutex %pS", current->comm, current->pid, mutex);
	lock_contended(&mutex->dep_map, ip);
	lock_event_inc(LOCKEVENT_rtmutex_slowlock);
	if (rt_mutex_slow_lock(&mutex->base, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT))
		rt_mutex_sleep_for_ever(&mutex->base, TASK_UNINTERRUPTIBLE);
	lock_acquired(&mutex->dep_map, ip);
}

static __always_inline void lock_common(struct mutex *mutex, unsigned int subclass,
					const struct lockdep_map *nest_lock, unsigned long ip)
{
	might_sleep();
	lock_acquire(&mutex->dep_map, subclass, false, LOCK_EXCLUSIVE, nest_lock, ip);
	if (unlikely(!rt_mutex_fast_lock(&mutex->base)))
		wait_for(mutex, ip);
	current->rt_mutexes_held++;
}

void mutex_lock(struct mutex *mutex)
{
	lock_common(mutex, 0, NULL, _RET_IP_);
}

#ifdef CONFIG_LOCKDEP

void mutex_lock_nested(struct mutex *mutex, unsigned int subclass)
{
	lock_common(mutex, subclass, NULL, _RET_IP_);
}

void mutex_lock_nest(struct mutex *mutex, const struct lockdep_map *outer)
{
	lock_common(mutex, 0, outer, _RET_IP_);
}

#endif

void mutex_unlock(struct mutex *mutex)
{
	lock_release(&mutex->dep_map, _RET_IP_);
	if (WARN(!rt_mutex_base_owned(&mutex->base), "mutex_unlock() by %s/%d, not the owner\n",
		 current->comm, current->pid))
		return;
	current->rt_mutexes_held--;
	if (unlikely(!rt_mutex_fast_unlock(&mutex->base)))
		rt_mutex_slow_unlock(&mutex->base);
}
