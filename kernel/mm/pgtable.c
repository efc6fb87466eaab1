/* SPDX-License-Identifier: MIT */
/*
 * pgtable.c - the kernel's page tables: mapping, unmapping, walking; the device window.
 *
 * Not instrumented: it builds the shadow that instrumentation needs, and the fault handler walks here.
 *
 * One lock guards all changes. Walks take none: tables are never freed, and an entry is one 64-bit word. What an entry looks
 * like, and what a change of one demands, is the architecture's: <asm/pgtable.h>. A CPU that touches the range during a change
 * may take a fault. In shadow memory that can happen to innocent code, so the fault handler waits for the lock and tries again
 * (see kasan_shadow_spurious_fault()).
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/kasan_shadow.h>
#include <kernel/pgtable.h>
#include <kernel/rt.h>
#include <kernel/string.h>

/* Tables for mappings that are made before memblock can give memory. */
static u8 boot_tables[PGTABLE_BOOT_TABLES][PAGE_SIZE] __aligned(PAGE_SIZE);
static unsigned int boot_tables_used;

static phys_addr_t boot_table_alloc(void)
{
	if (boot_tables_used == PGTABLE_BOOT_TABLES)
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

/* Is it a table that this entry alone points to? */
static bool is_own_table(u64 entry, int level)
{
	return pte_is_table(entry, level) && !(entry & PTE_TABLE_SHARED);
}

static void set_entry(u64 *entry, u64 value, unsigned long va, int level)
{
	u64 old = READ_ONCE(*entry);

	if (old == value)
		return;
	if (old & PTE_VALID) {
		pgtable_replace_entry(entry, value, va, level);
	} else {
		WRITE_ONCE(*entry, value);
		pgtable_sync_new(va);
	}
}

static phys_addr_t zeroed_page(void)
{
	phys_addr_t pa = pgtable_page_alloc();

	if (pa)
		/* Not memset(), which checks shadow. */
		__memset(table_va(pa), 0, PAGE_SIZE);
	return pa;
}

/* The entry @old at @entry, of @level, leads to no table of its own: give it one. Return: that; NULL if there is no memory. */
static noinline u64 *make_own_table(u64 *entry, u64 old, unsigned long va, int level)
{
	phys_addr_t table = zeroed_page();
	u64 *p;

	if (!table)
		return NULL;
	p = table_va(table);
	if (pte_is_table(old, level)) {
		const volatile u64 *from = table_va(pte_address(old));

		for (unsigned int i = 0; i < PTRS_PER_TABLE; i++)
			p[i] = from[i];
	} else if (pte_is_leaf(old, level)) {
		for (unsigned int i = 0; i < PTRS_PER_TABLE; i++)
			p[i] = pte_leaf(pte_address(old) +
						((phys_addr_t)i << level_shift[level + 1]),
					pte_prot(old), level + 1);
	}
	/* The table's contents must be seen before the table. */
	smp_wmb();
	set_entry(entry, pte_table(table), va, level);
	return p;
}

/*
 * Return: the table that @entry, of @level, points to, ready to be changed: it is created if there is none,
 * copied if it is shared; a block is cut into pieces of the next level. NULL if there is no memory.
 */
static u64 *own_table(u64 *entry, unsigned long va, int level)
{
	u64 old = READ_ONCE(*entry);

	if (likely(is_own_table(old, level)))
		return table_va(pte_address(old));
	return make_own_table(entry, old, va, level);
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
				set_entry(entry, pte_leaf(pa, prot, level), va, level);
				step = block;
				break;
			}
			table = own_table(entry, va, level);
			if (!table)
				return -ENOMEM;
		}
		if (level == 3)
			set_entry(&table[table_index(va, 3)], pte_leaf(pa, prot, 3), va, 3);
		va += step;
		pa += step;
	}
	return 0;
}

bool pgtable_prepare_top(unsigned long start, unsigned long end)
{
	for (unsigned int n = table_index(start, 0); n <= table_index(end - 1, 0); n++) {
		if (!own_table(&swapper_pg_dir[n], start, 0))
			return false;
	}
	return true;
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

	WRITE_ONCE(*entry, pte_leaf(pa, prot, 3));
	pgtable_sync_new(va);
}

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/* Return: an entry of @table, which others point to. */
static u64 shared_entry(const u64 *table)
{
	return pte_table(__pa_symbol(table)) | PTE_TABLE_SHARED;
}

/* Tables of level 3 whose entries all map one page, [i] that of shared_pages[i]. */
static u64 shared_pte[2][PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static phys_addr_t shared_pages[2];

static u64 entry_of_one_page(phys_addr_t page)
{
	unsigned int at = shared_pages[0] && shared_pages[0] != page;

	if (!shared_pages[at]) {
		for (unsigned int i = 0; i < PTRS_PER_TABLE; i++)
			shared_pte[at][i] = pte_leaf(page, PAGE_KERNEL_RO, 3);
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

	return pte_is_writable(READ_ONCE(*pgtable_walk(va, &level)));
}

phys_addr_t pgtable_take_page(unsigned long va)
{
	int level;
	u64 *entry = pgtable_walk(va, &level);
	const phys_addr_t page = pte_address(*entry);

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
			table = table_va(pte_address(value));
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

		if (!pte_is_table(value, l)) {
			*level = l;
			return entry;
		}
		table = table_va(pte_address(value));
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
		if (pte_is_leaf(*entry, level) && ((va & (block - 1)) || end - va < block)) {
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
	if (!pte_is_leaf(value, level))
		return 0;
	if (writable)
		*writable = pte_is_writable(value);
	return pte_address(value) | (va & ((1UL << level_shift[level]) - 1));
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
