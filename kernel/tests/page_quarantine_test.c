// SPDX-License-Identifier: MIT
/*
 * page_quarantine_test.c - kasan.page_quarantine=: freed pages wait, the bound holds, memory comes
 * back under pressure. Without the parameter one case remains, which shows that the bug is then missed.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page_quarantine.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/string.h>

#include "kasan_test.h"

static void need_quarantine(struct kunit *test)
{
	kunit_needs(test, page_quarantine_max, "kasan.page_quarantine=");
}

#define MAX_HELD 512

/* Blocks of two pages, taken until the page allocator has no other free one. */
struct held {
	struct page *block[MAX_HELD];
	unsigned int n;
};

static bool hold_all(struct held *held)
{
	while (held->n < MAX_HELD) {
		struct page *page = alloc_pages(GFP_KERNEL, 1);

		if (!page)
			return false;
		held->block[held->n++] = page;
		if (nr_free_blocks(1) == 0)
			return true;
	}
	return false;
}

/*
 * The bug that the page quarantine finds: a page is freed, allocated again at once, and the first owner
 * writes to it. The freed block's twin is taken, so it is the only free one of its size.
 */
static void immediate_reuse(struct kunit *test)
{
	struct held *held = kunit_kzalloc(test, sizeof(*held), GFP_KERNEL);
	struct page *block, *next = NULL;
	/* Plain addresses, and the first owner's pointer, which may have a tag. */
	char *stale = NULL, *mine = NULL, *kept = NULL;

	KUNIT_ASSERT_NOT_NULL(test, held);
	/* Other CPUs take pages as well: try again if one came in between. */
	for (int i = 0; i < 50 && stale == mine && hold_all(held); i++) {
		block = held->block[--held->n];
		stale = page_to_virt(block);
		kept = page_address(block);
		__free_pages(block, 1);
		next = alloc_pages(GFP_KERNEL, 1);
		KUNIT_ASSERT_NOT_NULL(test, next);
		mine = page_to_virt(next);
		held->block[held->n++] = next;
		if (stale == mine || page_quarantine_max)
			break;
		stale = mine = NULL;
	}
	KUNIT_ASSERT_NOT_NULL(test, stale);
	HIDE_VAR(stale);
	HIDE_VAR(kept);
	memset(mine, 0x55, PAGE_SIZE);
	if (page_quarantine_max) {
		KUNIT_EXPECT_PTR_NE(test, stale, mine);
		KASAN_EXPECT_BUG(test, "use-after-free", KASAN_WRITE, 1,
				 WRITE_ACCESS(kept[100], 1));
		KUNIT_EXPECT_EQ(test, mine[100], 0x55);
	} else {
		/* Missed: no report, and the new owner's byte is gone. */
		KUNIT_EXPECT_PTR_EQ(test, stale, mine);
		WRITE_ACCESS(stale[100], 1);
		KUNIT_EXPECT_EQ(test, *(volatile char *)&mine[100], 1);
	}
	while (held->n)
		__free_pages(held->block[--held->n], 1);
}

/* Every order, and numbers of pages that are not a power of two. */
static void all_sizes_wait(struct kunit *test)
{
	static const unsigned int sizes[] = {1, 2, 3, 4, 8, 13, 16, 64};

	need_quarantine(test);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct page *page = alloc_pages_exact(GFP_KERNEL, sizes[i]), *other;
		char *p;

		if (sizes[i] > page_quarantine_max / 4)
			break;
		KUNIT_ASSERT_NOT_NULL(test, page);
		p = page_address(page);
		HIDE_VAR(p);
		free_pages_exact(page, sizes[i]);
		for (int k = 0; k < 3; k++) {
			other = alloc_pages_exact(GFP_KERNEL, sizes[i]);
			KUNIT_ASSERT_NOT_NULL(test, other);
			KUNIT_EXPECT_PTR_NE(test, other, page);
			free_pages_exact(other, sizes[i]);
		}
		KASAN_EXPECT_BUG(test, "use-after-free", KASAN_READ, 1, READ_ACCESS(p[0]));
		KASAN_EXPECT_BUG(test, "use-after-free", KASAN_WRITE, 1,
				 WRITE_ACCESS(p[sizes[i] * PAGE_SIZE - 1], 0));
	}
}

/* The oldest go first, and there are never more than the bound. */
static void bound_holds(struct kunit *test)
{
	struct page *first, *page;
	unsigned long n = 0;

	need_quarantine(test);
	first = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, first);
	__free_page(first);
	KUNIT_EXPECT_TRUE(test, page_flag(first, PG_quarantine));
	/* Later blocks wait as well until this one has left. */
	while (page_flag(first, PG_quarantine) && n < 2 * page_quarantine_max) {
		page = alloc_pages(GFP_KERNEL, 1);
		KUNIT_ASSERT_NOT_NULL(test, page);
		__free_pages(page, 1);
		n += 2;
		KUNIT_EXPECT_TRUE(test, page_flag(page, PG_quarantine));
		KUNIT_EXPECT_LE(test, page_quarantine_pages(), page_quarantine_max);
	}
	KUNIT_EXPECT_FALSE(test, page_flag(first, PG_quarantine));
	KUNIT_EXPECT_GE(test, n + 2, page_quarantine_max / 2);
	/* A block that is larger than all of it does not empty it. */
	n = page_quarantine_pages();
	page = page_quarantine_max < 1UL << MAX_ORDER
		       ? alloc_pages_exact(GFP_KERNEL, (unsigned int)page_quarantine_max + 1)
		       : NULL;
	if (page) {
		free_pages_exact(page, (unsigned int)page_quarantine_max + 1);
		KUNIT_EXPECT_GE(test, page_quarantine_pages() + 64, n);
	}
}

/* All pages can be allocated again, also by allocations that may not wait: no memory is lost. */
static void pressure(struct kunit *test)
{
	unsigned long free, got = 0;
	struct page *page, *list = NULL;

	need_quarantine(test);
	for (int i = 0; i < 64; i++) {
		page = alloc_pages(GFP_KERNEL, 2);
		KUNIT_ASSERT_NOT_NULL(test, page);
		__free_pages(page, 2);
	}
	KUNIT_EXPECT_GE(test, page_quarantine_pages(), min(page_quarantine_max, 256UL) / 2);
	free = nr_free_pages();
	while ((page = alloc_page(GFP_ATOMIC | __GFP_NOWARN))) {
		*(struct page **)page_to_virt(page) = list;
		list = page;
		got++;
	}
	KUNIT_EXPECT_EQ(test, page_quarantine_pages(), 0);
	/* All pages except those that other CPUs and the runtime took meanwhile. */
	KUNIT_EXPECT_GE(test, got + 1024, free);
	while (list) {
		page = list;
		list = *(struct page **)page_to_virt(page);
		__free_page(page);
	}
	KUNIT_EXPECT_LE(test, page_quarantine_pages(), page_quarantine_max);
}

static int page_thread(void *arg)
{
	struct page *pages[8] = {0};

	for (unsigned int i = 0; i < 3000; i++) {
		unsigned int at = i * 5 % 8, order = at % 4;

		if (pages[at])
			__free_pages(pages[at], order);
		pages[at] = alloc_pages(GFP_KERNEL, order);
		if (!pages[at])
			return -ENOMEM;
		memset(page_to_virt(pages[at]), (int)i, PAGE_SIZE << order);
	}
	for (unsigned int i = 0; i < 8; i++) {
		if (pages[i])
			__free_pages(pages[i], i % 4);
	}
	return 0;
}

static void on_all_cpus(struct kunit *test)
{
	struct task *tasks[NR_CPUS];

	need_quarantine(test);
	for (unsigned int i = 0; i < num_online_cpus(); i++) {
		tasks[i] = kthread_run(page_thread, NULL, "page_quarantine");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < num_online_cpus(); i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	KUNIT_EXPECT_LE(test, page_quarantine_pages(), page_quarantine_max);
}

KASAN_BUG_SUITE(page_quarantine, KUNIT_CASE(immediate_reuse), KUNIT_CASE(all_sizes_wait),
		KUNIT_CASE(bound_holds), KUNIT_CASE(pressure), KUNIT_CASE(on_all_cpus));
