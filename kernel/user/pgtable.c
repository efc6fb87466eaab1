// SPDX-License-Identifier: MIT
/*
 * pgtable.c - page tables of address spaces, and the address space identifiers (ASIDs) that keep their TLB entries apart.
 *
 * An address space keeps its ASID all its life, so a change of tasks writes one register and flushes nothing, if the CPU has
 * 8 bits for them, as every arm64 CPU does: there can be 255 address spaces at a time. ASID 0 belongs to kernel threads. Where
 * one top table serves both halves of the addresses, its other half is a copy of the kernel's.
 */
#include <kernel/errno.h>
#include <kernel/gfp.h>
#include <kernel/pgtable.h>
#include <kernel/spinlock.h>
#include <kernel/user_mm.h>
#include <asm/barrier.h>

#define NR_ASIDS 256U

static DEFINE_RAW_SPINLOCK(asid_lock);
static u64 asid_used[NR_ASIDS / 64] = {1}; /* 0 is taken */
static unsigned int asid_last;

/* Take the next free ASID after the last one given out, so a freed ASID is reused as late as possible. */
static unsigned int asid_alloc(void)
{
	unsigned long flags;
	unsigned int asid, tries;

	raw_spin_lock_irqsave(&asid_lock, flags);
	asid = asid_last;
	for (tries = 0; tries < NR_ASIDS; tries++) {
		asid = (asid + 1) % NR_ASIDS;
		if (!(asid_used[asid / 64] & BIT(asid % 64)))
			break;
	}
	if (tries == NR_ASIDS) {
		asid = 0;
	} else {
		asid_used[asid / 64] |= BIT(asid % 64);
		asid_last = asid;
	}
	raw_spin_unlock_irqrestore(&asid_lock, flags);
	return asid;
}

static void asid_free(unsigned int asid)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&asid_lock, flags);
	asid_used[asid / 64] &= ~BIT(asid % 64);
	raw_spin_unlock_irqrestore(&asid_lock, flags);
}

static u64 *table_alloc(struct mm_struct *mm)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);

	if (!page)
		return NULL;
	mm->nr_tables++;
	return page_to_virt(page);
}

int user_pgtable_init(struct mm_struct *mm)
{
	mm->pgd = table_alloc(mm);
	if (!mm->pgd)
		return -ENOMEM;
	for (unsigned int i = USER_TOP_ENTRIES; i < PTRS_PER_TABLE; i++)
		mm->pgd[i] = swapper_pg_dir[i];
	mm->asid = asid_alloc();
	if (mm->asid)
		return 0;
	free_page((unsigned long)mm->pgd);
	return -EAGAIN;
}

/* @level: the level of @table, 0 to 3. A valid entry is a page at level 3, a table at the others. */
static void free_table(u64 *table, int level)
{
	const unsigned int entries = level ? PTRS_PER_TABLE : USER_TOP_ENTRIES;

	for (unsigned int i = 0; i < entries; i++) {
		phys_addr_t pa = pte_address(table[i]);

		if (!(table[i] & PTE_VALID))
			continue;
		if (level < 3)
			free_table(__va(pa), level + 1);
		else
			__free_page(phys_to_page(pa));
	}
	free_page((unsigned long)table);
}

void user_pgtable_destroy(struct mm_struct *mm)
{
	user_flush_tlb(mm, 0, TASK_SIZE);
	free_table(mm->pgd, 0);
	asid_free(mm->asid);
	mm->pgd = NULL;
}

/* Return: the level 3 entry for @va; NULL if there is none. @create: make missing tables; NULL if there is
 * no memory. */
static u64 *walk(struct mm_struct *mm, unsigned long va, bool create)
{
	u64 *table = mm->pgd;

	for (unsigned int shift = PGD_SHIFT; shift > PAGE_SHIFT; shift -= 9) {
		u64 *entry = &table[(va >> shift) & (PTRS_PER_TABLE - 1)];

		if (!(READ_ONCE(*entry) & PTE_VALID)) {
			if (!create)
				return NULL;
			table = table_alloc(mm);
			if (!table)
				return NULL;
			/* The zeroes must be visible before the table is. */
			smp_wmb();
			WRITE_ONCE(*entry, pte_table(__pa(table)));
		} else {
			table = __va(pte_address(*entry));
		}
	}
	return &table[(va >> PAGE_SHIFT) & (PTRS_PER_TABLE - 1)];
}

int user_map_page(struct mm_struct *mm, unsigned long va, struct page *page, unsigned int prot)
{
	u64 *entry = walk(mm, va, true);

	if (!entry)
		return -ENOMEM;
	WRITE_ONCE(*entry, pte_leaf(page_to_phys(page),
				    pgprot_user(prot & PROT_WRITE, prot & PROT_EXEC), 3));
	pgtable_sync_new(va);
	return 0;
}

struct page *user_unmap_page(struct mm_struct *mm, unsigned long va)
{
	u64 *entry = walk(mm, va, false), old;

	if (!entry)
		return NULL;
	old = READ_ONCE(*entry);
	WRITE_ONCE(*entry, 0);
	return old & PTE_VALID ? phys_to_page(pte_address(old)) : NULL;
}

struct page *user_lookup_page(struct mm_struct *mm, unsigned long va)
{
	u64 *entry = walk(mm, va, false);

	if (!entry || !(READ_ONCE(*entry) & PTE_VALID))
		return NULL;
	return phys_to_page(pte_address(*entry));
}

u64 user_pgtable_entry(struct mm_struct *mm, unsigned long va)
{
	u64 *entry = walk(mm, va, false);

	return entry ? READ_ONCE(*entry) : 0;
}
