// SPDX-License-Identifier: MIT
/*
 * kasan_mempool_test.c - the stacks in reports about elements of memory pools: the task that took the
 * element from the pool and the task that gave it back, not the one that filled the pool.
 * kasan_test_mempool.c tests the bug types.
 */
#include <kernel/kernel.h>
#include <kernel/mempool.h>
#include <kernel/mm.h>
#include <kernel/page_owner.h>
#include <kernel/string.h>

#include "kasan_test.h"
#include "kasan_whole.h"

#define POOL_SIZE  2
#define LARGE_SIZE (KMALLOC_MAX_CACHE_SIZE + 100)

/* --- What the report says ------------------------------------------------------------------------------- */

enum section { ALLOCATED, FREED, PAGE_ALLOCATED, PAGE_FREED, SECTIONS };

static const char *const headlines[SECTIONS] = {
	[ALLOCATED] = "Allocated by task ",
	[FREED] = "Freed by task ",
	[PAGE_ALLOCATED] = "page last allocated via ",
	[PAGE_FREED] = "page last free pid ",
};

/* The first frames of each section, "" if it is not there. */
#define FRAMES 2
static char frames[SECTIONS][FRAMES][80];
static enum section section;
static unsigned int frame;

static void note_frames(unsigned int complete, const char *text)
{
	if (frame < FRAMES)
		strscpy(frames[section][frame++], text, sizeof(frames[0][0]));
	for (unsigned int i = 0; i < SECTIONS; i++) {
		if (!strncmp(text, headlines[i], strlen(headlines[i]))) {
			section = i;
			frame = 0;
		}
	}
}

/* Read the bad byte at @p and note the report's frames. */
static void report_of(struct kunit *test, char *p)
{
	memset(frames, 0, sizeof(frames));
	frame = FRAMES;
	HIDE_VAR(p);
	_KUNIT_SAVE_LOC(test);
	kasan_expect_begin();
	kasan_watch_begin(1, note_frames);
	barrier();
	KASAN_TEST_BUG(READ_ACCESS(*p));
	barrier();
	KUNIT_EXPECT_EQ(test, kasan_watch_end(test, KUNIT_CURRENT_LOC), 1);
	kasan_expect_end(test, KUNIT_CURRENT_LOC, "*p", NULL, KASAN_READ, 1, true);
}

static bool is_in(const char *text, const char *function)
{
	size_t length = strlen(function);

	return text[0] == ' ' && !strncmp(text + 1, function, length) && text[length + 1] == '+';
}

#define EXPECT_FRAMES(test, of, first, second)                                                   \
	do {                                                                                     \
		KUNIT_EXPECT_TRUE_MSG(test, is_in(frames[of][0], first), "\"%s\" is not in %s",  \
				      frames[of][0], first);                                     \
		KUNIT_EXPECT_TRUE_MSG(test, is_in(frames[of][1], second), "\"%s\" is not in %s", \
				      frames[of][1], second);                                    \
	} while (0)

/* --- Users of a pool ------------------------------------------------------------------------------------ */

static noinline void *take_out(mempool_t *pool)
{
	void *element = mempool_alloc_preallocated(pool);

	barrier();
	return element;
}

static noinline void put_back(void *element, mempool_t *pool)
{
	mempool_free(element, pool);
	barrier();
}

static void exit_pool(void *pool)
{
	mempool_exit(pool);
}

static void destroy_cache(void *cache)
{
	kmem_cache_destroy(cache);
}

static mempool_t *new_pool(struct kunit *test, mempool_alloc_t *alloc, mempool_free_t *free,
			   void *pool_data)
{
	mempool_t *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_ASSERT_EQ(test, mempool_init(pool, POOL_SIZE, alloc, free, pool_data), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, exit_pool, pool), 0);
	return pool;
}

/* An object of @size bytes: first after it went back, then after it is handed out again. */
static void stacks_of_object(struct kunit *test, mempool_t *pool, size_t size)
{
	char *p = take_out(pool);

	KUNIT_ASSERT_NOT_NULL(test, p);
	put_back(p, pool);
	report_of(test, p + size / 2);
	EXPECT_FRAMES(test, ALLOCATED, "mempool_alloc_preallocated", "take_out");
	EXPECT_FRAMES(test, FREED, "mempool_free", "put_back");
	/* With tags there is another object behind it. */
	if (!KASAN_TEST_GENERIC)
		return;
	p = take_out(pool);
	KUNIT_ASSERT_NOT_NULL(test, p);
	report_of(test, p + size);
	EXPECT_FRAMES(test, ALLOCATED, "mempool_alloc_preallocated", "take_out");
	KUNIT_EXPECT_STREQ(test, frames[FREED][0], "");
	put_back(p, pool);
}

static void slab_objects(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("test_cache", 123, 0, 0, NULL);

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_cache, cache), 0);
	stacks_of_object(test, new_pool(test, mempool_alloc_slab, mempool_free_slab, cache), 123);
}

static void kmalloc_objects(struct kunit *test)
{
	static const size_t sizes[] = {20, 128 - KASAN_GRANULE_SIZE, 2000, LARGE_SIZE};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		stacks_of_object(test,
				 new_pool(test, mempool_kmalloc, mempool_kfree, (void *)sizes[i]),
				 sizes[i]);
}

/* KASAN itself stores no stacks for pages. */
static void pages(struct kunit *test)
{
	mempool_t *pool;
	struct page *page;

	kunit_needs(test, page_owner_on, "page_owner=on");
	for (size_t order = 0; order < 3; order++) {
		pool = new_pool(test, mempool_alloc_pages, mempool_free_pages, (void *)order);
		page = take_out(pool);
		KUNIT_ASSERT_NOT_NULL(test, page);
		put_back(page, pool);
		/* Each page of the block is as good as the first. */
		report_of(test, (char *)page_address(page) + (PAGE_SIZE << order) - 1);
		EXPECT_FRAMES(test, PAGE_ALLOCATED, "mempool_alloc_preallocated", "take_out");
		EXPECT_FRAMES(test, PAGE_FREED, "mempool_free", "put_back");
	}
}

static int init(struct kunit *test)
{
	kunit_needs(test, !kasan_may_be_late(KASAN_READ), "reports that know of what they are");
	return kasan_bug_test_init(test);
}

KUNIT_CASES(kasan_mempool_test_cases, KUNIT_CASE(slab_objects), KUNIT_CASE(kmalloc_objects),
	    KUNIT_CASE(pages));

KUNIT_SUITE(kasan_mempool, kasan_mempool_test_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = init, .exit = kasan_test_exit);
