/* SPDX-License-Identifier: MIT */
/*
 * lock.h - struct kasan_lock, the runtime's only lock, and the order in which locks are taken.
 *
 * A test-and-set spin lock that is held with interrupts off and that knows which CPU holds it. The runtime cannot use
 * the system's locks: they may be instrumented, may be the thing that is broken, or may be held by the very code that
 * is being reported.
 *
 * The order has two levels. The report lock comes first. All others are leaves: a context that holds one takes no
 * second lock.
 *
 *	lock		of		taken under the report lock		the port is called under it for
 *	report		notice.c	-					all that a report needs
 *	globals		globals.c	by kasan_find_global(), tries only	kasan_port_readable()
 *	depot		depot.c		no					nothing
 *	a heap's	heap.c		no					kasan_port_alloc(), kasan_port_readable()
 *	a heap's queues	heap_queue.h	no					kasan_port_alloc()
 *	heaps		heap.c		no					nothing
 *	a page heap's	page_heap.c	no					kasan_port_alloc()
 *	page heaps	page_heap.c	no					nothing
 *	quarantine's	quarantine.c	no					nothing
 *	claims		lock.c		no					nothing
 *	slack's map	hw_slack.c	no					kasan_port_alloc()
 *	samples'	sample.c	no					nothing
 *	mappings'	dma.c		no					nothing
 *
 * The port's functions for the CPU number and for interrupts are called under every lock. Callbacks of allocators
 * (release, acquire), report hooks, kasan_port_report_end() and kasan_port_panic() run with no lock held. One
 * exception: code built without recovery that has a bug inside a report ends in kasan_port_panic() there. The host's
 * unit tests check every lock that they take against this order (ports/posix/lock_check.c).
 *
 * A report may have to come out while its own CPU, interrupted, holds a leaf. So what reports call must only try a
 * lock, and must not wait for one that its own CPU holds. The same holds for the depot, because an NMI may note where
 * it comes from (kasan_record_aux_stack(), kasan_stack_save()).
 */
#ifndef KASAN_LOCK_H
#define KASAN_LOCK_H

#include "base.h"

#include <kasan/tags_inline.h>

/** struct kasan_lock - @owner: the number of the CPU that holds it, plus 1; 0: free. Zeroed memory is an unlocked lock.
 *  */
struct kasan_lock {
	unsigned int owner;
};

/** kasan_lock_in() - the lock in a public struct, which declares a plain integer because this header is private. */
static inline struct kasan_lock *kasan_lock_in(unsigned int *word)
{
	_Static_assert(sizeof(struct kasan_lock) == sizeof(*word), "");
	return (struct kasan_lock *)word;
}

#define KASAN_LOCK_FREE 0U
#define KASAN_LOCK_INIT {KASAN_LOCK_FREE}

/* Called after a lock is taken and before it is freed, in tests that check the order. */
#ifdef KASAN_LOCK_CHECK
void kasan_lock_check_take(const struct kasan_lock *lock);
void kasan_lock_check_free(const struct kasan_lock *lock);
#else
#define kasan_lock_check_take(lock) ((void)(lock))
#define kasan_lock_check_free(lock) ((void)(lock))
#endif

/** kasan_lock_owned() - does this CPU hold @lock? With interrupts on, true only means that this CPU was interrupted
 *  while it held the lock. */
static inline bool kasan_lock_owned(const struct kasan_lock *lock)
{
	return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == kasan_port_cpu() + 1U;
}

/** kasan_lock_owner() - Return: the CPU that holds @lock, -1 if it is free. A hint, because other CPUs run on. */
static inline int kasan_lock_owner(const struct kasan_lock *lock)
{
	return (int)__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) - 1;
}

/** kasan_lock_taken() - does another CPU hold @lock? Interrupts are off. If the answer is no, everything that the last
 *  owner did under it is visible. */
static inline bool kasan_lock_taken(const struct kasan_lock *lock)
{
	const unsigned int owner = __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE);

	return owner != KASAN_LOCK_FREE && owner != kasan_port_cpu() + 1U;
}

/* With interrupts off, a single CPU needs no exclusive access and no barrier: a fault or an NMI between the load and
 * the store ends before the store. Exclusive accesses cost a small CPU more than the work under the lock, and some CPUs
 * have none. 64-bit systems keep them, because there the one "CPU" may be the threads of a process. */
#if CONFIG_KASAN_NR_CPUS == 1 && UINTPTR_MAX <= UINT32_MAX
#define KASAN_LOCK_PLAIN 1
#endif

/* These are a few instructions then: a call would take as much flash and more time. */
#ifdef KASAN_LOCK_PLAIN
#define kasan_lock_inline kasan_always_inline
#else
#define kasan_lock_inline inline
#endif

static inline bool kasan_lock_claim(struct kasan_lock *lock, unsigned int cpu)
{
#ifdef KASAN_LOCK_PLAIN
	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != KASAN_LOCK_FREE)
		return false;
	__atomic_store_n(&lock->owner, cpu + 1U, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	return true;
#else
	unsigned int expected = KASAN_LOCK_FREE;

	return __atomic_compare_exchange_n(&lock->owner, &expected, cpu + 1U, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
#endif
}

static kasan_lock_inline void kasan_lock_drop(struct kasan_lock *lock)
{
#ifdef KASAN_LOCK_PLAIN
	__atomic_signal_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&lock->owner, KASAN_LOCK_FREE, __ATOMIC_RELAXED);
#else
	__atomic_store_n(&lock->owner, KASAN_LOCK_FREE, __ATOMIC_RELEASE);
#endif
}

/** kasan_trylock() - take @lock if it is free. @flags: filled on success, for kasan_unlock(). Return: true if taken;
 *  otherwise interrupts are as they were. */
static inline bool kasan_trylock(struct kasan_lock *lock, unsigned long *flags)
{
	unsigned long saved = kasan_port_irq_save();

	if (kasan_lock_claim(lock, kasan_port_cpu())) {
		*flags = saved;
		kasan_lock_check_take(lock);
		return true;
	}
	kasan_port_irq_restore(saved);
	return false;
}

/** kasan_lock() - spin until @lock is taken. This CPU must not hold it already. Return: flags for kasan_unlock(). */
static kasan_lock_inline unsigned long kasan_lock(struct kasan_lock *lock)
{
	unsigned long flags;

#ifdef KASAN_LOCK_PLAIN
	/* With interrupts off no other context can hold it, and waiting for itself would never end. */
	flags = kasan_port_irq_save();
	__atomic_store_n(&lock->owner, kasan_port_cpu() + 1U, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	kasan_lock_check_take(lock);
#else
	/* Wait by reading, with interrupts as the caller has them, because only the attempt needs them off. */
	while (!kasan_trylock(lock, &flags)) {
		while (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != KASAN_LOCK_FREE)
			kasan_arch_relax();
	}
#endif
	return flags;
}

/** kasan_unlock() - release @lock. @flags: from kasan_lock() or kasan_trylock(). */
static kasan_lock_inline void kasan_unlock(struct kasan_lock *lock, unsigned long flags)
{
	kasan_lock_check_free(lock);
	kasan_lock_drop(lock);
	kasan_port_irq_restore(flags);
}

/** kasan_trylock_here(), kasan_unlock_here() - the same for a caller that has interrupts off and knows its @cpu. */
static inline bool kasan_trylock_here(struct kasan_lock *lock, unsigned int cpu)
{
	if (!kasan_lock_claim(lock, cpu))
		return false;
	kasan_lock_check_take(lock);
	return true;
}

static inline void kasan_unlock_here(struct kasan_lock *lock)
{
	kasan_lock_check_free(lock);
	kasan_lock_drop(lock);
}

/** kasan_lock_for_report() - kasan_trylock() for a report, which must come out: it waits, but not for its own CPU and
 *  not for ever. */
bool kasan_lock_for_report(struct kasan_lock *lock, unsigned long *flags);

/* --- Claims --- */

/* Two CPUs may free the same allocation at the same time, and only one of them may find it alive. Where one word holds
 * the allocation's state, an atomic exchange decides: slab metadata in Generic mode, the first shadow byte with
 * software tags, on 64-bit systems the header of a simple heap's chunk. Everything else takes the lock of its address:
 * memory tags of the CPU, which no instruction exchanges; short granules, whose owner is not in the shadow; and whole
 * pages. The lock is held for a few instructions, and nothing is called under it. */

/* The locks of tag modes are in <kasan/tags_inline.h>. Generic mode needs one for large allocations only. */
#ifndef CONFIG_KASAN_TAGS
#define KASAN_CLAIM_LOCKS 1U
struct kasan_claim_lock {
	unsigned int owner;
};
extern struct kasan_claim_lock kasan_claim_locks[KASAN_CLAIM_LOCKS];

static inline struct kasan_claim_lock *kasan_claim_lock_at(uintptr_t addr)
{
	(void)addr;
	return &kasan_claim_locks[0];
}
#endif

/** kasan_claim_lock_of() - Return: the lock of the allocation at @addr. */
static inline struct kasan_lock *kasan_claim_lock_of(uintptr_t addr)
{
	return kasan_lock_in(&kasan_claim_lock_at(addr)->owner);
}

#endif /* KASAN_LOCK_H */
