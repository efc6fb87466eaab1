/* SPDX-License-Identifier: MIT */
/*
 * spinlock.h - spin locks.
 *
 * A holder has preemption off and must not sleep. If an interrupt handler takes a lock, all code must take
 * it with interrupts off (_irqsave, or _irq where they are known to be on). A CPU that takes a lock it
 * holds panics with "spinlock recursion" instead of hanging.
 */
#ifndef KERNEL_SPINLOCK_H
#define KERNEL_SPINLOCK_H

#include <kernel/irqflags.h>
#include <kernel/preempt.h>
#include <kernel/sync_types.h>
#include <asm/percpu.h>

#define __SPIN_LOCK_UNLOCKED(name) {0}
#define DEFINE_SPINLOCK(name)	   spinlock_t name = __SPIN_LOCK_UNLOCKED(name)

static inline void spin_lock_init(spinlock_t *lock)
{
	*lock = (spinlock_t)__SPIN_LOCK_UNLOCKED(lock);
}

/** spin_lock_wait() - the slow path: take the lock as soon as it is free. Preemption is off. */
void spin_lock_wait(spinlock_t *lock);

/* The raw forms do not change preemption: it is off already. */
static inline bool __raw_spin_trylock(spinlock_t *lock)
{
	u32 nobody = 0;

	return __atomic_compare_exchange_n(&lock->holder, &nobody, smp_processor_id() + 1U, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void __raw_spin_lock(spinlock_t *lock)
{
	if (unlikely(!__raw_spin_trylock(lock)))
		spin_lock_wait(lock);
}

static inline void __raw_spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->holder, 0, __ATOMIC_RELEASE);
}

/** spin_is_locked() - Return: true if a CPU holds it; a hint. */
static inline bool spin_is_locked(const spinlock_t *lock)
{
	return READ_ONCE(lock->holder) != 0;
}

/** spin_lock_held() - Return: true if this CPU holds it. Preemption is off. */
static inline bool spin_lock_held(const spinlock_t *lock)
{
	return READ_ONCE(lock->holder) == smp_processor_id() + 1U;
}

/** spin_lock(), spin_unlock() - for locks that no interrupt handler takes. */
static inline void spin_lock(spinlock_t *lock)
{
	preempt_disable();
	__raw_spin_lock(lock);
}

static inline void spin_unlock(spinlock_t *lock)
{
	__raw_spin_unlock(lock);
	preempt_enable();
}

/** spin_trylock() - Return: true if taken. Never waits. */
static inline bool spin_trylock(spinlock_t *lock)
{
	preempt_disable();
	if (__raw_spin_trylock(lock))
		return true;
	preempt_enable();
	return false;
}

static inline void spin_lock_irq(spinlock_t *lock)
{
	local_irq_disable();
	spin_lock(lock);
}

static inline void spin_unlock_irq(spinlock_t *lock)
{
	__raw_spin_unlock(lock);
	local_irq_enable();
	preempt_enable();
}

#define spin_lock_irqsave(lock, flags) \
	do {                           \
		local_irq_save(flags); \
		spin_lock(lock);       \
	} while (0)

static inline void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
	__raw_spin_unlock(lock);
	local_irq_restore(flags);
	preempt_enable();
}

#define spin_trylock_irqsave(lock, flags)          \
	({                                         \
		local_irq_save(flags);             \
		bool __taken = spin_trylock(lock); \
		if (!__taken)                      \
			local_irq_restore(flags);  \
		__taken;                           \
	})

#endif
