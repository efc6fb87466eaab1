/* SPDX-License-Identifier: MIT */
/*
 * rt_spinlock.h - spinlock_t in a real-time kernel: it sleeps. Included by <kernel/spinlock.h>.
 *
 * A holder may be preempted, but stays on its CPU and is an RCU reader, as under a lock that spins. It runs with the
 * priority of the most urgent task that waits. It may take further spin locks, and must not sleep otherwise. The state
 * that a task has set before (TASK_INTERRUPTIBLE and so on) survives a wait, with the wake-ups that come meanwhile.
 *
 * Interrupts stay on in the _irq and _irqsave forms: in this kernel their handlers run in threads, which wait for the lock as
 * all others do. The _bh forms keep the soft interrupts' threads of this CPU waiting. So all forms are for thread context,
 * with interrupts on and preemption allowed.
 */
#ifndef EXT_RT_SPINLOCK_H
#define EXT_RT_SPINLOCK_H

#include <kernel/bottom_half.h>
#include <kernel/lockdep.h>
#include <kernel/sync_types.h>
#include <kernel/types.h>

#define __SPIN_LOCK_UNLOCKED(name) {.base = RT_MUTEX_BASE_INIT, LOCKDEP_MAP(name, LD_WAIT_CONFIG)}
#define DEFINE_SPINLOCK(name)	   spinlock_t name = __SPIN_LOCK_UNLOCKED(name)

void __rt_spin_lock_init(spinlock_t *lock, const char *name, const struct lock_class_key *key);

#define spin_lock_init(lock)                              \
	do {                                              \
		static struct lock_class_key __key;       \
                                                          \
		__rt_spin_lock_init(lock, #lock, &__key); \
	} while (0)

/** spin_lock(), spin_unlock() - taking a lock that this task holds panics. */
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

/** spin_trylock() - Return: true if taken. Never sleeps. */
bool spin_trylock(spinlock_t *lock);

/** spin_is_locked() - Return: true if a task holds it; a hint. */
static inline bool spin_is_locked(const spinlock_t *lock)
{
	return (READ_ONCE(lock->base.owner) & ~RT_MUTEX_HAS_WAITERS) != 0;
}

#ifdef CONFIG_LOCKDEP
void spin_lock_nested(spinlock_t *lock, unsigned int subclass);
void spin_lock_nest(spinlock_t *lock, const struct lockdep_map *outer);
#else
#define spin_lock_nested(lock, subclass) spin_lock(lock)
#define spin_lock_nest(lock, outer)	 spin_lock(((void)(outer), (lock)))
#endif
#define spin_lock_nest_lock(lock, outer) spin_lock_nest(lock, &(outer)->dep_map)

/* --- The forms that mask interrupts in other kernels ------------------------------------------------------------ */

#define spin_lock_irq(lock)    spin_lock(lock)
#define spin_unlock_irq(lock)  spin_unlock(lock)
#define spin_trylock_irq(lock) spin_trylock(lock)

static inline void spin_lock_bh(spinlock_t *lock)
{
	local_bh_disable();
	spin_lock(lock);
}

static inline void spin_unlock_bh(spinlock_t *lock)
{
	spin_unlock(lock);
	local_bh_enable();
}

static inline bool spin_trylock_bh(spinlock_t *lock)
{
	local_bh_disable();
	if (spin_trylock(lock))
		return true;
	local_bh_enable();
	return false;
}

#define spin_lock_irqsave(lock, flags) \
	do {                           \
		(flags) = 0UL;         \
		spin_lock(lock);       \
	} while (0)
#define spin_lock_irqsave_nested(lock, flags, subclass) \
	do {                                            \
		(flags) = 0UL;                          \
		spin_lock_nested(lock, subclass);       \
	} while (0)
#define spin_trylock_irqsave(lock, flags) ((flags) = 0UL, spin_trylock(lock))

static inline void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
	(void)flags;
	spin_unlock(lock);
}

#endif
