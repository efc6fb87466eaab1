/* SPDX-License-Identifier: MIT */
/*
 * tlb.c - TLBs and changes of live page table entries; which tables a CPU uses.
 *
 * There is one top table for both halves of the addresses. Address spaces have tables of their own, with copies of the
 * kernel's half, so this half does not change any more when there are some.
 *
 * Not instrumented: page tables change below shadow.
 */
#include <kernel/arch.h>
#include <kernel/pgtable.h>
#include <kernel/printk.h>
#include <kernel/sched.h>
#include <kernel/user_mm.h>
#include "fence.h"
#include "internal.h"

static void flush_tlb_page(unsigned long va)
{
	fence_all(va, PAGE_SIZE, -1);
}

static void flush_tlb_all(void)
{
	fence_all(0, SIZE_MAX, -1);
}

void flush_tlb_kernel_range(unsigned long start, unsigned long end)
{
	start &= PAGE_MASK;
	fence_all(start, PAGE_ALIGN(end) - start, -1);
}

void pgtable_replace_entry(u64 *entry, u64 value, unsigned long va, int level)
{
	WRITE_ONCE(*entry, value);
	if (level < 3)
		/* It may have any number of translations below it. */
		flush_tlb_all();
	else
		flush_tlb_page(va);
}

void tlb_prepare_top(void)
{
	static const unsigned long ranges[][2] = {
		{IOREMAP_START, VMALLOC_END},
		{MODULES_VADDR, MODULES_END},
#ifdef CONFIG_KASAN_SHADOW_OFFSET
		{(VMALLOC_START >> KASAN_SHADOW_SCALE_SHIFT) + CONFIG_KASAN_SHADOW_OFFSET,
		 (VMALLOC_END >> KASAN_SHADOW_SCALE_SHIFT) + CONFIG_KASAN_SHADOW_OFFSET},
#endif
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (!pgtable_prepare_top(ranges[i][0], ranges[i][1]))
			early_panic("no page tables for %lx\n", ranges[i][0]);
	}
}

/* Return: the value of satp for the top table at @pgd, and @asid. */
static unsigned long satp_of(phys_addr_t pgd, unsigned long asid)
{
	return (unsigned long)SATP_MODE_SV48 << SATP_MODE_SHIFT | asid << SATP_ASID_SHIFT |
	       pgd >> PAGE_SHIFT;
}

/* The final map replaces the coarse one of head.S. */
void pgtable_activate(void)
{
	csr_write(satp, satp_of(__pa_symbol(swapper_pg_dir), 0));
	flush_tlb_all();
}

/* As many address spaces as kernel/user/pgtable.c tells apart. */
#define ASID_MASK 0xffUL

/* Does the CPU keep translations of that many address spaces apart? */
static bool cpu_has_asids(void)
{
	static enum { UNKNOWN, NO, YES } has;

	if (has == UNKNOWN) {
		unsigned long flags = arch_local_irq_save();
		unsigned long satp = csr_read(satp);

		csr_write(satp, satp | ASID_MASK << SATP_ASID_SHIFT);
		has = (csr_read(satp) >> SATP_ASID_SHIFT & ASID_MASK) == ASID_MASK ? YES : NO;
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
	fence_all(start, end - start, (long)asid_of(mm));
}

void user_sync_icache(struct page *page)
{
	module_sync_code(0, PAGE_SIZE);
}

void user_activate_mm(struct mm_struct *mm)
{
	if (mm)
		csr_write(satp, satp_of(__pa(mm->pgd), asid_of(mm)));
	else
		csr_write(satp, satp_of(__pa_symbol(swapper_pg_dir), 0));
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
