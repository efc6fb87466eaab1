// SPDX-License-Identifier: MIT
/*
 * kasan_init_test.c - zeroed memory is zero to its last byte, whatever it held before, and whether the
 * instructions that tag it clear it (hardware tags) or a later memset(). Nothing else is cleared: only the last
 * granule behind an object may be.
 *
 * Checked code may not touch slack, so the test reads it through pointers without a tag, and not at all in
 * Generic mode.
 */
#include <kernel/gfp.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "kasan_test.h"

#ifdef CONFIG_KASAN_TAGS

#define DIRT	0xa5
#define OBJECTS 8

#ifdef CONFIG_KASAN_HW_TAGS
/* Hardware tags, and the instructions that clear with them, work on whole granules. */
#define CLEARED(size) ALIGN(size, KASAN_GRANULE_SIZE)
#else
#define CLEARED(size) (size)
#endif

/* Return: index of the first of [from, to) of the memory at @p that is not @value; @to: there is none. */
static size_t differs(const void *p, size_t from, size_t to, u8 value)
{
	const volatile u8 *bytes = kasan_reset_tag(p);

	while (from < to && bytes[from] == value)
		from++;
	return from;
}

static void expect_zero(struct kunit *test, const void *p, size_t size)
{
	const size_t at = differs(p, 0, size, 0);

	KUNIT_EXPECT_EQ_MSG(test, at, size, "byte %zu of %zu is not 0", at, size);
	KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(p));
	KUNIT_EXPECT_TRUE(test, kasan_byte_accessible((const char *)p + size - 1));
}

/* Make the slots of the next objects dirty to the last byte. The free list's link lies in the first bytes. */
static void dirty_slots(struct kunit *test, struct kmem_cache *cache, size_t size)
{
	void *objects[OBJECTS];

	for (size_t i = 0; i < OBJECTS; i++) {
		objects[i] =
			cache ? kmem_cache_alloc(cache, GFP_KERNEL) : kmalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		memset(kasan_reset_tag(objects[i]), DIRT, ksize(objects[i]));
	}
	for (size_t i = 0; i < OBJECTS; i++)
		kfree(objects[i]);
}

/* Sizes around the points where the way of clearing changes: granules, blocks of dc gzva, pages. */
static void kzalloc_is_zero(struct kunit *test)
{
	static const size_t sizes[] = {1,   8,	 15,  16,  17,	31,  32,   33,	 64,   100,  127,
				       128, 129, 144, 150, 192, 256, 1000, 1024, 2000, 4096, 8192};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const size_t size = sizes[i];
		size_t usable, at;
		char *p;

		dirty_slots(test, NULL, size);
		p = kzalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, p);
		expect_zero(test, p, size);
		expect_zero(test, p, CLEARED(size));
		usable = ksize(p);
		/* Memory behind the object and its shadow are not touched. The last byte of a short granule holds the
		 * tag; a link to the next free slot may have been in front. */
		at = max(ALIGN(size, KASAN_GRANULE_SIZE), 16UL);
		if (at < usable) {
			KUNIT_EXPECT_EQ_MSG(test, differs(p, at, usable, DIRT), usable, "size %zu",
					    size);
			KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(p + at));
			KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(p + usable - 1));
		}
		kfree(p);
	}
}

static void kmem_cache_zalloc_is_zero(struct kunit *test)
{
	static const unsigned int sizes[] = {24, 64, 200, 256, 1000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct kmem_cache *cache = kmem_cache_create("zeroed", sizes[i], 0, 0, NULL);
		void *objects[OBJECTS];

		KUNIT_ASSERT_NOT_NULL(test, cache);
		dirty_slots(test, cache, 0);
		objects[0] = kmem_cache_zalloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, objects[0]);
		expect_zero(test, objects[0], sizes[i]);
		kmem_cache_free(cache, objects[0]);
		dirty_slots(test, cache, 0);
		KUNIT_ASSERT_EQ(
			test,
			kmem_cache_alloc_bulk(cache, GFP_KERNEL | __GFP_ZERO, OBJECTS, objects),
			(size_t)OBJECTS);
		for (size_t n = 0; n < OBJECTS; n++)
			expect_zero(test, objects[n], sizes[i]);
		kmem_cache_free_bulk(cache, OBJECTS, objects);
		kmem_cache_destroy(cache);
	}
}

/* Without the flag nothing is cleared: a constructor's work must survive, and clearing costs. */
static void only_if_asked_for(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("not_zeroed", 128, 0, 0, NULL);
	void *p;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	dirty_slots(test, cache, 0);
	p = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_EQ(test, differs(p, 16, 128, DIRT), 128UL);
	kmem_cache_free(cache, p);
	kmem_cache_destroy(cache);
}

static void pages_are_zero(struct kunit *test)
{
	for (unsigned int order = 0; order < 4; order++) {
		const size_t size = PAGE_SIZE << order;
		char *p;

		/* The oldest free page comes first, so make enough pages dirty to meet one of them. */
		for (unsigned int n = 0; n < 4; n++) {
			struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO, order);

			KUNIT_ASSERT_NOT_NULL(test, page);
			p = page_address(page);
			expect_zero(test, p, size);
			memset(p, DIRT, size);
			__free_pages(page, order);
		}
	}
}

static void large_and_vmalloc_are_zero(struct kunit *test)
{
	static const size_t sizes[] = {2 * PAGE_SIZE + 1, 3 * PAGE_SIZE - 100, 4 * PAGE_SIZE};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const size_t size = sizes[i];

		for (unsigned int n = 0; n < 4; n++) {
			char *p = kzalloc(size, GFP_KERNEL), *area = vzalloc(size);

			KUNIT_ASSERT_NOT_NULL(test, p);
			KUNIT_ASSERT_NOT_NULL(test, area);
			expect_zero(test, p, size);
			/* Past the last page is memory of another allocation, which may have the same tag. */
			if (CLEARED(size) % PAGE_SIZE)
				KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(p + CLEARED(size)));
			expect_zero(test, area, size);
			/* Pages may be mapped elsewhere, so they are cleared to their end, also behind the area's size. */
			KUNIT_EXPECT_EQ(test, differs(area, 0, CLEARED(size), 0), CLEARED(size));
			memset(p, DIRT, size);
			memset(area, DIRT, size);
			kfree(p);
			vfree(area);
		}
	}
}

KASAN_BUG_SUITE(kasan_init, KUNIT_CASE(kzalloc_is_zero), KUNIT_CASE(kmem_cache_zalloc_is_zero),
		KUNIT_CASE(only_if_asked_for), KUNIT_CASE(pages_are_zero),
		KUNIT_CASE(large_and_vmalloc_are_zero));

#endif /* CONFIG_KASAN_TAGS */
