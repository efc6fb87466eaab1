// SPDX-License-Identifier: MIT
/*
 * vmap_shadow.c - limits how much shadow of vmalloc space is kept for later areas.
 *
 * A shadow page is needed while any address that it describes is in an area, or in a freed range that
 * waits. A page that is not needed is kept for the next area there, so that most areas need not make
 * shadow. At most 1/KEPT_SHARE of RAM is kept. Above that, pages are freed, those of the highest
 * addresses first, because areas take the lowest addresses that fit. The rest is freed when memory is
 * short.
 *
 * The number of needed pages is computed from the bounds of ranges alone: a page becomes needed when
 * a range is cut out of a free range that held all its addresses, and it is no longer needed when all
 * its addresses are in one free range again. So nothing is stored for each page, and each change
 * takes a few additions.
 */
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>

#include "vmap.h"

#ifdef CONFIG_KASAN_SHADOW_OFFSET

#define SPAN KASAN_SHADOW_PAGE_SPAN

/* With 512 MiB of RAM this is 512 pages, the shadow of 16 MiB of areas. A working set that fits never
 * makes a page twice. */
#define KEPT_SHARE 256
#define KEPT_MIN   32UL
/* Once the limit is passed, this much below it is freed too, so that the search for pages to free
 * is not needed at every free. */
#define SLACK(max) ((max) / 4)

/* How many pages are handled at a time with interrupts off. */
#define BATCH 32U

/* The first page is always needed: vmalloc space starts with a guard page that is never free. */
struct vmap_shadow vmap_shadow = {.needed = 1, .top = VMALLOC_START, .kept_max = KEPT_MIN};

unsigned long vmalloc_kept_shadow(unsigned long *max)
{
	if (max)
		*max = vmap_shadow.kept_max;
	return vmap_shadow_kept();
}

/* Free shadow pages, which the page tables' allocator has counted as kept. */
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
 * Free a batch of shadow, at most, of the highest free addresses below *@cursor, and move the cursor
 * down to where the next call goes on. Ranges may come and go between two calls: shadow that appears
 * above the cursor stays. Addresses that have no shadow are skipped in one step, because the highest
 * range may have terabytes. Return: false if no free addresses are left below the cursor.
 */
static bool release_batch(unsigned long *cursor)
{
	unsigned long low, high, flags;
	phys_addr_t pages[BATCH];
	struct vmap_range *range;
	unsigned int n = 0;

	/* While the lock is held, these addresses cannot be allocated, and no shadow is mapped
	 * there. */
	raw_spin_lock_irqsave(&vmap_lock, flags);
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
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
	free_shadow(pages, n);
	return range;
}

unsigned long vmap_shadow_drop(void)
{
	unsigned long cursor = VMALLOC_END, batches = 0;

	/* Only without KASAN some shadow may not be counted. */
	while ((!MM_KASAN || vmap_shadow_kept()) && release_batch(&cursor))
		batches++;
	return batches;
}

void vmap_shadow_trim(void)
{
	static u32 busy;
	const unsigned long max = vmap_shadow.kept_max;
	unsigned long cursor = VMALLOC_END;

	/* One CPU is enough; two would free twice as much. */
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
