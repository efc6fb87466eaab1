// SPDX-License-Identifier: MIT
/*
 * traffic_ops.c - page traffic as of a loopback network device: buffers of 8 pages and more are allocated,
 * filled by a sender, read by a receiver, and freed. Instrumented.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "bench.h"

/* The source and the target of the copies: one of the largest buffers. */
static char *source, *sink;
static unsigned int round_;

static bool make_ends(unsigned long order)
{
	source = (char *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, (unsigned int)order);
	sink = (char *)__get_free_pages(GFP_KERNEL, (unsigned int)order);
	return source && sink;
}

static void drop_ends(void)
{
	free_pages((unsigned long)source, 5);
	free_pages((unsigned long)sink, 5);
}

/* Orders 3, 4, 5 in turn. An eighth of each is used, because messages seldom fill their buffer. */
static void one_message(void)
{
	unsigned int order = 3 + round_++ % 3;
	size_t size = (PAGE_SIZE << order) / 8;
	char *buffer = (char *)__get_free_pages(GFP_KERNEL, order);

	if (unlikely(!buffer))
		bench_fail("a buffer");
	memcpy(buffer, source, size);
	memcpy(sink, buffer, size);
	free_pages((unsigned long)buffer, order);
}

/* The bare traffic, whose cost sampling reduces. */
static void no_message(void)
{
	unsigned int order = 3 + round_++ % 3;
	struct page *page = alloc_pages(GFP_KERNEL, order);

	if (unlikely(!page))
		bench_fail("a buffer");
	__free_pages(page, order);
}

/* The number of rounds is a multiple of 3 orders and of every interval that is measured, up to 100. */
const struct bench_op bench_traffic_ops[] = {
	{"page_traffic", one_message, .warm = 600, .rounds = 6000, .setup = make_ends,
	 .teardown = drop_ends, .argument = 5, .pages = true},
	{"page_traffic_bare", no_message, .warm = 600, .rounds = 6000, .pages = true},
	{},
};
