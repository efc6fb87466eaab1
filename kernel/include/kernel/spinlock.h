/* SPDX-License-Identifier: MIT */
/*
 * spinlock.h - spin locks.
 *
 * A holder has preemption off and must not sleep. If an interrupt handler takes a lock, all code must take
 * it with interrupts off (_irqsave, or _irq where they are known to be on). If only soft interrupts take it, all other code
 * must keep those off (_bh). A CPU that takes a lock it
 * holds panics with "spinlock recursion" instead of hanging.
 *
 * raw_spinlock_t spins in every kernel. Choose it for what the scheduler, interrupt handlers that run in no thread, the
 * allocators and KASAN's reports need. spinlock_t is for all else.
 */
#ifndef KERNEL_SPINLOCK_H
#define KERNEL_SPINLOCK_H

#include <kernel/bottom_half.h>
#include <kernel/irqflags.h>
#include <kernel/lockdep.h>
#include <kernel/preempt.h>
#include <kernel/sync_types.h>
#include <asm/percpu.h>

#define __RAW_SPIN_LOCK_UNLOCKED(name) {.holder = 0, LOCKDEP_MAP(name, LD_WAIT_SPIN)}
#define DEFINE_RAW_SPINLOCK(name)      raw_spinlock_t name = __RAW_SPIN_LOCK_UNLOCKED(name)

static inline void __raw_spin_lock_init(raw_spinlock_t *lock, const char *name,
					const struct lock_class_key *key, unsigned int wait)
{
	lock->holder = 0;
	lockdep_init_map(&lock->dep_map, name, key, 0, wait);
}

/** raw_spin_lock_init() - make @lock free. Locks that one call initialises are of one class. */
#define raw_spin_lock_init(lock)                                         \
	do {                                                             \
		static struct lock_class_key __key;                      \
                                                                         \
		__raw_spin_lock_init(lock, #lock, &__key, LD_WAIT_SPIN); \
	} while (0)

/** spin_lock_wait() - the slow path: take the lock as soon as it is free. Preemption is off. */
void spin_lock_wait(raw_spinlock_t *lock);

/* The arch forms change nothing but the lock: preemption is off already, and the validator is not told. */
static inline bool arch_spin_trylock(raw_spinlock_t *lock)
{
	u32 nobody = 0;

	return __atomic_compare_exchange_n(&lock->holder, &nobody, smp_processor_id() + 1U, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void arch_spin_lock(raw_spinlock_t *lock)
{
	if (unlikely(!arch_spin_trylock(lock)))
		spin_lock_wait(lock);
}

static inline void arch_spin_unlock(raw_spinlock_t *lock)
{
	__atomic_store_n(&lock->holder, 0, __ATOMIC_RELEASE);
}

/** raw_spin_is_locked() - Return: true if a CPU holds it; a hint. */
static inline bool raw_spin_is_locked(const raw_spinlock_t *lock)
{
	return READ_ONCE(lock->holder) != 0;
}

/** raw_spin_lock_held() - Return: true if this CPU holds it. Preemption is off. */
static inline bool raw_spin_lock_held(const raw_spinlock_t *lock)
{
	return READ_ONCE(lock->holder) == smp_processor_id() + 1U;
}

/* --- Taking and releasing ---------------------------------------------------------------------------- */

#ifdef CONFIG_LOCKDEP

/* Functions of their own, so that the validator gets the place of the caller, and the code stays small. */
void raw_spin_lock_nested(raw_spinlock_t *lock, unsigned int subclass);
void raw_spin_lock_nest(raw_spinlock_t *lock, const struct lockdep_map *outer);
void raw_spin_lock(raw_spinlock_t *lock);
void raw_spin_unlock(raw_spinlock_t *lock);
bool raw_spin_trylock(raw_spinlock_t *lock);
void raw_spin_lock_irq(raw_spinlock_t *lock);
void raw_spin_unlock_irq(raw_spinlock_t *lock);
void raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags);

#else

/** raw_spin_lock(), raw_spin_unlock() - for locks that no interrupt handler takes. */
static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	preempt_disable();
	arch_spin_lock(lock);
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	arch_spin_unlock(lock);
	preempt_enable();
}

/** raw_spin_trylock() - Return: true if taken. Never waits. */
static inline bool raw_spin_trylock(raw_spinlock_t *lock)
{
	preempt_disable();
	if (arch_spin_trylock(lock))
		return true;
	preempt_enable();
	return false;
}

static inline void raw_spin_lock_irq(raw_spinlock_t *lock)
{
	local_irq_disable();
	raw_spin_lock(lock);
}

static inline void raw_spin_unlock_irq(raw_spinlock_t *lock)
{
	arch_spin_unlock(lock);
	local_irq_enable();
	preempt_enable();
}

static inline void raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags)
{
	arch_spin_unlock(lock);
	local_irq_restore(flags);
	preempt_enable();
}

#define raw_spin_lock_nested(lock, subclass) raw_spin_lock(lock)
#define raw_spin_lock_nest(lock, outer)	     raw_spin_lock(((void)(outer), (lock)))

#endif

/*
 * The _nested forms take a second lock of the same class: the caller's subclasses say in which order. With the
 * _nest_lock forms the order does not matter, because @outer, which is held, allows one such task at a time.
 */
#define raw_spin_lock_nest_lock(lock, outer) raw_spin_lock_nest(lock, &(outer)->dep_map)

/** raw_spin_lock_bh(), raw_spin_unlock_bh() - for locks that soft interrupts take, but no interrupt handler. */
static inline void raw_spin_lock_bh(raw_spinlock_t *lock)
{
	local_bh_disable();
	raw_spin_lock(lock);
}

static inline void raw_spin_unlock_bh(raw_spinlock_t *lock)
{
	raw_spin_unlock(lock);
	local_bh_enable();
}

/** raw_spin_trylock_bh() - Return: true if taken; else soft interrupts are as before. */
static inline bool raw_spin_trylock_bh(raw_spinlock_t *lock)
{
	local_bh_disable();
	if (raw_spin_trylock(lock))
		return true;
	local_bh_enable();
	return false;
}

#define raw_spin_lock_irqsave(lock, flags) \
	do {                               \
		local_irq_save(flags);     \
		raw_spin_lock(lock);       \
	} while (0)

#define raw_spin_lock_irqsave_nested(lock, flags, subclass) \
	do {                                                \
		local_irq_save(flags);                      \
		raw_spin_lock_nested(lock, subclass);       \
	} while (0)

#define raw_spin_trylock_irqsave(lock, flags)          \
	({                                             \
		local_irq_save(flags);                 \
		bool __taken = raw_spin_trylock(lock); \
		if (!__taken)                          \
			local_irq_restore(flags);      \
		__taken;                               \
	})

#if PREEMPT_RT
#include <ext/rt_spinlock.h>

#else

/* --- spinlock_t ------------------------------------------------------------------------------------ */

#define __SPIN_LOCK_UNLOCKED(name)                                       \
	{                                                                \
		.raw = {.holder = 0, LOCKDEP_MAP(name, LD_WAIT_CONFIG) } \
	}
#define DEFINE_SPINLOCK(name) spinlock_t name = __SPIN_LOCK_UNLOCKED(name)

#define spin_lock_init(lock)                                                       \
	do {                                                                       \
		static struct lock_class_key __key;                                \
                                                                                   \
		__raw_spin_lock_init(&(lock)->raw, #lock, &__key, LD_WAIT_CONFIG); \
	} while (0)

static inline bool spin_is_locked(const spinlock_t *lock)
{
	return raw_spin_is_locked(&lock->raw);
}

static inline void spin_lock(spinlock_t *lock)
{
	raw_spin_lock(&lock->raw);
}

#define spin_lock_nested(lock, subclass) raw_spin_lock_nested(&(lock)->raw, subclass)
#define spin_lock_nest_lock(lock, outer) raw_spin_lock_nest_lock(&(lock)->raw, outer)

static inline void spin_unlock(spinlock_t *lock)
{
	raw_spin_unlock(&lock->raw);
}

static inline bool spin_trylock(spinlock_t *lock)
{
	return raw_spin_trylock(&lock->raw);
}

static inline void spin_lock_irq(spinlock_t *lock)
{
	raw_spin_lock_irq(&lock->raw);
}

static inline void spin_unlock_irq(spinlock_t *lock)
{
	raw_spin_unlock_irq(&lock->raw);
}

static inline void spin_lock_bh(spinlock_t *lock)
{
	raw_spin_lock_bh(&lock->raw);
}

static inline void spin_unlock_bh(spinlock_t *lock)
{
	raw_spin_unlock_bh(&lock->raw);
}

static inline bool spin_trylock_bh(spinlock_t *lock)
{
	return raw_spin_trylock_bh(&lock->raw);
}

#define spin_lock_irqsave(lock, flags) raw_spin_lock_irqsave(&(lock)->raw, flags)
#define spin_lock_irqsave_nested(lock, flags, subclass) \
	raw_spin_lock_irqsave_nested(&(lock)->raw, flags, subclass)

static inline void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
	raw_spin_unlock_irqrestore(&lock->raw, flags);
}

#define spin_trylock_irqsave(lock, flags) raw_spin_trylock_irqsave(&(lock)->raw, flags)

#endif

#endif
