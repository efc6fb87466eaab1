// SPDX-License-Identifier: MIT
/*
 * slub_freelist.c - the links between free slots, which lie inside the slots.
 *
 * Free slots are poisoned, so the one place that reads and writes them is this file, which is not
 * instrumented. It is also the place that a write to a freed object ends up in: a link is stored encoded,
 * so that an overwritten one is noticed instead of followed.
 *
 * In the tag-based KASAN modes the pointers in the list have the tags of their last users: that is where the
 * next kasan_slab_alloc() learns which tag it must not give out again.
 */
#include "slab_internal.h"

/* Any odd constant, and its inverse modulo 2^64. */
#define SPREAD	 0x9e3779b97f4a7c15ULL
#define UNSPREAD 0xf1de83e19937733dULL

_Static_assert(SPREAD *UNSPREAD == 1, "inverse of each other");

/*
 * A link depends on where it is, so that one from elsewhere, or 0, leads nowhere. The second product carries a
 * change of any byte to all above it: what is left of a link of which the lowest byte alone was overwritten
 * must not pass for another place in the same slab.
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
