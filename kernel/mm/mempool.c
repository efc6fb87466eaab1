// SPDX-License-Identifier: MIT
/* mempool.c - memory pools: a reserve of elements in front of an allocator. */
#include <kernel/kernel.h>
#include <kernel/mempool.h>
#include <kernel/page_owner.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include "internal.h"

/* How long a waiter sleeps before it tries the allocator again. */
#define RETRY_TICKS (5 * HZ)

/* --- KASAN ------------------------------------------------------------------------------------ */

static unsigned int page_order_of(const mempool_t *pool)
{
	return (unsigned int)(uintptr_t)pool->pool_data;
}

static size_t page_bytes(const mempool_t *pool)
{
	return PAGE_SIZE << page_order_of(pool);
}

/*
 * A page in the reserve has a reference count of 0: so the page allocator, and another
 * mempool_free(), see that it must not be freed, and if two CPUs free it at once, one of them is
 * told. A page with references of other users keeps all of them. Return: false if the count was 0
 * before.
 */
static bool page_rests(struct page *page)
{
	int count = 1;

	return __atomic_compare_exchange_n(&page->refcount, &count, 0, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED) ||
	       count > 0;
}

static void page_returns(struct page *page)
{
	if (page_count(page) <= 0)
		__atomic_store_n(&page->refcount, 1, __ATOMIC_RELEASE);
}

static __always_inline bool poison_page(const mempool_t *pool, struct page *page, uintptr_t ip)
{
	if (!page_rests(page)) {
		page_double_free(page, "double free: the page is free, or in a memory pool", ip);
		return false;
	}
	if (!kasan_mempool_poison_pages(page_address(page), page_bytes(pool), ip)) {
		page_returns(page);
		return false;
	}
	page_owner_free(page, 1U << page_order_of(pool));
	return true;
}

/* Return: false if the element must not go into the reserve: it is there already, or is not a valid
 * element. */
static __always_inline bool poison_element(const mempool_t *pool, void *element, uintptr_t ip)
{
	if (pool->alloc == mempool_alloc_slab || pool->alloc == mempool_kmalloc)
		return kasan_mempool_poison_object(element, ip);
	if (pool->alloc == mempool_alloc_pages)
		return poison_page(pool, element, ip);
	return true;
}

/* Return: the pointer that the user gets. */
static __always_inline void *unpoison_element(const mempool_t *pool, void *element)
{
	struct page *page;
	void *p;

	if (pool->alloc == mempool_kmalloc) {
		p = kasan_mempool_unpoison_object(element, (size_t)(uintptr_t)pool->pool_data);
		page = virt_to_head_page(p);
		if (PageLarge(page))
			page_kasan_tag_set(page, page->nr, kasan_get_tag(p));
		return p;
	}
	if (pool->alloc == mempool_alloc_slab)
		return kasan_mempool_unpoison_object(element, kmem_cache_size(pool->pool_data));
	if (pool->alloc == mempool_alloc_pages) {
		page = element;
		p = kasan_mempool_unpoison_pages(page_address(page), page_bytes(pool));
		page_kasan_tag_set(page, page->nr, kasan_get_tag(p));
		page_returns(page);
	}
	return element;
}

/* Unpoison an element for a user that allocates with @gfp. Return: the pointer that the user gets. */
static __always_inline void *hand_out(const mempool_t *pool, void *element, gfp_t gfp)
{
	element = unpoison_element(pool, element);
	if (pool->alloc == mempool_alloc_pages)
		page_owner_alloc(element, 1U << page_order_of(pool), gfp);
	return element;
}

/* Free an element for which the reserve has no room. If it is a bad one, the allocator reports it
 * with the caller @ip. */
static void free_element(const mempool_t *pool, void *element, uintptr_t ip)
{
	if (pool->free == mempool_kfree)
		kfree_by(element, ip);
	else if (pool->free == mempool_free_slab)
		kmem_cache_free_by(pool->pool_data, element, ip);
	else if (pool->free == mempool_free_pages)
		free_pages_by(element, page_order_of(pool), ip);
	else
		pool->free(element, pool->pool_data);
}

/* --- The reserve ------------------------------------------------------------------------------ */

/* Put @element into the reserve unless that is full. Return: true if the caller has nothing left to
 * do with it. */
static __always_inline bool add_element(mempool_t *pool, void *element, uintptr_t ip)
{
	unsigned long flags;
	bool added = false, reserved = false;

	/* Elements that are about to be poisoned count already, so that two frees cannot overfill the
	 * reserve. */
	raw_spin_lock_irqsave(&pool->lock, flags);
	if (pool->curr_nr < pool->min_nr) {
		reserved = true;
		pool->curr_nr++;
		pool->elements[pool->curr_nr - 1] = NULL;
	}
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	if (!reserved)
		return false;
	added = poison_element(pool, element, ip);
	raw_spin_lock_irqsave(&pool->lock, flags);
	/* Other elements may have come and gone meanwhile: use any free place. */
	for (int i = 0; i < pool->curr_nr; i++) {
		if (pool->elements[i])
			continue;
		if (added) {
			pool->elements[i] = element;
		} else {
			pool->elements[i] = pool->elements[pool->curr_nr - 1];
			pool->curr_nr--;
		}
		break;
	}
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return true;
}

/* Return: an element of the reserve, still poisoned; NULL if there is none. */
static void *take_element(mempool_t *pool)
{
	void *element = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	for (int i = pool->curr_nr - 1; i >= 0 && !element; i--) {
		element = pool->elements[i];
		if (element) {
			pool->elements[i] = pool->elements[pool->curr_nr - 1];
			pool->curr_nr--;
		}
	}
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return element;
}

/* --- Pools ------------------------------------------------------------------------------------ */

void mempool_exit(mempool_t *pool)
{
	void *element;

	while ((element = take_element(pool))) {
		element = unpoison_element(pool, element);
		pool->free(element, pool->pool_data);
	}
	kfree(pool->elements);
	pool->elements = NULL;
}

int mempool_init(mempool_t *pool, int min_nr, mempool_alloc_t *alloc, mempool_free_t *free,
		 void *pool_data)
{
	min_nr = max(min_nr, 1);
	*pool = (mempool_t){
		.min_nr = min_nr,
		.alloc = alloc,
		.free = free,
		.pool_data = pool_data,
	};
	raw_spin_lock_init(&pool->lock);
	init_waitqueue_head(&pool->wait);
	pool->elements = kcalloc((size_t)min_nr, sizeof(void *), GFP_KERNEL);
	if (!pool->elements)
		return -ENOMEM;
	for (int i = 0; i < min_nr; i++) {
		void *element = alloc(GFP_KERNEL, pool_data);

		if (!element) {
			mempool_exit(pool);
			return -ENOMEM;
		}
		add_element(pool, element, MM_CALLER_IP());
	}
	return 0;
}

mempool_t *mempool_create(int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *pool_data)
{
	mempool_t *pool = kzalloc(sizeof(*pool), GFP_KERNEL);

	if (pool && mempool_init(pool, min_nr, alloc, free, pool_data)) {
		kfree(pool);
		pool = NULL;
	}
	return pool;
}

void mempool_destroy(mempool_t *pool)
{
	if (!pool)
		return;
	mempool_exit(pool);
	kfree(pool);
}

int mempool_resize(mempool_t *pool, int new_min_nr)
{
	void **elements, **old, *element;
	unsigned long flags;
	int surplus;

	new_min_nr = max(new_min_nr, 1);
	elements = kcalloc((size_t)new_min_nr, sizeof(void *), GFP_KERNEL);
	if (!elements)
		return -ENOMEM;
	/* First shrink to what the new reserve can hold. Elements that are freed meanwhile do not go
	 * into it. */
	raw_spin_lock_irqsave(&pool->lock, flags);
	pool->min_nr = min(pool->min_nr, new_min_nr);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	for (;;) {
		raw_spin_lock_irqsave(&pool->lock, flags);
		surplus = pool->curr_nr - new_min_nr;
		if (surplus <= 0)
			break;
		raw_spin_unlock_irqrestore(&pool->lock, flags);
		element = take_element(pool);
		if (element) {
			element = unpoison_element(pool, element);
			pool->free(element, pool->pool_data);
		}
	}
	memcpy(elements, pool->elements, (size_t)pool->curr_nr * sizeof(void *));
	old = pool->elements;
	pool->elements = elements;
	pool->min_nr = new_min_nr;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	kfree(old);
	/* Then grow. If there is no memory, later frees fill the reserve. */
	while (!mempool_is_saturated(pool)) {
		element = pool->alloc(GFP_KERNEL | __GFP_NOWARN, pool->pool_data);
		if (!element)
			break;
		mempool_free(element, pool);
	}
	return 0;
}

/* --- Elements --------------------------------------------------------------------------------- */

void *mempool_alloc_preallocated(mempool_t *pool)
{
	void *element = take_element(pool);

	return element ? hand_out(pool, element, GFP_NOWAIT) : NULL;
}

void *mempool_alloc(mempool_t *pool, gfp_t gfp)
{
	/* There is a reserve, so the allocator need not try hard. */
	gfp_t first = (gfp & ~(__GFP_DIRECT_RECLAIM | __GFP_ZERO)) | __GFP_NOWARN;
	void *element;

	WARN_ON_ONCE(gfp & __GFP_ZERO);
	for (;;) {
		element = pool->alloc(first, pool->pool_data);
		if (element)
			return element;
		element = take_element(pool);
		if (element)
			return hand_out(pool, element, gfp);
		if (!(gfp & __GFP_DIRECT_RECLAIM))
			return NULL;
		wait_event_timeout(pool->wait, READ_ONCE(pool->curr_nr), RETRY_TICKS);
	}
}

/* Not inlined: GCC would split off a part of it as a function of its own, and reports would name that
 * as the caller. */
noinline void mempool_free(void *element, mempool_t *pool)
{
	if (!element)
		return;
	if (add_element(pool, element, MM_CALLER_IP())) {
		wake_up(&pool->wait);
		return;
	}
	free_element(pool, element, MM_CALLER_IP());
}

/* --- Allocators of pools ---------------------------------------------------------------------- */

void *mempool_alloc_slab(gfp_t gfp, void *pool_data)
{
	return kmem_cache_alloc(pool_data, gfp);
}

void mempool_free_slab(void *element, void *pool_data)
{
	kmem_cache_free(pool_data, element);
}

void *mempool_kmalloc(gfp_t gfp, void *pool_data)
{
	return kmalloc((size_t)(uintptr_t)pool_data, gfp);
}

void mempool_kfree(void *element, void *pool_data)
{
	kfree(element);
}

void *mempool_alloc_pages(gfp_t gfp, void *pool_data)
{
	return alloc_pages(gfp, (unsigned int)(uintptr_t)pool_data);
}

void mempool_free_pages(void *element, void *pool_data)
{
	__free_pages(element, (unsigned int)(uintptr_t)pool_data);
}
