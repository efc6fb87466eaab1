/* SPDX-License-Identifier: MIT */
/*
 * lockdep_types.h - what a lock carries for the lock validator. <kernel/lockdep.h> has the functions.
 *
 * Without CONFIG_LOCKDEP both structures are empty, so a lock is as large as it is without them.
 */
#ifndef KERNEL_LOCKDEP_TYPES_H
#define KERNEL_LOCKDEP_TYPES_H

#include <kernel/types.h>

struct lock_class;

/** struct lock_class_key - its address tells classes apart; it lies in static memory of the kernel or of a module */
struct lock_class_key {
#ifdef CONFIG_LOCKDEP
	u8 unused;
#endif
};

/* What waiting for a lock does. While a task holds a lock, it may not wait for one of a larger kind. */
#define LD_WAIT_INV    0U /* not checked */
#define LD_WAIT_FREE   1U /* never waits: RCU readers */
#define LD_WAIT_SPIN   2U /* spins: raw spin locks */
#define LD_WAIT_CONFIG 3U /* spins, or sleeps in a real-time kernel: spin locks, rwlocks */
#define LD_WAIT_SLEEP  4U /* sleeps: mutexes, completions, work items */

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
#ifdef CONFIG_LOCKDEP
	const struct lock_class_key *key;
	const char *name;
	struct lock_class *class;
	u8 wait_type;
#endif
};

#ifdef CONFIG_LOCKDEP

/* Locks that a task may hold at a time; the validator does not follow those beyond. */
#define LOCKDEP_DEPTH 48U

/**
 * struct held_lock - a lock that a context holds
 * @ip: where it was taken. @chain: stands for the sequence of locks from the oldest one to this. @id: its class and how it
 *	is held, see kernel/lockdep/internal.h.
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
#else
#define LOCKDEP_MAP(lockname, wait)
#endif

#endif
