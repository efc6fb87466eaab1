/* SPDX-License-Identifier: MIT */
/*
 * meta.h - seals that distinguish an object's metadata from bytes that a bug has written over it.
 *
 * Metadata lies in redzones, where overflows land first. A report must not trust a size or a stack handle that was
 * overwritten, and a double free must be recognised even if the shadow does not show it (SLAB_TYPESAFE_BY_RCU). So
 * struct kasan_alloc_meta.flags holds the object's state in its low two bits and a checksum in the others.
 */
#ifndef KASAN_META_H
#define KASAN_META_H

#include "../base/base.h"

/* Metadata of a slab object; NULL if the cache has none. */
#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB
struct kasan_alloc_meta *kasan_alloc_meta(const struct kasan_cache *cache, const void *object);
struct kasan_free_meta *kasan_free_meta(const struct kasan_cache *cache, const void *object);
#else
/* Tag modes have no redzones to keep it in; the stack ring has the tracks. */
#define kasan_alloc_meta(cache, object) ((void)(cache), (struct kasan_alloc_meta *)NULL)
#endif

#define KASAN_META_STATE_MASK 3U
#define KASAN_META_NEVER      0U /* no object was ever in this slot; flags is 0 as a whole */
#define KASAN_META_CORRUPT    1U /* never stored: kasan_meta_state() returns it for a broken seal */
#define KASAN_META_FREED      2U
#define KASAN_META_LIVE	      3U /* all bits, because setting them takes one instruction */

static inline uint32_t kasan_mix(uint32_t hash, uint32_t word)
{
	hash = (hash ^ word) * 0x9e3779b1U;
	return hash ^ (hash >> 15);
}

/* A polynomial in an odd factor: three multiplications that need not wait for shifts, because this runs on every
 * allocation and free. An odd factor loses nothing: the lowest changed bit of an overwritten field stays changed in the
 * sum, and the product carries it up. */
#define KASAN_SEAL_FACTOR 0x9e3779b1U

static inline uint32_t kasan_seal_of(const struct kasan_track *track, const void *object)
{
	return (((uint32_t)(uintptr_t)object ^ track->pid) * KASAN_SEAL_FACTOR + track->stack) *
	       KASAN_SEAL_FACTOR;
}

/** kasan_meta_seal() - Return: the flags of @object in @state. */
static inline uint32_t kasan_meta_seal(const struct kasan_alloc_meta *meta, const void *object,
				       uint32_t state)
{
	const uint32_t hash =
		(kasan_seal_of(&meta->alloc, object) + meta->size) * KASAN_SEAL_FACTOR;

	return (hash | KASAN_META_STATE_MASK) ^ (KASAN_META_STATE_MASK ^ state);
}

/** kasan_meta_state() - Return: KASAN_META_* of @object. */
static inline uint32_t kasan_meta_state(const struct kasan_alloc_meta *meta, const void *object)
{
	const uint32_t flags = __atomic_load_n(&meta->flags, __ATOMIC_RELAXED);
	const uint32_t state = flags & KASAN_META_STATE_MASK;

	if (!flags)
		return KASAN_META_NEVER;
	if ((state != KASAN_META_LIVE && state != KASAN_META_FREED) ||
	    flags != kasan_meta_seal(meta, object, state))
		return KASAN_META_CORRUPT;
	return state;
}

/** kasan_free_seal() - Return: the check word of @track as the free track of @object. */
static inline uintptr_t kasan_free_seal(const struct kasan_track *track, const void *object)
{
	return kasan_seal_of(track, object) | 1U;
}

/** kasan_slab_before_release() - @object leaves the quarantine. The allocator may write into it from now on, so free
 *  metadata that overlays it is not trusted any more. */
void kasan_slab_before_release(struct kasan_cache *cache, void *object);

/** kasan_slab_release() - the same for @count objects of @cache, and the allocator gets their slots back. No lock of
 *  the runtime is held. */
void kasan_slab_release(struct kasan_cache *cache, void *const *objects, size_t count);

/** struct kasan_caller - the caller of a hook. @ip, @fp: where its trace starts. @report_ip: what a report of a bad
 *  free names. */
struct kasan_caller {
	uintptr_t ip, fp, report_ip;
};

/** kasan_slab_to_pool() - kasan_slab_free() without the quarantine, for an object that its user keeps. Return: false if
 *  the free was bad and was reported. */
bool kasan_slab_to_pool(struct kasan_cache *cache, void *object, void *base,
			const struct kasan_caller *caller);

/** kasan_slab_from_pool() - hand out the object again. Return: the pointer for its user. */
void *kasan_slab_from_pool(struct kasan_cache *cache, void *object, size_t size,
			   const struct kasan_caller *caller);

/** kasan_size_by_shadow() - Return: accessible bytes from @object on, at most @max. */
size_t kasan_size_by_shadow(const void *object, size_t max);

/** kasan_size_by_tags() - the same in tag modes: bytes that have the first one's tag or that their user has poisoned.
 *  */
size_t kasan_size_by_tags(const void *object, size_t max);

/* --- heap_find.c --- */

/**
 * struct kasan_heap_chunk - a simple heap's object as kasan_heap_lookup() finds it
 * @heap: NULL if the header was overwritten. Then everything comes from the shadow, and the tracks are not known.
 * @raw, @span: the allocator's chunk: the object with its redzones.
 */
struct kasan_heap_chunk {
	struct kasan_heap *heap;
	uintptr_t start, raw;
	size_t size, span;
	bool freed;
	struct kasan_track alloc_track, free_track;
#ifdef CONFIG_KASAN_TAGS
	uint8_t tag; /* of its pointer; KASAN_TAG_KERNEL: no tag */
#endif
};

/** kasan_heap_new_report() - searches of kasan_heap_lookup() now belong to another report. */
void kasan_heap_new_report(void);

/** kasan_heap_lookup() - find the chunk whose object or redzones hold @addr, which has no tag; if heaps are nested, the
 *  inner one's. Slow, for reports: all searches of one report together are bounded. Return: false if none was found. */
bool kasan_heap_lookup(uintptr_t addr, struct kasan_heap_chunk *chunk);

/** kasan_heap_name_at() - tag modes: @name: filled with the name of a heap that has had chunks on both sides of @addr.
 *  Return: false if there is none. */
bool kasan_heap_name_at(uintptr_t addr, const char **name);

/* --- page_heap.c --- */

/** kasan_find_object() - kasan_port_find_object() that also knows page heaps. Same context and arguments. */
bool kasan_find_object(const void *addr, struct kasan_object *object);

/** kasan_find_page_tag() - the same for kasan_port_page_tag(), in tag modes. */
bool kasan_find_page_tag(const void *addr, uint8_t *tag);

#endif /* KASAN_META_H */
