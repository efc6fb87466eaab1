// SPDX-License-Identifier: MIT
/*
 * fpu.c - which threads may use the floating-point registers, and how these change hands.
 *
 * The registers trap in all other threads, and in all programs in user mode. A thread that has them finds them as it
 * left them: they are stored when it leaves a CPU and loaded when it comes to one, whichever that is. Interrupts and
 * the kernel's own code do not use them, so nothing is stored for these.
 */
#include <kernel/arch.h>
#include <kernel/task.h>
#include <asm/fpu.h>
#include "internal.h"

_Static_assert(offsetof(struct fpu_state, f) == FPU_F, "fpu.S");
_Static_assert(offsetof(struct fpu_state, fcsr) == FPU_FCSR, "fpu.S");

void arch_fpu_start(const struct fpu_state *state)
{
	csr_set(sstatus, SR_FS);
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
		csr_clear(sstatus, SR_FS);
		return;
	}
	if (!prev->fpu)
		csr_set(sstatus, SR_FS);
	fpu_load(next->fpu);
}
