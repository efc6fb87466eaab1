/* SPDX-License-Identifier: MIT */
/*
 * ptrace.h - the register frame that exception entry builds.
 *
 * @frame is a frame record at its end: a walk along frame pointers passes from the exception into the interrupted
 * function without special code.
 */
#ifndef ASM_PTRACE_H
#define ASM_PTRACE_H

#include <asm/memory.h>

/* Offsets for entry.S; traps.c asserts them. Register xN is at 8 * N. */
#define S_PC	     0
#define S_RA	     8
#define S_SP	     16
#define S_GP	     24
#define S_T0	     40
#define S_S0	     64
#define S_STATUS     256
#define S_CAUSE	     264
#define S_BADADDR    272
#define S_FRAME	     288
#define PT_REGS_SIZE 304

/* The stack pointer must be a multiple of this when there is an exception. */
#define STACK_ALIGN 16

#define REG_RA	1
#define REG_SP	2
#define REG_GP	3
#define REG_TP	4
#define REG_S0	8
#define REG_A0	10
#define REG_A7	17
#define REG_S11 27

/* `current`, in the kernel: <asm/current.h>. */
#ifdef CONFIG_SHADOW_CALL_STACK
#define REG_CURRENT REG_S11
#else
#define REG_CURRENT REG_GP
#endif
#define S_CURRENT (8 * REG_CURRENT)

/* The shadow call stack's pointer, and the frame pointer. */
#define REG_SCS REG_GP
#define REG_FP	REG_S0

#ifndef __ASSEMBLER__
#include <asm/csr.h>

/**
 * struct pt_regs - the interrupted context
 * @pc, @ra, @sp: also regs[0] to regs[2]; @regs: the pc, then x1 .. x31.
 * @status: sstatus. @cause, @badaddr: scause, and stval: the fault address, or the instruction.
 * @frame: { s0, pc } of the interrupted code.
 */
struct pt_regs {
	union {
		struct {
			u64 pc, ra, sp;
		};
		u64 regs[32];
	};
	u64 status;
	u64 cause;
	u64 badaddr;
	u64 unused;
	u64 frame[2];
};

/** regs_syscall_nr() - Return: number of the system call that the program made. */
static inline u64 regs_syscall_nr(const struct pt_regs *regs)
{
	return regs->regs[REG_A7];
}

/** regs_fp() - Return: the frame pointer. */
static inline unsigned long regs_fp(const struct pt_regs *regs)
{
	return regs->regs[REG_FP];
}

/** regs_return_address() - Return: where a function that has no frame yet, or needs none, returns to. */
static inline unsigned long regs_return_address(const struct pt_regs *regs)
{
	return regs->ra;
}

/** regs_scs() - Return: the pointer of the shadow call stack. */
static inline unsigned long regs_scs(const struct pt_regs *regs)
{
	return regs->regs[REG_SCS];
}

/* What the CPU says about an exception: a number, and its name in reports. */
#define REGS_ERROR_NAME "scause"
static inline unsigned long regs_error(const struct pt_regs *regs)
{
	return regs->cause;
}

#define REGS_ADDRESS_NAME "stval"
/* Return: the address of the access that caused the exception, if it has one. */
static inline unsigned long regs_address(const struct pt_regs *regs)
{
	return regs->badaddr;
}

static inline bool regs_irqs_disabled(const struct pt_regs *regs)
{
	return !(regs->status & SR_SPIE);
}
#endif
#endif /* ASM_PTRACE_H */
