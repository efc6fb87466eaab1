// SPDX-License-Identifier: MIT
/* kasan_test_mempool.c - bugs with elements of memory pools, in and out of the reserve. */
#include <kernel/mempool.h>
#include <kernel/mm.h>
#include <kernel/string.h>

#include "kasan_test.h"

#define POOL_SIZE  4
#define LARGE_SIZE (KMALLOC_MAX_CACHE_SIZE + 1)

static void exit_pool(void *pool)
{
	mempool_exit(pool);
}

static void destroy_cache(void *cache)
{
	kmem_cache_destroy(cache);
}

/* A pool of @size-byte objects of kmalloc(), or of @cache if that is given. */
static mempool_t *object_pool(struct kunit *test, size_t size, struct kmem_cache *cache)
{
	mempool_t *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	if (cache)
		err = mempool_init_slab_pool(pool, POOL_SIZE, cache);
	else
		err = mempool_init_kmalloc_pool(pool, POOL_SIZE, size);
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, exit_pool, pool), 0);
	return pool;
}

static mempool_t *page_pool(struct kunit *test, unsigned int order)
{
	mempool_t *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_ASSERT_EQ(test, mempool_init_page_pool(pool, POOL_SIZE, order), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, exit_pool, pool), 0);
	return pool;
}

static struct kmem_cache *pool_cache(struct kunit *test, unsigned int size)
{
	struct kmem_cache *cache = kmem_cache_create("test_cache", size, 0, 0, NULL);

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_cache, cache), 0);
	return cache;
}

static void *take(struct kunit *test, mempool_t *pool)
{
	void *element = mempool_alloc_preallocated(pool);

	KUNIT_ASSERT_NOT_NULL(test, element);
	return element;
}

/* --- Out of bounds ------------------------------------------------------------------------------------ */

static void mempool_oob_right_helper(struct kunit *test, mempool_t *pool, size_t size)
{
	char *element = take(test, pool);

	HIDE_VAR(element);
	WRITE_ACCESS(element[0], 1);
	WRITE_ACCESS(element[size - 1], 1);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(element[KASAN_END(size)], 'x'));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(element[ALIGN(size, KASAN_GRANULE_SIZE)]));
	mempool_free(element, pool);
}

void mempool_kmalloc_oob_right(struct kunit *test)
{
	size_t size = 128 - KASAN_GRANULE_SIZE - 5;

	mempool_oob_right_helper(test, object_pool(test, size, NULL), size);
}

void mempool_kmalloc_large_oob_right(struct kunit *test)
{
	mempool_oob_right_helper(test, object_pool(test, LARGE_SIZE, NULL), LARGE_SIZE);
}

void mempool_slab_oob_right(struct kunit *test)
{
	mempool_oob_right_helper(test, object_pool(test, 0, pool_cache(test, 123)), 123);
}

/* --- Use after free ------------------------------------------------------------------------------------- */

static void mempool_uaf_helper(struct kunit *test, mempool_t *pool, bool page, const char *type)
{
	void *element = take(test, pool);
	char *p = page ? page_address(element) : element;

	HIDE_VAR(p);
	WRITE_ACCESS(p[0], 1);
	mempool_free(element, pool);
	KASAN_EXPECT_BUG(test, type, KASAN_READ, 1, READ_ACCESS(p[0]));
	/* It is fine again when the pool hands it out. */
	for (int i = 0; i < POOL_SIZE; i++) {
		element = take(test, pool);
		p = page ? page_address(element) : element;
		HIDE_VAR(p);
		WRITE_ACCESS(p[0], 2);
		mempool_free(element, pool);
	}
}

void mempool_kmalloc_uaf(struct kunit *test)
{
	mempool_uaf_helper(test, object_pool(test, 128, NULL), false, "slab-use-after-free");
}

void mempool_kmalloc_large_uaf(struct kunit *test)
{
	mempool_uaf_helper(test, object_pool(test, LARGE_SIZE, NULL), false, "use-after-free");
}

void mempool_slab_uaf(struct kunit *test)
{
	mempool_uaf_helper(test, object_pool(test, 0, pool_cache(test, 123)), false,
			   "slab-use-after-free");
}

void mempool_page_alloc_uaf(struct kunit *test)
{
	mempool_uaf_helper(test, page_pool(test, 2), true, "use-after-free");
}

/* --- Double free ---------------------------------------------------------------------------------------- */

static void mempool_double_free_helper(struct kunit *test, mempool_t *pool)
{
	void *first = take(test, pool), *second = take(test, pool);

	HIDE_VAR(first);
	mempool_free(first, pool);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, mempool_free(first, pool));
	/* The pool did not take it a second time, so there is room for the other element. */
	KUNIT_EXPECT_FALSE(test, mempool_is_saturated(pool));
	mempool_free(second, pool);
	KUNIT_EXPECT_TRUE(test, mempool_is_saturated(pool));
}

void mempool_kmalloc_double_free(struct kunit *test)
{
	mempool_double_free_helper(test, object_pool(test, 128, NULL));
}

void mempool_kmalloc_large_double_free(struct kunit *test)
{
	mempool_double_free_helper(test, object_pool(test, LARGE_SIZE, NULL));
}

void mempool_slab_double_free(struct kunit *test)
{
	mempool_double_free_helper(test, object_pool(test, 0, pool_cache(test, 123)));
}

void mempool_page_alloc_double_free(struct kunit *test)
{
	mempool_double_free_helper(test, page_pool(test, 2));
}

/* The reserve is full, so the next element goes to the allocator. */
static noinline void full_double_free(struct kunit *test, mempool_t *pool, bool page)
{
	void *element = take(test, pool);

	HIDE_VAR(element);
	mempool_free(element, pool);
	KUNIT_EXPECT_TRUE(test, mempool_is_saturated(pool));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, mempool_free(element, pool));
	/* One title for each bug: not that of a function of the pool. */
	KASAN_EXPECT_IN(test, "full_double_free");
	/* The allocator did not take it: the element belongs to the pool alone and can be used again. */
	for (int i = 0; i < POOL_SIZE; i++) {
		void *other = mempool_alloc(pool, GFP_KERNEL);

		KUNIT_EXPECT_PTR_NE(test, kasan_reset_tag(other), kasan_reset_tag(element));
		mempool_free(other, pool);
	}
	element = take(test, pool);
	WRITE_ACCESS(*(char *)(page ? page_address(element) : element), 1);
	mempool_free(element, pool);
}

/* The other way round: the first free went past the reserve. */
static noinline void double_free_into_reserve(struct kunit *test, mempool_t *pool)
{
	void *extra = mempool_alloc(pool, GFP_KERNEL), *element;

	KUNIT_ASSERT_NOT_NULL(test, extra);
	HIDE_VAR(extra);
	KUNIT_EXPECT_TRUE(test, mempool_is_saturated(pool));
	mempool_free(extra, pool);
	element = take(test, pool);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, mempool_free(extra, pool));
	KASAN_EXPECT_IN(test, "double_free_into_reserve");
	KUNIT_EXPECT_FALSE(test, mempool_is_saturated(pool));
	mempool_free(element, pool);
}

void mempool_full_double_free(struct kunit *test)
{
	mempool_t *pools[] = {
		object_pool(test, 128, NULL),
		object_pool(test, LARGE_SIZE, NULL),
		object_pool(test, 0, pool_cache(test, 123)),
		page_pool(test, 0),
		page_pool(test, 2),
	};

	for (size_t i = 0; i < ARRAY_SIZE(pools); i++) {
		full_double_free(test, pools[i], i >= 3);
		double_free_into_reserve(test, pools[i]);
	}
}

/* Not by the pool: the page allocator itself must see that the page waits in one. */
void mempool_page_freed_in_pool(struct kunit *test)
{
	mempool_t *pool = page_pool(test, 0);
	struct page *page = take(test, pool);

	mempool_free(page, pool);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, __free_page(page));
	KASAN_EXPECT_IN(test, "mempool_page_freed_in_pool");
	/* Another holder's reference causes no report and outlasts the reserve. */
	page = take(test, pool);
	KUNIT_EXPECT_EQ(test, page_count(page), 1);
	get_page(page);
	mempool_free(page, pool);
	KUNIT_EXPECT_PTR_EQ(test, take(test, pool), page);
	KUNIT_EXPECT_EQ(test, page_count(page), 2);
	put_page(page);
	mempool_free(page, pool);
}

/* --- Invalid free --------------------------------------------------------------------------------------- */

static void mempool_invalid_free_helper(struct kunit *test, mempool_t *pool)
{
	char *element = take(test, pool);

	HIDE_VAR(element);
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, mempool_free(element + 1, pool));
	/* The element is unharmed. */
	WRITE_ACCESS(element[0], 1);
	mempool_free(element, pool);
}

void mempool_kmalloc_invalid_free(struct kunit *test)
{
	mempool_invalid_free_helper(test, object_pool(test, 128, NULL));
}

void mempool_kmalloc_large_invalid_free(struct kunit *test)
{
	mempool_invalid_free_helper(test, object_pool(test, LARGE_SIZE, NULL));
}
