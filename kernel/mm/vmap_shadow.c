// SPDX-License-Identifier: MIT
/*
 * vmap_shadow.c - how much shadow of vmalloc space is kept for areas to come.
 *
 * A shadow page is needed while any address that it describes lies in an area, or in a freed range that
 * rests. A page that is not needed is kept: the next area there finds it, and most areas need not make any. What
 * is kept is bounded by 1/KEPT_SHARE of RAM; past that, pages are given back, those of the highest addresses
 * first, because areas take the lowest that fit. The rest goes when memory is short.
 *
 * The number of pages that are needed is counted from the bounds of ranges alone: a page becomes needed when
 * a range is cut out of a free one that held all of its addresses, and is free again when they are all together
 * in one free range. So nothing is stored for a page, and each count takes a few additions.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>

#include "vmap.h"

#ifdef CONFIG_KASAN_SHADOW_OFFSET

#define SPAN KASAN_SHADOW_PAGE_SPAN

/* At 512 MiB of RAM 512 pages: the shadow of 16 MiB of areas. A working set that fits never makes a page twice. */
#define KEPT_SHARE 256
#define KEPT_MIN   32UL
/* Once over the bound, this much is given back at once, so that what it takes to find it is spread. */
#define SLACK(max) ((max) / 4)

/* Pages looked at with interrupts off. */
#define BATCH 32U

/* The first page is needed always: vmalloc space starts with a guard page that is never free. */
struct vmap_shadow vmap_shadow = {.needed = 1, .top = VMALLOC_START, .kept_max = KEPT_MIN};

unsigned long vmalloc_kept_shadow(unsigned long *max)
{
	if (max)
		*max = vmap_shadow.kept_max;
	return vmap_shadow_kept();
}

/* The pages come from the page tables' allocator, which counts them as kept. */
static void free_shadow(const phys_addr_t *pages, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		__free_page(phys_to_page(pages[i]));
	page_kept(-(long)nr);
}

void vmalloc_release_shadow(unsigned long start, unsigned long end)
{
	phys_addr_t pages[BATCH];

	while (start < end) {
		size_t size = min(end - start, BATCH * SPAN);

		free_shadow(pages, kasan_unmap_shadow(start, size, pages));
		start += size;
	}
}

/*
 * Give back shadow of the highest free addresses below *@cursor, a batch at most, and move the cursor down to
 * where to go on. Between two calls ranges may come and go: shadow that appears above the cursor stays.
 * Addresses that never had shadow are passed over at once: the highest range may be terabytes.
 * Return: false if there is nothing below it any more.
 */
static bool release_batch(unsigned long *cursor)
{
	unsigned long low, high, flags;
	phys_addr_t pages[BATCH];
	struct vmap_range *range;
	unsigned int n = 0;

	/* Nobody can get these addresses, and map shadow there, while the lock is held. */
	spin_lock_irqsave(&vmap_lock, flags);
	*cursor = min(*cursor, vmap_shadow.top);
	range = vmap_last_below(&vmap_free, *cursor);
	if (range) {
		low = ALIGN(range->start, SPAN);
		high = min(range->end / SPAN * SPAN, *cursor);
		if (low < high) {
			unsigned long from = kasan_shadow_below(low, high);

			if (from - low > BATCH * SPAN)
				low = from - BATCH * SPAN;
			n = kasan_unmap_shadow(low, from - low, pages);
			if (high == vmap_shadow.top)
				vmap_shadow.top = low;
			*cursor = low;
		} else {
			*cursor = range->start;
		}
	}
	spin_unlock_irqrestore(&vmap_lock, flags);
	free_shadow(pages, n);
	return range;
}

unsigned long vmap_shadow_drop(void)
{
	unsigned long cursor = VMALLOC_END, batches = 0;

	/* Only without KASAN there may be some that is not counted. */
	while ((!MM_KASAN || vmap_shadow_kept()) && release_batch(&cursor))
		batches++;
	return batches;
}

void vmap_shadow_trim(void)
{
	static u32 busy;
	const unsigned long max = vmap_shadow.kept_max;
	unsigned long cursor = VMALLOC_END;

	/* One CPU is enough, and two would give back twice as much. */
	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return;
	while (vmap_shadow_kept() > max - SLACK(max) && release_batch(&cursor))
		;
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

void vmap_shadow_init(void)
{
	vmap_shadow.kept_max = max(totalram_pages() / KEPT_SHARE, KEPT_MIN);
}

#else

unsigned long vmalloc_kept_shadow(unsigned long *max)
{
	if (max)
		*max = 0;
	return 0;
}

void vmalloc_release_shadow(unsigned long start, unsigned long end)
{
}

#endif /* CONFIG_KASAN_SHADOW_OFFSET */
