/* SPDX-License-Identifier: MIT */
/* arm64/zero.h - clearing memory by cache lines: DC ZVA clears a block without reading it. DCZID_EL0 has the size,
 * which the processor chooses, and whether a hypervisor forbids the instruction. It faults on device memory, which
 * shadow never is while the MMU is on. */
#ifndef KASAN_ARM64_ZERO_H
#define KASAN_ARM64_ZERO_H

#include <kasan/types.h>

#define KASAN_ARCH_ZERO_BYTES 64

static inline bool kasan_arch_can_zero(void)
{
	uint64_t id;

	__asm__("mrs %0, dczid_el0" : "=r"(id));
	/* Bits 3..0: log2 of words of 4 bytes; bit 4: forbidden. Processors have blocks of 64 bytes. */
	return (id & 31) == 4;
}

static inline void kasan_arch_zero(void *p)
{
	__asm__ volatile("dc zva, %0" ::"r"(p) : "memory");
}

#endif /* KASAN_ARM64_ZERO_H */
