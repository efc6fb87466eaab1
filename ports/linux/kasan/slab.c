// SPDX-License-Identifier: MIT
/*
 * slab.c - what SLUB calls for slabs, objects, and pools of objects. cache.c knows the caches.
 */
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../slab.h"

#include "redzone.h"

#include "cache.h"
#include "internal.h"

/* Linux 7 says whether the object may wait in the quarantine: one of kfree_nolock() may not. */
#if KASAN_LINUX_7
#define NO_QUARANTINE , bool no_quarantine
#else
#define NO_QUARANTINE
#endif

/* --- Slabs --- */

void __kasan_poison_slab(struct slab *slab)
{
	struct page *page = slab_page(slab);
	unsigned long i;

	/* Nothing would make the objects of such a cache accessible again. */
	if (unlikely(!kasan_cache_of_new_slab(slab->slab_cache)))
		return;
	/* Each object has a tag of its own. */
	for (i = 0; i < compound_nr(page); i++)
		page_kasan_tag_reset(page + i);
	redzone_poison_slab(slab_address(slab), slab_size(slab));
}

void *__must_check __kasan_init_slab_obj(struct kmem_cache *cache, const void *object)
{
	struct redzone_cache *kasan;

	/* Each owner of the others gets a tag of its own. */
	if (!IS_ENABLED(CONFIG_KASAN_GENERIC) && !kasan_keeps_tag(cache))
		return (void *)object;
	kasan = kasan_cache(cache);
	return kasan ? redzone_init_slab_slot(kasan, (void *)object) : (void *)object;
}

void __kasan_unpoison_new_object(struct kmem_cache *cache, void *object)
{
	struct redzone_cache *kasan = kasan_cache(cache);

	if (kasan)
		redzone_unpoison_object(kasan, object);
}

void __kasan_poison_new_object(struct kmem_cache *cache, void *object)
{
	struct redzone_cache *kasan = kasan_cache(cache);

	if (kasan)
		redzone_poison_object(kasan, object);
}

/* --- Objects --- */

#if KASAN_LINUX_7
/* For kmalloc_nolock() of Linux 7, whose caller may hold locks of the page allocator. */
static noinline void *alloc_without_pages(struct redzone_cache *kasan, void *object, bool init)
{
	const unsigned long flags = kasan_begin_without_pages();

	object = redzone_slab_alloc_init(kasan, object, kasan->object_size, init);
	kasan_end_without_pages(flags);
	return object;
}

/* Linux takes flags away until all CPUs run. */
static bool may_hold_locks(gfp_t flags)
{
	return unlikely(!gfpflags_allow_spinning(flags)) && gfp_allowed_mask == __GFP_BITS_MASK;
}
#endif

static __always_inline void *alloc_from(struct redzone_cache *kasan, void *object, gfp_t flags,
					bool init)
{
	if (unlikely(!kasan || is_kfence_address(object)))
		return object;
#if KASAN_LINUX_7
	if (may_hold_locks(flags))
		return alloc_without_pages(kasan, object, init);
#endif
	return redzone_slab_alloc_init(kasan, object, kasan->object_size, init);
}

/*
 * Each object passes through here, so these functions end with a jump to the runtime's (Makefile): they have no frame, and
 * are in no trace.
 */
#ifdef CONFIG_KASAN_GENERIC
void *__must_check __kasan_slab_alloc(struct kmem_cache *cache, void *object, gfp_t flags,
				      bool init)
{
	return alloc_from(kasan_cache(cache), object, flags, init);
}
#else
/*
 * Without stack traces most objects need no more than their tags. That takes fewer instructions in line, and with what
 * Linux's struct says of the cache, than it takes to find what the runtime knows of it.
 */
static __always_inline bool is_plain(const struct kmem_cache *cache)
{
	return unlikely(!READ_ONCE(redzone_slab_flags)) &&
	       likely(!(cache->flags & SLAB_TYPESAFE_BY_RCU));
}

/* As cache_tags.c fills it, for the functions in line. */
static __always_inline struct redzone_cache shape_of(const struct kmem_cache *cache)
{
	const u32 size = cache->size;

	return (struct redzone_cache){
		.slot_size = size,
		.inner_offsets = kasan_inner_offsets(size),
		.plain_size = cache->object_size,
		.plain_free = cache->object_size,
	};
}

/* Return: false if nothing has happened, and the hook has to do it. */
static __always_inline bool tag_plain(const struct kmem_cache *cache, void **object, bool init)
{
	struct redzone_cache shape;

	if (unlikely(cache->ctor || init || !*object || is_kfence_address(*object)))
		return false;
	shape = shape_of(cache);
	return likely(redzone_slab_tag_inline(&shape, object, cache->object_size));
}

/* Many granules, or a short one: that takes a call, which would give all other objects a frame. */
static __always_inline bool takes_call(size_t size)
{
	return size > KASAN_TAGS_FEW ||
	       (IS_ENABLED(CONFIG_KASAN_SW_TAGS) && (!size || size & KASAN_GRANULE_MASK));
}

static noinline void *open_by_call(void *object, size_t size)
{
	return redzone_slab_open_inline(object, size);
}

static noinline void *alloc_slowly(struct kmem_cache *cache, void *object, gfp_t flags, bool init)
{
	return alloc_from(kasan_cache_of_new_slab(cache), object, flags, init);
}

void *__must_check __kasan_slab_alloc(struct kmem_cache *cache, void *object, gfp_t flags,
				      bool init)
{
	const size_t size = cache->object_size;
	struct redzone_cache *kasan;

	if (is_plain(cache) && tag_plain(cache, &object, init)) {
		if (unlikely(takes_call(size)))
			return open_by_call(object, size);
		return redzone_slab_open_inline(object, size);
	}
	kasan = kasan_known_cache(cache);
	return likely(kasan) ? alloc_from(kasan, object, flags, init)
			     : alloc_slowly(cache, object, flags, init);
}
#endif

void *__must_check __kasan_kmalloc(struct kmem_cache *cache, const void *object, size_t size,
				   gfp_t flags)
{
	struct redzone_cache *kasan;

	/* __kasan_slab_alloc() has handed out all of it. */
	if (size == cache->object_size || unlikely(!object || is_kfence_address(object)))
		return (void *)object;
	kasan = kasan_cache(cache);
	if (unlikely(!kasan))
		return (void *)object;
	return redzone_slab_resize(kasan, (void *)object, size);
}

/* May its user touch the first byte of @object, which is aligned as objects are? */
static bool is_accessible(const void *object)
{
#ifdef CONFIG_KASAN_GENERIC
	return READ_ONCE(*(const s8 *)kasan_mem_to_shadow(object)) >= 0;
#else
	return redzone_byte_accessible(object);
#endif
}

static noinline bool free_slowly(struct kmem_cache *cache, void *object, void *base,
				 unsigned long ip)
{
	struct redzone_cache *kasan = kasan_cache(cache);

	if (!kasan || (kasan_reset_tag(object) == base && is_accessible(object)))
		return false;
	return redzone_slab_free(kasan, object, base, ip) != KASAN_FREE_NOW;
}

static void *start_of_slot(struct kmem_cache *cache, void *object)
{
	return nearest_obj(cache, virt_to_slab(object), kasan_reset_tag(object));
}

/*
 * Only what is wrong ends here; all else is left to __kasan_slab_free(), which SLUB calls next. Unless SLUB writes to the
 * object first, or its free comes after a grace period, that finds what is wrong just as well.
 */
static bool is_checked_later(struct kmem_cache *cache)
{
	/* Linux 7 has kfree_nolock(), which ignores what __kasan_slab_free() returns. */
	if (KASAN_LINUX_7)
		return false;
	return likely(!(cache->flags & SLAB_TYPESAFE_BY_RCU) && !slab_want_init_on_free(cache));
}

#ifdef CONFIG_KASAN_GENERIC
static noinline bool check_now(struct kmem_cache *cache, void *object, unsigned long ip)
{
	struct redzone_cache *kasan = kasan_cache(cache);

	if (unlikely(!kasan || is_kfence_address(object)))
		return false;
	/* The start of the slot costs a division. */
	if (likely(redzone_slab_is_live(kasan, object)))
		return false;
	return free_slowly(cache, object, start_of_slot(cache, object), ip);
}

bool __kasan_slab_pre_free(struct kmem_cache *cache, void *object, unsigned long ip)
{
	kasan_free_released();
	return is_checked_later(cache) ? false : check_now(cache, object, ip);
}
#else

#ifdef CONFIG_KASAN_SW_TAGS
static const u8 *shadow_of(unsigned long addr)
{
	return kasan_mem_to_shadow(kasan_reset_tag((void *)addr));
}
#endif

/*
 * Does an object begin there, as the tags show? All of an object has one tag, and what is before it has another. False if that
 * is not certain: start_of_slot() knows, and costs a division.
 */
static __always_inline bool is_start(const struct kmem_cache *cache, const void *object)
{
	const unsigned long addr = (unsigned long)object, before = addr - KASAN_GRANULE_SIZE;

	if (addr & KASAN_GRANULE_MASK)
		return false;
#ifdef CONFIG_KASAN_HW_TAGS
	if (redzone_mte_ldg(addr) != addr)
		return false;
	/* A slab's first object. The page before it may not be mapped. */
	if (!offset_in_page(addr) && !PageTail(virt_to_page(object)))
		return !(cache->flags & SLAB_RED_ZONE);
	return redzone_mte_ldg(before) != before;
#else
	return redzone_get_tag(object) != KASAN_TAG_KERNEL &&
	       *shadow_of(addr) == redzone_get_tag(object) &&
	       *shadow_of(before) != redzone_get_tag(object);
#endif
}

static noinline bool check_now(struct kmem_cache *cache, void *object, unsigned long ip)
{
	void *base;

	if (unlikely(is_kfence_address(object)))
		return false;
	base = is_start(cache, object) ? kasan_reset_tag(object) : start_of_slot(cache, object);
	return free_slowly(cache, object, base, ip);
}

bool __kasan_slab_pre_free(struct kmem_cache *cache, void *object, unsigned long ip)
{
	return is_checked_later(cache) ? false : check_now(cache, object, ip);
}
#endif

#ifdef CONFIG_KASAN_GENERIC

static void *slot_of(struct redzone_cache *kasan, void *object)
{
	return start_of_slot(virt_to_slab(object)->slab_cache, object);
}

/* For a cache with readers, and the metadata of its objects after them. */
static noinline bool free_typesafe(struct redzone_cache *kasan, void *object, bool still_accessible)
{
	enum redzone_free_verdict verdict = redzone_slab_free(kasan, object, object, 0);

	/* The grace period is over, so no reader of the object is left. */
	if (verdict == KASAN_FREE_NOW && !still_accessible)
		verdict = redzone_slab_free_deferred(kasan, object);
	return verdict != KASAN_FREE_NOW;
}

#if KASAN_LINUX_7
/* The quarantine has a lock, and the caller must not wait for any. A bad free has been reported before. */
static noinline bool free_at_once(struct redzone_cache *kasan, void *object)
{
	unsigned long flags;

	/* Readers may still look at the objects of other caches. */
	if (kasan->flags & KASAN_CACHE_NO_QUARANTINE)
		return false;
	flags = kasan_begin_without_pages();
	redzone_mempool_poison_object(object, _RET_IP_);
	kasan_end_without_pages(flags);
	return false;
}
#endif

bool __kasan_slab_free(struct kmem_cache *cache, void *object, bool init,
		       bool still_accessible NO_QUARANTINE)
{
	struct redzone_cache *kasan = kasan_cache(cache);

	if (unlikely(!kasan || is_kfence_address(object)))
		return false;
#if KASAN_LINUX_7
	if (unlikely(no_quarantine))
		return free_at_once(kasan, object);
#endif
	if (unlikely(kasan->flags & KASAN_CACHE_NO_QUARANTINE))
		return free_typesafe(kasan, object, still_accessible);
	return redzone_slab_free_search(kasan, object, slot_of);
}

#else

/* Return: false if nothing has happened, and the hook has to do it. @object starts at its slot. */
static __always_inline bool free_plain(const struct kmem_cache *cache, const void *object)
{
	const struct redzone_cache shape = shape_of(cache);
	unsigned long flags;
	bool done;

	/* With software tags one instruction ends the object's life. */
	if (IS_ENABLED(CONFIG_KASAN_SW_TAGS))
		return likely(redzone_slab_free_inline(&shape, object, 0));
	flags = kasan_port_irq_save();
	done = redzone_slab_free_inline(&shape, object, kasan_port_cpu());
	kasan_port_irq_restore(flags);
	return likely(done);
}

static noinline bool __kasan_slab_free_slowly(struct kmem_cache *cache, void *object, bool init)
{
	/* For reports of a bad free: the caller of SLUB's function. */
	const unsigned long ip = (unsigned long)__builtin_return_address(1);
	struct redzone_cache *kasan = kasan_cache(cache);
	void *base;

	if (!kasan || is_kfence_address(object))
		return false;
	base = is_start(cache, object) ? kasan_reset_tag(object) : start_of_slot(cache, object);
	if (redzone_slab_free(kasan, object, base, ip) != KASAN_FREE_NOW)
		return true;
	if (init && kasan_has_integrated_init())
		memset(base, 0, kasan->object_size);
	return false;
}

bool __kasan_slab_free(struct kmem_cache *cache, void *object, bool init,
		       bool still_accessible NO_QUARANTINE)
{
	struct redzone_cache *kasan;

	/* Without metadata nothing can be noted of an object that its readers may still look at. */
	if (still_accessible)
		return false;
	if (unlikely(init || is_kfence_address(object) || !is_start(cache, object)))
		return __kasan_slab_free_slowly(cache, object, init);
	if (is_plain(cache) && free_plain(cache, object))
		return false;
	kasan = kasan_known_cache(cache);
	return likely(kasan) ? redzone_slab_free_start(kasan, object)
			     : __kasan_slab_free_slowly(cache, object, init);
}

#endif

void *__must_check __kasan_kmalloc_large(const void *ptr, size_t size, gfp_t flags)
{
	if (unlikely(!ptr))
		return NULL;
	return redzone_kmalloc_large((void *)ptr, size, page_size(virt_to_page(ptr)), NULL);
}

void __kasan_kfree_large(void *ptr, unsigned long ip)
{
	redzone_kfree_large(ptr, page_address(virt_to_head_page(ptr)), NULL, ip);
}

void *__must_check __kasan_krealloc(const void *object, size_t size, gfp_t flags)
{
	struct redzone_cache *kasan;
	struct slab *slab;

	if (unlikely(ZERO_OR_NULL_PTR(object)) || is_kfence_address(object))
		return (void *)object;
	slab = virt_to_slab(object);
	if (!slab)
		return __kasan_kmalloc_large(object, size, flags);
	kasan = kasan_cache(slab->slab_cache);
	return kasan ? redzone_slab_realloc(kasan, (void *)object, size) : (void *)object;
}

/* --- Pools --- */

bool __kasan_mempool_poison_object(void *ptr, unsigned long ip)
{
	struct folio *folio = virt_to_folio(ptr);

	if (is_kfence_address(ptr))
		return true;
	if (virt_to_slab(ptr))
		return redzone_mempool_poison_object(ptr, ip);
	if (redzone_kfree_large(ptr, folio_address(folio), NULL, ip) == KASAN_FREE_BAD)
		return false;
	redzone_poison(ptr, folio_size(folio), KASAN_PAGE_FREE);
	return true;
}

/*
 * The pool hands out the pointer that it has, so the object must keep its tag. redzone_mempool_unpoison_object() would
 * choose another one.
 */
void __kasan_mempool_unpoison_object(void *ptr, size_t size, unsigned long ip)
{
	const struct slab *slab = virt_to_slab(ptr);
	struct redzone_cache *kasan;

	if (is_kfence_address(ptr))
		return;
	if (!slab) {
		redzone_kmalloc_large(ptr, size, folio_size(virt_to_folio(ptr)), NULL);
	} else if (IS_ENABLED(CONFIG_KASAN_GENERIC)) {
		redzone_mempool_unpoison_object(ptr, size);
	} else {
		kasan = kasan_cache(slab->slab_cache);
		if (kasan)
			redzone_slab_realloc(kasan, ptr, size);
	}
}
