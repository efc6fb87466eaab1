/* SPDX-License-Identifier: MIT */
/*
 * claim.h - locks for ending an allocation's life where no single atomic instruction can do it.
 *
 * Two CPUs may free the same allocation at the same time. They must not both find it alive, so the look and
 * the end of its life are one step: an atomic exchange of the word that holds its state where there is one,
 * else under the lock of the allocation's address. Such a lock is held for a few instructions, and nothing
 * is called under it.
 */
#ifndef KASAN_CLAIM_H
#define KASAN_CLAIM_H

#include "base.h"
#include "lock.h"

/* Hardware tags take one for each free of a slab object, so there are many; Generic mode only for large
 * allocations. On one CPU the lock only keeps interrupts away. */
#if defined(CONFIG_KASAN_TAGS) && CONFIG_KASAN_NR_CPUS > 1
#define KASAN_CLAIM_LOCKS 64U
#else
#define KASAN_CLAIM_LOCKS 1U
#endif

struct kasan_claim_lock {
	struct kasan_lock lock;
#ifdef CONFIG_KASAN_TAGS
} __attribute__((__aligned__(64)));
#else
};
#endif

extern struct kasan_claim_lock kasan_claim_locks[KASAN_CLAIM_LOCKS];

/** kasan_claim_lock_of() - the lock of the allocation at @addr. The allocations of a page share a lock,
 *  because CPUs tend to free in pages of their own. */
static inline struct kasan_lock *kasan_claim_lock_of(uintptr_t addr)
{
	return &kasan_claim_locks[addr / CONFIG_KASAN_PAGE_SIZE % KASAN_CLAIM_LOCKS].lock;
}

#endif /* KASAN_CLAIM_H */
