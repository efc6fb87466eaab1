/* SPDX-License-Identifier: MIT */
/* cache.h - what the runtime knows of a cache, found from Linux's struct. After slab.h of Linux, and redzone.h. */
#ifndef MM_KASAN_CACHE_H
#define MM_KASAN_CACHE_H

#include <linux/array_size.h>
#include <linux/cache.h>
#include <linux/unaligned.h>

/**
 * kasan_cache() - Return: what the runtime knows of @cache. NULL: nothing, as memory was short.
 * kasan_known_cache() - the same, but NULL also if it is not found at once.
 * kasan_cache_of_new_slab() - the same as kasan_cache(), when the cache gets a slab.
 *
 * In the tag-based modes Linux does not tell of a cache that goes, and another may be at its address later. Its objects come
 * from new slabs, so only kasan_cache_of_new_slab() looks for such a change.
 */
#ifdef CONFIG_KASAN_GENERIC
#define kasan_cache(cache) \
	((struct redzone_cache *)get_unaligned((const unsigned long *)&(cache)->kasan_info))
#define kasan_known_cache(cache)       kasan_cache(cache)
#define kasan_cache_of_new_slab(cache) kasan_cache(cache)
#else
#define KASAN_CACHES_SHIFT 9

/**
 * struct kasan_cache_entry - a cache (cache_tags.c)
 * @owner: its address. The other members besides @kasan tell it from a later cache at this address.
 * @next: in the same bucket. Entries are never taken out.
 */
struct kasan_cache_entry {
	struct redzone_cache kasan;
	const struct kmem_cache *owner;
	struct kasan_cache_entry *next;
	slab_flags_t flags;
	void (*ctor)(void *object);
};

extern struct kasan_cache_entry *kasan_caches[1 << KASAN_CACHES_SHIFT];

struct redzone_cache *kasan_cache_of_new_slab(const struct kmem_cache *cache);

/* Linux aligns its structs to cache lines. */
static __always_inline struct kasan_cache_entry **kasan_cache_bucket(const struct kmem_cache *cache)
{
	const unsigned long line = (unsigned long)cache / L1_CACHE_BYTES;

	return &kasan_caches[(line ^ line >> KASAN_CACHES_SHIFT) % ARRAY_SIZE(kasan_caches)];
}

static __always_inline struct redzone_cache *kasan_known_cache(const struct kmem_cache *cache)
{
	/* No barrier is needed: all loads from the entry depend on its address, and it was complete before it was published. */
	struct kasan_cache_entry *entry = READ_ONCE(*kasan_cache_bucket(cache));

	/* The objects of a cache grow if Linux gives it the objects of another one as well. */
	if (likely(entry && entry->owner == cache &&
		   entry->kasan.object_size == cache->object_size))
		return &entry->kasan;
	return NULL;
}

/* See struct kasan_cache of <kasan/slab.h>. */
static __always_inline u32 kasan_inner_offsets(u32 slot_size)
{
	return slot_size < PAGE_SIZE - 1 ? PAGE_SIZE - 1 - slot_size : 0;
}

static inline struct redzone_cache *kasan_cache(const struct kmem_cache *cache)
{
	return kasan_known_cache(cache) ?: kasan_cache_of_new_slab(cache);
}
#endif

/** kasan_keeps_tag() - do all owners of an object of @cache get the same tag? An object with a constructor may contain pointers
 *  to itself, and readers may look at one of a type-safe cache after its free. */
static __always_inline bool kasan_keeps_tag(const struct kmem_cache *cache)
{
	return cache->ctor || cache->flags & SLAB_TYPESAFE_BY_RCU;
}

/** kasan_free_released() - give SLUB what the quarantine has released on this CPU. From its frees, whose callers may sleep in
 *  a real-time kernel. */
#if defined(CONFIG_KASAN_GENERIC) && defined(CONFIG_PREEMPT_RT)
void kasan_free_released(void);
#else
static inline void kasan_free_released(void)
{
}
#endif

#endif
