// SPDX-License-Identifier: MIT
/* pages_test.c - the page allocator: orders, alignment, splitting and merging, exact sizes,
 * counting. */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include "kasan_test.h"

static void alloc_every_order(struct kunit *test)
{
	for (unsigned int order = 0; order <= MAX_ORDER; order++) {
		struct page *page = alloc_pages(GFP_KERNEL | __GFP_NOWARN, order);
		u8 *p;

		if (!page) {
			/* A large block may be missing because memory is small or fragmented. */
			KUNIT_EXPECT_GE(test, order, 8);
			continue;
		}
		p = page_to_virt(page);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((uintptr_t)__pa(p), PAGE_SIZE << order));
		KUNIT_EXPECT_EQ(test, page_count(page), 1);
		KUNIT_EXPECT_EQ(test, page_size(page), PAGE_SIZE << order);
		p[0] = 1;
		p[(PAGE_SIZE << order) - 1] = 2;
		KUNIT_EXPECT_PTR_EQ(test, virt_to_head_page(p + (PAGE_SIZE << order) - 1), page);
		__free_pages(page, order);
	}
	KUNIT_EXPECT_NULL(test, alloc_pages(GFP_KERNEL | __GFP_NOWARN, MAX_ORDER + 1));
}

static void zeroed_pages(struct kunit *test)
{
	for (int i = 0; i < 20; i++) {
		unsigned long addr = __get_free_pages(GFP_KERNEL | __GFP_ZERO, 1);

		KUNIT_ASSERT_NE(test, addr, 0);
		KUNIT_EXPECT_NULL(test, memchr_inv((void *)addr, 0, 2 * PAGE_SIZE));
		memset((void *)addr, 0xff, 2 * PAGE_SIZE);
		free_pages(addr, 1);
	}
}

static void exact_pages(struct kunit *test)
{
	static const unsigned int counts[] = {1, 2, 3, 5, 7, 12, 33};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct page *page = alloc_pages_exact(GFP_KERNEL, counts[i]);

		KUNIT_ASSERT_NOT_NULL(test, page);
		KUNIT_EXPECT_EQ(test, page_size(page), counts[i] * PAGE_SIZE);
		memset(page_to_virt(page), 1, counts[i] * PAGE_SIZE);
		free_pages_exact(page, counts[i]);
	}
}

static void nothing_is_lost(struct kunit *test)
{
	struct page *pages[200];
	unsigned long before, after;

	/* The first round also creates the allocator's own objects. */
	for (int round = 0; round < 2; round++) {
		drain_all_pages();
		before = nr_free_pages();
		for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
			pages[i] = alloc_pages(GFP_KERNEL, i % 3);
			KUNIT_ASSERT_NOT_NULL(test, pages[i]);
		}
		KUNIT_EXPECT_LT(test, nr_free_pages(), before);
		for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
			__free_pages(pages[(i * 7) % ARRAY_SIZE(pages)],
				     ((i * 7) % ARRAY_SIZE(pages)) % 3);
		drain_all_pages();
		after = nr_free_pages();
	}
	/* Some slack for threads that come and go meanwhile. */
	KUNIT_EXPECT_GE(test, after + 64, before);
}

static void buddies_merge(struct kunit *test)
{
	unsigned long large = 0, now = 0;
	struct page *block = alloc_pages(GFP_KERNEL, 6), *page;

	KUNIT_ASSERT_NOT_NULL(test, block);
	__free_pages(block, 6);
	drain_all_pages();
	for (unsigned int order = 6; order <= MAX_ORDER; order++)
		large += nr_free_blocks(order) << order;
	/* Single pages break a block up; when all are back it is whole again. */
	page = alloc_pages(GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, page);
	__free_pages(page, 0);
	drain_all_pages();
	for (unsigned int order = 6; order <= MAX_ORDER; order++)
		now += nr_free_blocks(order) << order;
	KUNIT_EXPECT_GE(test, now + 64, large);
}

static void references(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL);
	u8 *p;

	KUNIT_ASSERT_NOT_NULL(test, page);
	p = page_to_virt(page);
	get_page(page);
	KUNIT_EXPECT_EQ(test, page_count(page), 2);
	put_page(page);
	/* Still ours. */
	p[0] = 1;
	KUNIT_EXPECT_EQ(test, page_count(page), 1);
	put_page(page);
}

static void addresses(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_PTR_EQ(test, virt_to_page(page_to_virt(page)), page);
	KUNIT_EXPECT_PTR_EQ(test, pfn_to_page(page_to_pfn(page)), page);
	KUNIT_EXPECT_PTR_EQ(test, phys_to_page(page_to_phys(page)), page);
	__free_page(page);
	KUNIT_EXPECT_EQ(test, get_order(1), 0);
	KUNIT_EXPECT_EQ(test, get_order(PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, get_order(PAGE_SIZE + 1), 1);
	KUNIT_EXPECT_EQ(test, get_order(PAGE_SIZE << 5), 5);
}

static int page_thread(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		unsigned int order = (unsigned int)i % 4;
		struct page *page = alloc_pages(GFP_KERNEL, order);

		if (!page)
			return -ENOMEM;
		*(u8 *)page_to_virt(page) = (u8)i;
		__free_pages(page, order);
	}
	return 0;
}

static void on_all_cpus(struct kunit *test)
{
	struct task *tasks[NR_CPUS];
	unsigned int n = num_online_cpus();

	for (unsigned int i = 0; i < n; i++) {
		tasks[i] = kthread_run(page_thread, NULL, "page_stress");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
}

KASAN_SUITE(pages, KUNIT_CASE(alloc_every_order), KUNIT_CASE(zeroed_pages), KUNIT_CASE(exact_pages),
	    KUNIT_CASE(nothing_is_lost), KUNIT_CASE(buddies_merge), KUNIT_CASE(references),
	    KUNIT_CASE(addresses), KUNIT_CASE(on_all_cpus));
