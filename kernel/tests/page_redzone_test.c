// SPDX-License-Identifier: MIT
/*
 * page_redzone_test.c - kasan.page_redzone=: what lies in front of large objects, and around blocks of pages.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/page_redzone.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "kasan_test.h"

#ifdef CONFIG_KASAN_GENERIC

static unsigned int before;

static void restore(void *unused)
{
	page_redzone_set(before);
}

static void choose(struct kunit *test, enum page_redzone which)
{
	kunit_needs(test, kasan_on(), "kasan=on");
	before = page_redzone;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore, NULL), 0);
	page_redzone_set(which);
}

/* In front of the object, at both ends of the page. */
static void large_objects(struct kunit *test)
{
	const size_t sizes[] = {8300, 3 * PAGE_SIZE, 40000, 1 << 20,
				KMALLOC_MAX_SIZE - 2 * PAGE_SIZE};
	char *p, *q;

	choose(test, PAGE_REDZONE_LARGE);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		p = kmalloc(sizes[i], GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, p);
		HIDE_VAR(p);
		KUNIT_EXPECT_EQ(test, (uintptr_t)p % PAGE_SIZE, 0UL);
		KUNIT_EXPECT_GE(test, ksize(p), sizes[i]);
		KUNIT_EXPECT_NULL(test, memchr_inv(p, 0, sizes[i]));
		memset(p, 1, sizes[i]);
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[-4000]));
		KUNIT_EXPECT_PTR_EQ(test, kasan_expect_last()->addr, (uintptr_t)p - 4000);
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
				 WRITE_ACCESS(p[-1], 1));
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
				 READ_ACCESS(p[sizes[i]]));
		q = krealloc(p, sizes[i] - 100, GFP_KERNEL);
		KUNIT_EXPECT_PTR_EQ(test, p, q);
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
				 READ_ACCESS(p[sizes[i] - 100]));
		KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, kfree(p - PAGE_SIZE));
		kfree(p);
		KASAN_EXPECT_BUG(test, "use-after-free", KASAN_READ, 1, READ_ACCESS(p[5]));
		KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kfree(p));
	}
}

static void blocks_of_pages(struct kunit *test)
{
	unsigned long free_before, left;
	struct page *page[64];
	unsigned int n = 0;
	char *p;

	choose(test, PAGE_REDZONE_ALL);
	/* The first allocation may take memory that is kept. */
	page[0] = alloc_pages(GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, page[0]);
	__free_pages(page[0], 0);
	free_before = nr_free_pages();
	for (n = 0; n < ARRAY_SIZE(page); n++) {
		page[n] = alloc_pages(GFP_KERNEL | __GFP_ZERO, n % 4);
		KUNIT_ASSERT_NOT_NULL(test, page[n]);
		KUNIT_EXPECT_EQ(test, page_to_pfn(page[n]) % (1UL << n % 4), 0UL);
		p = page_address(page[n]);
		HIDE_VAR(p);
		memset(p, 1, PAGE_SIZE << n % 4);
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
				 READ_ACCESS(p[PAGE_SIZE << n % 4]));
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
				 WRITE_ACCESS(p[(PAGE_SIZE << n % 4) + 4000], 1));
	}
	left = nr_free_pages();
	KUNIT_EXPECT_LE(test, left + 2 * 64, free_before);
	while (n--) {
		p = page_address(page[n]);
		HIDE_VAR(p);
		__free_pages(page[n], n % 4);
		KASAN_EXPECT_BUG(test, "use-after-free", KASAN_READ, 1, READ_ACCESS(p[0]));
	}
	/* All pages are back, but for those that another task has taken meanwhile. */
	KUNIT_EXPECT_GE(test, nr_free_pages() + 16, free_before);
}

KASAN_BUG_SUITE(page_redzone, KUNIT_CASE(large_objects), KUNIT_CASE(blocks_of_pages));

#endif
