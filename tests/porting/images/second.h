/* SPDX-License-Identifier: MIT */
/* second.h - for compact_smp.c: what the example needs for a second hart. */
#ifndef SECOND_H
#define SECOND_H

extern char second_stack[16384];
extern volatile int memory_lock;

static inline void lock_memory(void)
{
	while (__atomic_exchange_n(&memory_lock, 1, __ATOMIC_ACQUIRE))
		;
}

static inline void unlock_memory(void)
{
	__atomic_store_n(&memory_lock, 0, __ATOMIC_RELEASE);
}

#endif /* SECOND_H */
