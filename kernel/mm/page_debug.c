// SPDX-License-Identifier: MIT
/* page_debug.c - messages about pages: their state, wrong frees, failed allocations. */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/page_quarantine.h>
#include <kernel/printk.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>

#include "internal.h"

/* Also called inside reports, where instrumented memory functions must not run. */
__no_sanitize_address void page_flag_names(unsigned long flags, char *buf, size_t size)
{
	static const char *const names[NR_PAGEFLAGS] = {
		[PG_reserved] = "reserved",
		[PG_buddy] = "buddy",
		[PG_pcp] = "pcp",
		[PG_head] = "head",
		[PG_tail] = "tail",
		[PG_slab] = "slab",
		[PG_large] = "large",
		[PG_large_freed] = "large_freed",
		[PG_quarantine] = "quarantine",
		[PG_lead] = "lead",
		[PG_redzone] = "redzone",
	};
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < NR_PAGEFLAGS; i++) {
		const char *name = names[i];

		if (!(flags & BIT(i)))
			continue;
		if (at && at + 1 < size)
			buf[at++] = '|';
		while (*name && at + 1 < size)
			buf[at++] = *name++;
	}
	if (size)
		buf[at] = '\0';
}

void dump_page(const struct page *page, const char *reason)
{
	char names[64];

	page_flag_names(page->flags, names, sizeof(names));
	pr_warn("page: refcount:%d mapcount:0 mapping:%016lx index:0x0 pfn:0x%lx\n",
		page_count(page), 0UL, page_to_pfn(page));
	pr_warn("flags: 0x%lx(%s)\n", page->flags, names);
	pr_warn("page dumped because: %s\n", reason);
}

void bad_page(const struct page *page, const char *why)
{
	WARN(1, "BUG: Bad page state: pfn:%05lx: %s\n", page_to_pfn(page), why);
	dump_page(page, why);
}

void page_double_free(const struct page *page, const char *why, uintptr_t ip)
{
	/* The report includes the state of the page. */
	if (kasan_enabled())
		kasan_report_double_free(page_address(page), ip);
	else
		bad_page(page, why);
}

void show_mem(void)
{
	unsigned int order;

	pr_info("Mem-Info: %lu of %lu pages free\n", nr_free_pages(), totalram_pages());
	if (page_quarantine_max)
		pr_info("  %lu of them wait in the page quarantine\n", page_quarantine_pages());
	for (order = 0; order <= MAX_ORDER; order++)
		pr_info("  %5lu free blocks of %4lu kB\n", nr_free_blocks(order),
			PAGE_SIZE << order >> 10);
}

void warn_alloc_failed(gfp_t gfp, unsigned int nr)
{
	static unsigned int failures;
	unsigned int n = __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);

	/* The 1st, 2nd, 4th, 8th...: a loop that runs out of memory must not flood the console. */
	if (n & (n - 1))
		return;
	pr_warn("page allocation failure: %u pages, gfp 0x%x (%u failures so far)\n", nr, gfp, n);
	show_mem();
	dump_stack();
}
