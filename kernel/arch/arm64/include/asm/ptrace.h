/* SPDX-License-Identifier: MIT */
/*
 * ptrace.h - the register frame that exception entry builds.
 *
 * @frame is a frame record: a walk along frame pointers passes from the exception into the interrupted
 * function without special code.
 */
#ifndef ASM_PTRACE_H
#define ASM_PTRACE_H

#include <asm/memory.h>

/* Offsets for entry.S; traps.c asserts them. */
#define S_X0	     0
#define S_LR	     240
#define S_SP	     248
#define S_PC	     256
#define S_PSTATE     264
#define S_ESR	     272
#define S_FAR	     280
#define S_FRAME	     288
#define PT_REGS_SIZE 304

/* The stack pointer must be a multiple of this when there is an exception. */
#define STACK_ALIGN 16

/* Numbers in struct pt_regs: the shadow call stack's pointer, and the frame pointer. */
#define REG_SCS 18
#define REG_FP	29

#ifndef __ASSEMBLER__
/**
 * struct pt_regs - the interrupted context
 * @regs: x0 .. x30.
 * @sp, @pc, @pstate: their values when the exception was taken.
 * @esr, @far: syndrome and fault address; valid for synchronous exceptions and SError.
 * @frame: { x29, pc } of the interrupted code.
 */
struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	u64 esr;
	u64 far;
	u64 frame[2];
};

/** regs_syscall_nr() - Return: number of the system call that the program made. */
static inline u64 regs_syscall_nr(const struct pt_regs *regs)
{
	return regs->regs[8];
}

/** regs_fp() - Return: the frame pointer. */
static inline unsigned long regs_fp(const struct pt_regs *regs)
{
	return regs->regs[REG_FP];
}

/** regs_return_address() - Return: where a function that has no frame yet, or needs none, returns to. */
static inline unsigned long regs_return_address(const struct pt_regs *regs)
{
	return regs->regs[30];
}

/** regs_scs() - Return: the pointer of the shadow call stack. */
static inline unsigned long regs_scs(const struct pt_regs *regs)
{
	return regs->regs[REG_SCS];
}

/* What the CPU says about an exception: a number, and its name in reports. */
#define REGS_ERROR_NAME "ESR"
static inline unsigned long regs_error(const struct pt_regs *regs)
{
	return regs->esr;
}

#define REGS_ADDRESS_NAME "FAR"
/* Return: the address of the access that caused the exception, if it has one. */
static inline unsigned long regs_address(const struct pt_regs *regs)
{
	return regs->far;
}

static inline bool regs_irqs_disabled(const struct pt_regs *regs)
{
	return (regs->pstate & PSR_I_BIT) != 0;
}
#endif
#endif /* ASM_PTRACE_H */
