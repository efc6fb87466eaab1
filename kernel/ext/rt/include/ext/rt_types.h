/* SPDX-License-Identifier: MIT */
/* rt_types.h - spinlock_t and rwlock_t of a real-time kernel. Included by <kernel/sync_types.h>. */
#ifndef EXT_RT_TYPES_H
#define EXT_RT_TYPES_H

/** struct spinlock - a lock that sleeps, see <ext/rt_spinlock.h> */
typedef struct spinlock {
	struct rt_mutex_base base;
	struct lockdep_map dep_map;
} spinlock_t;

/**
 * struct rwlock - a lock that sleeps and that readers share, see <ext/rt_rwlock.h>
 * @base: the queue. @state: 0: free; else see kernel/ext/rt/rwlock.c.
 */
typedef struct rwlock {
	struct rt_mutex_base base;
	u32 state;
	struct lockdep_map dep_map;
} rwlock_t;

#endif
