// SPDX-License-Identifier: MIT
/*
 * shadow.c - shadow of vmalloc space, which comes and goes with its areas.
 *
 * The page tables of the shadow itself stay. A page of shadow describes several pages of memory, so neighbouring areas may
 * share one: it is given back when all that it describes is free.
 */
#include <linux/init.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include <asm/cacheflush.h>
#include <asm/tlbflush.h>

#include "redzone.h"

#include "arch.h"
#include "internal.h"
#include "kasan.h"

#ifdef CONFIG_KASAN_VMALLOC

#if KASAN_LINUX_7
/* Linux 7 has functions of the old names in line, which call these. */
#define kasan_populate_vmalloc __kasan_populate_vmalloc
#define kasan_release_vmalloc  __kasan_release_vmalloc
#endif

static unsigned long shadow_of(unsigned long addr)
{
	return (unsigned long)kasan_mem_to_shadow((void *)addr);
}

static int map_page(pte_t *ptep, unsigned long addr, void *data)
{
	const gfp_t flags = *(const gfp_t *)data & ~__GFP_ZERO;
	struct page *page;
	bool taken = false;

	if (likely(!pte_none(ptep_get(ptep))))
		return 0;
	page = alloc_page(flags);
	if (!page)
		return -ENOMEM;
	__memset(page_address(page), KASAN_VMALLOC_INVALID, PAGE_SIZE);
	/* An area beside this one may be made at the same time. */
	spin_lock(&init_mm.page_table_lock);
	if (pte_none(ptep_get(ptep))) {
		set_pte_at(&init_mm, addr, ptep, mk_pte(page, PAGE_KERNEL));
		taken = true;
	}
	spin_unlock(&init_mm.page_table_lock);
	if (!taken)
		__free_page(page);
	return 0;
}

int kasan_populate_vmalloc(unsigned long addr, unsigned long size, gfp_t gfp_mask)
{
	const gfp_t reclaim = gfp_mask & (__GFP_IO | __GFP_FS);
	unsigned long start, end;
	unsigned int scope = 0;
	int error;

	if (!kasan_arch_is_ready() || !is_vmalloc_or_module_addr((void *)addr))
		return 0;
	start = PAGE_ALIGN_DOWN(shadow_of(addr));
	end = PAGE_ALIGN(shadow_of(addr + size));
	/* Page tables are allocated without the caller's flags. */
	if (!reclaim)
		scope = memalloc_noio_save();
	else if (reclaim == __GFP_IO)
		scope = memalloc_nofs_save();
	error = apply_to_page_range(&init_mm, start, end - start, map_page, &gfp_mask);
	if (!reclaim)
		memalloc_noio_restore(scope);
	else if (reclaim == __GFP_IO)
		memalloc_nofs_restore(scope);
	if (error)
		return error;
	flush_cache_vmap(start, end);
	return 0;
}

/* Linux calls it for areas that were there before the page allocator. Architectures whose early shadow does not cover
 * them have their own. */
void __init __weak kasan_populate_early_vm_area_shadow(void *start, unsigned long size)
{
}

static int unmap_page(pte_t *ptep, unsigned long addr, void *unused)
{
	struct page *page = NULL;
	pte_t pte;

	spin_lock(&init_mm.page_table_lock);
	pte = ptep_get(ptep);
	if (!pte_none(pte)) {
		pte_clear(&init_mm, addr, ptep);
		page = pte_page(pte);
	}
	spin_unlock(&init_mm.page_table_lock);
	if (page)
		__free_page(page);
	return 0;
}

/*
 * [@start, @end) has been freed, and all of [@free_start, @free_end) is free: pages of shadow that describe nothing else
 * go. The caller may flush the TLBs later, and until then other CPUs may see the old shadow. That memory is not used
 * again before the flush.
 */
void kasan_release_vmalloc(unsigned long start, unsigned long end, unsigned long free_start,
			   unsigned long free_end, unsigned long flags)
{
	const unsigned long span = KASAN_MEMORY_PER_SHADOW_PAGE;
	unsigned long low = ALIGN_DOWN(start, span), high = ALIGN(end, span);

	if (!kasan_arch_is_ready())
		return;
	if (low < free_start)
		low += span;
	if (high > free_end)
		high -= span;
	if (high <= low)
		return;
	if (flags & KASAN_VMALLOC_PAGE_RANGE)
		apply_to_existing_page_range(&init_mm, shadow_of(low),
					     (high - low) >> KASAN_SHADOW_SCALE_SHIFT, unmap_page,
					     NULL);
	if (flags & KASAN_VMALLOC_TLB_FLUSH)
		flush_tlb_kernel_range(shadow_of(low), shadow_of(high));
}

#endif
