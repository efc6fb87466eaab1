/* SPDX-License-Identifier: MIT */
/*
 * tlb.c - TLBs and changes of live page table entries; which tables a CPU uses.
 *
 * Not instrumented: page tables change below shadow.
 */
#include <kernel/arch.h>
#include <kernel/pgtable.h>
#include <kernel/sched.h>
#include <kernel/user_mm.h>
#include "internal.h"
#include "sysreg.h"

#define ASID_SHIFT 48

/* Above this number of pages it is less work to flush the whole address space. */
#define FLUSH_PAGES_MAX 16

/* The lower half of a task without an address space. */
extern u64 empty_pg_dir[];

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

/* Break before make, as the architecture demands: a CPU that touches the range in between takes a fault. */
void pgtable_replace_entry(u64 *entry, u64 value, unsigned long va, int level)
{
	const u64 old = *entry;

	WRITE_ONCE(*entry, 0);
	/* A table may have any number of translations below it. */
	if (pte_is_table(old, level))
		flush_tlb_all();
	else
		flush_tlb_page(va);
	WRITE_ONCE(*entry, value);
	pgtable_sync_new(va);
}

/* The final map replaces the coarse one of head.S. */
void pgtable_activate(void)
{
	write_sysreg(__pa_symbol(swapper_pg_dir), ttbr1_el1);
	/* The lower half is empty, except while a task with an address space runs: null and user pointers fault. */
	write_sysreg(__pa_symbol(empty_pg_dir), ttbr0_el1);
	isb();
	flush_tlb_all();
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
