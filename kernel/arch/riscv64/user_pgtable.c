// SPDX-License-Identifier: MIT
/*
 * user_pgtable.c - page tables of address spaces, and the address space identifiers (ASIDs) that keep their TLB entries apart.
 *
 * The upper half of each top table is a copy of the kernel's, see pgtable.c. An address space keeps its ASID all its life, so a
 * change of tasks writes one register and flushes nothing, if the CPU has 8 bits for them: there can be 255 address spaces at
 * a time. A CPU with fewer flushes at each change. ASID 0 belongs to kernel threads.
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/gfp.h>
#include <kernel/spinlock.h>
#include <kernel/user_mm.h>
#include <asm/barrier.h>
#include "internal.h"
#include "user_pgtable.h"

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

/* Does the CPU keep translations of NR_ASIDS address spaces apart? */
static bool cpu_has_asids(void)
{
	static enum { UNKNOWN, NO, YES } has;

	if (has == UNKNOWN) {
		unsigned long flags = arch_local_irq_save();
		unsigned long satp = csr_read(satp);

		csr_write(satp, satp | (NR_ASIDS - 1UL) << SATP_ASID_SHIFT);
		has = (csr_read(satp) >> SATP_ASID_SHIFT & (NR_ASIDS - 1)) == NR_ASIDS - 1 ? YES
											   : NO;
		csr_write(satp, satp);
		__asm__ __volatile__("sfence.vma" ::: "memory");
		arch_local_irq_restore(flags);
	}
	return has == YES;
}

static unsigned int asid_of(const struct mm_struct *mm)
{
	return cpu_has_asids() ? mm->asid : 0;
}

void user_flush_tlb(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	pgtable_flush_user(start, end - start, asid_of(mm));
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
	for (unsigned int i = PTRS_PER_TABLE / 2; i < PTRS_PER_TABLE; i++)
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
	/* The upper half of a top table is the kernel's. */
	const unsigned int entries = level ? PTRS_PER_TABLE : PTRS_PER_TABLE / 2;

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
	pgtable_flush_user(0, SIZE_MAX, asid_of(mm));
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
			WRITE_ONCE(*entry, pte_of(__pa(table)) | PTE_VALID);
		} else {
			table = __va(pte_address(*entry));
		}
	}
	return &table[(va >> PAGE_SHIFT) & (PTRS_PER_TABLE - 1)];
}

int user_map_page(struct mm_struct *mm, unsigned long va, struct page *page, unsigned int prot)
{
	u64 value = pte_of(page_to_phys(page)) | PTE_VALID | PTE_R | PTE_USER | PTE_A | PTE_D;
	u64 *entry = walk(mm, va, true);

	if (!entry)
		return -ENOMEM;
	if (prot & PROT_WRITE)
		value |= PTE_W;
	if (prot & PROT_EXEC)
		value |= PTE_X;
	WRITE_ONCE(*entry, value);
	/* This CPU may keep that nothing was there. Another one that does looks again: fault_is_over(). */
	__asm__ __volatile__("sfence.vma %0" ::"r"(va) : "memory");
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

void user_sync_icache(struct page *page)
{
	module_sync_code(0, PAGE_SIZE);
}

void user_activate_mm(struct mm_struct *mm)
{
	if (mm)
		csr_write(satp, pgtable_satp(__pa(mm->pgd), asid_of(mm)));
	else
		csr_write(satp, pgtable_satp(__pa_symbol(swapper_pg_dir), 0));
	if (!cpu_has_asids())
		__asm__ __volatile__("sfence.vma" ::: "memory");
}

void arch_switch_user(struct task *prev, struct task *next)
{
	/* tp is the thread pointer of programs, in the kernel too. */
	__asm__ __volatile__("mv %0, tp" : "=r"(prev->user_tls));
	__asm__ __volatile__("mv tp, %0" ::"r"(next->user_tls));
	if (prev->mm != next->mm)
		user_activate_mm(next->mm);
	if (prev->fpu || next->fpu)
		fpu_switch(prev, next);
}
