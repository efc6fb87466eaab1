/* SPDX-License-Identifier: MIT */
/*
 * local_lock.h - locks for the data of one CPU, which say what they protect.
 *
 * A local_lock_t lies in a per-CPU variable. Taking it keeps the task on its CPU, and keeps others of this CPU away from
 * the data: by disabling preemption, or interrupts in the _irq forms. It costs no more than that, but the lock validator
 * sees a lock. In a real-time kernel it is a spin lock of its own for each CPU: the holder can be preempted and
 * interrupted, and those who want the same CPU's data wait for it.
 *
 *	static DEFINE_PER_CPU(struct cache, caches);
 *
 *	local_lock(&caches, lock);
 *	cache = this_cpu_ptr(&caches);
 *
 * @array: the address of a per-CPU variable. @member: the local_lock_t in each copy.
 */
#ifndef KERNEL_LOCAL_LOCK_H
#define KERNEL_LOCAL_LOCK_H

#include <kernel/percpu.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>

/** local_lock_init() - make the locks of all CPUs free, and one class. */
#define local_lock_init(array, member)                                                          \
	do {                                                                                    \
		static struct lock_class_key __key;                                             \
                                                                                                \
		for (unsigned int __cpu = 0; __cpu < NR_CPUS; __cpu++)                          \
			__local_lock_init(&per_cpu_ptr(array, __cpu)->member, #member, &__key); \
	} while (0)

#if PREEMPT_RT
#include <ext/rt_local_lock.h>
#else

/** struct local_lock - lies in a per-CPU variable. All zeros is a free lock. */
typedef struct local_lock {
	struct lockdep_map dep_map;
} local_lock_t;

static inline void __local_lock_init(local_lock_t *lock, const char *name,
				     const struct lock_class_key *key)
{
	lockdep_init_map(&lock->dep_map, name, key, 0, LD_WAIT_CONFIG);
}

/* This CPU's lock, as far as there is one: no other context can be here. */
#define __local_lock_acquire(array, member)                                                \
	lock_acquire(&this_cpu_ptr(array)->member.dep_map, 0, false, LOCK_EXCLUSIVE, NULL, \
		     _THIS_IP_)
#define __local_lock_release(array, member) \
	lock_release(&this_cpu_ptr(array)->member.dep_map, _THIS_IP_)

/** local_lock(), local_unlock() - own the running CPU's data. In a real-time kernel thread context only. */
#define local_lock(array, member)                    \
	do {                                         \
		preempt_disable();                   \
		__local_lock_acquire(array, member); \
	} while (0)
#define local_unlock(array, member)                  \
	do {                                         \
		__local_lock_release(array, member); \
		preempt_enable();                    \
	} while (0)

/** local_lock_irq(), local_lock_irqsave() - for data that interrupt handlers use too. */
#define local_lock_irq(array, member)                \
	do {                                         \
		local_irq_disable();                 \
		__local_lock_acquire(array, member); \
	} while (0)
#define local_unlock_irq(array, member)              \
	do {                                         \
		__local_lock_release(array, member); \
		local_irq_enable();                  \
	} while (0)
#define local_lock_irqsave(array, member, flags)     \
	do {                                         \
		local_irq_save(flags);               \
		__local_lock_acquire(array, member); \
	} while (0)
#define local_unlock_irqrestore(array, member, flags) \
	do {                                          \
		__local_lock_release(array, member);  \
		local_irq_restore(flags);             \
	} while (0)

#endif

#endif
