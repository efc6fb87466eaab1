// SPDX-License-Identifier: MIT
/*
 * layout.c - free memory of a known shape, for the operations that take whole pages.
 *
 * A block of pages is split from the smallest free block that is large enough, and joined with its free
 * neighbours when it is freed: more than 100 instructions for each halving. So the cost of an operation
 * depends on the blocks that boot and earlier operations happened to leave, and a change anywhere in the
 * kernel moves it. vmalloc() also maps pages that happen to be neighbours in one go. Here each operation
 * finds the same blocks: of each order up to MAX_STOCK a stock of free ones whose twins are in use, and
 * otherwise only blocks of the largest order. A block of the stock is taken without splitting and freed
 * without joining, and no two of the single pages are neighbours. Neither changes if several CPUs take and
 * free blocks in any order. Not instrumented.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>

#include "bench.h"

/* Orders with a stock: those of the page traffic and below. */
#define MAX_STOCK 5U
/* The largest blocks that are cut up for the stock of one order. Half of it is free afterwards, 8 MiB: more
 * than an operation takes and 8 CPUs keep. Only kzalloc(16384) takes more under KASAN, for the quarantine. */
#define STOCK_BLOCKS 4U
/* Passes that take the small blocks. KASAN may need a page for itself meanwhile, hence more than one. */
#define PASSES 8

/* Allocated blocks, linked by page->lru, which has no other use while a block is allocated. */
static LIST_HEAD(held);

static struct page *take(unsigned int order)
{
	struct page *page = alloc_pages(GFP_KERNEL, order);

	if (!page)
		bench_fail("a known layout");
	return page;
}

static void hold(struct page *page)
{
	list_add(&page->lru, &held);
}

/* Hold all free blocks below the largest order. Return: false if there are still some. */
static bool hold_small_blocks(void)
{
	unsigned long nr;
	unsigned int order;

	drain_all_pages();
	for (order = 1; order < MAX_ORDER; order++) {
		while (nr_free_blocks(order))
			hold(take(order));
	}
	/* A CPU's list is filled with more pages than are wanted. The rest comes from a block that is split,
	 * and joined again when the list is emptied. */
	for (nr = nr_free_blocks(0); nr; nr--)
		hold(take(0));
	drain_all_pages();
	for (order = 0; order < MAX_ORDER; order++) {
		if (nr_free_blocks(order))
			return false;
	}
	return true;
}

/* Cut largest blocks into blocks of @order, and free every second one. */
static void stock(unsigned int order)
{
	unsigned long nr = STOCK_BLOCKS << (MAX_ORDER - order);
	LIST_HEAD(spare);

	for (; nr; nr--) {
		struct page *page = take(order);

		if (page_to_pfn(page) >> order & 1)
			list_add_tail(&page->lru, &spare);
		else
			hold(page);
	}
	while (!list_empty(&spare)) {
		struct page *page = list_first_entry(&spare, struct page, lru);

		list_del(&page->lru);
		__free_pages(page, order);
	}
}

void bench_lay_out_pages(void)
{
	unsigned int order, pass = 0;

	while (!hold_small_blocks()) {
		if (++pass == PASSES)
			bench_fail("a known layout");
	}
	for (order = 0; order <= MAX_STOCK; order++)
		stock(order);
	drain_all_pages();
	for (order = 0; order < MAX_ORDER; order++) {
		if (nr_free_blocks(order) !=
		    (order <= MAX_STOCK ? STOCK_BLOCKS << (MAX_ORDER - order) >> 1 : 0))
			bench_fail("a known layout");
	}
}

void bench_release_pages(void)
{
	while (!list_empty(&held)) {
		struct page *page = list_first_entry(&held, struct page, lru);

		list_del(&page->lru);
		put_page(page);
	}
}
