// SPDX-License-Identifier: MIT
/* pages.c - a module that prints how many page allocations Redzone has seen, and left without tags by sampling. */
#include <linux/init.h>
#include <linux/module.h>

/* struct kasan_sample_stats of <kasan/hw_tags.h>. */
struct stats {
	unsigned int interval;
	unsigned long allocations, skipped;
};

void redzone_sample_stats(struct stats *stats);

static int __init print_pages(void)
{
	/* Linux's own KASAN has none. */
	void (*count)(struct stats *stats) = symbol_get(redzone_sample_stats);
	struct stats stats = {};

	if (count) {
		count(&stats);
		pr_info("redzone-bench: pages_all %lu\n", stats.allocations);
		pr_info("redzone-bench: pages_skipped %lu\n", stats.skipped);
		symbol_put(redzone_sample_stats);
	}
	return 0;
}
module_init(print_pages);

MODULE_DESCRIPTION("Prints how many page allocations are sampled");
MODULE_LICENSE("Dual MIT/GPL");
