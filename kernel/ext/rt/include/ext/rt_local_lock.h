/* SPDX-License-Identifier: MIT */
/* rt_local_lock.h - local_lock_t of a real-time kernel: a spin lock of its own for each CPU. */
#ifndef EXT_RT_LOCAL_LOCK_H
#define EXT_RT_LOCAL_LOCK_H

typedef struct local_lock {
	spinlock_t lock;
} local_lock_t;

static inline void __local_lock_init(local_lock_t *lock, const char *name,
				     const struct lock_class_key *key)
{
	__rt_spin_lock_init(&lock->lock, name, key);
}

#define local_lock(array, member)                             \
	do {                                                  \
		migrate_disable();                            \
		spin_lock(&this_cpu_ptr(array)->member.lock); \
	} while (0)
#define local_unlock(array, member)                             \
	do {                                                    \
		spin_unlock(&this_cpu_ptr(array)->member.lock); \
		migrate_enable();                               \
	} while (0)

#define local_lock_irq(array, member)	local_lock(array, member)
#define local_unlock_irq(array, member) local_unlock(array, member)
#define local_lock_irqsave(array, member, flags) \
	do {                                     \
		(flags) = 0UL;                   \
		local_lock(array, member);       \
	} while (0)
#define local_unlock_irqrestore(array, member, flags) \
	do {                                          \
		(void)(flags);                        \
		local_unlock(array, member);          \
	} while (0)

#endif
