// SPDX-License-Identifier: MIT
/*
 * patch.c - changes instructions of the kernel while it boots.
 *
 * Code is never writable where it is executed. The page is mapped a second time, writable and not executable, and
 * only as long as it takes.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <asm/patch.h>
#include "internal.h"

#define NOP	 0xd503201fU
#define B	 0x14000000U
#define B_OFFSET 0x03ffffffU
#define B_REACH	 (128L << 20)

_Static_assert(ENTRY_NOP_BYTES == 4, "one jump takes the place of one no-op");

bool arch_has_jump(const void *from)
{
	return (READ_ONCE(*(const u32 *)from) & ~B_OFFSET) == B;
}

bool arch_patch_jump(const void *from, const void *to)
{
	const unsigned long at = (unsigned long)from;
	const long distance = (long)((unsigned long)to - at);
	u32 *alias = (u32 *)(FIX_TEXT_VADDR + (at & ~PAGE_MASK));
	bool done;

	if (distance % 4 || distance < -B_REACH || distance >= B_REACH ||
	    map_kernel_range(FIX_TEXT_VADDR, __pa_symbol(at & PAGE_MASK), PAGE_SIZE, PAGE_KERNEL))
		return false;
	done = READ_ONCE(*alias) == NOP;
	if (done) {
		WRITE_ONCE(*alias, B | ((u32)(distance / 4) & B_OFFSET));
		/* To where instructions are fetched from, and then away with what was fetched before. */
		__asm__ __volatile__("dc cvau, %0" ::"r"(alias) : "memory");
		dsb(ish);
		__asm__ __volatile__("ic ivau, %0" ::"r"(at) : "memory");
		dsb(ish);
		isb();
	}
	unmap_kernel_range(FIX_TEXT_VADDR, PAGE_SIZE);
	return done;
}
