// SPDX-License-Identifier: MIT
/*
 * slub_freelist.c - the links between free slots, which are stored inside the slots.
 *
 * Free slots are poisoned, so only this file reads and writes them, and it is not instrumented. A
 * write to a freed object may overwrite a link. So links are stored encoded, and an overwritten one
 * is noticed and not followed.
 *
 * In the tag-based KASAN modes the pointers in the list have the tags of their last users. So the
 * next kasan_slab_alloc() knows which tag it must not use again.
 */
#include "slab_internal.h"

/* Any odd constant, and its inverse modulo 2^64. */
#define SPREAD	 0x9e3779b97f4a7c15ULL
#define UNSPREAD 0xf1de83e19937733dULL

_Static_assert(SPREAD *UNSPREAD == 1, "inverse of each other");

/*
 * The code depends on where the link is, so that a link copied from elsewhere, or 0, is not valid.
 * The second multiplication carries a change of any byte to all bytes above it: otherwise a link of
 * which only the lowest byte was overwritten could pass for another slot of the same slab.
 */
static u64 encode(const u64 *where, u64 next)
{
	return (next ^ (u64)(uintptr_t)where * SPREAD) * SPREAD;
}

static u64 decode(const u64 *where, u64 link)
{
	return link * UNSPREAD ^ (u64)(uintptr_t)where * SPREAD;
}

void slab_set_next(const struct kmem_cache *cache, void *slot, void *next)
{
	u64 *link = (u64 *)((char *)kasan_reset_tag(slot) + cache->fp_offset);

	WRITE_ONCE(*link, encode(link, (u64)(uintptr_t)next));
}

void *slab_get_next(const struct kmem_cache *cache, const struct page *slab, const void *slot,
		    bool *ok)
{
	const u64 *link = (const u64 *)((const char *)kasan_reset_tag(slot) + cache->fp_offset);
	uintptr_t next = (uintptr_t)decode(link, READ_ONCE(*link));

	*ok = !next || (next % 8 == 0 &&
			kasan_untag_addr(next) - (uintptr_t)page_to_virt(slab) < page_size(slab));
	return *ok ? (void *)next : NULL;
}
