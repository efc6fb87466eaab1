// SPDX-License-Identifier: MIT
/*
 * user_pgtable.c - page tables of the lower half, one set for each address space, and the address
 * space identifiers (ASIDs) that keep their TLB entries apart.
 *
 * An address space keeps its ASID all its life, so a change of tasks writes one register and flushes
 * nothing. ASIDs have 8 bits, as many as every CPU supports: there can be 255 address spaces at a time.
 * ASID 0 belongs to the empty table of kernel threads.
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/gfp.h>
#include <kernel/spinlock.h>
#include <kernel/user_mm.h>
#include <asm/barrier.h>
#include "internal.h"
#include "sysreg.h"

/* Descriptor bits that only user mappings have. */
#define PTE_USER _AC_UL(0x40)  /* EL0 may access it */
#define PTE_NG	 _AC_UL(0x800) /* not global: the TLB entry carries the ASID */

#define NR_ASIDS   256U
#define ASID_SHIFT 48

/* Above this number of pages it is less work to flush the whole address space. */
#define FLUSH_PAGES_MAX 16

extern u64 empty_pg_dir[];

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

static void flush_asid(unsigned int asid)
{
	dsb(ishst);
	__asm__ __volatile__("tlbi aside1is, %0" ::"r"((u64)asid << ASID_SHIFT) : "memory");
	dsb(ish);
	isb();
}

void user_flush_tlb(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	u64 operand = (u64)mm->asid << ASID_SHIFT;

	if (end - start > FLUSH_PAGES_MAX * PAGE_SIZE) {
		flush_asid(mm->asid);
		return;
	}
	dsb(ishst);
	for (unsigned long va = start; va < end; va += PAGE_SIZE)
		__asm__ __volatile__("tlbi vae1is, %0" ::"r"(operand | va >> PAGE_SHIFT)
				     : "memory");
	dsb(ish);
	isb();
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
	mm->asid = asid_alloc();
	if (mm->asid)
		return 0;
	free_page((unsigned long)mm->pgd);
	return -EAGAIN;
}

/* @level: the level of @table, 0 to 3. A valid entry is a page at level 3, a table at the others. */
static void free_table(u64 *table, int level)
{
	for (unsigned int i = 0; i < PTRS_PER_TABLE; i++) {
		phys_addr_t pa = table[i] & PTE_ADDR_MASK;

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
	flush_asid(mm->asid);
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
			dsb(ishst);
			WRITE_ONCE(*entry, (u64)__pa(table) | PTE_TYPE_TABLE);
		} else {
			table = __va(*entry & PTE_ADDR_MASK);
		}
	}
	return &table[(va >> PAGE_SHIFT) & (PTRS_PER_TABLE - 1)];
}

int user_map_page(struct mm_struct *mm, unsigned long va, struct page *page, unsigned int prot)
{
	u64 value = (u64)page_to_phys(page) | PROT_NORMAL_BASE | PTE_TYPE_PAGE | PTE_USER | PTE_NG |
		    PTE_PXN;
	u64 *entry = walk(mm, va, true);

	if (!entry)
		return -ENOMEM;
	if (!(prot & PROT_WRITE))
		value |= PTE_RDONLY;
	if (!(prot & PROT_EXEC))
		value |= PTE_UXN;
	WRITE_ONCE(*entry, value);
	/* TLBs hold no invalid entries, but the store must be visible before the program accesses the page. */
	dsb(ishst);
	isb();
	return 0;
}

struct page *user_unmap_page(struct mm_struct *mm, unsigned long va)
{
	u64 *entry = walk(mm, va, false), old;

	if (!entry)
		return NULL;
	old = READ_ONCE(*entry);
	WRITE_ONCE(*entry, 0);
	return old & PTE_VALID ? phys_to_page(old & PTE_ADDR_MASK) : NULL;
}

struct page *user_lookup_page(struct mm_struct *mm, unsigned long va)
{
	u64 *entry = walk(mm, va, false);

	if (!entry || !(READ_ONCE(*entry) & PTE_VALID))
		return NULL;
	return phys_to_page(*entry & PTE_ADDR_MASK);
}

void user_sync_icache(struct page *page)
{
	unsigned long va = (unsigned long)page_to_virt(page);
	unsigned long line = 4UL << (read_sysreg(ctr_el0) >> 16 & 0xf);

	for (unsigned long at = va; at < va + PAGE_SIZE; at += line)
		__asm__ __volatile__("dc cvau, %0" ::"r"(at) : "memory");
	dsb(ish);
	/* Invalidate all: with a virtually indexed cache, this address would miss the lines at the program's address. */
	__asm__ __volatile__("ic ialluis" ::: "memory");
	dsb(ish);
	isb();
}

void user_activate_mm(struct mm_struct *mm)
{
	if (mm)
		write_sysreg((u64)__pa(mm->pgd) | (u64)mm->asid << ASID_SHIFT, ttbr0_el1);
	else
		write_sysreg(__pa_symbol(empty_pg_dir), ttbr0_el1);
	isb();
}

void arch_switch_user(struct task *prev, struct task *next)
{
	/* A program may keep any value there; the kernel's entries only use the register on their way to a panic. */
	prev->user_tls = read_sysreg(tpidr_el0);
	write_sysreg(next->user_tls, tpidr_el0);
	if (prev->mm != next->mm)
		user_activate_mm(next->mm);
	if (prev->fpu || next->fpu)
		fpu_switch(prev, next);
}
