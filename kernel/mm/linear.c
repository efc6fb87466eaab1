/* SPDX-License-Identifier: MIT */
/*
 * linear.c - RAM and its linear map: all RAM is mapped at PAGE_OFFSET, in the largest blocks that fit.
 *
 * Not instrumented: reports ask whether an address is RAM.
 */
#include <kernel/arch.h>
#include <kernel/linear.h>
#include <kernel/printk.h>

#define MAX_BANKS 32

static struct ram_bank {
	phys_addr_t base, end;
} banks[MAX_BANKS];
static unsigned int nr_banks;

phys_addr_t memstart_addr;

bool ram_add_bank(phys_addr_t base, u64 size)
{
	phys_addr_t end = base + size;

	base = PAGE_ALIGN(base);
	end &= PAGE_MASK;
	if (end <= base || nr_banks == MAX_BANKS)
		return false;
	banks[nr_banks++] = (struct ram_bank){base, end};
	return true;
}

void linear_map_init(void)
{
	phys_addr_t image = __pa_symbol(_text);
	phys_addr_t lowest = ~0UL;

	for (unsigned int i = 0; i < nr_banks; i++)
		lowest = min(lowest, banks[i].base);
	/* At this distance block boundaries of physical and virtual addresses coincide. */
	memstart_addr = lowest & ~((1UL << PUD_SHIFT) - 1);

	for (unsigned int i = 0; i < nr_banks; i++) {
		phys_addr_t base = banks[i].base;

		if (banks[i].end - memstart_addr > PAGE_END - PAGE_OFFSET)
			early_panic("RAM at %lx does not fit into the linear map\n", base);
		if (map_kernel_range((unsigned long)__va(base), base, banks[i].end - base,
				     PAGE_KERNEL_TAGGED | PROT_BLOCKS_OK))
			early_panic("no page tables for the linear map\n");
	}
	/* The image's code and constants are read-only at their second address too. */
	if (pa_is_ram(image) && map_kernel_range((unsigned long)__va(image), image,
						 (size_t)(__rodata_end - _text), PAGE_KERNEL_RO))
		early_panic("no page tables for the linear map\n");
}

bool pa_is_ram(phys_addr_t pa)
{
	for (unsigned int i = 0; i < nr_banks; i++) {
		if (pa >= banks[i].base && pa < banks[i].end)
			return true;
	}
	return false;
}

bool virt_addr_valid(const void *va)
{
	return is_linear_address(va) && pa_is_ram(__pa(va));
}
