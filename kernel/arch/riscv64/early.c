/* SPDX-License-Identifier: MIT */
/*
 * early.c - the first C function: final page tables and early shadow.
 *
 * Not instrumented, and calls no instrumented code: there is no shadow to check until it has finished.
 */
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/printk.h>
#include "internal.h"

/* Not in .bss: head.S writes it just after it has cleared .bss, and must not depend on that order. */
u64 kimage_voffset __section(".data") = 0;
bool early_init_done;
phys_addr_t boot_fdt_phys;
unsigned long boot_hart;
#ifdef CONFIG_KASAN_SW_TAGS
long masking_error __section(".data") = 0;
#endif

static void map_or_die(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot,
		       const char *what)
{
	if (map_kernel_range(va, pa, size, prot))
		early_panic("no page tables for %s\n", what);
}

static void map_segment(const char *start, const char *end, pgprot_t prot, const char *what)
{
	unsigned long va = (unsigned long)start & PAGE_MASK;

	map_or_die(va, __pa_symbol(va), PAGE_ALIGN((unsigned long)end) - va, prot, what);
}

/* Messages work from the start, because the firmware prints them. */
void early_init(phys_addr_t fdt, unsigned long hart)
{
	/* The map of head.S lets constants be written. */
	kasan_prepare_image_globals();
	map_segment(_text, _etext, PAGE_KERNEL_EXEC | PROT_BLOCKS_OK, "kernel text");
	map_segment(__rodata_start, __rodata_end, PAGE_KERNEL_RO | PROT_BLOCKS_OK, "kernel rodata");
	map_segment(__data_start, _end, PAGE_KERNEL | PROT_BLOCKS_OK, "kernel data");
	if (fdt)
		map_or_die(FIX_FDT_VADDR, fdt & PAGE_MASK, FIX_FDT_SIZE, PAGE_KERNEL_RO,
			   "the device tree");
	kasan_early_init();
	tlb_prepare_top();
	pgtable_activate();
	kasan_load_image_globals();
	early_clock_init();
#ifdef CONFIG_KASAN_SW_TAGS
	/* No pointer may have a tag, from the first instrumented function on. */
	if (masking_error)
		(void)kasan_option("kasan", "off");
#endif
	boot_fdt_phys = fdt;
	boot_hart = hart;
	early_init_done = true;
}
