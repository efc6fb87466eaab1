/* SPDX-License-Identifier: MIT */
/*
 * early.c - the first C function: final page tables and early shadow.
 *
 * Uninstrumented, and calls nothing that is instrumented: until it has finished there is no shadow
 * to check.
 */
#include <kernel/arch.h>
#include <kernel/printk.h>
#include <asm/irqflags.h>
#include "internal.h"

/* Not in .bss: head.S writes it just after clearing that, and it must not depend on the order. */
u64 kimage_voffset __section(".data") = 0;
phys_addr_t memstart_addr;
bool early_init_done;
phys_addr_t boot_fdt_phys;

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

/* head.S mapped the UART in its own tables at the same address: messages work from the start. */
void early_init(phys_addr_t fdt)
{
	map_or_die(FIX_UART_VADDR, PL011_DEFAULT_PHYS, PAGE_SIZE, PAGE_DEVICE, "the UART");
	map_segment(_text, _etext, PAGE_KERNEL_EXEC | PROT_BLOCKS_OK, "kernel text");
	map_segment(__rodata_start, __rodata_end, PAGE_KERNEL_RO | PROT_BLOCKS_OK, "kernel rodata");
	map_segment(__data_start, _end, PAGE_KERNEL | PROT_BLOCKS_OK, "kernel data");
	if (fdt)
		map_or_die(FIX_FDT_VADDR, fdt & PAGE_MASK, FIX_FDT_SIZE, PAGE_KERNEL_RO,
			   "the device tree");
	kasan_early_init();
	pgtable_activate();
	early_clock_init();
	boot_fdt_phys = fdt;
	early_init_done = true;
}
