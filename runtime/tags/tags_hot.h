/* SPDX-License-Identifier: MIT */
/*
 * tags_hot.h - what only the runtime inlines of tag memory and of the tag policy, beside <kasan/tags_inline.h>.
 */
#ifndef KASAN_TAGS_HOT_H
#define KASAN_TAGS_HOT_H

#include "../base/lock.h"
#include "../shadow/shadow.h"
#include "tags.h"

#ifdef CONFIG_KASAN_TAGS

/* --- Policy: tags/tag_policy.c --- */

/** kasan_tag_pick() - kasan_tag_for_slot() by the policy "adjacent", with the random number @random. */
static kasan_always_inline unsigned int kasan_tag_pick(uint32_t random, unsigned int parity,
						       unsigned int last)
{
	const unsigned int distance = last - (KASAN_TAG_MIN + parity);
	/* The index of @last within its kind. If it is of the other kind or no tag, the rotation makes the number
	 * large. */
	const unsigned int kind = distance >> 1 | distance << 31;
	unsigned int index;

	if (kasan_likely(kind < KASAN_TAG_KIND_COUNT)) {
		/* One of the other tags: from @last on they move up by one. */
		index = kasan_tag_spread(random, KASAN_TAG_KIND_COUNT - 1);
		index += index >= kind;
	} else {
		index = kasan_tag_spread(random, KASAN_TAG_KIND_COUNT);
	}
	return KASAN_TAG_MIN + 2 * index + parity;
}

/* --- Tag memory --- */

/*
 * kasan_tags_claim_fast() - kasan_tags_claim() with the pointer @object. @base: start of its slot, which has tag
 * memory, with any tag. Return: false if @object does not own the slot; then nothing has changed, and
 * kasan_tags_claim() decides about pointers that match all memory and about short granules.
 */
#ifdef CONFIG_KASAN_HW_TAGS
/* Bit N is set if no allocation may have tag N, so that kasan_mte_irg() must not choose it. */
#define KASAN_HW_NO_TAGS (0xffffU & ~((2U << (KASAN_TAG_MAX & 15)) - (1U << (KASAN_TAG_MIN & 15))))

/* Give at least one whole page the tag of @addr. @size: rounded up to pages. Return: @addr, so that the caller need not
 * keep it. */
static kasan_always_inline uintptr_t kasan_tags_fill_pages_fast(uintptr_t addr, size_t size)
{
	/* A copy, because compilers must assume that storing tags changes globals. */
	const size_t step = kasan_tags_page_step;
	const uint64_t tags = (addr >> 56 & 15) * 0x1111111111111111ULL;
	uintptr_t block = kasan_untag_addr(addr);
	const uintptr_t end = block + size;

	if (kasan_unlikely(!step))
		return kasan_tags_fill_large(addr, (size + (CONFIG_KASAN_PAGE_SIZE - 1)) &
							   ~(CONFIG_KASAN_PAGE_SIZE - 1));
	do {
#pragma GCC unroll 16
		for (unsigned int i = 0; i < 16; i++) {
			kasan_mte_stgm(block, tags);
			block += step;
		}
	} while (block < end);
	return addr;
}

static kasan_always_inline bool kasan_tags_claim_fast(uintptr_t object, uintptr_t base)
{
	const uintptr_t addr = kasan_untag_addr(base);
	struct kasan_lock *lock = kasan_claim_lock_of(addr);
	unsigned long flags;
	bool ok;

	/* If another CPU has the lock, kasan_tags_claim() waits for it. */
	if (kasan_unlikely(!kasan_trylock(lock, &flags)))
		return false;
	/* The owner's pointer: the address, the memory's tag, and the bits above the tag, which are always set. */
	ok = (kasan_mte_ldg(addr) | (uintptr_t)0xf << 60) == object;
	if (kasan_likely(ok))
		kasan_mte_stg_as(addr, (uintptr_t)KASAN_TAG_INVALID << 56);
	kasan_unlock(lock, flags);
	return ok;
}

#else

static kasan_always_inline bool kasan_tags_claim_fast(uintptr_t object, uintptr_t base)
{
	return kasan_likely(!((object ^ base) << 8)) && kasan_tags_claim_here(object, 0);
}

#endif

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_TAGS_HOT_H */
