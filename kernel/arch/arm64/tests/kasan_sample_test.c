// SPDX-License-Identifier: MIT
/*
 * kasan_sample_test.c - sampling of page allocations (kasan.page_alloc.sample=) by tasks that change their CPU
 * all the time. Every allocation draws one number from one CPU's counter; none is drawn twice and none is lost,
 * so the counters tell exactly how many allocations must have got a tag.
 *
 * tests/unit/test_sample.c interrupts a draw after each single instruction. This is the same under load.
 */
#include <kasan/mte.h>
#include <kernel/gfp.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/sched.h>
#include <kernel/slab.h>

#include "../../../tests/kasan_test.h"

#define TASKS_PER_CPU 3U
#define DRAWS	      4000U
#define INTERVAL      7UL

static unsigned long tagged;
static unsigned int moves;

/* More tasks than CPUs, and some sleep: a task that wakes up goes to an idle CPU. */
static int allocate(void *arg)
{
	unsigned int i, cpu = smp_processor_id(), mine = 0;

	for (i = 0; i < DRAWS; i++) {
		struct page *page = alloc_pages(GFP_KERNEL, 0);

		if (!page)
			return -ENOMEM;
		mine += kasan_get_tag(page_address(page)) != KASAN_TAG_KERNEL;
		__free_pages(page, 0);
		if (i % 61 == (uintptr_t)arg)
			msleep(1);
		else if (i % 3 == 0)
			yield();
		if (cpu != smp_processor_id()) {
			cpu = smp_processor_id();
			__atomic_fetch_add(&moves, 1, __ATOMIC_RELAXED);
		}
	}
	__atomic_fetch_add(&tagged, mine, __ATOMIC_RELAXED);
	return 0;
}

/* Return: number of the first @n draws from a counter that get a tag. */
static unsigned long due(unsigned long n)
{
	return DIV_ROUND_UP(n, INTERVAL);
}

static void migrating_tasks(struct kunit *test)
{
	const unsigned int nr = TASKS_PER_CPU * nr_cpu_ids;
	struct task *tasks[TASKS_PER_CPU * NR_CPUS];
	unsigned long before[NR_CPUS], drawn = 0, expected = 0, done = (unsigned long)nr * DRAWS;
	struct kasan_sample_stats start, stats;
	unsigned int i;

	kunit_needs(test, kasan_on(), "kasan=on");
	tagged = moves = 0;
	/* Created first: a stack is made of single pages, which are allocations as well. */
	for (i = 0; i < nr; i++) {
		tasks[i] = kthread_create(allocate, (void *)(uintptr_t)i, "sample/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (i = 0; i < NR_CPUS; i++)
		before[i] = kasan_sample_tickets(i);
	kasan_sample_stats(&start);
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.page_alloc.sample.order", "0"), 0);
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.page_alloc.sample", "7"), 0);
	for (i = 0; i < nr; i++)
		wake_up_process(tasks[i]);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	kasan_option("kasan.page_alloc.sample", "1");
	kasan_option("kasan.page_alloc.sample.order", "3");
	kasan_sample_stats(&stats);
	for (i = 0; i < NR_CPUS; i++) {
		const unsigned long n = kasan_sample_tickets(i);

		drawn += n - before[i];
		expected += due(n) - due(before[i]);
	}
	/* The kernel itself may have allocated a page or two beside them. */
	stats.allocations -= start.allocations;
	stats.skipped -= start.skipped;
	kunit_info(test, "%lu draws on %u CPUs, %u moves: %lu tagged", drawn, nr_cpu_ids, moves,
		   stats.allocations - stats.skipped);
	KUNIT_EXPECT_GE(test, stats.allocations, done);
	KUNIT_EXPECT_LE(test, stats.allocations, done + 1000);
	KUNIT_EXPECT_EQ(test, drawn, stats.allocations);
	KUNIT_EXPECT_EQ(test, stats.allocations - stats.skipped, expected);
	/* The tasks saw the same numbers, except for draws of others. */
	KUNIT_EXPECT_LE(test, tagged, expected);
	KUNIT_EXPECT_GE(test, tagged + (drawn - done), expected);
	/* Their number depends on the host, but without any the test has not tested this. */
	if (nr_cpu_ids > 1)
		KUNIT_EXPECT_GT(test, moves, 0U);
}

/* Leave this many pages for others. */
#define LEFT 4096UL

static void free_all(void *list)
{
	struct page *page, *next;

	list_for_each_entry_safe (page, next, (struct list_head *)list, lru)
		__free_pages(page, page->nr == 1 ? 0 : (unsigned int)__builtin_ctz(page->nr));
}

/* Return: granules of @page, every 16th counted, with a tag that pointers can have. */
static unsigned int owned(const struct page *page)
{
	const char *at = page_to_virt(page), *end = at + page_size(page);
	unsigned int n = 0;

	for (; at < end; at += 16 * KASAN_GRANULE_SIZE) {
		const u8 tag = (u8)(kasan_mte_ldg((uintptr_t)at) >> 56) | 0xf0;

		n += tag >= KASAN_TAG_MIN && tag <= KASAN_TAG_MAX;
	}
	return n;
}

/*
 * A skipped page is not tagged: it keeps the tags of free pages, or the machine's initial tags if it was
 * never allocated. No tag of an earlier owner may be left, because a stale pointer would match it.
 */
static void skipped_pages_have_no_owner_tag(struct kunit *test)
{
	struct list_head *all = kunit_kzalloc(test, sizeof(*all), GFP_KERNEL);
	unsigned long pages = 0, bad = 0;
	unsigned int order = MAX_ORDER + 1;
	struct page *page, *first = NULL;

	kunit_needs(test, kasan_on(), "kasan=on");
	KUNIT_ASSERT_NOT_NULL(test, all);
	INIT_LIST_HEAD(all);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_all, all), 0);
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.page_alloc.sample.order", "0"), 0);
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.page_alloc.sample", "1000000000"), 0);
	while (order--) {
		while (nr_free_pages() > LEFT + (1UL << order)) {
			page = alloc_pages(GFP_NOWAIT | __GFP_NOWARN, order);
			if (!page)
				break;
			list_add(&page->lru, all);
		}
	}
	kasan_option("kasan.page_alloc.sample", "1");
	kasan_option("kasan.page_alloc.sample.order", "3");
	list_for_each_entry (page, all, lru) {
		/* The first of each CPU is not skipped. */
		if (kasan_get_tag(page_address(page)) != KASAN_TAG_KERNEL)
			continue;
		pages += page->nr;
		if (owned(page)) {
			bad++;
			first = first ? first : page;
		}
	}
	KUNIT_EXPECT_GT(test, pages, totalram_pages() / 2);
	KUNIT_EXPECT_EQ_MSG(test, bad, 0UL,
			    "blocks with tags of others, the first at %016lx, of %u pages",
			    first ? (unsigned long)page_to_virt(first) : 0, first ? first->nr : 0);
}

KASAN_BUG_SUITE(kasan_sample, KUNIT_CASE(migrating_tasks),
		KUNIT_CASE(skipped_pages_have_no_owner_tag));
