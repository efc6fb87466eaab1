/* SPDX-License-Identifier: MIT */
/*
 * mempool.h - elements kept in reserve for allocations that must not fail.
 *
 * mempool_alloc() asks the allocator below the pool first, and takes from the reserve only if that fails;
 * mempool_free() fills the reserve first. Under KASAN elements in the reserve are poisoned like freed
 * memory, and a double free is reported.
 */
#ifndef KERNEL_MEMPOOL_H
#define KERNEL_MEMPOOL_H

#include <kernel/gfp.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/wait.h>

typedef void *(mempool_alloc_t)(gfp_t gfp, void *pool_data);
typedef void(mempool_free_t)(void *element, void *pool_data);

/**
 * struct mempool_s - a pool
 * @min_nr: number of elements in the full reserve. @curr_nr: number in it now.
 * @elements: the reserve; the last one is taken first.
 * @pool_data: for @alloc and @free.
 * @wait: tasks that may sleep wait here for an element.
 */
typedef struct mempool_s {
	raw_spinlock_t lock;
	int min_nr;
	int curr_nr;
	void **elements;
	void *pool_data;
	mempool_alloc_t *alloc;
	mempool_free_t *free;
	struct wait_queue_head wait;
} mempool_t;

/**
 * mempool_init() - set up a pool in the caller's memory, and fill its reserve
 * @min_nr: elements, at least 1.
 *
 * Sleeps. Return: 0, or -ENOMEM with nothing allocated.
 */
int mempool_init(mempool_t *pool, int min_nr, mempool_alloc_t *alloc, mempool_free_t *free,
		 void *pool_data);

/** mempool_exit() - free the reserve. Ignores a zeroed pool and a pool after mempool_exit(). */
void mempool_exit(mempool_t *pool);

/** mempool_create(), mempool_destroy() - the same for a pool in memory of its own. Return: NULL if there is
 *  no memory. */
mempool_t *mempool_create(int min_nr, mempool_alloc_t *alloc, mempool_free_t *free,
			  void *pool_data);
void mempool_destroy(mempool_t *pool);

/** mempool_resize() - change the size of the reserve. Sleeps. Return: 0, or -ENOMEM with nothing changed. */
int mempool_resize(mempool_t *pool, int new_min_nr);

/** mempool_alloc() - take an element. With __GFP_DIRECT_RECLAIM it waits until there is one, and does not
 *  fail; without the flag it works in any context. Contents are undefined; __GFP_ZERO must not be used. */
void *mempool_alloc(mempool_t *pool, gfp_t gfp);

/** mempool_alloc_preallocated() - take an element of the reserve without waiting. Any context. Return: NULL
 *  if the reserve is empty. */
void *mempool_alloc_preallocated(mempool_t *pool);

/** mempool_free() - give an element back. NULL is ignored. Any context. */
void mempool_free(void *element, mempool_t *pool);

static inline bool mempool_is_saturated(const mempool_t *pool)
{
	return READ_ONCE(pool->curr_nr) >= pool->min_nr;
}

/* --- Elements of three kinds ------------------------------------------------------------------ */

/* Objects of a cache; @pool_data: the cache. */
void *mempool_alloc_slab(gfp_t gfp, void *pool_data);
void mempool_free_slab(void *element, void *pool_data);
/* kmalloc() objects; @pool_data: their size as a pointer. */
void *mempool_kmalloc(gfp_t gfp, void *pool_data);
void mempool_kfree(void *element, void *pool_data);
/* Pages, as struct page *; @pool_data: their order as a pointer. */
void *mempool_alloc_pages(gfp_t gfp, void *pool_data);
void mempool_free_pages(void *element, void *pool_data);

#define mempool_init_slab_pool(pool, min_nr, cache) \
	mempool_init(pool, min_nr, mempool_alloc_slab, mempool_free_slab, cache)
#define mempool_init_kmalloc_pool(pool, min_nr, size) \
	mempool_init(pool, min_nr, mempool_kmalloc, mempool_kfree, (void *)(uintptr_t)(size))
#define mempool_init_page_pool(pool, min_nr, order)                         \
	mempool_init(pool, min_nr, mempool_alloc_pages, mempool_free_pages, \
		     (void *)(uintptr_t)(order))
#define mempool_create_slab_pool(min_nr, cache) \
	mempool_create(min_nr, mempool_alloc_slab, mempool_free_slab, cache)
#define mempool_create_kmalloc_pool(min_nr, size) \
	mempool_create(min_nr, mempool_kmalloc, mempool_kfree, (void *)(uintptr_t)(size))
#define mempool_create_page_pool(min_nr, order) \
	mempool_create(min_nr, mempool_alloc_pages, mempool_free_pages, (void *)(uintptr_t)(order))

#endif /* KERNEL_MEMPOOL_H */
