// SPDX-License-Identifier: MIT
/* libc.c - the registers that handlers of signals see, and may change. */
#include <kernel/arch.h>
#include <kernel/string.h>
#include <asm/fpu.h>
#include <asm/libc.h>
#include "internal.h"

/* How Linux marks the floating-point registers. */
#define FPSIMD_MAGIC 0x46508001

/* The flags of the last comparison, all of PSTATE that a handler may change. */
#define PSTATE_FLAGS 0xf0000000UL

void arch_ucontext_save(struct libc_ucontext *context, const struct pt_regs *regs,
			unsigned long fault_address)
{
	struct fpu_state fpu;

	context->pc = (u64)__builtin_return_address(0);
	if (regs) {
		context->fault_address = fault_address;
		memcpy(context->regs, regs->regs, sizeof(context->regs));
		context->sp = regs->sp;
		context->pc = regs->pc;
		context->pstate = regs->pstate;
	}
	fpu_save(&fpu);
	context->fpsimd.magic = FPSIMD_MAGIC;
	context->fpsimd.size = FPSIMD_SIZE;
	context->fpsimd.fpsr = (u32)fpu.fpsr;
	context->fpsimd.fpcr = (u32)fpu.fpcr;
	memcpy(context->fpsimd.v, fpu.v, sizeof(fpu.v));
}

bool arch_ucontext_restore(const struct libc_ucontext *context, struct pt_regs *regs)
{
	struct fpu_state fpu = {.fpsr = context->fpsimd.fpsr, .fpcr = context->fpsimd.fpcr};

	memcpy(fpu.v, context->fpsimd.v, sizeof(fpu.v));
	fpu_load(&fpu);
	if (!regs)
		return true;
	if (context->sp != regs->sp)
		return false;
	memcpy(regs->regs, context->regs, sizeof(context->regs));
	regs->pc = context->pc;
	regs->pstate = (regs->pstate & ~PSTATE_FLAGS) | (context->pstate & PSTATE_FLAGS);
	return true;
}
