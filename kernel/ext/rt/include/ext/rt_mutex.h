/* SPDX-License-Identifier: MIT */
/* rt_mutex.h - struct mutex of a real-time kernel: its owner runs with the priority of the most urgent task that waits. */
#ifndef EXT_RT_MUTEX_H
#define EXT_RT_MUTEX_H

struct mutex {
	struct rt_mutex_base base;
	struct lockdep_map dep_map;
};

#define __MUTEX_INITIALIZER(name) {.base = RT_MUTEX_BASE_INIT, LOCKDEP_MAP(name, LD_WAIT_SLEEP)}

static inline bool mutex_is_locked(const struct mutex *mutex)
{
	return (READ_ONCE(mutex->base.owner) & ~RT_MUTEX_HAS_WAITERS) != 0;
}

#endif
