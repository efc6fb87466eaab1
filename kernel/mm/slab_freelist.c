// SPDX-License-Identifier: MIT
/*
 * slab_freelist.c - the links between free slots, which lie inside the slots.
 *
 * Free slots are poisoned, so the one place that reads and writes them is this file, which is not
 * instrumented. It is also the place that a write to a freed object ends up in: a link is stored mixed
 * with its own address, so that an overwritten one is noticed instead of followed.
 *
 * In the tag-based KASAN modes the pointers in the list have the tags of their last users: that is where the
 * next kasan_slab_alloc() learns which tag it must not give out again.
 */
#include "slab_internal.h"

static u64 mix(const void *where)
{
	/* Any odd constant; the product's upper half depends on all bits of the address. */
	return __builtin_bswap64((u64)(uintptr_t)where * 0x9e3779b97f4a7c15ULL);
}

void slab_set_next(const struct kmem_cache *cache, void *slot, void *next)
{
	u64 *link = (u64 *)((char *)kasan_reset_tag(slot) + cache->fp_offset);

	WRITE_ONCE(*link, (u64)(uintptr_t)next ^ mix(link));
}

void *slab_get_next(const struct kmem_cache *cache, const struct page *slab, const void *slot,
		    bool *ok)
{
	const u64 *link = (const u64 *)((const char *)kasan_reset_tag(slot) + cache->fp_offset);
	uintptr_t next = (uintptr_t)(READ_ONCE(*link) ^ mix(link));

	*ok = !next || (next % 8 == 0 &&
			kasan_untag_addr(next) - (uintptr_t)page_to_virt(slab) < page_size(slab));
	return *ok ? (void *)next : NULL;
}
