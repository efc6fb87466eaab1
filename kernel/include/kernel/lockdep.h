/* SPDX-License-Identifier: MIT */
/*
 * lockdep.h - the lock validator: what locks call, and what code may ask or state.
 *
 * Every entry that is handed a lock first asks KASAN whether the lock's memory may be used (kasan_check_byte()). If
 * not, KASAN reports, and the validator leaves that lock alone. docs/internals/lockdep.md explains the checks and the reports.
 *
 * All functions may be called in any context. Without CONFIG_LOCKDEP they are empty.
 */
#ifndef KERNEL_LOCKDEP_H
#define KERNEL_LOCKDEP_H

#include <kernel/lockdep_types.h>
#include <kernel/types.h>
#include <asm/current.h>

/* How a lock is taken: the argument @read of lock_acquire(). */
#define LOCK_EXCLUSIVE	    0 /* keeps everybody out */
#define LOCK_READ	    1 /* shared, and waits behind a waiting writer */
#define LOCK_READ_RECURSIVE 2 /* shared, and waits for a writer that holds it only */

/* How many subclasses a class may have: the argument @subclass. */
#define MAX_LOCKDEP_SUBCLASSES 8U
#define SINGLE_DEPTH_NESTING   1U

/* This place, and the place behind the call of this function. */
#define _THIS_IP_ arch_this_ip()
#define _RET_IP_  ((unsigned long)__builtin_return_address(0))

#ifdef CONFIG_LOCKDEP

/** lockdep_init_map() - prepare the map of a lock. @name, @key: see struct lockdep_map. @subclass: of the lock's class
 *  that it belongs to when it is taken without one, usually 0. @wait_type: LD_WAIT_*. */
void lockdep_init_map(struct lockdep_map *map, const char *name, const struct lock_class_key *key,
		      unsigned int subclass, unsigned int wait_type);

/* Of lock_take(): how a lock is taken. The first three are laid out as in struct held_lock's id. */
#define LOCK_HOW_READ_SHIFT	12
#define LOCK_HOW_TRYLOCK	(1U << 14)
#define LOCK_HOW_SUBCLASS_SHIFT 24

/** lock_take() - lock_acquire() with its arguments in one word, for the sake of the callers, which are many. */
void lock_take(struct lockdep_map *map, u32 how, const struct lockdep_map *nest_lock,
	       unsigned long ip);

/**
 * lock_acquire() - the running context is about to wait for a lock, or a try has just succeeded
 * @subclass: 0 to MAX_LOCKDEP_SUBCLASSES - 1: tells locks of one class apart that nest in a fixed order.
 * @trylock: it was a try: nobody waits, so it adds no dependency on the locks held, but later ones depend on it.
 * @read: LOCK_*.
 * @nest_lock: a held lock that makes it safe to take several locks of one class in any order, or NULL.
 * @ip: the code place that reports name.
 */
static __always_inline void lock_acquire(struct lockdep_map *map, unsigned int subclass,
					 bool trylock, int read,
					 const struct lockdep_map *nest_lock, unsigned long ip)
{
	lock_take(map,
		  subclass << LOCK_HOW_SUBCLASS_SHIFT | (trylock ? LOCK_HOW_TRYLOCK : 0) |
			  (u32)read << LOCK_HOW_READ_SHIFT,
		  nest_lock, ip);
}

/** lock_release() - the running context releases a lock that it holds. Any order. */
void lock_release(struct lockdep_map *map, unsigned long ip);

/** lock_contended() - the lock is taken, and the caller of lock_acquire() is going to wait for it. */
void lock_contended(struct lockdep_map *map, unsigned long ip);

/** lock_acquired() - the wait is over. */
void lock_acquired(struct lockdep_map *map, unsigned long ip);

/** lock_commit() - the running context lets those pass that wait for @map (a completion), while it holds what it
 *  holds: each lock held becomes a dependency of @map. */
void lock_commit(struct lockdep_map *map, unsigned long ip);

/** lock_is_held() - Return: true if the running context holds @map in any way. */
bool lock_is_held(const struct lockdep_map *map);

/** lockdep_set_class() - give the lock of @map, which nobody has taken yet, another class. */
void lockdep_set_class_of(struct lockdep_map *map, const char *name,
			  const struct lock_class_key *key, unsigned int subclass);

/** lockdep_hardirqs_on() - interrupts are about to be switched on, and are off now. */
void lockdep_hardirqs_on(unsigned long ip);

/** lockdep_softirqs_on() - soft interrupts are about to be allowed, outside of all interrupts. */
void lockdep_softirqs_on(unsigned long ip);

/** lockdep_might_lock() - the running context may take @map: check as if it did, and release it again. */
void lockdep_might_lock(struct lockdep_map *map, int read, unsigned long ip);

/** lockdep_assert() - report unless the running context holds @map. */
void lockdep_assert(const struct lockdep_map *map, unsigned long ip);

/** lockdep_user_exit() - the task is about to return to user mode: report the locks that it holds. */
void lockdep_user_exit(void);

struct task;

/** lockdep_task_init() - @task is new: it holds nothing. */
void lockdep_task_init(struct task *task);

/** lockdep_task_free() - the memory of @task is about to be freed. */
void lockdep_task_free(struct task *task);

/** lockdep_task_exit() - the running task ends. Report the locks that it holds if @expected is false, and forget them. */
void lockdep_task_exit(bool expected);

/** lockdep_sleep() - the running task is about to sleep: report if it holds a spin lock or is an RCU reader. */
void lockdep_sleep(unsigned long ip);

/** lockdep_free_key_range() - static memory goes away: forget all classes with keys or names in it. May sleep. */
void lockdep_free_key_range(const void *start, size_t size);

/** lockdep_init() - once, as early as there is a current task: before the first lock is initialised. */
void lockdep_init(void);

#else

static inline void lockdep_hardirqs_on(unsigned long ip)
{
}

static inline void lockdep_softirqs_on(unsigned long ip)
{
}

static inline void lockdep_user_exit(void)
{
}

struct task;

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
