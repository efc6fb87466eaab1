// SPDX-License-Identifier: MIT
/* fpu.c - gives threads the floating-point registers. The architecture moves their contents. */
#include <kernel/arch.h>
#include <kernel/fpu.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <asm/fpu.h>

static struct kmem_cache *fpu_cache;

void fpu_init(void)
{
	fpu_cache = kmem_cache_create("fpu_state", sizeof(struct fpu_state), 16, SLAB_PANIC, NULL);
}

int fpu_attach(struct task *task)
{
	struct fpu_state *state;

	BUG_ON(task->process || task->kflags & PF_IDLE);
	if (task->fpu)
		return 0;
	state = kmem_cache_zalloc(fpu_cache, GFP_KERNEL);
	if (!state)
		return -ENOMEM;
	if (task != current) {
		task->fpu = state;
		task->user_state = 1;
		return 0;
	}
	/* A switch in between would store the registers while they still trap. */
	preempt_disable();
	arch_fpu_start(state);
	task->fpu = state;
	task->user_state = 1;
	preempt_enable();
	return 0;
}

void fpu_free(struct fpu_state *state)
{
	if (state)
		kmem_cache_free(fpu_cache, state);
}
