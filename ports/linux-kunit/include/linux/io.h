/* SPDX-License-Identifier: MIT */
/* linux/io.h - addresses of the linear map and the memory behind them. */
#ifndef LINUX_KUNIT_LINUX_IO_H
#define LINUX_KUNIT_LINUX_IO_H

#include <asm/io.h>
#include <asm/memory.h>

static inline phys_addr_t virt_to_phys(const void *addr)
{
	return (phys_addr_t)__pa(addr);
}

static inline void *phys_to_virt(phys_addr_t pa)
{
	return __va(pa);
}

#endif
