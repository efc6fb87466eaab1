/* SPDX-License-Identifier: MIT */
/* linear.h - the banks of RAM, and their linear map. pa_is_ram() and virt_addr_valid() of <kernel/arch.h> are there too. */
#ifndef KERNEL_LINEAR_H
#define KERNEL_LINEAR_H

#include <kernel/types.h>

/** ram_add_bank() - [@base, @base + @size) is RAM. Boot CPU. Return: false if it is not used: it has no whole page, or there are
 *  too many banks. */
bool ram_add_bank(phys_addr_t base, u64 size);

/** linear_map_init() - map all banks at PAGE_OFFSET, and set memstart_addr. Boot CPU, once. */
void linear_map_init(void);

#endif
