// SPDX-License-Identifier: MIT
/*
 * fpu.c - which threads may use the floating-point and SIMD registers, and how these change hands.
 *
 * The registers trap in all other threads, and in all programs in user mode. A thread that has them finds them as it
 * left them: they are stored when it leaves a CPU and loaded when it comes to one, whichever that is. Interrupts and
 * the kernel's own code do not use them, so nothing is stored for these.
 */
#include <kernel/arch.h>
#include <kernel/task.h>
#include <asm/barrier.h>
#include <asm/fpu.h>
#include "internal.h"

/* CPACR_EL1.FPEN: all accesses trap; only those of user mode do. */
#define CPACR_FPEN_NONE	  0
#define CPACR_FPEN_KERNEL (1U << 20)

_Static_assert(offsetof(struct fpu_state, fpcr) == FPU_FPCR, "fpu.S");
_Static_assert(offsetof(struct fpu_state, fpsr) == FPU_FPCR + 8, "fpu.S");
_Static_assert(offsetof(struct fpu_state, v) == FPU_V, "fpu.S");

static void fpu_enable(void)
{
	write_sysreg(CPACR_FPEN_KERNEL, cpacr_el1);
	isb();
}

void arch_fpu_start(const struct fpu_state *state)
{
	fpu_enable();
	fpu_load(state);
}

void arch_fpu_call(void (*call)(const void *with), const void *with)
{
	struct fpu_state state;

	fpu_save(&state);
	call(with);
	fpu_load(&state);
}

void fpu_switch(struct task *prev, struct task *next)
{
	if (prev->fpu)
		fpu_save(prev->fpu);
	if (!next->fpu) {
		/* The exception return or the next barrier makes it effective: a trap may come late, but comes. */
		write_sysreg(CPACR_FPEN_NONE, cpacr_el1);
		return;
	}
	if (!prev->fpu)
		fpu_enable();
	fpu_load(next->fpu);
}
