/* SPDX-License-Identifier: MIT */
/*
 * lockdep.h - the lock validator: what locks call, and what code may ask or state.
 *
 * Every entry that is handed a lock first asks KASAN whether the lock's memory may be used (kasan_check_byte()). If
 * not, KASAN reports, and the validator leaves that lock alone. docs/internals/lockdep.md explains the checks and the reports.
 *
 * All functions may be called in any context. The validator is an extension, in kernel/ext/lockdep/: with CONFIG_LOCKDEP its
 * <ext/lockdep.h> has the functions and explains them. Without it they are empty.
 */
#ifndef KERNEL_LOCKDEP_H
#define KERNEL_LOCKDEP_H

#include <kernel/types.h>
#include <asm/current.h>

/* How a lock is taken: the argument @read of lock_acquire(). */
#define LOCK_EXCLUSIVE	    0 /* keeps everybody out */
#define LOCK_READ	    1 /* shared, and waits behind a waiting writer */
#define LOCK_READ_RECURSIVE 2 /* shared, and waits for a writer that holds it only */

/* How many subclasses a class may have: the argument @subclass. */
#define MAX_LOCKDEP_SUBCLASSES 8U
#define SINGLE_DEPTH_NESTING   1U

/* What waiting for a lock does. While a task holds a lock, it may not wait for one of a larger kind. */
#define LD_WAIT_INV    0U /* not checked */
#define LD_WAIT_FREE   1U /* never waits: RCU readers */
#define LD_WAIT_SPIN   2U /* spins: raw spin locks */
#define LD_WAIT_CONFIG 3U /* spins, or sleeps in a real-time kernel: spin locks, rwlocks */
#define LD_WAIT_SLEEP  4U /* sleeps: mutexes, completions, work items */

/* This place, and the place after the call of this function. */
#define _THIS_IP_ arch_this_ip()
#define _RET_IP_  ((unsigned long)__builtin_return_address(0))

#ifdef CONFIG_LOCKDEP
#include <ext/lockdep.h>
#else

struct task;

/* What a lock carries, and what tells classes apart: nothing, so a lock is as large as it is without them. */
struct lock_class_key {
};

struct lockdep_map {
};

#define LOCKDEP_MAP(lockname, wait)

static inline void lockdep_hardirqs_on(unsigned long ip)
{
}

static inline void lockdep_softirqs_on(unsigned long ip)
{
}

static inline void lockdep_user_exit(void)
{
}

static inline void lockdep_task_init(struct task *task)
{
}

static inline void lockdep_task_free(struct task *task)
{
}

static inline void lockdep_task_exit(bool expected)
{
}

static inline void lockdep_sleep(unsigned long ip)
{
}

static inline void lockdep_free_key_range(const void *start, size_t size)
{
}

static inline void lockdep_init(void)
{
}

static inline unsigned long lockdep_reports_seen(void)
{
	return 0;
}

static inline void lockdep_reports_forgive(unsigned long n)
{
}

static inline bool lockdep_measure(bool on)
{
	return false;
}

static inline unsigned long lockdep_known_acquisitions(void)
{
	return 0;
}

static inline void lockdep_print_tables(void)
{
}

#define lockdep_init_map(map, name, key, subclass, wait)     ((void)(map), (void)(key))
#define lock_acquire(map, subclass, trylock, read, nest, ip) ((void)(map))
#define lock_release(map, ip)				     ((void)(map))
#define lock_contended(map, ip)				     ((void)(map))
#define lock_acquired(map, ip)				     ((void)(map))
#define lock_commit(map, ip)				     ((void)(map))
#define lockdep_set_class_of(map, name, key, subclass)	     ((void)(map), (void)(key))
#define lockdep_might_lock(map, read, ip)		     ((void)(map))
#define lockdep_assert(map, ip)				     ((void)(map))

#endif

/** lockdep_assert_held() - report unless the running context holds @lock, which has a dep_map. */
#define lockdep_assert_held(lock) lockdep_assert(&(lock)->dep_map, _THIS_IP_)

/** might_lock(), might_lock_read() - this code takes @lock now and then: check as if it did each time. */
#define might_lock(lock)      lockdep_might_lock(&(lock)->dep_map, LOCK_EXCLUSIVE, _THIS_IP_)
#define might_lock_read(lock) lockdep_might_lock(&(lock)->dep_map, LOCK_READ, _THIS_IP_)

/** lockdep_set_class(), lockdep_set_subclass() - see lockdep_set_class_of(). */
#define lockdep_set_class(lock, key) lockdep_set_class_of(&(lock)->dep_map, #key, key, 0)
#define lockdep_set_class_and_name(lock, key, name) \
	lockdep_set_class_of(&(lock)->dep_map, name, key, 0)

#endif
