// SPDX-License-Identifier: MIT
/* set_memory.c - permissions of mapped pages, for tests that hand them a pointer with a tag. */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <linux/set_memory.h>

static int set_protection(unsigned long addr, int pages, pgprot_t prot)
{
	unsigned long va = kasan_untag_addr(addr) & PAGE_MASK;
	int i;

	for (i = 0; i < pages; i++, va += PAGE_SIZE) {
		phys_addr_t pa = kernel_va_to_pa(va, NULL);

		if (!pa || map_kernel_range(va, pa, PAGE_SIZE, prot))
			return -EINVAL;
	}
	return 0;
}

int set_memory_ro(unsigned long addr, int pages)
{
	return set_protection(addr, pages, PAGE_KERNEL_TAGGED | PTE_RDONLY);
}

int set_memory_rw(unsigned long addr, int pages)
{
	return set_protection(addr, pages, PAGE_KERNEL_TAGGED);
}
