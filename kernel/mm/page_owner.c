// SPDX-License-Identifier: MIT
/*
 * page_owner.c - records where each page was last allocated and last freed (boot parameter
 * page_owner=on).
 *
 * There is one record for each page of RAM, made at boot: 56 bytes, 1.4 % of memory, and never more.
 * Stacks are kept in KASAN's depot, which has its own limit. By default it is off: then there are no
 * records, and the page allocator tests one variable.
 *
 * Uninstrumented, like the page allocator, which calls it. Reports call it too.
 */
#include <kasan/kasan.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page_owner.h>
#include <kernel/param.h>
#include <kernel/sched.h>

#include "internal.h"

struct page_record {
	u64 ts, free_ts; /* ns since boot, 0: never */
	u32 stack, free_stack;
	pid_t pid, free_pid;
	gfp_t gfp;
	u32 order;
	char comm[TASK_COMM_LEN];
};

static bool wanted;
core_param("page_owner", wanted, bool, "on|off", "record who allocates and frees pages");

bool page_owner_on;
static struct page_record *records;

void page_owner_init(void)
{
	size_t bytes = PAGE_ALIGN((max_pfn - min_pfn) * sizeof(*records));

	if (!wanted)
		return;
	if (!MM_KASAN) {
		pr_warn("page_owner: stacks are kept by KASAN, which is not in this kernel: off\n");
		return;
	}
	records = memblock_alloc(bytes, PAGE_SIZE);
	if (!records) {
		pr_warn("page_owner: no memory for %lu records: off\n", max_pfn - min_pfn);
		return;
	}
	pr_info("page_owner: on, %luK for %lu pages\n", (unsigned long)bytes >> 10,
		max_pfn - min_pfn);
	WRITE_ONCE(page_owner_on, true);
}

static struct page_record *record_of(const struct page *page)
{
	return &records[page_to_pfn(page) - min_pfn];
}

noinline void __page_owner_alloc(const struct page *page, unsigned int nr, gfp_t gfp)
{
	const u32 stack = kasan_stack_save(MM_CALLER_IP());
	const u32 order = get_order((size_t)nr << PAGE_SHIFT);
	const u64 now = clock_ns();
	unsigned int i, c;

	for (i = 0; i < nr; i++) {
		struct page_record *record = record_of(page + i);

		record->ts = now;
		record->stack = stack;
		record->pid = current->pid;
		record->gfp = gfp;
		record->order = order;
		for (c = 0; c < TASK_COMM_LEN; c++)
			record->comm[c] = current->comm[c];
	}
}

noinline void __page_owner_free(const struct page *page, unsigned int nr)
{
	const u32 stack = kasan_stack_save(MM_CALLER_IP());
	const u64 now = clock_ns();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct page_record *record = record_of(page + i);

		record->free_ts = now;
		record->free_stack = stack;
		record->free_pid = current->pid;
	}
}

bool page_owner_get(const struct page *page, struct page_owner *owner)
{
	const struct page_record *record;

	if (!page_owner_on)
		return false;
	record = record_of(page);
	*owner = (struct page_owner){
		.allocated = record->ts && record->ts >= record->free_ts,
		.ts = record->ts,
		.free_ts = record->free_ts,
		.pid = record->pid,
		.free_pid = record->free_pid,
		.order = record->order,
		.stack = record->stack,
		.free_stack = record->free_stack,
	};
	return record->ts || record->free_ts;
}

static const char *gfp_name(gfp_t gfp)
{
	if (gfp & __GFP_DIRECT_RECLAIM)
		return gfp & __GFP_ZERO ? "GFP_KERNEL|__GFP_ZERO" : "GFP_KERNEL";
	if (gfp & __GFP_HIGH)
		return gfp & __GFP_ZERO ? "GFP_ATOMIC|__GFP_ZERO" : "GFP_ATOMIC";
	return gfp & __GFP_ZERO ? "GFP_NOWAIT|__GFP_ZERO" : "GFP_NOWAIT";
}

void page_owner_print(const struct page *page)
{
	const struct page_record *record;
	struct page_owner owner;
	char comm[TASK_COMM_LEN];
	unsigned int i;

	if (!page_owner_on)
		return;
	if (!page_owner_get(page, &owner)) {
		kasan_report_line("page_owner tracks the page as never allocated");
		return;
	}
	record = record_of(page);
	for (i = 0; i < TASK_COMM_LEN; i++)
		comm[i] = record->comm[i];
	comm[TASK_COMM_LEN - 1] = '\0';
	kasan_report_line("page_owner tracks the page as %s",
			  owner.allocated ? "allocated" : "freed");
	if (owner.ts) {
		kasan_report_line("page last allocated via order %u, gfp_mask 0x%x(%s), pid %u, "
				  "tgid %u (%s), ts %lu, free_ts %lu",
				  owner.order, record->gfp, gfp_name(record->gfp),
				  (unsigned int)owner.pid, (unsigned int)owner.pid, comm,
				  (unsigned long)owner.ts, (unsigned long)owner.free_ts);
		kasan_stack_print(owner.stack);
	}
	if (!owner.free_ts) {
		kasan_report_line("page_owner free stack trace missing");
		return;
	}
	kasan_report_line("page last free pid %u tgid %u stack trace:",
			  (unsigned int)owner.free_pid, (unsigned int)owner.free_pid);
	kasan_stack_print(owner.free_stack);
}
