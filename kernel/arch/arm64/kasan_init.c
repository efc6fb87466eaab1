/* SPDX-License-Identifier: MIT */
/*
 * kasan_init.c - shadow memory on arm64.
 *
 * Three states of a shadow page:
 *  - zero: one page of zeroes, read-only, for all of the upper half through three shared tables.
 *    What it describes is accessible, and nobody can change that.
 *  - image: reserved by the linker script, real from the first C function on, so that boot stacks
 *    and globals can be poisoned before any memory management exists.
 *  - real: made by kasan_shadow_init() for RAM, by kasan_map_shadow() for the rest. Never undone:
 *    the next user of the address finds it there.
 *
 * Uninstrumented: it runs before there is shadow, and changes shadow under everybody else.
 */
#include <kernel/errno.h>
#include <kernel/memblock.h>
#include <asm/irqflags.h>
#include <asm/kasan.h>
#include <asm/percpu.h>
#include <asm/pgtable.h>
#include <asm/setup.h>
#include "arch.h"

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/* The linker script reserves shadow for the image if it sees this symbol. */
__asm__(".globl __kasan_shadow_wanted\n.set __kasan_shadow_wanted, 1");
extern char __kasan_image_shadow_start[], __kasan_image_shadow_end[];

static u64 zero_pud[PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static u64 zero_pmd[PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static u64 zero_pte[PTRS_PER_TABLE] __aligned(PAGE_SIZE);
static u8 zero_page[PAGE_SIZE] __aligned(PAGE_SIZE);

#define SHADOW_BLOCK (1UL << PMD_SHIFT)

static unsigned long shadow_of(unsigned long va)
{
	return (va >> 3) + CONFIG_KASAN_SHADOW_OFFSET;
}

void kasan_early_init(void)
{
	extern u64 swapper_pg_dir[];
	unsigned long image = shadow_of((unsigned long)_text);
	unsigned long first = (KASAN_SHADOW_START >> PGD_SHIFT) & (PTRS_PER_TABLE - 1);
	unsigned long count = (KASAN_SHADOW_END - KASAN_SHADOW_START) >> PGD_SHIFT;

	for (unsigned int i = 0; i < PTRS_PER_TABLE; i++) {
		zero_pte[i] = __pa_symbol(zero_page) | PAGE_KERNEL_RO | PTE_TYPE_PAGE;
		zero_pmd[i] = __pa_symbol(zero_pte) | PTE_TYPE_TABLE;
		zero_pud[i] = __pa_symbol(zero_pmd) | PTE_TYPE_TABLE;
	}
	for (unsigned long i = first; i < first + count; i++)
		swapper_pg_dir[i] = __pa_symbol(zero_pud) | PTE_TYPE_TABLE;
	pgtable_share(__pa_symbol(zero_pud));
	pgtable_share(__pa_symbol(zero_pmd));
	pgtable_share(__pa_symbol(zero_pte));

	if (map_kernel_range(image, __pa_symbol(__kasan_image_shadow_start),
			     __kasan_image_shadow_end - __kasan_image_shadow_start, PAGE_KERNEL))
		early_panic("no page tables for the shadow of the kernel image\n");
}

/* One shadow page, if it is not real yet. pgtable_lock is held. */
static bool make_real(unsigned long shadow)
{
	int level;
	u64 entry = READ_ONCE(*pgtable_walk(shadow, &level));
	phys_addr_t page;

	if ((entry & PTE_VALID) && (entry & PTE_ADDR_MASK) != __pa_symbol(zero_page))
		return true;
	page = pgtable_zeroed_page();
	return page && !__map_kernel_range(shadow, page, PAGE_SIZE, PAGE_KERNEL);
}

bool kasan_map_shadow(unsigned long va, size_t size)
{
	unsigned long start, end, shadow;
	bool ok = true;

	if (!size)
		return true;
	start = shadow_of(va) & PAGE_MASK;
	end = shadow_of(va + size - 1) + 1;
	for (shadow = start; shadow < end && ok; shadow += PAGE_SIZE) {
		unsigned long flags = arch_local_irq_save();

		/* One page at a time: a large area must not keep interrupts off. */
		bare_lock(&pgtable_lock, smp_processor_id());
		ok = make_real(shadow);
		bare_unlock(&pgtable_lock);
		arch_local_irq_restore(flags);
	}
	return ok;
}

bool kasan_shadow_is_real(unsigned long va)
{
	bool writable = false;

	return kernel_va_to_pa(shadow_of(va), &writable) && writable;
}

bool kasan_shadow_spurious_fault(unsigned long far)
{
	unsigned int cpu = smp_processor_id();
	unsigned long flags;
	bool mapped;
	int level;

	if (far < KASAN_SHADOW_START || far >= KASAN_SHADOW_END)
		return false;
	if (bare_lock_is_mine(&pgtable_lock, cpu))
		return false;
	flags = arch_local_irq_save();
	bare_lock(&pgtable_lock, cpu);
	mapped = READ_ONCE(*pgtable_walk(far, &level)) & PTE_VALID;
	bare_unlock(&pgtable_lock);
	arch_local_irq_restore(flags);
	return mapped;
}

/*
 * Shadow of one bank of RAM. Whole 2 MiB of shadow (16 MiB of RAM) are mapped as blocks: fewer
 * tables and fewer TLB misses on every checked access.
 */
static void map_bank_shadow(unsigned long shadow, unsigned long end)
{
	while (shadow < end) {
		if (!(shadow & (SHADOW_BLOCK - 1)) && end - shadow >= SHADOW_BLOCK) {
			phys_addr_t pa = memblock_phys_alloc(SHADOW_BLOCK, SHADOW_BLOCK);

			if (pa) {
				char *block = __va(pa);

				for (size_t i = 0; i < SHADOW_BLOCK; i += PAGE_SIZE)
					clear_table(block + i);
				if (map_kernel_range(shadow, pa, SHADOW_BLOCK,
						     PAGE_KERNEL | PROT_BLOCKS_OK))
					break;
				shadow += SHADOW_BLOCK;
				continue;
			}
		}
		if (!make_real(shadow))
			break;
		shadow += PAGE_SIZE;
	}
	if (shadow < end)
		early_panic("not enough memory for the shadow of RAM\n");
}

void kasan_shadow_init(void)
{
	const struct memblock_region *bank;

	for (unsigned int i = 0; (bank = memblock_memory_region(i)); i++) {
		unsigned long start = (unsigned long)__va(bank->base);

		map_bank_shadow(shadow_of(start) & PAGE_MASK,
				shadow_of(start + bank->size - 1) + 1);
	}
}

#endif /* CONFIG_KASAN_SHADOW_OFFSET */
