/* SPDX-License-Identifier: MIT */
/*
 * sync_types.h - the data of spin locks, rt_mutexes, wait queues and completions, without their functions.
 *
 * They have their own header because struct task embeds them, and their functions need struct task.
 */
#ifndef KERNEL_SYNC_TYPES_H
#define KERNEL_SYNC_TYPES_H

#include <kernel/list.h>
#include <kernel/lockdep.h>
#include <kernel/rt.h>
#include <kernel/types.h>

/**
 * struct raw_spinlock - a test-and-set lock
 * @holder: number of the CPU that holds it, plus 1; 0: free.
 * @dep_map: for the lock validator.
 *
 * Not a ticket lock: this kernel runs on virtual CPUs, often on more than the host has. A ticket may go to
 * a CPU that the host is not running, and then all others wait for the host.
 *
 * A zeroed lock in static memory is unlocked.
 */
typedef struct raw_spinlock {
	u32 holder;
	struct lockdep_map dep_map;
} raw_spinlock_t;

struct prio_node;

/** struct prio_list - a list sorted by priority, see <kernel/prio_list.h>. @first: NULL: it is empty. */
struct prio_list {
	struct prio_node *first;
};

/* Bit of rt_mutex_base.owner: tasks wait. */
#define RT_MUTEX_HAS_WAITERS 1UL

/**
 * struct rt_mutex_base - a lock that lends its owner the priority of those who wait, see <kernel/rtmutex.h>
 * @wait_lock: for @waiters and for changes of @owner while RT_MUTEX_HAS_WAITERS is set in it.
 * @owner: address of the struct task that owns the lock; 0: none. If RT_MUTEX_HAS_WAITERS is set besides, only a holder
 *	of @wait_lock changes it.
 * @waiters: struct rt_mutex_waiter, most urgent first.
 */
struct rt_mutex_base {
	raw_spinlock_t wait_lock;
	unsigned long owner;
	struct prio_list waiters;
};

/* The wait_locks of all these locks are of one class: none is taken while another one is held. */
#ifdef CONFIG_LOCKDEP
extern struct lock_class_key rt_mutex_wait_lock_key;
#define RT_MUTEX_BASE_INIT                                 \
	{                                                  \
		.wait_lock.dep_map = {                     \
			.key = &rt_mutex_wait_lock_key,    \
			.name = "rt_mutex_base.wait_lock", \
			.wait_type = LD_WAIT_SPIN          \
		}                                          \
	}
#else
#define RT_MUTEX_BASE_INIT {.owner = 0}
#endif

#if PREEMPT_RT
#include <ext/rt_types.h>
#else

/** struct spinlock - the same; a real-time kernel sleeps instead of spinning. @dep_map: that of @raw. */
typedef struct spinlock {
	union {
		raw_spinlock_t raw;
		struct {
			u32 __holder;
			struct lockdep_map dep_map;
		};
	};
} spinlock_t;

/**
 * struct rwlock - a spin lock that readers share; <kernel/rwlock.h> has its functions
 * @state: 0: free; else see rwlock.c. @waiting: number of writers that wait.
 * @dep_map: for the lock validator.
 *
 * A zeroed lock in static memory is unlocked.
 */
typedef struct rwlock {
	u32 state;
	u32 waiting;
	struct lockdep_map dep_map;
} rwlock_t;

#endif

/** struct wait_queue_head - tasks that wait for something */
struct wait_queue_head {
	raw_spinlock_t lock;
	struct list_head head;
};
typedef struct wait_queue_head wait_queue_head_t;

/** struct completion - an event. @done: number of waiters that may still pass; UINT_MAX: all, for ever.
 *  @dep_map: for the lock validator. */
struct completion {
	unsigned int done;
	struct wait_queue_head wait;
	struct lockdep_map dep_map;
};

#endif
