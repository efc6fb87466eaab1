// SPDX-License-Identifier: MIT
/*
 * mm_init.c - bring-up: makes the array of page descriptors, gives the memory that memblock has left
 * to the page allocator, and starts the allocators above it.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/page_owner.h>
#include <kernel/page_quarantine.h>
#include <kernel/page_redzone.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "internal.h"

struct page *mem_map;
unsigned long min_pfn, max_pfn;
struct linear_ram linear_ram;

static bool up;

/* Also called inside reports. */
__no_sanitize_address bool mm_is_up(void)
{
	return READ_ONCE(up);
}

/* Called with the page table lock held, so nothing here may map, wait or report. */
static phys_addr_t buddy_pgtable_page(void)
{
	struct page *page = alloc_pages(GFP_ATOMIC | __GFP_NOWARN, 0);

	if (!page)
		return 0;
	page_kept(1);
	return page_to_phys(page);
}

static void init_mem_map(void)
{
	unsigned long pfn, bytes;

	min_pfn = memblock_start_of_DRAM() >> PAGE_SHIFT;
	max_pfn = memblock_end_of_DRAM() >> PAGE_SHIFT;
	bytes = (max_pfn - min_pfn) * sizeof(struct page);
	/* memblock allocates from the top, so low memory stays in large blocks. */
	mem_map = memblock_alloc(PAGE_ALIGN(bytes), PAGE_SIZE);
	if (!mem_map)
		panic("mm: no memory for %lu page descriptors", max_pfn - min_pfn);
	for (pfn = min_pfn; pfn < max_pfn; pfn++)
		pfn_to_page(pfn)->flags = BIT(PG_reserved);
	linear_ram.pages = mem_map;
	linear_ram.start = (unsigned long)__va(min_pfn << PAGE_SHIFT);
	linear_ram.base =
		linear_ram.start - (unsigned long)mem_map * (PAGE_SIZE / sizeof(*mem_map));
	linear_ram.bytes = (max_pfn - min_pfn) << PAGE_SHIFT;
}

static void free_all_memblock(void)
{
	phys_addr_t cursor = 0, base, size;

	while (memblock_next_free(&cursor, &base, &size)) {
		unsigned long pfn = PAGE_ALIGN(base) >> PAGE_SHIFT;
		unsigned long end = (base + size) >> PAGE_SHIFT;

		if (pfn < end)
			page_alloc_add(pfn, end);
	}
}

void mm_init(void)
{
	init_mem_map();
	page_alloc_init();
	page_owner_init();
	free_all_memblock();
	page_quarantine_init();
	page_redzone_init();
	WRITE_ONCE(pgtable_page_alloc, buddy_pgtable_page);
	WRITE_ONCE(up, true);
	slab_choose_entries();
	kmem_cache_init();
	vmalloc_init();
	pr_info("Memory: %luK/%luK available (%lu page descriptors, %luK)\n",
		nr_free_pages() << (PAGE_SHIFT - 10),
		(unsigned long)(memblock_phys_mem_size() >> 10), max_pfn - min_pfn,
		(unsigned long)((max_pfn - min_pfn) * sizeof(struct page) >> 10));
}
