/* SPDX-License-Identifier: MIT */
/*
 * check_locks.h - KASAN checks the first byte of each lock that is taken. `./redzone bench linux lockdep` compiles Linux's
 * lockdep.c with `-include` of this file, because lockdep.c itself has no checks then: a lock in freed memory is found
 * all the same.
 */
struct lockdep_map;

/* lockdep.c defines this function. For the linker it gets another name, so that all other files call the one below. */
void lock_acquire(struct lockdep_map *lock, unsigned int subclass, int trylock, int read, int check,
		  struct lockdep_map *nest_lock,
		  unsigned long ip) __asm__("unchecked_lock_acquire");

#include <linux/debug_locks.h>
#include <linux/kasan.h>

void checked_lock_acquire(struct lockdep_map *lock, unsigned int subclass, int trylock, int read,
			  int check, struct lockdep_map *nest_lock,
			  unsigned long ip) __asm__("lock_acquire");

void checked_lock_acquire(struct lockdep_map *lock, unsigned int subclass, int trylock, int read,
			  int check, struct lockdep_map *nest_lock, unsigned long ip)
{
	/* The validator is switched off when it has found something, and looks at no lock then. */
	if (debug_locks)
		kasan_check_byte(lock);
	lock_acquire(lock, subclass, trylock, read, check, nest_lock, ip);
}
