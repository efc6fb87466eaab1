/* SPDX-License-Identifier: MIT */
/* switch.h - changing from one thread to another. */
#ifndef ASM_SWITCH_H
#define ASM_SWITCH_H

#include <kernel/types.h>
#include <asm/ptrace.h>

struct task;

/** struct cpu_context - registers of a thread that is not running; first member of struct task */
struct cpu_context {
	u64 x19, x20, x21, x22, x23, x24, x25, x26, x27, x28;
	u64 fp;
	u64 sp;
	u64 pc;
#ifdef CONFIG_SHADOW_CALL_STACK
	u64 scs;      /* x18 */
	u64 scs_base; /* its value when the shadow call stack is empty; does not change */
#endif
};

/** ret_from_fork() - where a new thread starts: schedule_tail(prev), then kthread_exit(fn(arg)).
 *  Not called directly; arch_init_context() makes a thread start there. */
void ret_from_fork(void);

/**
 * arch_init_context() - prepare a new thread
 * @ctx: its context. @stack_top: first address above its stack, aligned to 16. The top of the stack is
 *	reserved for the registers of user mode, see arch_user_regs(), so the thread starts below them.
 *
 * A zero frame pointer ends its traces at ret_from_fork(). The shadow call stack is ctx->scs_base's.
 */
static inline void arch_init_context(struct cpu_context *ctx, void *stack_top, int (*fn)(void *),
				     void *arg)
{
	*ctx = (struct cpu_context){
		.x19 = (u64)fn,
		.x20 = (u64)arg,
		.sp = (u64)stack_top - 16 - PT_REGS_SIZE,
		.pc = (u64)ret_from_fork,
#ifdef CONFIG_SHADOW_CALL_STACK
		.scs = ctx->scs_base,
		.scs_base = ctx->scs_base,
#endif
	};
}

/** arch_user_regs() - Return: where on a kernel stack the registers of user mode are while the task is in
 *  the kernel. @stack_top: first address above the stack. The entry code finds the task in the 16 bytes
 *  below that address. */
static inline struct pt_regs *arch_user_regs(void *stack_top)
{
	return (struct pt_regs *)((char *)stack_top - 16) - 1;
}

#endif
