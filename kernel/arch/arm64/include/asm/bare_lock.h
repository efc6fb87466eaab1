/* SPDX-License-Identifier: MIT */
/*
 * bare_lock.h - the bare lock that architecture code uses itself: it touches neither the
 * preemption count nor any lock validator, so it works before there is a current task and inside
 * the fault handler. Take it with interrupts off. Everybody else uses <kernel/spinlock.h>.
 */
#ifndef ASM_BARE_LOCK_H
#define ASM_BARE_LOCK_H

#include <kernel/types.h>
#include <asm/barrier.h>

/** bare_lock_t - zero: free. Otherwise 1 + the CPU that holds it. */
typedef struct {
	u32 owner;
} bare_lock_t;

#define BARE_LOCK_UNLOCKED {0}

static __always_inline bool bare_trylock(bare_lock_t *lock, unsigned int cpu)
{
	u32 free = 0;

	return __atomic_compare_exchange_n(&lock->owner, &free, cpu + 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static __always_inline void bare_lock(bare_lock_t *lock, unsigned int cpu)
{
	while (!bare_trylock(lock, cpu)) {
		while (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED))
			cpu_relax();
	}
}

static __always_inline void bare_unlock(bare_lock_t *lock)
{
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

/** bare_lock_is_mine() - Return: true if @cpu, the caller's own, holds @lock. */
static __always_inline bool bare_lock_is_mine(const bare_lock_t *lock, unsigned int cpu)
{
	return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == cpu + 1;
}

#endif
