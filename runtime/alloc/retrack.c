/* SPDX-License-Identifier: MIT */
/* retrack.c - another stack for the allocation of a live object, of whatever allocator. */
#include "retrack.h"

#include "heap_chunk.h"
#include "heap_mode.h"

#include "../shadow/shadow.h"
#include "../tags/tags.h"
#include "../track/ring.h"
#include "../track/track.h"

#ifdef CONFIG_KASAN

static bool retrack_heap(const void *ptr, uintptr_t ip, uintptr_t fp)
{
	struct kasan_heap_header *const header = kasan_heap_header_of(ptr);
	struct kasan_heap_place place;

	kasan_clear(&place);
	if (!kasan_heap_is_start(kasan_untag_addr((uintptr_t)ptr)) ||
	    !kasan_port_readable(header, sizeof(*header)) || !kasan_heap_place(header, &place) ||
	    kasan_heap_life(header) != KASAN_HEAP_LIVE || !kasan_heap_owns(header, ptr))
		return false;
	kasan_set_track(&header->alloc_track, ip, fp);
	header->check = kasan_heap_seal(header, NULL);
	kasan_heap_remember(header, &header->alloc_track, false);
	return true;
}

#if CONFIG_KASAN_SLAB

#ifdef CONFIG_KASAN_GENERIC
static bool retrack_slab(struct kasan_cache *cache, const void *ptr, uintptr_t ip, uintptr_t fp)
{
	struct kasan_alloc_meta *const meta = kasan_alloc_meta(cache, ptr);

	if (!meta || !kasan_port_readable(meta, sizeof(*meta)) ||
	    kasan_meta_state(meta, ptr) != KASAN_META_LIVE)
		return false;
	kasan_set_track(&meta->alloc, ip, fp);
	__atomic_store_n(&meta->flags, kasan_meta_seal(meta, ptr, KASAN_META_LIVE),
			 __ATOMIC_RELAXED);
	return true;
}
#else
/* Return: bytes asked for; hardware tags by themselves only tell whole granules. */
static size_t size_of(struct kasan_cache *cache, const void *ptr)
{
	size_t size = kasan_object_size(cache, ptr), place;
	struct kasan_ring_order last = {0};
	struct kasan_ring_record record;

	kasan_ring_each (&place, &record, KASAN_RING_NOW) {
		if (record.ptr != (uintptr_t)ptr || record.order.is_free ||
		    !kasan_ring_newer(&record.order, &last, true))
			continue;
		kasan_copy(&last, &record.order);
		size = record.size;
	}
	return size;
}

static bool retrack_slab(struct kasan_cache *cache, const void *ptr, uintptr_t ip, uintptr_t fp)
{
	if (kasan_tags_owner(kasan_untag_addr((uintptr_t)ptr)) == KASAN_TAG_INVALID)
		return false;
	kasan_ring_add(ptr, size_of(cache, ptr), false, ip, fp);
	return true;
}
#endif

static bool retrack_object(const void *ptr, uintptr_t ip, uintptr_t fp)
{
	struct kasan_object object;

	kasan_clear(&object);
	if (!kasan_find_object(ptr, &object) ||
	    kasan_reset_tag(object.start) != kasan_reset_tag(ptr))
		return false;
	if (object.kind == KASAN_OBJECT_SLAB && object.cache)
		return retrack_slab(object.cache, ptr, ip, fp);
	if (object.kind != KASAN_OBJECT_LARGE || object.freed || !object.large ||
	    kasan_first_bad((uintptr_t)ptr, 1))
		return false;
	kasan_set_track(&object.large->alloc, ip, fp);
	return true;
}

#else
#define retrack_object(ptr, ip, fp) false
#endif

bool kasan_retrack(const void *ptr, uintptr_t ip, uintptr_t fp)
{
	/* A heap's object may lie in a larger one, and is the inner one then. */
	return kasan_on() && kasan_port_readable(kasan_reset_tag(ptr), 1) &&
	       (retrack_heap(ptr, ip, fp) || retrack_object(ptr, ip, fp));
}

#endif /* CONFIG_KASAN */
