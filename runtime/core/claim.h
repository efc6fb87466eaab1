/* SPDX-License-Identifier: MIT */
/*
 * claim.h - locks for ending an allocation's life where no single atomic instruction can do it.
 *
 * Two CPUs may free the same allocation at the same time. Both must not find that it lives, so whoever looks
 * and whoever ends it are one step: an exchange of the word that says so where there is one, else under the
 * lock of the allocation's address. Such a lock is held for a few instructions, and nothing is called inside.
 */
#ifndef KASAN_CLAIM_H
#define KASAN_CLAIM_H

#include "internal.h"
#include "lock.h"

/* Hardware tags take one for each free of a slab object, so there are many; Generic mode only for large
 * allocations. On one CPU all that the lock does is to keep interrupts away. */
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

/** kasan_claim_lock_of() - the lock of the allocation at @addr. CPUs tend to free in pages of their own: those
 *  of a page share one. */
static inline struct kasan_lock *kasan_claim_lock_of(uintptr_t addr)
{
	return &kasan_claim_locks[addr / CONFIG_KASAN_PAGE_SIZE % KASAN_CLAIM_LOCKS].lock;
}

#endif /* KASAN_CLAIM_H */
