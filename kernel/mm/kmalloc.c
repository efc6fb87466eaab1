// SPDX-License-Identifier: MIT
/*
 * kmalloc.c - objects of any size: size classes, whole pages for larger objects, and the functions
 * that get only a pointer (kfree, ksize, krealloc) and have to find out what it points to.
 */
#include <kernel/kernel.h>
#include <kernel/page_redzone.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "slab_internal.h"

static const struct {
	u32 size;
	const char *name;
} classes[] = {
	{8, "kmalloc-8"},     {16, "kmalloc-16"},   {32, "kmalloc-32"},	  {64, "kmalloc-64"},
	{96, "kmalloc-96"},   {128, "kmalloc-128"}, {192, "kmalloc-192"}, {256, "kmalloc-256"},
	{512, "kmalloc-512"}, {1024, "kmalloc-1k"}, {2048, "kmalloc-2k"}, {4096, "kmalloc-4k"},
	{8192, "kmalloc-8k"},
};

struct kmem_cache *kmalloc_caches[KMALLOC_MAX_CACHE_SIZE / 8 + 1];

void kmalloc_init(void)
{
	struct kmem_cache *cache;
	unsigned int class, i = 0;

	for (class = 0; class < ARRAY_SIZE(classes); class ++) {
		u32 size = classes[class].size;

		/* Powers of two are aligned to their size, because users rely on that. */
		cache = kmem_cache_setup(classes[class].name, size,
					 size & (size - 1) ? ARCH_KMALLOC_MINALIGN : size, 0, NULL,
					 true);
		if (!cache)
			panic("mm: no memory for %s", classes[class].name);
		for (; i <= size / 8; i++)
			kmalloc_caches[i] = cache;
	}
}

/* --- Allocating ------------------------------------------------------------------------------- */

/* Least number of bytes between a large object and the end of its pages that is a redzone. */
#define LARGE_REDZONE 256U

/* Return: true if @size bytes in @nr pages should get a redzone page. The largest objects cannot. */
static bool wants_redzone_page(size_t size, unsigned int nr)
{
	return MM_REDZONES && ((size_t)nr << PAGE_SHIFT) - size < LARGE_REDZONE &&
	       nr < 1U << MAX_ORDER;
}

static noinline void *kmalloc_large(size_t size, gfp_t gfp)
{
	unsigned int nr = (unsigned int)DIV_ROUND_UP(size, PAGE_SIZE);
	/* Pages that are cleared while they are tagged need not be cleared again. */
	const bool cleared = gfp & __GFP_ZERO && kasan_has_integrated_init();
	gfp_t page_gfp = cleared ? gfp : gfp & ~__GFP_ZERO;
	const bool after = wants_redzone_page(size, nr);
	unsigned int before = page_redzone >= PAGE_REDZONE_LARGE && nr + after < 1U << MAX_ORDER;
	struct page *page = NULL;
	void *p;

	/* If there is no memory for the redzones, an object without them is better than none. */
	if (before || after)
		page = alloc_pages_exact((page_gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN,
					 before + nr + after);
	if (!page) {
		before = 0;
		page = alloc_pages_exact(page_gfp, nr);
	}
	if (!page)
		return NULL;
	if (before) {
		page_set_flag(page, PG_lead);
		kasan_poison(page_address(page), PAGE_SIZE, KASAN_PAGE_REDZONE);
	}
	page->large = (struct kasan_large_meta){.size = size};
	p = kasan_kmalloc_large((char *)page_address(page) + large_lead(page), size,
				page_size(page) - large_lead(page), &page->large);
	page_set_flag(page, PG_large);
	if (gfp & __GFP_ZERO && !cleared)
		memset(p, 0, MM_KASAN ? size : page_size(page));
	return p;
}

static __rarely_called bool size_ok(size_t size, gfp_t gfp)
{
	if (size <= KMALLOC_MAX_SIZE)
		return true;
	WARN(!(gfp & __GFP_NOWARN), "kmalloc: %lu bytes are more than %lu\n", (unsigned long)size,
	     (unsigned long)KMALLOC_MAX_SIZE);
	return false;
}

/* Inlined, so that allocation stacks start with the function that the user knows. */
static __always_inline void *do_kmalloc(size_t size, gfp_t gfp)
{
	struct kmem_cache *cache;
	void *object;

	if (unlikely(!size))
		return ZERO_SIZE_PTR;
	if (unlikely(size > KMALLOC_MAX_CACHE_SIZE))
		return size_ok(size, gfp) ? kmalloc_large(size, gfp) : NULL;
	cache = kmalloc_cache(size);
	if (slab_is_special()) {
		object = slab_special(cache, size, 0, gfp);
		if (object)
			return object == SLAB_REFUSED ? NULL : object;
	}
	object = slab_take(cache, gfp);
	if (likely(!(gfp & __GFP_ZERO)))
		return kasan_slab_alloc(&cache->kasan, object, size);
	if (!kasan_has_integrated_init())
		object = slab_clear(&cache, object, &size);
	return kasan_slab_alloc_init(&cache->kasan, object, size, true);
}

SLAB_ENTRY void *kmalloc(size_t size, gfp_t gfp)
{
	return do_kmalloc(size, gfp);
}

size_t kmalloc_size_roundup(size_t size)
{
	if (!size || size > KMALLOC_MAX_SIZE)
		return size;
	if (size > KMALLOC_MAX_CACHE_SIZE)
		return PAGE_ALIGN(size);
	return kmalloc_cache(size)->object_size;
}

/* --- Invalid frees ---------------------------------------------------------------------------- */

void slab_bad_free(const void *p, const char *why, uintptr_t ip)
{
	if (MM_KASAN)
		kasan_report_invalid_free(p, ip);
	else
		WARN(1, "invalid free of %016lx by %pS: %s\n", (unsigned long)p, (void *)ip, why);
}

/* --- Freeing ---------------------------------------------------------------------------------- */

/* A large object is freed a second time, or by two CPUs at once. Only the allocator can tell if
 * sampling has left out the allocation. */
static noinline void large_double_free(const void *p, uintptr_t ip)
{
	if (MM_KASAN)
		kasan_report_double_free(p, ip);
	else
		slab_bad_free(p, "double free", ip);
}

/*
 * Mark a large object as freed. If several CPUs free it at once, exactly one succeeds, even where
 * KASAN cannot tell because it is off or sampling has left out the allocation. At each moment the
 * others see that it is, or was, a large object. Return: true for the CPU that may free it.
 */
static bool end_large(struct page *page)
{
	unsigned long flags = READ_ONCE(page->flags);

	do {
		if (!(flags & BIT(PG_large)))
			return false;
	} while (!__atomic_compare_exchange_n(&page->flags, &flags,
					      (flags & ~BIT(PG_large)) | BIT(PG_large_freed), false,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	return true;
}

static noinline void free_large(struct page *page, void *p, uintptr_t ip)
{
	void *base = large_start(page);

	if (!MM_KASAN && p != base) {
		slab_bad_free(p, "not the start of an object", ip);
		return;
	}
	if (kasan_kfree_large(p, base, &page->large, ip) != KASAN_FREE_NOW)
		return;
	if (!end_large(page)) {
		large_double_free(p, ip);
		return;
	}
	free_pages_exact(page, page->nr);
}

static noinline void free_large_again(struct page *page, void *p, uintptr_t ip)
{
	/* The object is poisoned by now, so the runtime finds the double free and prints the stacks,
	 * unless sampling has left out the allocation. */
	if (kasan_kfree_large(p, large_start(page), &page->large, ip) == KASAN_FREE_NOW)
		large_double_free(p, ip);
}

/* @asks: see slab_free(). */
static __always_inline void do_kfree(const void *p, uintptr_t ip, const bool asks)
{
	void *object = (void *)(uintptr_t)p;
	struct page *page;

	page = slab_head_page(p);
	if (likely(page && PageSlab(page)))
		slab_free(page->slab_cache, page, object, ip, asks);
	/* They are not in RAM. */
	else if (ZERO_OR_NULL_PTR(p))
		return;
	else if (page && PageLarge(page))
		free_large(page, object, ip);
	else if (page && page_flag(page, PG_large_freed) && MM_KASAN)
		free_large_again(page, object, ip);
	else if (!kasan_sample_free(p, ip))
		slab_bad_free(p, "no heap object", ip);
}

SLAB_ENTRY void kfree(const void *p)
{
	do_kfree(p, MM_CALLER_IP(), SLAB_ASKS);
}

void kfree_by(const void *p, uintptr_t ip)
{
	do_kfree(p, ip, true);
}

void kfree_sensitive(const void *p)
{
	size_t size = kmalloc_usable_size(p);

	if (size) {
		memset((void *)(uintptr_t)p, 0, size);
		/* The compiler must keep the stores, although nothing reads them. */
		HIDE_VAR(p);
	}
	/* If kmalloc_usable_size() has reported the pointer, do not report it again. */
	if (size || ZERO_OR_NULL_PTR(p))
		do_kfree(p, MM_CALLER_IP(), true);
}

/* --- Sizes ------------------------------------------------------------------------------------ */

/* object_size() of a large object. Not inlined, so that the others' stays short. */
static noinline size_t large_size(const struct page *page, const void *p, bool whole)
{
	if (kasan_reset_tag(p) != large_start(page))
		return 0;
	return MM_KASAN && !whole ? page->large.size : page_size(page) - large_lead(page);
}

/* Return: the size of the live object that starts at @p, including the bytes beyond the requested
 * size if @whole; 0 if no object starts there. Without KASAN the requested size is not known. */
static size_t object_size(const void *p, bool whole)
{
	struct page *page = ram_head_page(p);
	struct kmem_cache *cache;

	if (!page)
		return kasan_sample_size(p);
	if (PageLarge(page))
		return large_size(page, p, whole);
	if (!PageSlab(page))
		return 0;
	cache = page->slab_cache;
	if (slab_slot(cache, page, p) != p)
		return 0;
	return MM_KASAN && !whole ? kasan_object_size(&cache->kasan, p) : cache->object_size;
}

/* object_size() of a pointer that may be bad. Inlined, so that a report names the caller. */
static __always_inline size_t checked_size(const void *p, bool whole, uintptr_t ip)
{
	size_t size;

	if (ZERO_OR_NULL_PTR(p) || !kasan_check_byte(p))
		return 0;
	size = object_size(p, whole);
	if (!size)
		slab_bad_free(p, "ksize() of no heap object", ip);
	return size;
}

size_t ksize(const void *p)
{
	return checked_size(p, true, MM_CALLER_IP());
}

size_t kmalloc_usable_size(const void *p)
{
	return checked_size(p, false, MM_CALLER_IP());
}

/* --- Reallocating ----------------------------------------------------------------------------- */

/* Resize the object at @p to @size bytes in place. Return: false if that is not possible. Inlined: stacks start with
 * the function that the user knows. */
static __always_inline bool resize_in_place(void *p, size_t old, size_t size, gfp_t gfp)
{
	struct page *page = slab_head_page(p);
	size_t usable;

	/* A sampled object, which lies at the edge of a page of its own. */
	if (unlikely(!page))
		return false;
	if (PageSlab(page)) {
		struct kmem_cache *cache = page->slab_cache;

		usable = cache->object_size;
		if (size > usable)
			return false;
		kasan_slab_realloc(&cache->kasan, p, size);
	} else {
		usable = page_size(page) - large_lead(page);
		/* Move it if most of its pages would be wasted, or if it would grow into its
		 * redzone. */
		if (size <= KMALLOC_MAX_CACHE_SIZE || size > usable || size <= usable / 2 ||
		    (size > old && wants_redzone_page(size, (unsigned int)(usable >> PAGE_SHIFT))))
			return false;
		kasan_kmalloc_large(p, size, usable, &page->large);
		page->large.size = size;
	}
	if (!(gfp & __GFP_ZERO))
		return true;
	/* Without KASAN @old is the usable size, so bytes that are cut off now must read as 0 later. */
	if (!MM_KASAN)
		memset((char *)p + size, 0, usable - size);
	else if (size > old)
		memset((char *)p + old, 0, size - old);
	return true;
}

/* Inlined, so that stacks start with the function that the user knows. Without KASAN there are none, and the quick way
 * saves no registers. */
#ifdef CONFIG_KASAN
#define INLINE_IF_TRACED __always_inline
#else
#define INLINE_IF_TRACED noinline
#endif
static INLINE_IF_TRACED void *do_krealloc(const void *p, size_t size, gfp_t gfp, uintptr_t ip)
{
	void *object = (void *)(uintptr_t)p, *moved;
	size_t old;

	if (ZERO_OR_NULL_PTR(p))
		return do_kmalloc(size, gfp);
	if (!size) {
		do_kfree(p, ip, true);
		return ZERO_SIZE_PTR;
	}
	/* Nothing may be copied from a freed object. This reports it as the bad access that it is. */
	if (!kasan_check_byte(p))
		return NULL;
	old = object_size(p, false);
	if (!old) {
		slab_bad_free(p, "krealloc() of no heap object", ip);
		return NULL;
	}
	if (resize_in_place(object, old, size, gfp))
		return object;
	moved = do_kmalloc(size, gfp);
	if (!moved)
		return NULL;
	memcpy(moved, p, min(old, size));
	do_kfree(p, ip, true);
	return moved;
}

SLAB_ENTRY void *krealloc(const void *p, size_t size, gfp_t gfp)
{
#ifndef CONFIG_KASAN
	if (likely(kmalloc_fits(p, size, gfp)))
		return (void *)(uintptr_t)p;
#endif
	return do_krealloc(p, size, gfp, MM_CALLER_IP());
}
