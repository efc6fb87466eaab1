/* SPDX-License-Identifier: MIT */
/* lock.c - the lock attempt of reports, and the locks of claims. */
#include "base.h"
#include "lock.h"

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
