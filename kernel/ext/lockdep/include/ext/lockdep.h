/* SPDX-License-Identifier: MIT */
/*
 * lockdep.h - what a lock and a task carry for the lock validator, and what locks call. Included by <kernel/lockdep.h>.
 */
#ifndef EXT_LOCKDEP_H
#define EXT_LOCKDEP_H

#include <kernel/types.h>

struct lock_class;
struct task;

/** struct lock_class_key - its address tells classes apart; it lies in static memory of the kernel or of a module */
struct lock_class_key {
	u8 unused;
};

/**
 * struct lockdep_map - a lock as the validator knows it
 * @key: tells its class; NULL: the map's own address, which then must be static memory.
 * @name: of the class, in static memory or in the memory of the module that has the key.
 * @class: cache of the class of subclass 0; NULL: not looked up yet.
 * @wait_type: LD_WAIT_*.
 *
 * All zeros is a valid map of a lock in static memory.
 */
struct lockdep_map {
	const struct lock_class_key *key;
	const char *name;
	struct lock_class *class;
	u8 wait_type;
};

/* Locks that a task may hold at a time; the validator does not follow those beyond. */
#define LOCKDEP_DEPTH 48U

/**
 * struct held_lock - a lock that a context holds
 * @ip: where it was taken. @chain: stands for the sequence of locks from the oldest one to this. @id: its class and how it
 *	is held, see kernel/ext/lockdep/internal.h.
 * @nest: argument nest_lock of lock_acquire(); @since: when, in counts of the clock. The id says which of them is valid.
 */
struct held_lock {
	struct lockdep_map *map;
	unsigned long ip;
	u32 chain;
	u32 id;
	const struct lockdep_map *nest;
	u64 since;
};

/**
 * struct lockdep_stack - the locks that a context holds. Each task has one, and each CPU some for its interrupts. Only the
 *	context itself uses it, so it needs no lock.
 * @top: the newest; &locks[0], which is none, if nothing is held. @end: the last one that there is room for; NULL: always
 *	take the slow path, because the stack is not initialised or times are measured.
 * @known: number of acquisitions that needed one look-up. @untracked: locks held that are not followed.
 * @next, @prev: all stacks, for the sum of @known.
 */
struct lockdep_stack {
	struct held_lock *top;
	struct held_lock *end;
	unsigned long known;
	unsigned int untracked;
	struct lockdep_stack *next, *prev;
	struct held_lock locks[1 + LOCKDEP_DEPTH];
};

#define LOCKDEP_STACK_INIT(stack) {.top = (stack).locks, .end = &(stack).locks[LOCKDEP_DEPTH]}

#define LOCKDEP_MAP(lockname, wait) .dep_map = {.name = #lockname, .wait_type = (wait)},

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
 * @trylock: it was a try, which does not wait, so it adds no dependency on the locks held, but later ones depend on it.
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

/** lockdep_set_class() - give the lock of @map, which was not taken yet, another class. */
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

/** lockdep_reports_seen() - Return: number of reports since boot, without those of lockdep_reports_forgive(). */
unsigned long lockdep_reports_seen(void);

/** lockdep_reports_forgive() - a test expected @n reports: the machine's exit status does not count them. */
void lockdep_reports_forgive(unsigned long n);

/** lockdep_measure() - measure how long locks are held, or not; boot parameter lock_events does so. Return: state
 *  before. */
bool lockdep_measure(bool on);

/** lockdep_known_acquisitions() - Return: number of locks taken in sequences that were known, without those that LOCKEVENT_*
 *  count. */
unsigned long lockdep_known_acquisitions(void);

/** lockdep_print_tables() - print how full the tables are, and the classes that were held longest. */
void lockdep_print_tables(void);

#endif
