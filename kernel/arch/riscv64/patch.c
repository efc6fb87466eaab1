// SPDX-License-Identifier: MIT
/*
 * patch.c - changes instructions of the kernel while it boots.
 *
 * Code is never writable where it is executed. Its pages are mapped a second time, writable and not executable, and
 * only as long as it takes.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <asm/patch.h>
#include "internal.h"

#define C_NOP 0x0001U

/* auipc t1, imm; jr imm(t1): t1 is for nothing when a function starts. */
#define AUIPC_T1 0x00000317U
#define JR_T1	 0x00030067U

bool arch_has_jump(const void *from)
{
	const u16 *half = from;

	return ((half[0] | (u32)half[1] << 16) & 0xfff) == AUIPC_T1 &&
	       ((half[2] | (u32)half[3] << 16) & 0xfffff) == JR_T1;
}

bool arch_patch_jump(const void *from, const void *to)
{
	const unsigned long at = (unsigned long)from;
	const long distance = (long)((unsigned long)to - at);
	/* auipc adds a number of pages; jr an amount from -2048 to 2047. */
	const long high = (distance + 0x800) & ~0xfffL;
	const u32 code[] = {AUIPC_T1 | (u32)high, JR_T1 | (u32)(distance - high) << 20};
	u16 *alias = (u16 *)(FIX_TEXT_VADDR + (at & ~PAGE_MASK));
	bool done = true;

	_Static_assert(sizeof(code) == ENTRY_NOP_BYTES, "the jump takes the place of the no-ops");
	if (high != (s32)high || map_kernel_range(FIX_TEXT_VADDR, __pa_symbol(at & PAGE_MASK),
						  2 * PAGE_SIZE, PAGE_KERNEL))
		return false;
	for (unsigned int i = 0; i < ENTRY_NOPS; i++)
		done &= READ_ONCE(alias[i]) == C_NOP;
	for (unsigned int i = 0; done && i < ENTRY_NOPS; i++)
		WRITE_ONCE(alias[i], (u16)(code[i / 2] >> (i % 2 * 16)));
	/* Away with what was fetched before. */
	__asm__ __volatile__("fence.i" ::: "memory");
	unmap_kernel_range(FIX_TEXT_VADDR, 2 * PAGE_SIZE);
	return done;
}
