/* SPDX-License-Identifier: MIT */
/*
 * mempool.h - a few elements kept in reserve, so that an allocation that must not fail does not.
 *
 * mempool_alloc() asks the allocator under the pool first, and takes from the reserve only if that
 * has nothing; mempool_free() fills the reserve up first. Under KASAN elements in the reserve are
 * poisoned as freed memory is, and freeing one twice is reported.
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
 * @min_nr: elements that the reserve holds when it is full. @curr_nr: those it holds now.
 * @elements: the reserve, the last first.
 * @pool_data: for @alloc and @free.
 * @wait: who may sleep waits here for an element.
 */
typedef struct mempool_s {
	spinlock_t lock;
	int min_nr;
	int curr_nr;
	void **elements;
	void *pool_data;
	mempool_alloc_t *alloc;
	mempool_free_t *free;
	struct wait_queue_head wait;
} mempool_t;

/**
 * mempool_init() - set up a pool in memory of the caller's, and fill its reserve
 * @min_nr: elements, at least 1.
 *
 * Sleeps. Return: 0, or -ENOMEM: nothing is left allocated.
 */
int mempool_init(mempool_t *pool, int min_nr, mempool_alloc_t *alloc, mempool_free_t *free,
		 void *pool_data);

/** mempool_exit() - free the reserve. A zeroed pool, or one that was exited, is left alone. */
void mempool_exit(mempool_t *pool);

/** mempool_create(), mempool_destroy() - the same for a pool with memory of its own. Return: NULL if
 *  there is none. */
mempool_t *mempool_create(int min_nr, mempool_alloc_t *alloc, mempool_free_t *free,
			  void *pool_data);
void mempool_destroy(mempool_t *pool);

/** mempool_resize() - change the reserve. Sleeps. Return: 0 or -ENOMEM; then nothing changed. */
int mempool_resize(mempool_t *pool, int new_min_nr);

/** mempool_alloc() - an element. With __GFP_DIRECT_RECLAIM it waits until there is one, and does not
 *  fail; without, it is for any context. The contents are undefined; __GFP_ZERO is not for pools. */
void *mempool_alloc(mempool_t *pool, gfp_t gfp);

/** mempool_alloc_preallocated() - one of the reserve, at once. Any context. Return: NULL if it is
 *  empty. */
void *mempool_alloc_preallocated(mempool_t *pool);

/** mempool_free() - give an element back. NULL is ignored. Any context. */
void mempool_free(void *element, mempool_t *pool);

static inline bool mempool_is_saturated(const mempool_t *pool)
{
	return READ_ONCE(pool->curr_nr) >= pool->min_nr;
}

/* --- Elements of three kinds ------------------------------------------------------------------------- */

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
