/* SPDX-License-Identifier: MIT */
/* stacktrace.h - what traces need to know of this architecture's functions. */
#ifndef ASM_STACKTRACE_H
#define ASM_STACKTRACE_H

#include <kernel/types.h>
#include <asm/ptrace.h>
#include <asm/scs.h>

/** arch_frame_record() - Return: address of two words, which belong to the frame pointer @fp: that of the caller, and the return
 *  address. They are the highest of the frame. */
static inline uintptr_t arch_frame_record(uintptr_t fp)
{
	return fp - 2 * sizeof(uintptr_t);
}

/* GCC's functions that call nothing set the frame pointer and save only the caller's. */
#define ARCH_HAS_LEAF_FRAMES

/** arch_leaf_caller() - Return: the word of the frame @fp that in such a function is the caller's frame pointer, and in others the
 *  return address. */
static inline uintptr_t arch_leaf_caller(uintptr_t fp)
{
	return *(const uintptr_t *)(fp - sizeof(uintptr_t));
}

/** arch_regs_at() - Return: the registers of the interrupted context, if the frame @fp is that of the entry of exceptions; else
 *  NULL. @stack: the stack on which @fp is starts there. */
static inline const struct pt_regs *arch_regs_at(uintptr_t fp, uintptr_t stack)
{
	const struct pt_regs *regs = (const struct pt_regs *)(fp - PT_REGS_SIZE);

	if (fp - stack < PT_REGS_SIZE || regs->frame[0] != regs_fp(regs) ||
	    regs->frame[1] != regs->pc)
		return NULL;
	return regs;
}

/** arch_insn_size() - Return: bytes of the instruction that starts with @half. */
static inline unsigned int arch_insn_size(u16 half)
{
	return (half & 3) == 3 ? 4 : 2;
}

/** arch_frame_is_set_up() - Return: true if the function from @start on has set its frame pointer before @pc. */
static inline bool arch_frame_is_set_up(uintptr_t start, uintptr_t pc)
{
	for (uintptr_t p = start; p < pc; p += arch_insn_size(*(const u16 *)p)) {
		const u16 *insn = (const u16 *)p;

		/* addi s0, sp, imm; the compressed form has an immediate that is not 0 */
		if (((insn[0] | (u32)insn[1] << 16) & 0xfffff) == 0x10413)
			return true;
		if ((insn[0] & 0xe01f) == 0 && insn[0])
			return true;
	}
	return false;
}

#ifdef CONFIG_SHADOW_CALL_STACK
static inline u32 arch_insn_at(uintptr_t pc)
{
	const u16 *half = (const u16 *)pc;

	return arch_insn_size(half[0]) == 4 ? half[0] | (u32)half[1] << 16 : half[0];
}

/** scs_has_pushed() - Return: true if the function from @start on has its return address on the shadow call stack at @pc. */
static inline bool scs_has_pushed(uintptr_t start, uintptr_t pc)
{
	bool pushed = false, popped = false;

	for (uintptr_t p = start; p < pc; p += arch_insn_size(*(const u16 *)p)) {
		const u32 insn = arch_insn_at(p);

		pushed |= insn == SCS_STORE_INSN;
		popped = insn == SCS_POP_INSN || insn == SCS_C_POP_INSN;
	}
	return pushed && !popped;
}

/** scs_is_raised() - Return: true if the code before @pc has raised the pointer, and that at @pc stores the entry. No call
 *  returns there, so it was interrupted. */
bool scs_is_raised(uintptr_t pc);
#endif

#endif
