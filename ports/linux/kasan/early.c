// SPDX-License-Identifier: MIT
/*
 * early.c - what is done while the architecture's kasan_init() maps the shadow.
 *
 * That function is not part of this folder, but it calls kasan_populate_early_shadow(), for addresses that get no shadow of
 * their own. Makefile gives Linux's function another name, and the one here does more.
 */
#include <linux/init.h>
#include <linux/kasan.h>

#include "redzone.h"

#include "internal.h"

#ifdef CONFIG_ARM64

#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/sizes.h>

#include <asm/dma.h>
#include <asm/pgalloc.h>

/*
 * On arm64 kasan_init() gets each page of shadow from memblock, which takes 2,000 instructions for each, and a machine with a
 * GiB of memory has 32,768 of them. It does not touch what is mapped already: it fills tables from the first page of a range
 * of memory on, and ends at the first entry that is there. So all pages but the first of each range are mapped here, from
 * large pieces.
 */

/* Large enough that memblock does not matter, and small enough that any machine has such pieces. */
#define PIECE SZ_2M

static void __init *allocate(phys_addr_t size, int node)
{
	return memblock_alloc_try_nid_raw(size, PAGE_SIZE, __pa(MAX_DMA_ADDRESS),
					  MEMBLOCK_ALLOC_NOLEAKTRACE, node);
}

static void __init *allocate_table(int node)
{
	void *table = allocate(PAGE_SIZE, node);

	if (!table)
		panic("kasan: no memory for the page tables of the shadow");
	__memset(table, 0, PAGE_SIZE);
	return table;
}

static pte_t __init *find_pte(unsigned long addr, int node)
{
	pgd_t *pgd = pgd_offset_k(addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (pgd_none(READ_ONCE(*pgd)))
		pgd_populate(&init_mm, pgd, allocate_table(node));
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(READ_ONCE(*p4d)))
		p4d_populate(&init_mm, p4d, allocate_table(node));
	pud = pud_offset(p4d, addr);
	if (pud_none(READ_ONCE(*pud)))
		pud_populate(&init_mm, pud, allocate_table(node));
	pmd = pmd_offset(pud, addr);
	if (pmd_none(READ_ONCE(*pmd)))
		pmd_populate_kernel(&init_mm, pmd, allocate_table(node));
	return pte_offset_kernel(pmd, addr);
}

/* Map the shadow [@addr, @end), all in one page table. */
static void __init map_in_table(unsigned long addr, unsigned long end, int node)
{
	pte_t *pte = find_pte(addr, node);
	phys_addr_t left = 0;
	void *page = NULL;

	for (; addr < end; addr += PAGE_SIZE, pte++, page += PAGE_SIZE, left -= PAGE_SIZE) {
		if (!left) {
			left = min_t(phys_addr_t, end - addr, PIECE);
			while (!(page = allocate(left, node)) && left > PAGE_SIZE)
				left = PAGE_ALIGN(left / 2);
			if (!page)
				panic("kasan: no memory for the shadow");
			__memset(page, KASAN_SHADOW_INIT, left);
		}
		/* Two ranges of memory can share a page of shadow. */
		if (pte_none(ptep_get(pte)))
			set_pte(pte, pfn_pte(PHYS_PFN(__pa(page)), PAGE_KERNEL));
	}
}

static void __init map_shadow(void)
{
	unsigned long addr, end, next;
	phys_addr_t low, high;
	u64 i;

	for_each_mem_range(i, &low, &high)
	{
		addr = (unsigned long)kasan_mem_to_shadow(__va(low));
		addr = PAGE_ALIGN_DOWN(addr) + PAGE_SIZE;
		end = PAGE_ALIGN((unsigned long)kasan_mem_to_shadow(__va(high)));
		for (; addr < end; addr = next) {
			next = pmd_addr_end(addr, end);
			map_in_table(addr, next, early_pfn_to_nid(PHYS_PFN(low)));
		}
	}
}

#else
static void __init map_shadow(void)
{
}
#endif

int kasan_populate_early_shadow_of_linux(const void *start, const void *end);

int __init kasan_populate_early_shadow(const void *start, const void *end)
{
	static bool called __initdata;

	if (!called) {
		called = true;
		/* Generic mode is not told when the command line is there. This is before Linux looks at its depot. */
		if (IS_ENABLED(CONFIG_KASAN_GENERIC))
			kasan_delay_depot();
		map_shadow();
		kasan_redirect_strings();
	}
	return kasan_populate_early_shadow_of_linux(start, end);
}
