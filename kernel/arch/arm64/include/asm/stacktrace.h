/* SPDX-License-Identifier: MIT */
/* stacktrace.h - what traces need to know of this architecture's functions. */
#ifndef ASM_STACKTRACE_H
#define ASM_STACKTRACE_H

#include <kernel/types.h>
#include <asm/scs.h>

/** arch_frame_record() - Return: address of two words, which belong to the frame pointer @fp: that of the caller, and the return
 *  address. */
static inline uintptr_t arch_frame_record(uintptr_t fp)
{
	return fp;
}

/** arch_frame_is_set_up() - Return: true if the function from @start on has set its frame pointer before @pc. */
static inline bool arch_frame_is_set_up(uintptr_t start, uintptr_t pc)
{
	for (uintptr_t p = start; p < pc; p += 4) {
		/* mov x29, sp or add x29, sp, #imm */
		if ((*(const u32 *)p & 0xff8003ff) == 0x910003fd)
			return true;
	}
	return false;
}

#ifdef CONFIG_SHADOW_CALL_STACK
/** scs_has_pushed() - Return: true if the function from @start on has its return address on the shadow call stack at @pc. */
static inline bool scs_has_pushed(uintptr_t start, uintptr_t pc)
{
	bool pushed = false;

	for (uintptr_t p = start; p < pc; p += 4)
		pushed |= *(const u32 *)p == SCS_PUSH_INSN;
	return pushed && *(const u32 *)(pc - 4) != SCS_POP_INSN;
}

/** scs_is_raised() - Return: true if the code before @pc has raised the pointer, and that at @pc stores the entry. Here one
 *  instruction does both. */
static inline bool scs_is_raised(uintptr_t pc)
{
	return false;
}
#endif

#endif
