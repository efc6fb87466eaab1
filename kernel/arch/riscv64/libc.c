// SPDX-License-Identifier: MIT
/* libc.c - the registers that handlers of signals see, and may change. */
#include <kernel/arch.h>
#include <kernel/string.h>
#include <asm/fpu.h>
#include <asm/libc.h>
#include "internal.h"

void arch_ucontext_save(struct libc_ucontext *context, const struct pt_regs *regs,
			unsigned long fault_address)
{
	struct fpu_state fpu;

	/* Here only the signal's description has @fault_address. */
	if (regs)
		memcpy(context->regs, regs->regs, sizeof(context->regs));
	else
		context->regs[0] = (u64)__builtin_return_address(0);
	fpu_save(&fpu);
	memcpy(context->f, fpu.f, sizeof(fpu.f));
	context->fcsr = (u32)fpu.fcsr;
}

bool arch_ucontext_restore(const struct libc_ucontext *context, struct pt_regs *regs)
{
	struct fpu_state fpu = {.fcsr = context->fcsr};
	u64 gp, own;

	memcpy(fpu.f, context->f, sizeof(fpu.f));
	fpu_load(&fpu);
	if (!regs)
		return true;
	if (context->regs[REG_SP] != regs->sp)
		return false;
	/* These are the kernel's. */
	gp = regs->regs[REG_GP];
	own = regs->regs[REG_CURRENT];
	memcpy(regs->regs, context->regs, sizeof(context->regs));
	regs->regs[REG_GP] = gp;
	regs->regs[REG_CURRENT] = own;
	return true;
}
