/* SPDX-License-Identifier: MIT */
/*
 * rwlock.h - spin locks that readers share.
 *
 * A holder has preemption off and must not sleep. Readers wait for the writer that holds the lock, and also behind
 * waiting writers, so writers are served first and cannot be starved. A reader in an interrupt does not wait behind
 * waiting writers: it may have interrupted a reader that these wait for. So a task that reads must not take the lock for
 * reading again, unless there are no writers.
 *
 * If an interrupt handler reads, only writers must keep interrupts off; if one writes, all must.
 */
#ifndef KERNEL_RWLOCK_H
#define KERNEL_RWLOCK_H

#include <kernel/irqflags.h>
#include <kernel/lockdep.h>
#include <kernel/preempt.h>
#include <kernel/sync_types.h>

#if PREEMPT_RT
#include <ext/rt_rwlock.h>

#else

#define __RW_LOCK_UNLOCKED(name) {.state = 0, .waiting = 0, LOCKDEP_MAP(name, LD_WAIT_CONFIG)}
#define DEFINE_RWLOCK(name)	 rwlock_t name = __RW_LOCK_UNLOCKED(name)

static inline void __rwlock_init(rwlock_t *lock, const char *name, const struct lock_class_key *key)
{
	lock->state = 0;
	lock->waiting = 0;
	lockdep_init_map(&lock->dep_map, name, key, 0, LD_WAIT_CONFIG);
}

/** rwlock_init() - make @lock free. Locks that one call initialises are of one class. */
#define rwlock_init(lock)                           \
	do {                                        \
		static struct lock_class_key __key; \
                                                    \
		__rwlock_init(lock, #lock, &__key); \
	} while (0)

/** read_lock(), read_unlock() - share the lock with other readers. Taking a lock that this CPU holds for writing
 *  panics. */
void read_lock(rwlock_t *lock);
void read_unlock(rwlock_t *lock);

/** write_lock(), write_unlock() - keep everybody out. Taking a lock that this CPU holds for writing panics. */
void write_lock(rwlock_t *lock);
void write_unlock(rwlock_t *lock);

/** read_trylock(), write_trylock() - Return: true if taken. Never wait. */
bool read_trylock(rwlock_t *lock);
bool write_trylock(rwlock_t *lock);

/** write_lock_nested() - take a second lock of the same class: the caller's subclasses say in which order. */
#ifdef CONFIG_LOCKDEP
void write_lock_nested(rwlock_t *lock, unsigned int subclass);
#else
#define write_lock_nested(lock, subclass) write_lock(lock)
#endif

static inline void read_lock_irq(rwlock_t *lock)
{
	local_irq_disable();
	read_lock(lock);
}

static inline void write_lock_irq(rwlock_t *lock)
{
	local_irq_disable();
	write_lock(lock);
}

#define read_lock_irqsave(lock, flags) \
	do {                           \
		local_irq_save(flags); \
		read_lock(lock);       \
	} while (0)
#define write_lock_irqsave(lock, flags) \
	do {                            \
		local_irq_save(flags);  \
		write_lock(lock);       \
	} while (0)

void read_unlock_irq(rwlock_t *lock);
void write_unlock_irq(rwlock_t *lock);
void read_unlock_irqrestore(rwlock_t *lock, unsigned long flags);
void write_unlock_irqrestore(rwlock_t *lock, unsigned long flags);

/** rwlock_is_locked() - Return: true if anyone holds it; a hint. */
static inline bool rwlock_is_locked(const rwlock_t *lock)
{
	return READ_ONCE(lock->state) != 0;
}

#endif

#endif
