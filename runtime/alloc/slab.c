/* SPDX-License-Identifier: MIT */
/*
 * slab.c - objects of slab caches: layout, poison, metadata, double and invalid frees.
 *
 * A slot, with the metadata at its far end, where an overflow by a few bytes does not reach:
 *
 *	| object_size bytes | redzone ... | [free meta] | alloc meta |
 *	  ^ object                                                    ^ next slot
 *
 * The free metadata overlays the object itself if its bytes are nobody's once it is free.
 */
#include "meta.h"

#include "../core/shadow.h"

#define ROUND_UP(x, to) (((x) + (to) - 1) & ~((uint32_t)(to) - 1))

_Static_assert(sizeof(struct kasan_alloc_meta) == 16 + sizeof(struct kasan_track),
	       "metadata is part of every slot: keep it small");

/* --- Layout ----------------------------------------------------------------------------------- */

/* Larger objects have longer strides, so overflows that skip bytes: their redzones grow with them.
 */
static uint32_t wanted_redzone(uint32_t object_size)
{
	if (object_size <= 64)
		return 16;
	if (object_size <= 128)
		return 32;
	if (object_size <= 512)
		return 64;
	if (object_size <= 4096)
		return 128;
	return 256;
}

uint32_t kasan_cache_create(struct kasan_cache *cache, uint32_t align)
{
	const uint32_t unit = align < KASAN_GRANULE_SIZE ? (uint32_t)KASAN_GRANULE_SIZE : align;
	const uint32_t object_end = ROUND_UP(cache->object_size, KASAN_GRANULE_SIZE);
	const uint32_t wanted = wanted_redzone(cache->object_size);
	const bool overlay = !(cache->flags &
			       (KASAN_CACHE_NO_FREE_META_IN_OBJECT | KASAN_CACHE_NO_QUARANTINE)) &&
			     cache->object_size >= sizeof(struct kasan_free_meta);
	uint32_t redzone = sizeof(struct kasan_alloc_meta);

	if (!overlay)
		redzone += sizeof(struct kasan_free_meta);
	redzone = ROUND_UP(redzone, KASAN_GRANULE_SIZE);
	if (redzone < wanted)
		redzone = wanted;

	cache->slot_size = ROUND_UP(object_end + redzone, unit);
	cache->alloc_meta_offset = cache->slot_size - (uint32_t)sizeof(struct kasan_alloc_meta);
	cache->free_meta_offset = 0;
	if (!overlay)
		cache->free_meta_offset =
			cache->alloc_meta_offset - (uint32_t)sizeof(struct kasan_free_meta);
	return cache->slot_size;
}

struct kasan_alloc_meta *kasan_alloc_meta(const struct kasan_cache *cache, const void *object)
{
	if (!cache->slot_size)
		return NULL;
	return (struct kasan_alloc_meta *)((uintptr_t)object + cache->alloc_meta_offset);
}

struct kasan_free_meta *kasan_free_meta(const struct kasan_cache *cache, const void *object)
{
	if (!cache->slot_size || cache->free_meta_offset == KASAN_NO_FREE_META)
		return NULL;
	return (struct kasan_free_meta *)((uintptr_t)object + cache->free_meta_offset);
}

static inline bool free_meta_overlays(const struct kasan_cache *cache)
{
	return cache->free_meta_offset == 0;
}

/* --- Slabs and slots -------------------------------------------------------------------------- */

void kasan_poison_slab(const void *slab, size_t size)
{
	kasan_poison(slab, size, KASAN_SLAB_REDZONE);
}

void kasan_init_slab_object(struct kasan_cache *cache, void *object)
{
	__memset(kasan_alloc_meta(cache, object), 0, sizeof(struct kasan_alloc_meta));
	if (!free_meta_overlays(cache))
		__memset(kasan_free_meta(cache, object), 0, sizeof(struct kasan_free_meta));
}

void kasan_unpoison_object(struct kasan_cache *cache, void *object)
{
	kasan_unpoison(object, cache->object_size);
}

void kasan_poison_object(struct kasan_cache *cache, void *object)
{
	kasan_poison(object, ROUND_UP(cache->object_size, KASAN_GRANULE_SIZE), KASAN_SLAB_REDZONE);
}

/* --- Allocation ------------------------------------------------------------------------------- */

/* Where all memory has shadow, that of an object needs no looking for. */
static inline __attribute__((always_inline)) void open_object(const struct kasan_cache *cache,
							      void *object, size_t size)
{
	const uint32_t span = ROUND_UP(cache->object_size, KASAN_GRANULE_SIZE);
#ifdef CONFIG_KASAN_SHADOW_FULL
	uint8_t *shadow;

	/* The commonest by far: what was asked for is what there is, or whole granules of it. */
	if (kasan_likely(size == span && kasan_shadow_at((uintptr_t)object, &shadow))) {
		kasan_shadow_fill_short(shadow, 0, span >> KASAN_SHADOW_SCALE_SHIFT);
		return;
	}
#endif
	kasan_poison_tail(object, size, span, KASAN_SLAB_REDZONE);
}

static inline __attribute__((always_inline)) void close_object(const struct kasan_cache *cache,
							       const void *object)
{
	const uint32_t span = ROUND_UP(cache->object_size, KASAN_GRANULE_SIZE);
#ifdef CONFIG_KASAN_SHADOW_FULL
	uint8_t *shadow;

	if (kasan_likely(kasan_shadow_at((uintptr_t)object, &shadow)))
		kasan_shadow_fill_short(shadow, KASAN_SLAB_FREE, span >> KASAN_SHADOW_SCALE_SHIFT);
#else
	kasan_poison(object, span, KASAN_SLAB_FREE);
#endif
}

static inline __attribute__((always_inline)) void
set_object(struct kasan_cache *cache, void *object, size_t size, uintptr_t ip, uintptr_t fp)
{
	struct kasan_alloc_meta *meta = kasan_alloc_meta(cache, object);

	if (kasan_unlikely(size > cache->object_size))
		size = cache->object_size;
	open_object(cache, object, size);
	kasan_set_track(&meta->alloc, ip, fp);
	meta->size = (uint32_t)size;
	/* Last: a report on another CPU believes the rest only if this fits. */
	__atomic_store_n(&meta->flags, kasan_meta_seal(meta, object, KASAN_META_LIVE),
			 __ATOMIC_RELEASE);
}

__attribute__((__noinline__)) void *kasan_slab_alloc(struct kasan_cache *cache, void *object,
						     size_t size)
{
	struct kasan_alloc_meta *meta;

	if (kasan_unlikely(!object))
		return NULL;
	meta = kasan_alloc_meta(cache, object);
	meta->aux_stack[0] = meta->aux_stack[1] = 0;
	set_object(cache, object, size, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	return object;
}

__attribute__((__noinline__)) void *kasan_slab_realloc(struct kasan_cache *cache, void *object,
						       size_t size)
{
	if (kasan_unlikely(!object))
		return NULL;
	set_object(cache, object, size, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	return object;
}

size_t kasan_size_by_shadow(const void *object, size_t max)
{
	const uintptr_t start = (uintptr_t)object;
	size_t size = 0;
	uint8_t *shadow;

	while (size < max && kasan_shadow_at(start + size, &shadow)) {
		if (*shadow) {
			if (*shadow < KASAN_GRANULE_SIZE)
				size += *shadow;
			break;
		}
		size += KASAN_GRANULE_SIZE;
	}
	return size < max ? size : max;
}

size_t kasan_object_size(struct kasan_cache *cache, const void *object)
{
	const struct kasan_alloc_meta *meta = kasan_alloc_meta(cache, object);

	if (kasan_likely(meta && kasan_meta_state(meta, object) == KASAN_META_LIVE))
		return meta->size;
	/* The redzone was overwritten; the shadow still knows, to the byte. */
	return kasan_size_by_shadow(object, cache->object_size);
}

/* --- Free ------------------------------------------------------------------------------------- */

/*
 * Take the object's life, once: of two CPUs that free it at the same time one is told. Where the
 * seal is broken the shadow alone decides, as for allocators without metadata.
 */
static inline bool end_life(struct kasan_alloc_meta *meta, const void *object)
{
	uint32_t live = kasan_meta_seal(meta, object, KASAN_META_LIVE);
	const uint32_t freed = kasan_meta_seal(meta, object, KASAN_META_FREED);

	return __atomic_compare_exchange_n(&meta->flags, &live, freed, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED) ||
	       live != freed;
}

/* What is wrong with freeing @object, which the allocator found in the slot at @base? NULL:
 * nothing. */
static const char *check_free(struct kasan_cache *cache, const void *object, const void *base)
{
	struct kasan_alloc_meta *meta = kasan_alloc_meta(cache, base);
	uint8_t *shadow;

	if (kasan_unlikely(object != base))
		return "invalid-free";
	if (kasan_shadow_at((uintptr_t)object, &shadow) && kasan_unlikely(*shadow & 0x80)) {
		if (*shadow == KASAN_SLAB_FREE || *shadow == KASAN_SLAB_FREE_META)
			return "double-free";
		/* An object of 0 bytes has no accessible byte, nothing else is redzone from its
		 * start. */
		if (kasan_meta_state(meta, object) != KASAN_META_LIVE || meta->size != 0)
			return "invalid-free";
	}
	return end_life(meta, object) ? NULL : "double-free";
}

/* Poison a freed object; the shadow says from then on whether its free metadata counts. */
static inline void poison_freed(struct kasan_cache *cache, void *object)
{
	uint8_t *shadow;

	close_object(cache, object);
	if (kasan_likely(kasan_free_meta(cache, object) &&
			 kasan_shadow_at((uintptr_t)object, &shadow)))
		*shadow = KASAN_SLAB_FREE_META;
}

static inline void record_free(struct kasan_cache *cache, void *object, uintptr_t ip, uintptr_t fp)
{
	struct kasan_free_meta *meta = kasan_free_meta(cache, object);

	if (!meta)
		return;
	kasan_set_track(&meta->free, ip, fp);
	meta->check = kasan_free_seal(&meta->free, object);
}

static inline enum kasan_free_verdict quarantine(struct kasan_cache *cache, void *object)
{
	if (kasan_likely(!kasan_opt_off) && kasan_quarantine_put(cache, object))
		return KASAN_FREE_QUARANTINED;
	kasan_slab_before_release(cache, object);
	return KASAN_FREE_NOW;
}

__attribute__((__noinline__)) enum kasan_free_verdict
kasan_slab_free(struct kasan_cache *cache, void *object, void *base, uintptr_t ip)
{
	const uintptr_t fp = KASAN_CALLER_FP();
	const char *wrong;

	if (kasan_unlikely(!object))
		return KASAN_FREE_NOW;
	if (!ip)
		ip = KASAN_CALLER_IP();
	wrong = check_free(cache, object, base);
	if (kasan_unlikely(wrong)) {
		kasan_report_bad_free(wrong, object, ip, fp);
		return KASAN_FREE_BAD;
	}
	/* Readers may still look at an object of a type-safe cache: it stays as it is. */
	if (cache->flags & KASAN_CACHE_NO_QUARANTINE) {
		record_free(cache, object, KASAN_CALLER_IP(), fp);
		return KASAN_FREE_NOW;
	}
	poison_freed(cache, object);
	record_free(cache, object, KASAN_CALLER_IP(), fp);
	return quarantine(cache, object);
}

enum kasan_free_verdict kasan_slab_free_deferred(struct kasan_cache *cache, void *object)
{
	/* Who freed it is recorded already, and is who the reader of a report looks for. */
	poison_freed(cache, object);
	return quarantine(cache, object);
}

bool kasan_slab_to_pool(struct kasan_cache *cache, void *object, void *base,
			const struct kasan_caller *caller)
{
	const char *wrong = check_free(cache, object, base);

	if (kasan_unlikely(wrong)) {
		kasan_report_bad_free(wrong, object, caller->report_ip, caller->fp);
		return false;
	}
	poison_freed(cache, object);
	record_free(cache, object, caller->ip, caller->fp);
	return true;
}

void kasan_slab_from_pool(struct kasan_cache *cache, void *object, size_t size,
			  const struct kasan_caller *caller)
{
	struct kasan_alloc_meta *meta = kasan_alloc_meta(cache, object);

	meta->aux_stack[0] = meta->aux_stack[1] = 0;
	set_object(cache, object, size, caller->ip, caller->fp);
}

void kasan_slab_before_release(struct kasan_cache *cache, void *object)
{
	uint8_t *shadow;

	/* The allocator's free list will overwrite metadata in the object, but not that in the
	 * redzone. */
	if (free_meta_overlays(cache) && kasan_shadow_at((uintptr_t)object, &shadow) &&
	    *shadow == KASAN_SLAB_FREE_META)
		*shadow = KASAN_SLAB_FREE;
}

__attribute__((__noinline__)) void kasan_report_invalid_free(const void *addr, uintptr_t ip)
{
	const char *type = "invalid-free";
	uint8_t *shadow;

	/*
	 * A pointer to the start of a free page was, most likely, a large allocation before it was
	 * freed the first time.
	 */
	if (!((uintptr_t)addr & (CONFIG_KASAN_PAGE_SIZE - 1)) &&
	    kasan_shadow_at((uintptr_t)addr, &shadow) && *shadow == KASAN_PAGE_FREE)
		type = "double-free";
	kasan_report_bad_free(type, addr, ip ? ip : KASAN_CALLER_IP(), KASAN_CALLER_FP());
}
