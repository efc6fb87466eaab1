/* SPDX-License-Identifier: MIT */
/*
 * rt_rwlock.h - rwlock_t in a real-time kernel: it sleeps. Included by <kernel/rwlock.h>.
 *
 * What <ext/rt_spinlock.h> says about holders and about masking interrupts holds here too. A writer that waits, or
 * writes, runs with the priority of the most urgent task that waits for it. Readers are not known by name, so they are not lent
 * a priority: an urgent writer waits until they are done. Use a spin lock where that matters.
 *
 * New readers wait until all waiting writers are done. So a task that reads must not take the lock for reading again, unless there
 * are no writers.
 */
#ifndef EXT_RT_RWLOCK_H
#define EXT_RT_RWLOCK_H

#include <kernel/lockdep.h>
#include <kernel/sync_types.h>
#include <kernel/types.h>

#define __RW_LOCK_UNLOCKED(name) {.base = RT_MUTEX_BASE_INIT, LOCKDEP_MAP(name, LD_WAIT_CONFIG)}
#define DEFINE_RWLOCK(name)	 rwlock_t name = __RW_LOCK_UNLOCKED(name)

void __rwlock_init(rwlock_t *lock, const char *name, const struct lock_class_key *key);

#define rwlock_init(lock)                           \
	do {                                        \
		static struct lock_class_key __key; \
                                                    \
		__rwlock_init(lock, #lock, &__key); \
	} while (0)

/** read_lock(), read_unlock() - share the lock with other readers. Taking a lock that this task holds for writing
 *  panics. */
void read_lock(rwlock_t *lock);
void read_unlock(rwlock_t *lock);

/** write_lock(), write_unlock() - keep everybody out. Taking a lock that this task holds for writing panics. */
void write_lock(rwlock_t *lock);
void write_unlock(rwlock_t *lock);

/** read_trylock(), write_trylock() - Return: true if taken. Never sleep. */
bool read_trylock(rwlock_t *lock);
bool write_trylock(rwlock_t *lock);

#ifdef CONFIG_LOCKDEP
void write_lock_nested(rwlock_t *lock, unsigned int subclass);
#else
#define write_lock_nested(lock, subclass) write_lock(lock)
#endif

#define read_lock_irq(lock)    read_lock(lock)
#define read_unlock_irq(lock)  read_unlock(lock)
#define write_lock_irq(lock)   write_lock(lock)
#define write_unlock_irq(lock) write_unlock(lock)
#define read_lock_bh(lock)     read_lock(lock)
#define read_unlock_bh(lock)   read_unlock(lock)
#define write_lock_bh(lock)    write_lock(lock)
#define write_unlock_bh(lock)  write_unlock(lock)

#define read_lock_irqsave(lock, flags) \
	do {                           \
		(flags) = 0UL;         \
		read_lock(lock);       \
	} while (0)
#define write_lock_irqsave(lock, flags) \
	do {                            \
		(flags) = 0UL;          \
		write_lock(lock);       \
	} while (0)

static inline void read_unlock_irqrestore(rwlock_t *lock, unsigned long flags)
{
	(void)flags;
	read_unlock(lock);
}

static inline void write_unlock_irqrestore(rwlock_t *lock, unsigned long flags)
{
	(void)flags;
	write_unlock(lock);
}

/** rwlock_is_locked() - Return: true if anyone holds it; a hint. */
static inline bool rwlock_is_locked(const rwlock_t *lock)
{
	return READ_ONCE(lock->state) != 0;
}

#endif
