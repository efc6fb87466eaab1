/* SPDX-License-Identifier: MIT */
/*
 * slab.c - objects of slab caches: layout, poison, metadata, double and invalid frees.
 *
 * Metadata lies at the far end of a slot, where an overflow by a few bytes does not reach:
 *
 *	| object_size bytes | redzone ... | [free meta] | alloc meta |
 *	  ^ object                                                    ^ next slot
 *
 * The free metadata overlays the object itself if its bytes are unused once it is free.
 */
#include "meta.h"

#include "quarantine.h"

#include "../base/up.h"
#include "../shadow/shadow.h"
#include "../track/known.h"
#include "../track/track.h"

#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB

#define ROUND_UP(x, to) (((x) + (to) - 1) & ~((uint32_t)(to) - 1))

_Static_assert(sizeof(struct kasan_alloc_meta) == 16 + sizeof(struct kasan_track),
	       "metadata is part of every slot: keep it small");

/* --- Layout --- */

/* Larger objects have longer strides, whose overflows skip bytes, so their redzones are larger too. */
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

	cache->plain_size = UINT32_MAX;
	cache->plain_free = 0;
	if (!kasan_on()) {
		cache->slot_size = 0;
		cache->free_meta_offset = KASAN_NO_FREE_META;
		return ROUND_UP(cache->object_size, unit);
	}
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
	if (!(cache->object_size & KASAN_GRANULE_MASK))
		cache->plain_size = cache->object_size;
	if (!(cache->flags & KASAN_CACHE_NO_QUARANTINE))
		cache->plain_free = object_end >> KASAN_SHADOW_SCALE_SHIFT;
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

/* False with kasan=off, when slots are bare. The hooks read the cache anyway. */
static inline bool is_laid_out(const struct kasan_cache *cache)
{
	return cache->slot_size;
}

static inline bool free_meta_overlays(const struct kasan_cache *cache)
{
	return cache->free_meta_offset == 0;
}

/* --- Slabs and slots --- */

void kasan_poison_slab(const void *slab, size_t size)
{
	kasan_poison(slab, size, KASAN_SLAB_REDZONE);
}

void kasan_unpoison_object(struct kasan_cache *cache, void *object)
{
	kasan_unpoison(object, cache->object_size);
}

void kasan_poison_object(struct kasan_cache *cache, void *object)
{
	kasan_poison(object, ROUND_UP(cache->object_size, KASAN_GRANULE_SIZE), KASAN_SLAB_REDZONE);
}

/* --- Shadow of one object --- */

/* NULL: no shadow. Where all memory has shadow at all times, this is plain arithmetic. */
static kasan_always_inline uint8_t *object_shadow(const void *object)
{
#if defined(KASAN_FULL_LINEAR) && !defined(CONFIG_KASAN_SHADOW_DYNAMIC)
	uint8_t *const shadow = (uint8_t *)kasan_shadow_blind((uintptr_t)object);

	/* Or compilers compare it with NULL. */
	if (!shadow)
		__builtin_unreachable();
	return shadow;
#else
	uint8_t *shadow;

	return kasan_shadow_at((uintptr_t)object, &shadow) ? shadow : NULL;
#endif
}

static inline uint32_t object_granules(const struct kasan_cache *cache)
{
	return (cache->object_size + KASAN_GRANULE_MASK) >> KASAN_SHADOW_SCALE_SHIFT;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The shadow of 8 granules of which only the first @size bytes, fewer than 64, are accessible. */
static inline uint64_t partial_word(size_t size)
{
	const unsigned int at = (unsigned int)(size & ~KASAN_GRANULE_MASK);
	const uint64_t tail = size & KASAN_GRANULE_MASK;
	const uint64_t word = (KASAN_SLAB_REDZONE * 0x0101010101010101ULL) << at;

	return tail ? word ^ ((KASAN_SLAB_REDZONE ^ tail) << at) : word;
}
#endif

/* The user asked for fewer bytes than the object's @count granules have. Up to 128 bytes, its shadow is made in
 * registers and stored at once, in two halves that overlap or in one store. */
static void open_partly(uint8_t *shadow, size_t size, uint32_t count)
{
	size_t whole = size >> KASAN_SHADOW_SCALE_SHIFT;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const size_t second = ((size_t)count - 8) << KASAN_SHADOW_SCALE_SHIFT;

	switch (count) {
	case 1:
		*shadow = (uint8_t)partial_word(size);
		return;
	case 2:
		*(kasan_u16_any *)shadow = (uint16_t)partial_word(size);
		return;
	case 4:
		*(kasan_u32_any *)shadow = (uint32_t)partial_word(size);
		return;
	case 8 ... 16:
		*(kasan_u64_any *)shadow = size < 64 ? partial_word(size) : 0;
		*(kasan_u64_any *)(shadow + count - 8) =
			partial_word(size > second ? size - second : 0);
		return;
	default:
		break;
	}
#endif
	kasan_fill(shadow, 0, whole);
	if (size & KASAN_GRANULE_MASK)
		shadow[whole++] = (uint8_t)(size & KASAN_GRANULE_MASK);
	kasan_fill(shadow + whole, KASAN_SLAB_REDZONE, count - whole);
}

static void open_object(const struct kasan_cache *cache, void *object, size_t size)
{
	const uint32_t count = object_granules(cache);
	uint8_t *shadow = object_shadow(object);

	if (kasan_unlikely(!shadow))
		return;
	if (size != (size_t)count << KASAN_SHADOW_SCALE_SHIFT)
		open_partly(shadow, size, count);
	else
		kasan_fill(shadow, 0, count);
}

/* Poison a freed object; from then on its first shadow byte says whether its free metadata counts. Inline for the hooks;
 * close_object() for the others. */
static kasan_always_inline void close_shadow(uint8_t *shadow, uint32_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t word = KASAN_SLAB_FREE * 0x0101010101010101ULL;

	/* The most common objects: the first byte costs no store of its own. */
	if (kasan_likely(count - 8 <= 8)) {
		*(kasan_u64_any *)(shadow + count - 8) = word;
		/* A second constant would take three instructions. */
		kasan_opaque(word);
		*(kasan_u64_any *)shadow = word ^ (KASAN_SLAB_FREE ^ KASAN_SLAB_FREE_META);
		return;
	}
#endif
	kasan_fill_inline(shadow, KASAN_SLAB_FREE, count);
	*shadow = KASAN_SLAB_FREE_META;
}

static void close_object(const struct kasan_cache *cache, const void *object)
{
	uint8_t *shadow = object_shadow(object);

	if (kasan_unlikely(!shadow))
		return;
	kasan_fill(shadow, KASAN_SLAB_FREE, object_granules(cache));
	*shadow = KASAN_SLAB_FREE_META;
}

/* --- Metadata of one object: the cache is laid out, so that there is some --- */

static inline struct kasan_alloc_meta *alloc_meta(const struct kasan_cache *cache,
						  const void *object)
{
	return (struct kasan_alloc_meta *)((uintptr_t)object + cache->alloc_meta_offset);
}

static inline struct kasan_free_meta *free_meta(const struct kasan_cache *cache, const void *object)
{
	return (struct kasan_free_meta *)((uintptr_t)object + cache->free_meta_offset);
}

void kasan_init_slab_object(struct kasan_cache *cache, void *object)
{
	if (!kasan_on())
		return;
	kasan_clear_fast(alloc_meta(cache, object));
	if (!free_meta_overlays(cache))
		kasan_clear_fast(free_meta(cache, object));
}

static kasan_always_inline void seal_alloc(struct kasan_alloc_meta *meta, const void *object,
					   size_t size)
{
	meta->size = (uint32_t)size;
	/* Last, because a report on another CPU trusts the rest only if this fits. */
	__atomic_store_n(&meta->flags, kasan_meta_seal(meta, object, KASAN_META_LIVE),
			 __ATOMIC_RELEASE);
}

static void record_free(struct kasan_cache *cache, void *object, uintptr_t ip, uintptr_t fp)
{
	struct kasan_free_meta *meta = free_meta(cache, object);

	kasan_set_track(&meta->free, ip, fp);
	meta->check = kasan_free_seal(&meta->free, object);
}

/* --- Allocation --- */

/* The two hooks do the most common case themselves, without a call and so without saving registers: all of the object's
 * bytes are asked for, and the stack is a known one or none is stored. In all other cases they jump to a function that
 * does the rest. */

/* @stack: the stack's handle; NULL: look for the stack from @ip and @fp. Return: @object. */
static kasan_always_inline void *begin_life(struct kasan_cache *cache, void *object, size_t size,
					    const uint32_t *stack, uintptr_t ip, uintptr_t fp)
{
	struct kasan_alloc_meta *meta = alloc_meta(cache, object);

	if (kasan_unlikely(size > cache->object_size))
		size = cache->object_size;
	open_object(cache, object, size);
	if (stack)
		kasan_put_track(&meta->alloc, *stack);
	else
		kasan_set_track(&meta->alloc, ip, fp);
	seal_alloc(meta, object, size);
	/* Otherwise the compiler sees that this is the argument, and has the hook keep it across the call. */
	__asm__("" : "+r"(object));
	return object;
}

static inline void forget_work(struct kasan_alloc_meta *meta)
{
	meta->aux_stack[0] = meta->aux_stack[1] = 0;
}

static kasan_noinline void *set_object(struct kasan_cache *cache, void *object, size_t size,
				       uintptr_t ip, uintptr_t fp)
{
	return begin_life(cache, object, size, NULL, ip, fp);
}

/* kasan_slab_alloc() for some of the object's bytes, or for an object that needs nothing. */
static kasan_noinline void *set_part(struct kasan_cache *cache, void *object, size_t size,
				     uintptr_t ip, uintptr_t fp)
{
	uint32_t stack;

	if (kasan_unlikely(!is_laid_out(cache)))
		return object;
	forget_work(alloc_meta(cache, object));
	if (kasan_unlikely(!kasan_find_stack(&stack, ip, fp)))
		return set_object(cache, object, size, ip, fp);
	return begin_life(cache, object, size, &stack, 0, 0);
}

kasan_noinline void *kasan_slab_alloc(struct kasan_cache *cache, void *object, size_t size)
{
	const uintptr_t ip = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	struct kasan_alloc_meta *meta;
	uint32_t stack;
	uint8_t *shadow;

	if (kasan_unlikely(!object))
		return object;
	if (size != cache->plain_size)
		return set_part(cache, object, size, ip, fp);
	shadow = object_shadow(object);
	if (kasan_unlikely(!shadow || !kasan_find_stack(&stack, ip, fp))) {
		forget_work(alloc_meta(cache, object));
		return set_object(cache, object, size, ip, fp);
	}
	/* After the stack, for whose comparison there are just enough registers. */
	kasan_opaque(cache);
	meta = alloc_meta(cache, object);
	forget_work(meta);
	kasan_fill_inline(shadow, 0, size >> KASAN_SHADOW_SCALE_SHIFT);
	kasan_put_track(&meta->alloc, stack);
	seal_alloc(meta, object, size);
	return object;
}

kasan_noinline void *kasan_slab_realloc(struct kasan_cache *cache, void *object, size_t size)
{
	if (kasan_unlikely(!object || !is_laid_out(cache)))
		return object;
	set_object(cache, object, size, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	return object;
}

void *kasan_slab_resize(struct kasan_cache *cache, void *object, size_t size)
{
	const uint32_t object_size = cache->object_size;

	if (kasan_unlikely(!object || !is_laid_out(cache) || size >= object_size))
		return object;
	open_object(cache, object, size);
	seal_alloc(alloc_meta(cache, object), object, size);
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

	if (!kasan_on())
		return cache->object_size;
	if (kasan_likely(meta && kasan_meta_state(meta, object) == KASAN_META_LIVE))
		return meta->size;
	/* The redzone was overwritten, but the shadow knows the size to the byte. */
	return kasan_size_by_shadow(object, cache->object_size);
}

/* --- Free --- */

/* End the object's life exactly once, so that one of two concurrent frees fails. If the seal is broken, the shadow
 * alone decides, as for allocators without metadata. */
static bool end_life(struct kasan_alloc_meta *meta, const void *object)
{
	uint32_t live = kasan_meta_seal(meta, object, KASAN_META_LIVE);
	const uint32_t freed = live ^ (KASAN_META_LIVE ^ KASAN_META_FREED);

	if (kasan_likely(__atomic_compare_exchange_n(&meta->flags, &live, freed, false,
						     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)))
		return true;
	return live != freed;
}

/* The same if nothing is wrong. Return: false if something is. */
static kasan_always_inline bool end_good_life(struct kasan_alloc_meta *meta, const void *object)
{
	uint32_t live = kasan_meta_seal(meta, object, KASAN_META_LIVE);

	return __atomic_compare_exchange_n(&meta->flags, &live,
					   live ^ (KASAN_META_LIVE ^ KASAN_META_FREED), false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Can there be metadata of the object whose shadow starts at @shadow? For a pointer into an object it might lie past the
 * end of memory. */
static inline bool has_meta(const struct kasan_cache *cache, const uint8_t *shadow)
{
	const size_t last = cache->alloc_meta_offset + sizeof(struct kasan_alloc_meta) - 1;

	return shadow[last >> KASAN_SHADOW_SCALE_SHIFT] == KASAN_SLAB_REDZONE;
}

bool kasan_slab_is_live(const struct kasan_cache *cache, const void *object)
{
	const struct kasan_alloc_meta *meta = alloc_meta(cache, object);
	const uint8_t *shadow = object_shadow(object);

	return is_laid_out(cache) && shadow && !(*shadow & 0x80) && has_meta(cache, shadow) &&
	       __atomic_load_n(&meta->flags, __ATOMIC_RELAXED) ==
		       kasan_meta_seal(meta, object, KASAN_META_LIVE);
}

/* Return: what is wrong with freeing @object, which the allocator found in the slot at @base; NULL: nothing, and its
 * life is over. */
static const char *check_free(const struct kasan_cache *cache, const void *object, const void *base)
{
	struct kasan_alloc_meta *meta = alloc_meta(cache, base);
	const uint8_t *shadow;

	if (kasan_unlikely(object != base))
		return "invalid-free";
	shadow = object_shadow(object);
	if (shadow && kasan_unlikely(*shadow & 0x80)) {
		if (*shadow == KASAN_SLAB_FREE || *shadow == KASAN_SLAB_FREE_META)
			return "double-free";
		/* Only an object of 0 bytes is redzone from its start. Values that are not the allocator's are poison
		 * of its user. An allocator may take memory after the last slot for a slot. */
		if (!has_meta(cache, shadow) || kasan_meta_state(meta, object) != KASAN_META_LIVE ||
		    (*shadow == KASAN_SLAB_REDZONE && meta->size != 0))
			return "invalid-free";
	}
	return end_life(meta, object) ? NULL : "double-free";
}

/* @report_ip: see kasan_slab_free(); 0: kasan_stack_caller() of @ip. */
static kasan_noinline enum kasan_free_verdict free_object(struct kasan_cache *cache, void *object,
							  void *base, uintptr_t ip, uintptr_t fp,
							  uintptr_t report_ip)
{
	const char *wrong;

	if (!is_laid_out(cache))
		return KASAN_FREE_NOW;
	wrong = check_free(cache, object, base);
	if (kasan_unlikely(wrong)) {
		kasan_report_bad_free(wrong, object,
				      report_ip ? report_ip : kasan_stack_caller(ip, fp), fp);
		return KASAN_FREE_BAD;
	}
	/* Readers may still use an object of a type-safe cache, so it stays as it is. */
	if (cache->flags & KASAN_CACHE_NO_QUARANTINE) {
		record_free(cache, object, ip, fp);
		return KASAN_FREE_NOW;
	}
	close_object(cache, object);
	record_free(cache, object, ip, fp);
	return kasan_quarantine_put(cache, object);
}

/* The rest of a free if nothing is special. @shadow: of @object. @verdict: filled. Return: false, and nothing has changed, if
 * something is. */
static kasan_always_inline bool free_plain(struct kasan_cache *cache, void *object, uint8_t *shadow,
					   uintptr_t caller, uintptr_t fp,
					   enum kasan_free_verdict *verdict)
{
	struct kasan_free_meta *meta;
	uint32_t stack;

	if (kasan_unlikely(!kasan_find_stack(&stack, caller, fp) ||
			   !end_good_life(alloc_meta(cache, object), object)))
		return false;
	/* Read again: there are just enough registers for comparing the stack. */
	kasan_opaque(cache);
	close_shadow(shadow, cache->plain_free);
	meta = free_meta(cache, object);
	kasan_put_track(&meta->free, stack);
	meta->check = kasan_free_seal(&meta->free, object);
	*verdict = kasan_quarantine_put(cache, object);
	return true;
}

kasan_noinline enum kasan_free_verdict kasan_slab_free(struct kasan_cache *cache, void *object,
						       void *base, uintptr_t ip)
{
	const uintptr_t caller = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	enum kasan_free_verdict verdict;
	uint8_t *shadow;

	if (kasan_unlikely(!object))
		return KASAN_FREE_NOW;
	shadow = object_shadow(object);
	if (kasan_likely(cache->plain_free && object == base && shadow && !(*shadow & 0x80) &&
			 free_plain(cache, object, shadow, caller, fp, &verdict)))
		return verdict;
	/* A life that was over before is still over at the second look. */
	return free_object(cache, object, base, caller, fp, ip ? ip : caller);
}

static kasan_noinline bool free_searched(struct kasan_cache *cache, void *object,
					 void *(*slot)(struct kasan_cache *, void *),
					 uintptr_t caller, uintptr_t fp)
{
	if (!is_laid_out(cache))
		return false;
	return free_object(cache, object, slot(cache, object), caller, fp, 0) != KASAN_FREE_NOW;
}

kasan_noinline bool kasan_slab_free_search(struct kasan_cache *cache, void *object,
					   void *(*slot)(struct kasan_cache *, void *))
{
	const uintptr_t caller = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	uint8_t *const shadow = object_shadow(object);
	enum kasan_free_verdict verdict;

	/* If the seal is right, a slot starts here. */
	if (kasan_likely(cache->plain_free && shadow && !(*shadow & 0x80) &&
			 has_meta(cache, shadow) &&
			 free_plain(cache, object, shadow, caller, fp, &verdict)))
		return verdict != KASAN_FREE_NOW;
	return free_searched(cache, object, slot, caller, fp);
}

enum kasan_free_verdict kasan_slab_free_deferred(struct kasan_cache *cache, void *object)
{
	if (!kasan_on())
		return KASAN_FREE_NOW;
	/* The track of kasan_slab_free() stays, because that is what a report's reader wants. */
	close_object(cache, object);
	return kasan_quarantine_put(cache, object);
}

bool kasan_slab_to_pool(struct kasan_cache *cache, void *object, void *base,
			const struct kasan_caller *caller)
{
	const char *wrong = check_free(cache, object, base);

	if (kasan_unlikely(wrong)) {
		kasan_report_bad_free(wrong, object, caller->report_ip, caller->fp);
		return false;
	}
	close_object(cache, object);
	record_free(cache, object, caller->ip, caller->fp);
	return true;
}

void *kasan_slab_from_pool(struct kasan_cache *cache, void *object, size_t size,
			   const struct kasan_caller *caller)
{
	forget_work(alloc_meta(cache, object));
	set_object(cache, object, size, caller->ip, caller->fp);
	return object;
}

/* A free list inside the slots will overwrite metadata in the object, but not in the redzone. */
static inline bool release_ends_meta(const struct kasan_cache *cache)
{
	return free_meta_overlays(cache) && !(cache->flags & KASAN_CACHE_LEAVES_FREE);
}

void kasan_slab_before_release(struct kasan_cache *cache, void *object)
{
	uint8_t *shadow = object_shadow(object);

	if (shadow && release_ends_meta(cache))
		*shadow = KASAN_SLAB_FREE;
}

void kasan_slab_release(struct kasan_cache *cache, void *const *objects, size_t count)
{
	size_t i;

	if (release_ends_meta(cache)) {
#pragma GCC unroll 4
		for (i = 0; i < count; i++) {
			uint8_t *shadow = object_shadow(objects[i]);

			if (kasan_likely(shadow))
				*shadow = KASAN_SLAB_FREE;
		}
	}
	if (cache->flags & KASAN_CACHE_RELEASE_BULK) {
		cache->release_bulk(cache, objects, count);
		return;
	}
	for (i = 0; i < count; i++)
		cache->release(cache, objects[i]);
}

kasan_noinline void kasan_report_invalid_free(const void *addr, uintptr_t ip)
{
	const char *type = "invalid-free";
	uint8_t *shadow;

	/* A pointer to the start of a free page was most likely a large allocation that was freed before. */
	if (!((uintptr_t)addr & (CONFIG_KASAN_PAGE_SIZE - 1)) &&
	    kasan_shadow_at((uintptr_t)addr, &shadow) && *shadow == KASAN_PAGE_FREE)
		type = "double-free";
	kasan_report_bad_free(type, addr, ip ? ip : KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

#endif /* CONFIG_KASAN_GENERIC */
