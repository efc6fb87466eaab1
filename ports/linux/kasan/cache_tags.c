// SPDX-License-Identifier: MIT
/*
 * cache_tags.c - what the runtime knows of each cache, in the tag-based modes.
 *
 * Objects have no redzone and no metadata, and Linux does not tell of a new cache, nor of one that goes. So the runtime's
 * struct is made at the cache's first slab, and found by the cache's address; it is made anew if that is another cache
 * now.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../slab.h"

#include "redzone.h"

#include "cache.h"
#include "internal.h"

struct kasan_cache_entry *kasan_caches[1 << KASAN_CACHES_SHIFT];
static struct kasan_cache_entry *unused;
static DEFINE_RAW_SPINLOCK(lock);

/* Not the name: only reports print it, and kasan_port_find_object() brings it up to date. */
static bool is_of(const struct kasan_cache_entry *entry, const struct kmem_cache *cache)
{
	return entry->owner == cache && entry->kasan.slot_size == cache->size &&
	       entry->kasan.object_size == cache->object_size && entry->flags == cache->flags &&
	       entry->ctor == cache->ctor;
}

static void fill(struct kasan_cache_entry *entry, const struct kmem_cache *cache)
{
	entry->kasan =
		(struct redzone_cache){.name = cache->name, .object_size = cache->object_size};
	if (kasan_keeps_tag(cache))
		entry->kasan.flags |= KASAN_CACHE_NO_FREE_META_IN_OBJECT;
	if (cache->flags & SLAB_KMALLOC)
		entry->kasan.flags |= KASAN_CACHE_KMALLOC;
	redzone_cache_create(&entry->kasan, KASAN_GRANULE_SIZE);
	/* SLUB has laid it out already. */
	entry->kasan.slot_size = cache->size;
	entry->kasan.inner_offsets = kasan_inner_offsets(cache->size);
	entry->flags = cache->flags;
	entry->ctor = cache->ctor;
	smp_store_release(&entry->owner, cache);
}

static struct redzone_cache *make(const struct kmem_cache *cache, struct kasan_cache_entry **bucket)
{
	struct kasan_cache_entry *entry, *fresh = NULL;
	unsigned long flags;
	size_t i;

	if (!READ_ONCE(unused))
		fresh = kasan_port_alloc(PAGE_SIZE);
	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; fresh && i < PAGE_SIZE / sizeof(*fresh); i++) {
		fresh[i].next = unused;
		unused = &fresh[i];
	}
	for (entry = *bucket; entry && entry->owner != cache; entry = entry->next)
		;
	if (!entry && unused) {
		entry = unused;
		unused = entry->next;
		fill(entry, cache);
		entry->next = *bucket;
		smp_store_release(bucket, entry);
	} else if (entry && !is_of(entry, cache)) {
		fill(entry, cache);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return entry ? &entry->kasan : NULL;
}

struct redzone_cache *kasan_cache_of_new_slab(const struct kmem_cache *cache)
{
	struct kasan_cache_entry **const bucket = kasan_cache_bucket(cache);
	struct kasan_cache_entry *entry = smp_load_acquire(bucket);

	for (; entry; entry = entry->next) {
		if (likely(is_of(entry, cache)))
			return &entry->kasan;
	}
	return make(cache, bucket);
}
