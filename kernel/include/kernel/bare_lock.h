/* SPDX-License-Identifier: MIT */
/*
 * bare_lock.h - a lock that is one word, and accesses nothing else.
 *
 * It leaves the preemption count and the running task alone: one atomic exchange takes it, one store
 * releases it. So it works before there is a current task and inside the fault handler, and it is cheap
 * enough for the fast paths of the allocators, which guard the data of one CPU.
 *
 * Take it with interrupts off and hold it for a few instructions. A CPU that takes it twice hangs without a
 * message. Other code uses <kernel/spinlock.h>.
 */
#ifndef KERNEL_BARE_LOCK_H
#define KERNEL_BARE_LOCK_H

#include <kernel/types.h>
#include <asm/barrier.h>

/** struct bare_lock - @locked: 0 if free. */
struct bare_lock {
	u32 locked;
};

/** bare_trylock() - Return: true if @lock was free and is now taken. Never waits. */
static __always_inline bool bare_trylock(struct bare_lock *lock)
{
	return !__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE);
}

/** bare_lock() - wait until @lock is free, and take it. */
static __always_inline void bare_lock(struct bare_lock *lock)
{
	while (!bare_trylock(lock)) {
		while (__atomic_load_n(&lock->locked, __ATOMIC_RELAXED))
			cpu_relax();
	}
}

/** bare_unlock() - release @lock. */
static __always_inline void bare_unlock(struct bare_lock *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

#endif
