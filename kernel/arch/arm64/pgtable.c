/* SPDX-License-Identifier: MIT */
/*
 * pgtable.c - the kernel's page tables: mapping, unmapping, walking; the device window.
 *
 * Not instrumented: it builds the shadow that instrumentation needs, and the fault handler walks here.
 *
 * One lock guards all changes. Walks take none: tables are never freed, and a descriptor is one
 * 64-bit word. A live descriptor is changed as the architecture demands: made invalid, flushed from all
 * TLBs, then written anew. A CPU that touches the range in between takes a fault. In shadow memory that can
 * happen to innocent code, so the fault handler waits for the lock and tries again (see
 * kasan_shadow_spurious_fault()).
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/kasan_shadow.h>
#include <kernel/pgtable.h>
#include <kernel/rt.h>
#include "internal.h"

extern u64 swapper_pg_dir[PTRS_PER_TABLE];

/*
 * Tables for mappings that are made before memblock can give memory: the image page by page (at most 64
 * tables), the linear map (a few tables for each bank of RAM), and the shadow of both.
 */
#define BOOT_TABLES 128
static u8 boot_tables[BOOT_TABLES][PAGE_SIZE] __aligned(PAGE_SIZE);
static unsigned int boot_tables_used;

static phys_addr_t boot_table_alloc(void)
{
	if (boot_tables_used == BOOT_TABLES)
		return 0;
	return __pa_symbol(boot_tables[boot_tables_used++]);
}

phys_addr_t (*pgtable_page_alloc)(void) = boot_table_alloc;

struct pgtable_lock pgtable_guard;

static const unsigned int level_shift[] = {PGD_SHIFT, PUD_SHIFT, PMD_SHIFT, PAGE_SHIFT};

/* Tables of the boot pool are accessed through the image: the linear map may not exist yet. */
static u64 *table_va(phys_addr_t pa)
{
	unsigned long in_image = pa + kimage_voffset;

	if (is_kernel_image((void *)in_image))
		return (u64 *)in_image;
	return __va(pa);
}

static unsigned int table_index(unsigned long va, int level)
{
	return (va >> level_shift[level]) & (PTRS_PER_TABLE - 1);
}

static bool is_table(u64 entry, int level)
{
	return level < 3 && (entry & PTE_TYPE_MASK) == PTE_TYPE_TABLE;
}

/* Is it a table that this entry alone points to? */
static bool is_own_table(u64 entry, int level)
{
	return level < 3 && (entry & (PTE_TYPE_MASK | PTE_TABLE_SHARED)) == PTE_TYPE_TABLE;
}

static bool is_leaf(u64 entry, int level)
{
	return (entry & PTE_TYPE_MASK) == (level < 3 ? PTE_TYPE_BLOCK : PTE_TYPE_PAGE);
}

static void flush_tlb_page(unsigned long va)
{
	unsigned long operand = (va >> PAGE_SHIFT) & ((1UL << 44) - 1);

	dsb(ishst);
	__asm__ __volatile__("tlbi vaae1is, %0" ::"r"(operand) : "memory");
	dsb(ish);
	isb();
}

static void flush_tlb_all(void)
{
	dsb(ishst);
	__asm__ __volatile__("tlbi vmalle1is" ::: "memory");
	dsb(ish);
	isb();
}

void flush_tlb_kernel_range(unsigned long start, unsigned long end)
{
	/*
	 * Each operation is broadcast and waited for one by one, so the cost is their number, above all in
	 * an emulator that stops every CPU for each.
	 */
	if (end - start > 2 * PAGE_SIZE) {
		flush_tlb_all();
		return;
	}
	for (unsigned long va = start & PAGE_MASK; va < end; va += PAGE_SIZE)
		flush_tlb_page(va);
}

/* Write a descriptor; if it replaces a valid one, break before make. */
static void set_entry(u64 *entry, u64 value, unsigned long va, int level)
{
	u64 old = READ_ONCE(*entry);

	if (old == value)
		return;
	if (old & PTE_VALID) {
		WRITE_ONCE(*entry, 0);
		/* A table may have any number of translations below it. */
		if (is_table(old, level))
			flush_tlb_all();
		else
			flush_tlb_page(va);
	}
	WRITE_ONCE(*entry, value);
	dsb(ishst);
	isb();
}

/* A loop in assembly: compilers turn a C loop over zeroes into a call of memset(), which checks shadow. */
static void clear_table(void *page)
{
	u64 *end = (u64 *)page + PTRS_PER_TABLE;

	__asm__ __volatile__("1:	stp	xzr, xzr, [%0], #16\n"
			     "	cmp	%0, %1\n"
			     "	b.lo	1b"
			     : "+r"(page)
			     : "r"(end)
			     : "cc", "memory");
}

phys_addr_t pgtable_zeroed_page(void)
{
	phys_addr_t pa = pgtable_page_alloc();

	if (pa)
		clear_table(table_va(pa));
	return pa;
}

/*
 * Return: the table that @entry, of @level, points to, ready to be changed: it is created if there is none,
 * copied if it is shared; a block is cut into pieces of the next level. NULL if there is no memory.
 */
static u64 *own_table(u64 *entry, unsigned long va, int level)
{
	u64 old = READ_ONCE(*entry);
	phys_addr_t table;
	u64 *p;

	if (is_own_table(old, level))
		return table_va(old & PTE_ADDR_MASK);

	table = pgtable_zeroed_page();
	if (!table)
		return NULL;
	p = table_va(table);
	if (is_table(old, level)) {
		const volatile u64 *from = table_va(old & PTE_ADDR_MASK);

		for (unsigned int i = 0; i < PTRS_PER_TABLE; i++)
			p[i] = from[i];
	} else if (is_leaf(old, level)) {
		u64 piece = old & ~PTE_TYPE_MASK;

		piece |= level + 1 < 3 ? PTE_TYPE_BLOCK : PTE_TYPE_PAGE;
		for (unsigned int i = 0; i < PTRS_PER_TABLE; i++)
			p[i] = piece + ((u64)i << level_shift[level + 1]);
	}
	/* The table's contents must be seen before the table. */
	dsb(ishst);
	set_entry(entry, table | PTE_TYPE_TABLE, va, level);
	return p;
}

int __map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot)
{
	bool blocks = prot & PROT_BLOCKS_OK;
	unsigned long end = va + size;

	prot &= ~PROT_BLOCKS_OK;
	while (va < end) {
		u64 *table = swapper_pg_dir;
		unsigned long step = PAGE_SIZE;
		int level;

		for (level = 0; level < 3; level++) {
			unsigned long block = 1UL << level_shift[level];
			u64 *entry = &table[table_index(va, level)];

			/* Level 0 has no blocks; an existing table is kept. */
			if (level > 0 && blocks && end - va >= block &&
			    !((va | pa) & (block - 1)) && !is_own_table(READ_ONCE(*entry), level)) {
				set_entry(entry, pa | prot | PTE_TYPE_BLOCK, va, level);
				step = block;
				break;
			}
			table = own_table(entry, va, level);
			if (!table)
				return -ENOMEM;
		}
		if (level == 3)
			set_entry(&table[table_index(va, 3)], pa | prot | PTE_TYPE_PAGE, va, 3);
		va += step;
		pa += step;
	}
	return 0;
}

int prepare_kernel_range(unsigned long va, size_t size)
{
	const unsigned long end = va + size;

	while (va < end) {
		unsigned long flags = pgtable_lock_irqsave();
		u64 *table = swapper_pg_dir;

		for (int level = 0; level < 3 && table; level++)
			table = own_table(&table[table_index(va, level)], va, level);
		pgtable_unlock_irqrestore(flags);
		if (!table)
			return -ENOMEM;
		va = (va & ~((1UL << PMD_SHIFT) - 1)) + (1UL << PMD_SHIFT);
	}
	return 0;
}

void map_prepared_page(unsigned long va, phys_addr_t pa, pgprot_t prot)
{
	int level;
	u64 *entry = pgtable_walk(va, &level);

	WRITE_ONCE(*entry, pa | prot | PTE_TYPE_PAGE);
	dsb(ishst);
	isb();
}

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/* Return: an entry of @table, which others point to. */
static u64 shared_entry(const u64 *table)
{
	return __pa_symbol(table) | PTE_TYPE_TABLE | PTE_TABLE_SHARED;
}

/* Tables of level 3 whose entries all map one page, [i] that of shared_pages[i]. */
static u64 shared_pte[2][PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static phys_addr_t shared_pages[2];

static u64 entry_of_one_page(phys_addr_t page)
{
	unsigned int at = shared_pages[0] && shared_pages[0] != page;

	if (!shared_pages[at]) {
		for (unsigned int i = 0; i < PTRS_PER_TABLE; i++)
			shared_pte[at][i] = page | PAGE_KERNEL_RO | PTE_TYPE_PAGE;
		shared_pages[at] = page;
	}
	return shared_entry(shared_pte[at]);
}

void pgtable_map_all(unsigned long start, unsigned long end, phys_addr_t page)
{
	static u64 pud[PTRS_PER_TABLE] __aligned(PAGE_SIZE);
	static u64 pmd[PTRS_PER_TABLE] __aligned(PAGE_SIZE);

	for (unsigned int i = 0; i < PTRS_PER_TABLE; i++) {
		pmd[i] = entry_of_one_page(page);
		pud[i] = shared_entry(pmd);
	}
	for (unsigned long va = start; va < end; va += 1UL << PGD_SHIFT)
		swapper_pg_dir[table_index(va, 0)] = shared_entry(pud);
}

bool pgtable_map_block_to(unsigned long va, phys_addr_t page)
{
	unsigned long flags = pgtable_lock_irqsave();
	u64 *table = swapper_pg_dir;
	int level;

	for (level = 0; level < 2 && table; level++)
		table = own_table(&table[table_index(va, level)], va, level);
	if (table)
		set_entry(&table[table_index(va, 2)], entry_of_one_page(page), va, 2);
	pgtable_unlock_irqrestore(flags);
	return table;
}

bool pgtable_is_writable(unsigned long va)
{
	int level;

	return (READ_ONCE(*pgtable_walk(va, &level)) & (PTE_VALID | PTE_RDONLY)) == PTE_VALID;
}

phys_addr_t pgtable_take_page(unsigned long va)
{
	int level;
	u64 *entry = pgtable_walk(va, &level);
	const phys_addr_t page = *entry & PTE_ADDR_MASK;

	WRITE_ONCE(*entry, 0);
	return page;
}

unsigned long pgtable_own_below(unsigned long low, unsigned long high)
{
	while (high > low) {
		unsigned long va = high - PAGE_SIZE;
		u64 *table = swapper_pg_dir;
		int level;

		for (level = 0; level < 3; level++) {
			u64 value = READ_ONCE(table[table_index(va, level)]);

			if (!is_own_table(value, level))
				break;
			table = table_va(value & PTE_ADDR_MASK);
		}
		if (level == 3)
			return high;
		/* Below this entry there are no pages of its own. */
		high = va & ~((1UL << level_shift[level]) - 1);
	}
	return low;
}

#endif

/*
 * A real-time kernel changes so much at a time with interrupts off, except for mappings that may have blocks, which
 * are few. Only the caller uses the range, so no other code sees it half done.
 */
#define AT_ONCE (PREEMPT_RT ? 32 * PAGE_SIZE : SIZE_MAX)

int map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot)
{
	const size_t at_once = prot & PROT_BLOCKS_OK ? SIZE_MAX : AT_ONCE;
	size_t bytes;
	int err;

	do {
		unsigned long flags = pgtable_lock_irqsave();

		bytes = min(size, at_once);
		err = __map_kernel_range(va, pa, bytes, prot);
		pgtable_unlock_irqrestore(flags);
		va += bytes;
		pa += bytes;
		size -= bytes;
	} while (!err && size);
	return err;
}

/*
 * The entry that ends the walk for @va: a leaf, or the first that is not valid.
 */
u64 *pgtable_walk(unsigned long va, int *level)
{
	u64 *table = swapper_pg_dir;

	for (int l = 0;; l++) {
		u64 *entry = &table[table_index(va, l)];
		u64 value = READ_ONCE(*entry);

		if (!is_table(value, l)) {
			*level = l;
			return entry;
		}
		table = table_va(value & PTE_ADDR_MASK);
	}
}

/* Unmap [@va, @end) from its start on, at least @bytes. Return: where the rest begins. */
static unsigned long unmap_piece(unsigned long va, unsigned long end, size_t bytes)
{
	const unsigned long start = va, stop = va + bytes;
	unsigned long flags = pgtable_lock_irqsave();

	while (va < stop) {
		int level;
		u64 *entry = pgtable_walk(va, &level);
		unsigned long block = 1UL << level_shift[level];

		/* A block that extends beyond the range keeps its other part: cut it, and look again. */
		if (is_leaf(*entry, level) && ((va & (block - 1)) || end - va < block)) {
			if (own_table(entry, va, level))
				continue;
			/* If there is no memory to cut it, it stays. */
		} else {
			WRITE_ONCE(*entry, 0);
		}
		va = (va & ~(block - 1)) + block;
	}
	flush_tlb_kernel_range(start, min(va, end));
	pgtable_unlock_irqrestore(flags);
	return va;
}

void unmap_kernel_range(unsigned long va, size_t size)
{
	const unsigned long end = va + size;

	while (va < end)
		va = unmap_piece(va, end, min(end - va, (size_t)AT_ONCE));
}

phys_addr_t kernel_va_to_pa(unsigned long va, bool *writable)
{
	u64 value;
	int level;

	va = kasan_untag_addr(va);
	if (va < PAGE_OFFSET)
		return 0;
	value = READ_ONCE(*pgtable_walk(va, &level));
	if (!is_leaf(value, level))
		return 0;
	if (writable)
		*writable = !(value & PTE_RDONLY);
	return (value & PTE_ADDR_MASK & ~((1UL << level_shift[level]) - 1)) |
	       (va & ((1UL << level_shift[level]) - 1));
}

void *ioremap(phys_addr_t pa, size_t size)
{
	static unsigned long next = IOREMAP_START;
	unsigned long offset = pa & ~PAGE_MASK;
	unsigned long va = 0, flags;

	size = PAGE_ALIGN(size + offset);
	flags = pgtable_lock_irqsave();
	if (size && size <= IOREMAP_END - next &&
	    !__map_kernel_range(next, pa & PAGE_MASK, size, PAGE_DEVICE)) {
		va = next + offset;
		/* An unmapped page follows each device. */
		next += size + PAGE_SIZE;
		if (next > IOREMAP_END)
			next = IOREMAP_END;
	}
	pgtable_unlock_irqrestore(flags);
	return (void *)va;
}

/* The final map replaces the coarse one of head.S. */
void pgtable_activate(void)
{
	extern u64 empty_pg_dir[];

	write_sysreg(__pa_symbol(swapper_pg_dir), ttbr1_el1);
	/* The lower half is empty, except while a task with an address space runs: null and user pointers fault. */
	write_sysreg(__pa_symbol(empty_pg_dir), ttbr0_el1);
	isb();
	flush_tlb_all();
}
