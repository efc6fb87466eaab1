/* SPDX-License-Identifier: MIT */
/*
 * tags_sw.c - memory tags in shadow bytes, for software tags.
 *
 * A shadow byte is the tag of its granule, KASAN_TAG_INVALID, or 1 to 15: a short granule, of which that many bytes are
 * accessible to pointers with the tag that its last byte of memory holds.
 */
#include "tags_hot.h"

#ifdef CONFIG_KASAN_SW_TAGS

void kasan_tags_fill(uintptr_t addr, size_t size, uint8_t tag)
{
	uint8_t *shadow, *last;

	if (!size || !kasan_shadow_at(addr, &shadow) || !kasan_shadow_at(addr + (size - 1), &last))
		return;
	kasan_fill(shadow, tag, size >> KASAN_SHADOW_SCALE_SHIFT);
}

void kasan_tags_fill_zero(uintptr_t addr, size_t size, uint8_t tag)
{
	kasan_tags_fill(addr, size, tag);
	__memset((void *)kasan_untag_addr(addr), 0, size);
}

bool kasan_tags_read(uintptr_t addr, uint8_t *tag)
{
	uint8_t *shadow;

	if (!kasan_shadow_at(addr, &shadow))
		return false;
	*tag = __atomic_load_n(shadow, __ATOMIC_RELAXED);
	return true;
}

void kasan_tags_short(uintptr_t granule, unsigned int bytes, uint8_t tag)
{
	uint8_t *shadow;

	if (!kasan_shadow_at(granule, &shadow))
		return;
	/* First the tag, then the shadow byte that makes it count, because another CPU may check in between. */
	*(uint8_t *)(kasan_untag_addr(granule) | KASAN_GRANULE_MASK) = tag;
	__atomic_store_n(shadow, (uint8_t)bytes, __ATOMIC_RELEASE);
}

uintptr_t kasan_tags_open_short(uintptr_t addr, size_t size)
{
	kasan_tags_open(addr, size, kasan_addr_tag(addr), false);
	return addr;
}

/* --- Claims --- */

/* Under a lock, because the owner's tag and the shadow byte that makes it count are in two places. */
static kasan_noinline bool claim_short(uintptr_t base, uint8_t *shadow, uint8_t tag)
{
	struct kasan_lock *lock = kasan_claim_lock_of(base);
	const unsigned long flags = kasan_lock(lock);
	/* With acquire: if the shadow is a new owner's, the granule's last byte is too. */
	const uint8_t state = __atomic_load_n(shadow, __ATOMIC_ACQUIRE);
	const bool ok = state < KASAN_GRANULE_SIZE &&
			kasan_tag_owns(tag, (uint8_t)kasan_tags_owner_fast(base));

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
	/* If another CPU was faster, the object is free, or already has another owner and tag. */
	return __atomic_compare_exchange_n(shadow, &state, KASAN_TAG_INVALID, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

#endif /* CONFIG_KASAN_SW_TAGS */
