/* SPDX-License-Identifier: MIT */
/*
 * claim.c - if several CPUs free the same allocation at the same time, exactly one of them gets it.
 *
 * Slab objects of Generic mode have a word of their own for that (alloc/slab.c); slab objects of the
 * software tag-based mode use their first shadow byte. The locks here serve the other cases: memory tags of
 * the CPU, because no instruction exchanges them; short granules, because their owner is not in the shadow;
 * and whole pages.
 */
#include "claim.h"
#include "shadow.h"
#include "tags.h"

struct kasan_claim_lock kasan_claim_locks[KASAN_CLAIM_LOCKS];

#ifdef CONFIG_KASAN_SW_TAGS

/* Under the lock, because the owner's tag and the shadow byte that makes it count are in two places. */
static __attribute__((__noinline__)) bool claim_short(uintptr_t base, uint8_t *shadow, uint8_t tag)
{
	struct kasan_lock *lock = kasan_claim_lock_of(base);
	const unsigned long flags = kasan_lock(lock);
	/* With acquire: if this is a new owner's shadow, the granule's last byte is the new one as well. */
	const uint8_t state = __atomic_load_n(shadow, __ATOMIC_ACQUIRE);
	const bool ok = state < KASAN_GRANULE_SIZE && kasan_tag_owns(tag, kasan_tags_owner(base));

	if (ok)
		__atomic_store_n(shadow, KASAN_TAG_INVALID, __ATOMIC_RELAXED);
	kasan_unlock(lock, flags);
	return ok;
}

bool kasan_tags_claim(uintptr_t base, uint8_t tag)
{
	uint8_t *shadow, state;

	if (!kasan_shadow_at(base, &shadow))
		return false;
	state = __atomic_load_n(shadow, __ATOMIC_RELAXED);
	if (kasan_unlikely(state < KASAN_GRANULE_SIZE))
		return claim_short(base, shadow, tag);
	if (!kasan_tag_owns(tag, state))
		return false;
	/* If another CPU was first, the object is free, or by now has another owner and another tag. */
	return __atomic_compare_exchange_n(shadow, &state, KASAN_TAG_INVALID, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

#endif
