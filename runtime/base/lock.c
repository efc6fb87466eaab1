/* SPDX-License-Identifier: MIT */
/*
 * lock.c - the lock that a report tries, and claims: if several CPUs free the same allocation at the same time, exactly one of them gets it.
 *
 * Slab objects of Generic mode have a word of their own for that (alloc/slab.c); slab objects of the
 * software tag-based mode use their first shadow byte. The locks here serve the other cases: memory tags of
 * the CPU, because no instruction exchanges them; short granules, because their owner is not in the shadow;
 * and whole pages.
 */
#include "claim.h"

struct kasan_claim_lock kasan_claim_locks[KASAN_CLAIM_LOCKS];

bool kasan_lock_for_report(struct kasan_lock *lock, unsigned long *flags)
{
	unsigned int tries;

	for (tries = 1U << 20; tries; tries--) {
		if (kasan_trylock(lock, flags))
			return true;
		if (kasan_lock_owned(lock))
			return false;
		kasan_arch_relax();
	}
	return false;
}
