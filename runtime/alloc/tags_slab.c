/* SPDX-License-Identifier: MIT */
/*
 * tags_slab.c - objects of slab caches in the tag modes: tags, double and invalid frees.
 *
 * An object is just its granules, without redzone or metadata, unless readers may reach it after its free: then one
 * granule after the object says whether it was freed. The granules of a free object are KASAN_TAG_INVALID, those of a
 * live one have its tag, and memory beyond the size asked for stays invalid. The next owner must not get the last
 * owner's tag, which waits in the allocator's own list, in the top byte of the pointer that was freed.
 */
#include "meta.h"
#include "hw_sample.h"
#include "hw_slack.h"

#include "../base/up.h"
#include "../tags/tags_hot.h"
#include "../track/ring.h"

#include <kasan/slab_inline.h>

#ifdef CONFIG_KASAN_TAGS

#define ROUND_UP(x, to) (((x) + (to) - 1) & ~((uint32_t)(to) - 1))

/* --- Layout --- */

/* Readers may look at such objects after the free, which changes only the state word. */
static inline bool outlives_free(const struct kasan_cache *cache)
{
	return cache->flags & KASAN_CACHE_NO_QUARANTINE;
}

/* Such objects may contain pointers to themselves, or readers reach them after the free. */
static inline bool has_fixed_tag(const struct kasan_cache *cache)
{
	return cache->flags & (KASAN_CACHE_NO_FREE_META_IN_OBJECT | KASAN_CACHE_NO_QUARANTINE);
}

/* Was kasan.slack=check given when the cache was created? */
static inline bool has_slack(const struct kasan_cache *cache)
{
	return cache->flags & KASAN_CACHE_SLACK;
}

uint32_t kasan_cache_create(struct kasan_cache *cache, uint32_t align)
{
	const uint32_t unit = align < KASAN_GRANULE_SIZE ? (uint32_t)KASAN_GRANULE_SIZE : align;
	uint32_t size = ROUND_UP(cache->object_size, (uint32_t)KASAN_GRANULE_SIZE);

	cache->free_meta_offset = KASAN_NO_FREE_META;
	/* Objects whose slack is checked leave the hooks' fast paths through existing tests. */
	cache->flags &= ~KASAN_CACHE_SLACK;
	if (kasan_slack_caches()) {
		cache->flags |= KASAN_CACHE_SLACK;
		/* An allocator that uses the functions in line need not look into @cache. */
		kasan_slab_set_flag(KASAN_SLAB_SLOW, true);
	}
	cache->plain_size = has_fixed_tag(cache) || has_slack(cache) ? 0 : cache->object_size;
	cache->plain_free = outlives_free(cache) || has_slack(cache) ? 0 : cache->object_size;
	if (outlives_free(cache)) {
		/* At the end, so that there is room for an allocator's link before it. */
		size = ROUND_UP(size + (uint32_t)KASAN_GRANULE_SIZE, unit);
		cache->alloc_meta_offset = size - (uint32_t)sizeof(uint64_t);
	} else {
		size = ROUND_UP(size, unit);
		cache->alloc_meta_offset = size;
	}
	cache->slot_size = size;
	/* A slot as large as a page always has a neighbour in another page. */
	cache->inner_offsets =
		size < CONFIG_KASAN_PAGE_SIZE - 1 ? CONFIG_KASAN_PAGE_SIZE - 1 - size : 0;
	return size;
}

static inline size_t object_span(const struct kasan_cache *cache)
{
	return ROUND_UP(cache->object_size, KASAN_GRANULE_SIZE);
}

/* --- Objects that outlive their free --- */

static uint32_t *state_of(const struct kasan_cache *cache, const void *object)
{
	return (uint32_t *)(kasan_untag_addr((uintptr_t)object) + cache->alloc_meta_offset);
}

/* The word for @object in @state. A word that a bug has written is unlikely to be valid. */
static uint32_t state_word(const void *object, uint32_t state)
{
	return (kasan_mix(0, (uint32_t)kasan_untag_addr((uintptr_t)object)) &
		~KASAN_META_STATE_MASK) |
	       state;
}

/* Once only, because the tag stays. Return: false if the object was freed before. */
static bool end_typesafe(const struct kasan_cache *cache, const void *object)
{
	const uint32_t freed = state_word(object, KASAN_META_FREED);
	uint32_t live = state_word(object, KASAN_META_LIVE);

	/* An overwritten state proves nothing; tags decide when the readers have left. */
	return __atomic_compare_exchange_n(state_of(cache, object), &live, freed, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) ||
	       live != freed;
}

/* --- Tags of slots --- */

/* From one slot to the next the quotient grows by exactly one, whatever address a slab starts at, so neighbours differ
 * in its lowest bit. */
static inline unsigned int parity_of(const struct kasan_cache *cache, uintptr_t addr)
{
	return (unsigned int)(addr / cache->slot_size) & 1;
}

static uint8_t next_tag(const struct kasan_cache *cache, const void *object)
{
	const uintptr_t addr = kasan_untag_addr((uintptr_t)object), end = addr + cache->slot_size;
	const uint8_t last = kasan_get_tag(object);
	const uint8_t tag = kasan_tag_for_slot(parity_of(cache, addr), last);

	/* Memory after the last slot of a page, or before the first, may have another owner. */
	if (kasan_unlikely(!(addr & (CONFIG_KASAN_PAGE_SIZE - 1)) ||
			   (addr ^ end) >= CONFIG_KASAN_PAGE_SIZE))
		return kasan_tag_beside(tag, last,
					kasan_tags_owner_beside(addr - KASAN_GRANULE_SIZE, addr),
					kasan_tags_owner_beside(end, end - 1));
	return tag;
}

/* --- Slabs and slots --- */

void kasan_poison_slab(const void *slab, size_t size)
{
	kasan_poison(slab, size, KASAN_SLAB_REDZONE);
}

void kasan_init_slab_object(struct kasan_cache *cache, void *object)
{
	(void)cache;
	(void)object;
}

void *kasan_init_slab_slot(struct kasan_cache *cache, void *object)
{
	if (!has_fixed_tag(cache) || !kasan_on())
		return object;
	return kasan_set_tag(object, next_tag(cache, kasan_reset_tag(object)));
}

void kasan_unpoison_object(struct kasan_cache *cache, void *object)
{
	kasan_unpoison(object, cache->object_size);
}

void kasan_poison_object(struct kasan_cache *cache, void *object)
{
	kasan_poison(object, object_span(cache), KASAN_SLAB_REDZONE);
}

/* --- Allocation --- */

/* Does an object of @size bytes have nothing that is rare? */
static kasan_always_inline bool is_plain(const struct kasan_cache *cache, size_t size)
{
	return !(__atomic_load_n(&kasan_slab_flags, __ATOMIC_RELAXED) & ~KASAN_SLAB_TRACES) &&
	       size <= cache->plain_size;
}

/* Handles every object. @caller->fp may be the frame of any function that the caller has called. */
static void *open_object(struct kasan_cache *cache, void *object, size_t size, bool init,
			 const struct kasan_caller *caller)
{
	/* The rare properties are looked at only if the cache has some. */
	const bool plain = cache->plain_size;
	uint8_t tag;

	if (kasan_unlikely(!kasan_on())) {
		object = kasan_reset_tag(object);
		if (init)
			__memset(object, 0, size);
		return object;
	}
	if (kasan_unlikely(size > cache->object_size))
		size = cache->object_size;
	if (!plain && has_fixed_tag(cache) && kasan_get_tag(object) != KASAN_TAG_KERNEL)
		tag = kasan_get_tag(object);
	else
		tag = next_tag(cache, object);
	if (!plain && outlives_free(cache))
		__atomic_store_n(state_of(cache, object), state_word(object, KASAN_META_LIVE),
				 __ATOMIC_RELAXED);
	object = kasan_set_tag(object, tag);
	kasan_tags_open((uintptr_t)object, size, tag, init);
	if (!plain && has_slack(cache))
		kasan_slack_arm((uintptr_t)object, size);
	if (kasan_likely(kasan_opt_stacktrace))
		kasan_ring_add(object, size, false, caller->ip, caller->fp);
	return object;
}

static kasan_noinline void *open_object_slow(struct kasan_cache *cache, void *object, size_t size,
					     bool init, uintptr_t ip)
{
	const struct kasan_caller caller = {.ip = ip,
					    .fp = kasan_hook_frame(ip, KASAN_CALLER_FP())};
	uintptr_t addr = (uintptr_t)object;
	struct kasan_track track;

	/* Nearly always only the stack is new. */
	if (kasan_likely(is_plain(cache, size) && kasan_slab_retag(cache, &addr))) {
		kasan_clear_track(&track);
		kasan_set_new_track(&track, caller.ip, caller.fp);
		kasan_ring_record((void *)addr, size, false, &track);
		kasan_tags_open(addr, size, kasan_addr_tag(addr), init);
		return (void *)addr;
	}
	return open_object(cache, object, size, init, &caller);
}

/* The rest of the hooks below if this CPU needs more room in the ring. A call in the middle of them would have each
 * allocation and free save registers. */
static kasan_noinline void *open_recorded(void *object, size_t size, bool init, uint32_t stack)
{
	struct kasan_track track;

	kasan_clear_track(&track);
	kasan_put_track(&track, stack);
	kasan_ring_record(object, size, false, &track);
	kasan_tags_open((uintptr_t)object, size, kasan_get_tag(object), init);
	return object;
}

static kasan_noinline enum kasan_free_verdict close_recorded(const void *object, size_t size,
							     uint32_t stack)
{
	struct kasan_track track;

	kasan_clear_track(&track);
	kasan_put_track(&track, stack);
	kasan_ring_record(object, size, true, &track);
	kasan_tags_fill_fast((uintptr_t)object, size, KASAN_SLAB_FREE);
	return KASAN_FREE_NOW;
}

/* For the first owner of a slot, whose tag takes a division. Most objects of a boot are such. */
static kasan_noinline void *open_first(const struct kasan_cache *cache, void *object, size_t size,
				       bool init, struct kasan_ring_stack stack)
{
	object = kasan_set_tag(object, next_tag(cache, object));
	if (kasan_likely(stack.wanted))
		return open_recorded(object, size, init, stack.handle);
	kasan_tags_open((uintptr_t)object, size, kasan_get_tag(object), init);
	return object;
}

/* Handles most objects: those without constructor and readers. */
static kasan_always_inline void *open_object_fast(struct kasan_cache *cache, void *object,
						  size_t size, bool init, uintptr_t ip,
						  uintptr_t fp)
{
	struct kasan_ring_stack stack;
	uintptr_t addr = (uintptr_t)object;

	if (kasan_unlikely(!object))
		return NULL;
	if (kasan_unlikely(!is_plain(cache, size) || !kasan_ring_find(&stack, ip, fp)))
		return open_object_slow(cache, object, size, init, ip);
	if (kasan_unlikely(!kasan_slab_retag(cache, &addr)))
		return open_first(cache, object, size, init, stack);
	if (kasan_unlikely(!kasan_ring_write((const void *)addr, (uint32_t)size, &stack)))
		return open_recorded((void *)addr, size, init, stack.handle);
	if (!init)
		return (void *)kasan_tags_open_fast(addr, size);
#ifdef CONFIG_KASAN_HW_TAGS
	/* The CPU checks whole granules. */
	kasan_tags_fill_zero(addr, kasan_tags_whole(size), kasan_addr_tag(addr));
#else
	kasan_tags_open(addr, size, kasan_addr_tag(addr), true);
#endif
	return (void *)addr;
}

kasan_noinline void *kasan_slab_alloc(struct kasan_cache *cache, void *object, size_t size)
{
	return open_object_fast(cache, object, size, false, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

#ifdef CONFIG_KASAN_HW_TAGS
kasan_noinline void *kasan_slab_alloc_init(struct kasan_cache *cache, void *object, size_t size,
					   bool init)
{
	return open_object_fast(cache, object, size, init, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}
#endif

/* The object stays in place, and there may be more pointers to it, so it keeps its tag. Return: @object. */
static inline void *resize(const struct kasan_cache *cache, void *object, size_t size, uintptr_t ip,
			   uintptr_t fp)
{
	if (kasan_unlikely(kasan_get_tag(object) == KASAN_TAG_KERNEL))
		return object;
	kasan_poison_tail(object, size, object_span(cache), KASAN_SLAB_REDZONE);
	if (kasan_opt_stacktrace)
		kasan_ring_add(object, size, false, ip, fp);
	return object;
}

/* Handles every object. */
static kasan_noinline void *resize_slow(const struct kasan_cache *cache, void *object, size_t size,
					uintptr_t ip)
{
	const uintptr_t fp = kasan_hook_frame(ip, KASAN_CALLER_FP());

	if (!object || !kasan_on())
		return object;
	if (size > cache->object_size)
		size = cache->object_size;
	/* This applies to a pointer without a tag too. */
	if (has_slack(cache))
		kasan_slack_end((uintptr_t)object, object_span(cache), "at krealloc", ip, fp);
	resize(cache, object, size, ip, fp);
	if (has_slack(cache))
		kasan_slack_arm((uintptr_t)object, size);
	return object;
}

kasan_noinline void *kasan_slab_realloc(struct kasan_cache *cache, void *object, size_t size)
{
	if (kasan_unlikely(!object || !kasan_on()))
		return object;
	if (kasan_unlikely(size > cache->plain_size))
		return resize_slow(cache, object, size, KASAN_CALLER_IP());
	return resize(cache, object, size, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

/* kasan_poison_tail() of an object that has all of its @span. */
static kasan_always_inline void shorten(void *object, size_t size, size_t span)
{
#ifdef CONFIG_KASAN_HW_TAGS
	/* One of 0 bytes still has an owner, whose tag is in its first granule. */
	const size_t whole = kasan_tags_whole(size + !size);

	kasan_tags_fill_fast((uintptr_t)object + whole, span - whole, KASAN_SLAB_REDZONE);
#else
	kasan_poison_tail(object, size, span, KASAN_SLAB_REDZONE);
#endif
}

kasan_noinline void *kasan_slab_resize(struct kasan_cache *cache, void *object, size_t size)
{
	/* A second record would have the same stack, and take the place of another object's. */
	if (kasan_unlikely(!object || !kasan_on() || size > cache->plain_size ||
			   kasan_get_tag(object) == KASAN_TAG_KERNEL) ||
	    (kasan_opt_stacktrace && !kasan_ring_correct(object, size)))
		return resize_slow(cache, object, size, KASAN_CALLER_IP());
	shorten(object, size, object_span(cache));
	return object;
}

size_t kasan_size_by_tags(const void *object, size_t max)
{
	const uintptr_t start = kasan_untag_addr((uintptr_t)object);
	uint8_t tag = kasan_tags_owner(start), owner, state;
	size_t size = 0;

	while (size < max && kasan_tags_read(start + size, &state)) {
		if (state != tag && state != KASAN_USER_POISON) {
			if (state == KASAN_TAG_INVALID)
				break;
			owner = kasan_tags_owner(start + size);
			/* The first granule that its user has not poisoned shows the owner. */
			if (tag == KASAN_USER_POISON)
				tag = owner;
			if (owner != tag)
				break;
			/* A short granule ends the object. */
			if (state < KASAN_GRANULE_SIZE) {
				size += state;
				break;
			}
		}
		size += KASAN_GRANULE_SIZE;
	}
	return size < max ? size : max;
}

/* For caches that are not plain. If slack is checked, the size is known to the byte. */
static kasan_noinline size_t object_size_slow(const struct kasan_cache *cache, const void *object)
{
	size_t size = kasan_size_by_tags(object, object_span(cache));

	if (has_slack(cache) && size)
		size -= kasan_slack_unused((uintptr_t)object + size);
	return size < cache->object_size ? size : cache->object_size;
}

size_t kasan_object_size(struct kasan_cache *cache, const void *object)
{
	if (kasan_unlikely(!kasan_on() || kasan_tags_owner((uintptr_t)object) == KASAN_TAG_INVALID))
		return cache->object_size;
	if (kasan_unlikely(!cache->plain_size))
		return object_size_slow(cache, object);
	return kasan_size_by_tags(object, cache->plain_size);
}

/* --- Free --- */

/* The slot at @base does not belong to the pointer @object, or not any more. But an object of less than a granule keeps
 * its tag in the granule's last byte, which an overflow may have overwritten. The overflow was reported and does not
 * make the object freed. Return: true if it is such an object; its life is over now. */
static kasan_noinline bool claim_overrun(const void *object, const void *base)
{
	uint8_t state;

	return kasan_tags_read((uintptr_t)base, &state) && state < KASAN_GRANULE_SIZE &&
	       kasan_ring_lives(object) && kasan_tags_claim((uintptr_t)base, KASAN_TAG_KERNEL);
}

/* Return: what is wrong with freeing @object, which the allocator found in the slot at @base; NULL: nothing, and its
 * life is over: its first granule has no owner. */
static inline const char *check_free(const void *object, const void *base)
{
	if (kasan_unlikely(kasan_reset_tag(object) != kasan_reset_tag(base)))
		return "invalid-free";
	if (kasan_likely(kasan_tags_claim((uintptr_t)base, kasan_get_tag(object))) ||
	    claim_overrun(object, base))
		return NULL;
	return "double-free";
}

/* The same for an object that outlives its free, which its owner and readers keep until they have left. */
static const char *check_typesafe_free(const struct kasan_cache *cache, const void *object,
				       const void *base)
{
	if (kasan_reset_tag(object) != kasan_reset_tag(base))
		return "invalid-free";
	if (!kasan_tag_owns(kasan_get_tag(object), kasan_tags_owner((uintptr_t)base)) ||
	    !end_typesafe(cache, base))
		return "double-free";
	return NULL;
}

/* In place of a report's ip: the caller's caller, which is looked for only if there is a report. */
#define CALLERS_CALLER 1U

static uintptr_t report_ip(const struct kasan_caller *caller)
{
	return caller->report_ip == CALLERS_CALLER ? kasan_stack_caller(caller->ip, caller->fp)
						   : caller->report_ip;
}

static void close_object(struct kasan_cache *cache, const void *object,
			 const struct kasan_caller *caller)
{
	/* First, because a report looks for the last allocation. */
	if (has_slack(cache))
		kasan_slack_end((uintptr_t)object, object_span(cache), "at free", report_ip(caller),
				caller->fp);
	if (kasan_likely(kasan_opt_stacktrace))
		kasan_ring_add(object, cache->object_size, true, caller->ip, caller->fp);
	if (!outlives_free(cache))
		kasan_tags_fill((uintptr_t)object, object_span(cache), KASAN_SLAB_FREE);
}

/* Handles every free. @report: as @ip of kasan_slab_free(), or CALLERS_CALLER. */
static kasan_noinline enum kasan_free_verdict
slab_free_slow(struct kasan_cache *cache, void *object, void *base, uintptr_t report, uintptr_t ip)
{
	const struct kasan_caller caller = {.ip = ip,
					    .fp = kasan_hook_frame(ip, KASAN_CALLER_FP()),
					    .report_ip = report ? report : ip};
	const char *wrong;

	if (!kasan_on())
		return KASAN_FREE_NOW;
	wrong = outlives_free(cache) ? check_typesafe_free(cache, object, base)
				     : check_free(object, base);
	if (kasan_unlikely(wrong)) {
		kasan_report_bad_free(wrong, object, report_ip(&caller), caller.fp);
		return KASAN_FREE_BAD;
	}
	close_object(cache, object, &caller);
	return KASAN_FREE_NOW;
}

static kasan_always_inline enum kasan_free_verdict free_object(struct kasan_cache *cache,
							       void *object, void *base,
							       uintptr_t report, uintptr_t ip,
							       uintptr_t fp)
{
	struct kasan_ring_stack stack;

	if (kasan_unlikely(!kasan_on() || !cache->plain_free || !kasan_ring_find(&stack, ip, fp) ||
			   !kasan_tags_claim_fast((uintptr_t)object, (uintptr_t)base)))
		return slab_free_slow(cache, object, base, report, ip);
	if (kasan_unlikely(!kasan_ring_write(object, cache->plain_free | KASAN_RING_FREE, &stack)))
		return close_recorded(object, cache->plain_free, stack.handle);
	kasan_tags_fill_fast((uintptr_t)object, cache->plain_free, KASAN_SLAB_FREE);
	return KASAN_FREE_NOW;
}

kasan_noinline enum kasan_free_verdict kasan_slab_free(struct kasan_cache *cache, void *object,
						       void *base, uintptr_t ip)
{
	if (kasan_unlikely(!object))
		return KASAN_FREE_NOW;
	return free_object(cache, object, base, ip, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

kasan_noinline bool kasan_slab_free_start(struct kasan_cache *cache, void *object)
{
	return free_object(cache, object, kasan_reset_tag(object), CALLERS_CALLER,
			   KASAN_CALLER_IP(), KASAN_CALLER_FP()) != KASAN_FREE_NOW;
}

kasan_noinline enum kasan_free_verdict kasan_slab_free_deferred(struct kasan_cache *cache,
								void *object)
{
	if (!kasan_on())
		return KASAN_FREE_NOW;
	/* Double free within one grace period; the state word that would have caught it was overwritten. */
	if (kasan_unlikely(!kasan_tags_claim((uintptr_t)object, KASAN_TAG_KERNEL))) {
		kasan_report_bad_free("double-free", object, KASAN_CALLER_IP(), KASAN_CALLER_FP());
		return KASAN_FREE_QUARANTINED;
	}
	/* The record of kasan_slab_free() stays, because that is what a report's reader wants. */
	kasan_tags_fill((uintptr_t)object, object_span(cache), KASAN_SLAB_FREE);
	return KASAN_FREE_NOW;
}

bool kasan_slab_to_pool(struct kasan_cache *cache, void *object, void *base,
			const struct kasan_caller *caller)
{
	const char *wrong;

	if (!kasan_on())
		return true;
	wrong = check_free(object, base);
	if (kasan_unlikely(wrong)) {
		kasan_report_bad_free(wrong, object, caller->report_ip, caller->fp);
		return false;
	}
	close_object(cache, object, caller);
	return true;
}

void *kasan_slab_from_pool(struct kasan_cache *cache, void *object, size_t size,
			   const struct kasan_caller *caller)
{
	return open_object(cache, object, size, false, caller);
}

kasan_noinline void kasan_report_invalid_free(const void *addr, uintptr_t ip)
{
	const char *type = "invalid-free";
	uint8_t state;

	/* A pointer with a tag to free memory most likely pointed to an object before. If sampling skips allocations,
	 * so did a pointer without a tag. */
	if (!((uintptr_t)addr & (CONFIG_KASAN_PAGE_SIZE - 1)) &&
	    (kasan_get_tag(addr) != KASAN_TAG_KERNEL || kasan_opt_sample != 1) &&
	    kasan_tags_read((uintptr_t)addr, &state) && state == KASAN_PAGE_FREE)
		type = "double-free";
	kasan_report_bad_free(type, addr, ip ? ip : KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

/* Nothing is held back: a freed object is found by its tag, however soon it is reused. */
void kasan_cache_shrink(struct kasan_cache *cache)
{
	(void)cache;
}

#endif /* CONFIG_KASAN_TAGS */
